//! The measurement of a visit.

use std::sync::Arc;

use kernel::id::{AppId, WorkspaceId};
use observability::{Measurement, metrics::RequestEnding};
use runs::{
    engine::{Failure, FailureCode},
    serve::AppResponse,
};
use tokio::time::Instant;

use super::Inner;

/// Measures a visit from its start until this is dropped. One that is dropped before its response, as when the visitor goes
/// away, had none, which is an error.
pub(super) struct VisitMeter {
    inner: Arc<Inner>,
    app: (WorkspaceId, AppId),
    started: Instant,
    ending: RequestEnding,
}

impl VisitMeter {
    pub(super) fn start(inner: &Arc<Inner>, app: (WorkspaceId, AppId)) -> Self {
        Self { inner: Arc::clone(inner), app, started: Instant::now(), ending: RequestEnding::Failed }
    }

    /// Sets the response, or the failure in place of one. An app without a `fetch` handler has no page, which is no error.
    pub(super) fn set_response(&mut self, response: &Result<AppResponse, Failure>) {
        self.ending = match response {
            Ok(response) if response.status() < 500 && response.why_unsendable().is_none() => {
                RequestEnding::Responded
            }
            Err(failure) if failure.code == FailureCode::HandlerMissing => RequestEnding::NoHandler,
            _ => RequestEnding::Failed,
        };
    }

    /// Sets the end of a streamed response.
    pub(super) fn set_completion(&mut self, result: &Result<(), Failure>) {
        if result.is_err() {
            self.ending = RequestEnding::Failed;
        }
    }
}

impl Drop for VisitMeter {
    fn drop(&mut self) {
        let measurement = Measurement::Request { ending: self.ending, duration: self.started.elapsed() };
        self.inner.record_measurement(self.app, measurement);
    }
}
