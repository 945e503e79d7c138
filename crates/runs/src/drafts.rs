//! The port through which a person tries code that is not a version.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use kernel::{
    Context,
    authority::{AppRight, CanRun},
    events::RefusedRequest,
    id::{AppId, VersionId, WorkspaceId},
};
use serde_json::value::RawValue;

use crate::{
    RunsError, RunsTx,
    engine::{Bundle, Failure, HandlerCall},
    queue::RunLogLine,
    quota::Admission,
    runs::Step,
};

/// Most bytes of a response's body that are kept.
pub const MAX_BODY: usize = 64 << 10;

/// One call of a draft's code.
#[derive(Debug)]
pub struct DraftCall {
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App.
    pub app: AppId,
    /// Version with whose manifest the code runs.
    pub version: VersionId,
    /// Code. Its version is a new id.
    pub bundle: Arc<Bundle>,
    /// Handler to run, and its argument.
    pub handler: HandlerCall,
}

/// What a call of a draft did.
#[derive(Debug)]
pub struct DraftOutcome {
    /// What the code returned.
    pub result: Result<DraftOutput, Failure>,
    /// Lines that it logged, with those of the gate.
    pub lines: Vec<RunLogLine>,
    /// Requests and calls of rows that it made.
    pub steps: Vec<Step>,
    /// Requests that the gate refused.
    pub refused: Vec<RefusedRequest>,
    /// Number of rows that it inserted, updated and deleted.
    pub rows_written: u64,
    /// Time that the code took.
    pub duration: Duration,
}

/// What the code of a draft returned.
#[derive(Debug)]
pub enum DraftOutput {
    /// The value that `scheduled` returned; none if it is too large or has a secret in it.
    Returned(Option<Box<RawValue>>),
    /// The response of `fetch`.
    Response {
        /// Status, 200 to 599.
        status: u16,
        /// Headers in order; a name may repeat.
        headers: Vec<(String, String)>,
        /// The first [`MAX_BODY`] bytes of the body.
        body: Bytes,
        /// True if the body is longer.
        is_cut: bool,
    },
}

/// Runs drafts.
#[async_trait]
pub trait DraftRunner: Send + Sync {
    /// Runs a handler with the permissions, gates and limits of the app.
    ///
    /// # Errors
    /// The failure that prevented the call, such as a version that no longer exists.
    async fn invoke_draft(&self, call: DraftCall) -> Result<DraftOutcome, Failure>;
}

/// Counts a call of a draft as a run of the month. It never waits for the next month.
///
/// # Errors
/// * [`RunsError::NotRunnable`] when the app has no version or is paused
/// * [`RunsError::QuotaReached`] when the runs of the month are used up
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn admit_draft(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanRun>,
    runs_per_month: Option<u64>,
) -> Result<(), RunsError> {
    let workspace = right.member().workspace();
    if !tx.is_app_runnable(workspace, right.app()).await? {
        return Err(RunsError::NotRunnable);
    }
    if tx.admit_run(workspace, ctx.now, runs_per_month).await? != Admission::Start {
        return Err(RunsError::QuotaReached);
    }
    let entry = ctx.audit_entry("draft.invoke").workspace(workspace).target(right.app());
    tx.audit(entry.app(right.app()));
    Ok(())
}
