//! Trying a draft.

use std::sync::Arc;

use apps::{AppError, drafts::Draft};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, CanRun},
};
use runs::{
    drafts::{DraftCall, DraftOutcome, admit_draft},
    engine::{Bundle, FailureCode, HandlerCall},
};

use crate::{Application, Problem, unit};

impl Application {
    /// Runs a handler of the caller's draft with the permissions of the app's current version.
    ///
    /// # Errors
    /// [`Problem`] if the caller has no draft or may not run the app, the app has no version or is paused, the runs of the
    /// month are used up, no worker is free, or the store fails.
    pub async fn invoke_draft(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        handler: HandlerCall,
    ) -> Result<DraftOutcome, Problem> {
        let can_run = (**right).clone().require::<CanRun>()?;
        let (workspace, app) = (right.member().workspace(), right.app());
        let found = self.store().draft(workspace, app, right.member().user(), ctx.now).await?;
        let Draft { files, .. } = found.ok_or(AppError::DraftNotFound)?;
        let current = self.store().app(workspace, app).await?.ok_or(AppError::AppNotFound)?;
        let version = current.current_version.ok_or(AppError::NoVersion)?;
        let runs_per_month = self.runs_per_month(workspace).await?;
        self.transaction(unit!(|tx| admit_draft(tx, ctx, &can_run, runs_per_month).await)).await?;
        let bundle = Arc::new(Bundle { version: ctx.new_id(), files });
        let call = DraftCall { workspace, app, version, bundle, handler };
        self.draft_runner().invoke_draft(call).await.map_err(|failure| match failure.code {
            FailureCode::Overloaded | FailureCode::WorkerLost => {
                Problem::unavailable("overloaded", "The draft cannot run right now.")
                    .hint("Try again in a moment.")
            }
            _ => Problem::internal(failure),
        })
    }
}
