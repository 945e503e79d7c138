//! Records the log lines and calls of an invocation, within bounds.

use std::mem;

use kernel::{Timestamp, events::RefusedRequest};
use observability::logs::MAX_MESSAGE_CHARS;
use runs::{
    engine::{InvocationLimits, LogLevel},
    queue::RunLogLine,
    runs::{Step, StepStatus, refused_calls},
};

use super::redaction::Redaction;

/// Maximum number of steps kept of a run, including the run itself and the step that counts those left out.
pub(super) const MAX_STEPS: usize = 50;

/// Bytes of log kept of a run.
pub(super) const MAX_RUN_LOG_BYTES: usize = 256 << 10;
/// Bytes of log kept of a visit; fewer, because anybody may cause them.
pub(super) const MAX_HTTP_LOG_BYTES: usize = 64 << 10;

/// Log lines and steps of one invocation so far.
#[derive(Debug)]
pub(super) struct RunTrace {
    max_lines: usize,
    max_bytes: usize,
    log_bytes: usize,
    dropped_lines: usize,
    pub(super) lines: Vec<RunLogLine>,
    /// Lines that are to be searched for secrets.
    unsearched: Vec<usize>,
    steps: Vec<Step>,
    dropped_steps: usize,
    refusal_codes: Vec<&'static str>,
}

impl RunTrace {
    pub(super) fn new(limits: &InvocationLimits, max_bytes: usize) -> Self {
        // The engine keeps its own lines within the limit and adds one that counts those it dropped; each host call
        // adds one line. More than that come only from an engine that breaks its contract.
        let max_lines = limits.log_lines as usize + 1 + limits.host_calls as usize;
        Self {
            max_lines,
            max_bytes,
            log_bytes: 0,
            dropped_lines: 0,
            lines: Vec::new(),
            unsearched: Vec::new(),
            steps: Vec::new(),
            dropped_steps: 0,
            refusal_codes: Vec::new(),
        }
    }

    /// Returns the bytes of log that are kept.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    pub(super) fn push_line(&mut self, at: Timestamp, level: LogLevel, is_from_gate: bool, message: String) {
        self.keep(RunLogLine { at, level, is_from_gate, message: truncate_message(message) });
    }

    /// Adds a line of the code that is to be searched for secrets. It is cut after that, since half of a secret would not be
    /// found, so all of it counts: no more is searched than may be kept.
    pub(super) fn push_unsearched_line(&mut self, at: Timestamp, level: LogLevel, message: String) {
        if self.keep(RunLogLine { at, level, is_from_gate: false, message }) {
            self.unsearched.push(self.lines.len() - 1);
        }
    }

    /// Returns `true` if there was room for the line.
    fn keep(&mut self, line: RunLogLine) -> bool {
        if self.lines.len() >= self.max_lines {
            return false;
        }
        // Once a line did not fit, no shorter one is kept, so that the log has no gaps.
        if self.dropped_lines > 0 || self.log_bytes + line.message.len() > self.max_bytes {
            self.dropped_lines += 1;
            return false;
        }
        self.log_bytes += line.message.len();
        self.lines.push(line);
        true
    }

    /// Redacts secrets in the lines that are to be searched.
    pub(super) async fn redact(&mut self, redaction: &Redaction) {
        let unsearched = mem::take(&mut self.unsearched);
        let texts = unsearched.iter().map(|at| mem::take(&mut self.lines[*at].message)).collect();
        for (at, text) in unsearched.into_iter().zip(redaction.redact_all(texts).await) {
            self.lines[at].message = truncate_message(text);
        }
    }

    /// Appends a last line that counts the dropped lines, if there are any.
    pub(super) fn finish_log(&mut self, at: Timestamp) {
        if self.dropped_lines > 0 {
            let (dropped, most) = (self.dropped_lines, self.max_bytes >> 10);
            // "At least", because the engine may have dropped lines before.
            let message =
                format!("at least {dropped} more log lines were dropped: at most {most} KiB are kept");
            self.lines.push(RunLogLine { at, level: LogLevel::Warn, is_from_gate: false, message });
        }
    }

    pub(super) fn push_step(&mut self, step: Step) {
        // Two entries are reserved: for the run's own step and for the count of those left out.
        if self.steps.len() < MAX_STEPS - 2 {
            self.steps.push(step);
        } else {
            self.dropped_steps += 1;
        }
    }

    /// Records that a policy refused a request.
    pub(super) fn add_refusal(&mut self, code: &'static str) {
        if !self.refusal_codes.contains(&code) {
            self.refusal_codes.push(code);
        }
    }

    /// Returns true if a policy refused a request with this code.
    pub(super) fn has_refusal(&self, code: &str) -> bool {
        self.refusal_codes.contains(&code)
    }

    /// Returns the requests that the gate refused.
    pub(super) fn refused_calls(&self) -> Vec<RefusedRequest> {
        refused_calls(&self.steps)
    }

    /// Returns `first`, the recorded steps and a count of those left out, and the log lines.
    pub(super) fn into_steps(mut self, first: Step) -> (Vec<Step>, Vec<RunLogLine>) {
        self.steps.insert(0, first);
        self.into_calls()
    }

    /// Returns the recorded steps and a count of those left out, and the log lines.
    pub(super) fn into_calls(self) -> (Vec<Step>, Vec<RunLogLine>) {
        let mut steps = self.steps;
        if self.dropped_steps > 0 {
            steps.push(Step {
                label: format!("{} more calls", self.dropped_steps),
                status: StepStatus::Skipped,
                started_at: None,
                duration_ms: None,
                detail: Some("not listed individually".to_owned()),
            });
        }
        (steps, self.lines)
    }
}

/// Creates a step that began at `started_at` and has ended.
pub(super) fn finished_step(
    label: String,
    status: StepStatus,
    (started_at, duration_ms): (Timestamp, u64),
    detail: impl Into<Option<String>>,
) -> Step {
    Step {
        label,
        status,
        started_at: Some(started_at),
        duration_ms: Some(duration_ms),
        detail: detail.into(),
    }
}

/// Keeps one character more than the log does, so that the log can tell that there was more.
fn truncate_message(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS + 1) {
        message.truncate(end);
    }
    message
}
