//! The value that the code of a run returned, as far as it is kept.

use runs::{
    TriggerKind,
    engine::HandlerOutput,
    runs::{MAX_RESULT_BYTES, RESULT_TOO_LARGE},
};
use serde_json::value::RawValue;

use super::host::AppHost;

/// The result to keep, and the detail of the run's first step.
#[derive(Debug, Default)]
pub(super) struct RunResult {
    pub(super) kept: Option<Box<RawValue>>,
    pub(super) detail: Option<String>,
}

impl RunResult {
    /// Takes what the code returned. Results are kept of runs that somebody started and waits for, so that calls of
    /// webhooks, schedules and events cost no row for a value that nobody reads. `null` says nothing.
    pub(super) async fn of(trigger: TriggerKind, output: HandlerOutput, host: &AppHost) -> Self {
        let HandlerOutput::Scheduled(returned) = output else { return Self::default() };
        if trigger != TriggerKind::Manual || returned.get() == "null" {
            return Self::default();
        }
        if returned.get().len() > MAX_RESULT_BYTES {
            return Self { kept: None, detail: Some(RESULT_TOO_LARGE.to_owned()) };
        }
        Self { kept: host.redact_result(returned).await, detail: None }
    }
}
