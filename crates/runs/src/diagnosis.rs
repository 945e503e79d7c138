//! Explanations of runs: why a run ended, what has changed since the last good one, and what to do. They come from
//! rules over stored facts alone, in English, Russian and Kazakh (specification part B, "RunAnswer").

mod cause;
mod fix;
mod phrases;

use kernel::{
    Locale, Timestamp,
    id::{ConnectionId, VersionId},
};
use serde::{Deserialize, Serialize};

pub use crate::ports::DiagnosisRead;
use crate::{Run, runs::RunState};

pub use cause::{Cause, Confidence, FailureClass};
pub use fix::Fix;

/// Most lines of evidence, and of differences, in an answer.
pub const MAX_EVIDENCE_LINES: usize = 12;
/// Most characters of an answer.
const MAX_ANSWER_CHARS: usize = 2400;
/// Most characters of a run's message that an answer repeats.
const MAX_MESSAGE_CHARS: usize = 700;

/// A log line, as evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// Number of the line in the log.
    pub id: u64,
    /// Time of the line.
    pub at: Timestamp,
    /// Writer of the line: `app`, `platform` or `gate`.
    pub source: &'static str,
    /// True for a warning or an error.
    pub is_warning_or_error: bool,
    /// Text of the line.
    pub message: String,
    /// Request that the line is about, if the gate wrote it about one.
    pub request: Option<ObservedRequest>,
}

/// A request of an app's code, as the gate logged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedRequest {
    /// HTTP method.
    pub method: String,
    /// Host, if the URL has a valid one.
    pub host: Option<String>,
    /// Name of the connection, if the request used one.
    pub connection: Option<String>,
    /// Status of the response, or the code of the refusal or failure.
    pub outcome: Result<u16, String>,
}

/// Access of the app to the host that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostStatus {
    /// True if the app's current manifest names it with the method that was used.
    pub is_declared: bool,
    /// True if an open gate of the workspace leads to it with that method.
    pub is_gate_open: bool,
    /// True if a manifest can name it at all.
    pub is_declarable: bool,
}

/// Stored facts about one run.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// Run to explain.
    pub run: Run,
    /// Log lines of the run, oldest first.
    pub lines: Vec<EvidenceLine>,
    /// Present access to the host that was refused last.
    pub host: Option<HostStatus>,
    /// Connection that was refused, if the manifest names it.
    pub connection: Option<ConnectionId>,
    /// Last successful run of the same automation before it.
    pub last_good: Option<Run>,
    /// Version of the last successful run, with its number, if it can still run.
    pub last_good_version: Option<(VersionId, Option<u32>)>,
    /// True if the code differs from that of the last successful run; `None` if that is not known.
    pub has_code_changed: Option<bool>,
    /// Differences of the manifests, in sentences.
    pub differences: Vec<String>,
    /// Name of the person who cancelled it.
    pub cancelled_by: Option<String>,
}

impl RunFacts {
    /// Returns the facts that the run itself holds.
    #[must_use]
    pub fn from_run(run: Run) -> Self {
        Self {
            run,
            lines: Vec::new(),
            host: None,
            connection: None,
            last_good: None,
            last_good_version: None,
            has_code_changed: None,
            differences: Vec::new(),
            cancelled_by: None,
        }
    }

    /// Returns the request that the gate refused with the run's code; otherwise the last that was refused, failed, or
    /// got an error status.
    #[must_use]
    pub fn find_failed_request(&self) -> Option<&ObservedRequest> {
        let code = self.run.state.fault().map(|fault| fault.code.as_str());
        let requests = || self.lines.iter().rev().filter_map(|line| line.request.as_ref());
        requests()
            .find(|request| matches!(&request.outcome, Err(refused) if Some(refused.as_str()) == code))
            .or_else(|| requests().find(|request| !matches!(request.outcome, Ok(..400))))
    }

    /// Returns true if another version ran than in the last successful run; `None` if there was none, or its version is
    /// unknown.
    #[must_use]
    pub fn has_version_changed(&self) -> Option<bool> {
        let good = self.last_good.as_ref()?.version.as_ref()?;
        Some(self.run.version.as_ref()?.id != good.id)
    }
}

/// Explanation of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Result or state of the run, in a sentence.
    pub what: String,
    /// Cause, with the run's own message if it adds something.
    pub why: String,
    /// Recommended action.
    pub next: String,
}

/// Result of the rules for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// Explanation in the reader's language.
    pub explanation: Explanation,
    /// Class of the failure; `None` for a run that did not fail.
    pub class: Option<FailureClass>,
    /// Confidence of the rules.
    pub confidence: Confidence,
    /// Log lines that the result is based on, each with its number, time and writer.
    pub evidence: Vec<String>,
    /// Suggested fix, checked against the facts.
    pub fix: Option<Fix>,
    /// Host that a change of the manifest could let the app reach.
    pub suggested_host: Option<String>,
}

/// Explains a run by the rules.
#[must_use]
pub fn diagnose(facts: &RunFacts, locale: Locale) -> Diagnosis {
    let (cause, confidence) = cause::find_cause(facts);
    let fix = fix::find_fix(facts, cause);
    let explanation = phrases::explain(facts, cause, fix.as_ref(), locale);
    Diagnosis {
        explanation,
        class: cause.class(),
        confidence,
        evidence: select_evidence(facts),
        suggested_host: fix::find_suggested_host(facts, cause),
        fix,
    }
}

/// Returns true if a run is explained wherever it is shown, because it failed or was blocked.
#[must_use]
pub fn is_explained(run: &Run) -> bool {
    matches!(run.state, RunState::Failed(..) | RunState::Blocked(..))
}

/// Answers a question with the explanation. Unless only the rules were asked for, a sentence says why no model answers.
#[must_use]
pub fn answer_from_rules(explanation: &Explanation, rules_only: bool, locale: Locale) -> String {
    let notice = match locale {
        Locale::En => {
            "No model is connected, so this answer comes from rules, which do not read the question."
        }
        Locale::Ru => "Модель не подключена, поэтому отвечают правила; сам вопрос они не читают.",
        Locale::Kk => "Модель қосылмаған, сондықтан ережелер жауап береді; олар сұрақтың өзін оқымайды.",
    };
    let text = format!("{} {} {}", explanation.what, explanation.why, explanation.next);
    let text = if rules_only { text } else { format!("{notice} {text}") };
    text.chars().take(MAX_ANSWER_CHARS).collect()
}

/// Selects warnings, errors, failed requests and the last lines, in the order of the log.
fn select_evidence(facts: &RunFacts) -> Vec<String> {
    let is_suspicious = |line: &EvidenceLine| {
        line.is_warning_or_error
            || line.request.as_ref().is_some_and(|request| !matches!(request.outcome, Ok(..400)))
    };
    let mut chosen: Vec<&EvidenceLine> =
        facts.lines.iter().rev().filter(|line| is_suspicious(line)).take(MAX_EVIDENCE_LINES - 4).collect();
    for line in facts.lines.iter().rev().take(4) {
        if !chosen.iter().any(|known| known.id == line.id) {
            chosen.push(line);
        }
    }
    chosen.sort_by_key(|line| line.id);
    let text = |line: &EvidenceLine| {
        let at = line.at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        format!("#{} {at} {}: {}", line.id, line.source, line.message)
    };
    chosen.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests;
