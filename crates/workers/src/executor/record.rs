//! What an invocation said and did, bounded.

use kernel::{Timestamp, events::RefusedCall};
use observability::logs::MAX_MESSAGE;
use runs::{
    engine::{Limits, LogLevel},
    queue::RunLine,
    runs::{Step, StepStatus, refused_calls},
};

/// Steps of a run that are kept, the run itself and the one that tells how many more there were included.
pub(super) const MAX_STEPS: usize = 50;

/// Bytes of log that a run keeps.
pub(super) const RUN_LOG: usize = 256 << 10;
/// Bytes of log that an answer over HTTP keeps: visitors, whom nobody knows, cause it.
pub(super) const VISIT_LOG: usize = 64 << 10;

/// What was said and done so far.
#[derive(Debug)]
pub(super) struct Record {
    max_lines: usize,
    max_bytes: usize,
    bytes: usize,
    dropped: usize,
    pub(super) lines: Vec<RunLine>,
    steps: Vec<Step>,
    more_steps: usize,
    refused: Vec<&'static str>,
}

impl Record {
    pub(super) fn new(limits: &Limits, max_bytes: usize) -> Self {
        // The engine keeps its own lines to the limit, and tells in one more what it dropped; a call of the outside
        // adds one. So nothing is dropped here unless an engine breaks its word.
        let max_lines = limits.log_lines as usize + 1 + limits.host_calls as usize;
        Self {
            max_lines,
            max_bytes,
            bytes: 0,
            dropped: 0,
            lines: Vec::new(),
            steps: Vec::new(),
            more_steps: 0,
            refused: Vec::new(),
        }
    }

    /// How many bytes of log it keeps.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    pub(super) fn say(&mut self, at: Timestamp, level: LogLevel, by_gate: bool, message: String) {
        let message = cut(message);
        if self.lines.len() >= self.max_lines {
            return;
        }
        // Once a line did not fit no shorter one is kept: what is there has no holes.
        if self.dropped > 0 || self.bytes + message.len() > self.max_bytes {
            self.dropped += 1;
            return;
        }
        self.bytes += message.len();
        self.lines.push(RunLine { at, level, by_gate, message });
    }

    /// Tells in a last line how many were dropped, if any.
    pub(super) fn close(&mut self, at: Timestamp) {
        if self.dropped > 0 {
            let (dropped, most) = (self.dropped, self.max_bytes >> 10);
            // The engine may have dropped lines before it came to these.
            let message =
                format!("at least {dropped} more lines of log were dropped: at most {most} KiB are kept");
            self.lines.push(RunLine { at, level: LogLevel::Warn, by_gate: false, message });
        }
    }

    pub(super) fn did(&mut self, step: Step) {
        // Two places are the run's own step and the last one's.
        if self.steps.len() < MAX_STEPS - 2 {
            self.steps.push(step);
        } else {
            self.more_steps += 1;
        }
    }

    /// Remembers that a rule refused something.
    pub(super) fn refused(&mut self, code: &'static str) {
        if !self.refused.contains(&code) {
            self.refused.push(code);
        }
    }

    /// Whether a rule refused something with this code.
    pub(super) fn has_refused(&self, code: &str) -> bool {
        self.refused.contains(&code)
    }

    /// The calls that the gate refused.
    pub(super) fn refused_calls(&self) -> Vec<RefusedCall> {
        refused_calls(&self.steps)
    }

    /// The steps after `first`, and how many there were beside.
    pub(super) fn into_steps(self, first: Step) -> (Vec<Step>, Vec<RunLine>) {
        let mut steps = Vec::with_capacity(self.steps.len() + 2);
        steps.push(first);
        steps.extend(self.steps);
        if self.more_steps > 0 {
            steps.push(Step {
                label: format!("{} more calls", self.more_steps),
                status: StepStatus::Skipped,
                started_at: None,
                duration_ms: None,
                detail: Some("not listed one by one".to_owned()),
            });
        }
        (steps, self.lines)
    }
}

/// A step that began at `started_at` and is over.
pub(super) fn step(
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

/// One character more than is kept, so that whoever keeps it sees that there was more.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE + 1) {
        message.truncate(end);
    }
    message
}
