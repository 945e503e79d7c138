//! Why a run came to its end, what has changed since the last good one and what to do about it: by rules over stored
//! facts alone, in English, Russian and Kazakh (specification part B, "RunAnswer").

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

/// Lines of evidence, and differences, that an answer holds at most.
pub const MAX_EVIDENCE_LINES: usize = 12;
/// Characters of an answer.
const MAX_ANSWER_CHARS: usize = 2400;
/// Characters of a run's message that an answer repeats.
const MAX_MESSAGE_CHARS: usize = 700;

/// A line of log, as evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// Its number.
    pub id: u64,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it: `app`, `platform` or `gate`.
    pub source: &'static str,
    /// Whether it is a warning or an error.
    pub is_warning_or_error: bool,
    /// What was said.
    pub message: String,
    /// What the gate noted of a request, if it is such a line.
    pub request: Option<ObservedRequest>,
}

/// A request that an app made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedRequest {
    /// How.
    pub method: String,
    /// Where to, if it had a proper host.
    pub host: Option<String>,
    /// Through which connection.
    pub connection: Option<String>,
    /// The status it was answered with, or why it was refused.
    pub outcome: Result<u16, String>,
}

/// What is known of the host that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostStatus {
    /// Whether the app's current manifest names it, with the method that was used.
    pub is_declared: bool,
    /// Whether an open gate of the workspace leads to it with that method.
    pub is_gate_open: bool,
    /// Whether a manifest can name it at all.
    pub is_declarable: bool,
}

/// The stored facts about one run.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// The run.
    pub run: Run,
    /// What it left in the log, oldest first.
    pub lines: Vec<EvidenceLine>,
    /// The host that was refused last, as it stands now.
    pub host: Option<HostStatus>,
    /// The connection that was refused, if the manifest names it.
    pub connection: Option<ConnectionId>,
    /// The last good run of the same automation before it.
    pub last_good: Option<Run>,
    /// The last good run's version, if it is still there to run.
    pub last_good_version: Option<(VersionId, Option<u32>)>,
    /// Whether the code differs from the last good run's.
    pub has_code_changed: Option<bool>,
    /// In what the manifests differ, in sentences.
    pub differences: Vec<String>,
}

impl RunFacts {
    /// What the run itself tells.
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
        }
    }

    /// The request that the gate refused with the run's code; else the last that was refused or answered with an
    /// error.
    #[must_use]
    pub fn find_failed_request(&self) -> Option<&ObservedRequest> {
        let code = self.run.state.fault().map(|fault| fault.code.as_str());
        let requests = || self.lines.iter().rev().filter_map(|line| line.request.as_ref());
        requests()
            .find(|request| matches!(&request.outcome, Err(refused) if Some(refused.as_str()) == code))
            .or_else(|| requests().find(|request| !matches!(request.outcome, Ok(..400))))
    }

    /// Whether another version ran than in the last good run; none when there was no good run.
    #[must_use]
    pub fn has_version_changed(&self) -> Option<bool> {
        let good = self.last_good.as_ref()?.version.as_ref()?;
        Some(self.run.version.as_ref()?.id != good.id)
    }
}

/// What happened, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// What happened.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub what: String,
    /// Why.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub why: String,
    /// What to do.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub next: String,
}

/// What the rules say of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// What happened, why, and what to do.
    pub explanation: Explanation,
    /// What kind of failure it is; none of a run that did not fail.
    pub class: Option<FailureClass>,
    /// How sure the rules are.
    pub confidence: Confidence,
    /// Lines of log that it rests on, as they stand there.
    pub evidence: Vec<String>,
    /// What a person may do about it, checked against the facts.
    pub fix: Option<Fix>,
    /// The host that a change could let the app reach.
    pub suggested_host: Option<String>,
}

/// What the rules say of a run.
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

/// Whether a run is explained wherever it is shown: one that failed or was blocked.
#[must_use]
pub fn is_explained(run: &Run) -> bool {
    matches!(run.state, RunState::Failed(..) | RunState::Blocked(..))
}

/// What the rules answer to a question: what they say anyway. Unless only they were asked, they say why no model does.
#[must_use]
pub fn answer_from_rules(explanation: &Explanation, rules_only: bool, locale: Locale) -> String {
    let says = match locale {
        Locale::En => "No model is connected, so the rules answer, and they do not read the question.",
        Locale::Ru => "Модель не подключена, поэтому отвечают правила; сам вопрос они не читают.",
        Locale::Kk => "Модель қосылмаған, сондықтан ережелер жауап береді; олар сұрақтың өзін оқымайды.",
    };
    let said = format!("{} {} {}", explanation.what, explanation.why, explanation.next);
    let said = if rules_only { said } else { format!("{says} {said}") };
    said.chars().take(MAX_ANSWER_CHARS).collect()
}

/// The loud lines, the requests that went wrong, and the last lines; in the order in which they were said.
fn select_evidence(facts: &RunFacts) -> Vec<String> {
    let went_wrong = |line: &EvidenceLine| {
        line.is_warning_or_error
            || line.request.as_ref().is_some_and(|request| !matches!(request.outcome, Ok(..400)))
    };
    let mut chosen: Vec<&EvidenceLine> =
        facts.lines.iter().rev().filter(|line| went_wrong(line)).take(MAX_EVIDENCE_LINES - 4).collect();
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
