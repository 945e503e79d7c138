//! Trying a draft.

use std::sync::Arc;

use apps::{
    AppError,
    drafts::Draft,
    safe_band::{PublishRule, Reach, check_gains},
    trust,
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, CanRun, Sharing},
};
use runs::{
    drafts::{DraftCall, DraftOutcome, admit_draft},
    engine::{Bundle, FailureCode, HandlerCall},
};

use crate::{Application, Problem, app_versions::CurrentVersion, unit};

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
        (**right).clone().require::<CanRun>()?;
        let (workspace, app) = (right.member().workspace(), right.app());
        let found = self.store().draft(workspace, app, right.member().user(), ctx.now).await?;
        let Draft { files, .. } = found.ok_or(AppError::DraftNotFound)?;
        let member = right.member();
        let current = self.read_current_version(ctx, member, app, PublishRule::Direct).await?;
        let CurrentVersion { baseline, .. } = current.ok_or(AppError::NoVersion)?;
        let version = baseline.version().ok_or(AppError::NoVersion)?;
        let reach = Reach {
            manifest: baseline.manifest(),
            trust_score: trust::assess(baseline.manifest(), &files).score,
            has_fetch: matches!(handler, HandlerCall::Fetch(_)),
            // It stays as it is.
            sharing: Sharing::Private,
        };
        check_gains(&ctx.caller, member.role(), PublishRule::Direct, &baseline.reasons_outside(reach))?;
        let runs_per_month = self.runs_per_month(workspace).await?;
        self.transaction(unit!(|tx| {
            let can_run = self.lock_app::<CanRun>(tx, ctx, app).await?;
            Ok::<_, Problem>(admit_draft(tx, ctx, &can_run, runs_per_month).await?)
        }))
        .await?;
        let bundle = Arc::new(Bundle::new(ctx.new_id(), files));
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
