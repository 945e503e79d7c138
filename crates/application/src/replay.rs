//! Replaying failed runs and refused calls, for the API and the agent server.

use apps::{
    AppError,
    versions::{Baseline, EarlierVersion, check_earlier_version},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, Member},
    id::{AppId, DeadLetterId, RunId},
};
use runs::{
    dead_letters::{
        ReplayRequest, ReplayedRun, WhichVersion, discard_open_dead_letter, replay_open_dead_letter,
        replay_run,
    },
    runs::VersionRef,
};
use serde_json::value::RawValue;

use crate::{Application, Problem, ProblemKind, Tx, app_versions::recheck_projects, unit};

impl Application {
    /// Starts a run with the input of an open dead letter.
    ///
    /// # Errors
    /// [`Problem`] if the dead letter is settled or has no input, the app cannot run, the original version may do more than
    /// the current one and the caller may not give that to the app, the workspace's quota is used up and no more runs may
    /// wait, or the store fails.
    pub async fn replay_dead_letter(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: DeadLetterId,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
    ) -> Result<ReplayedRun, Problem> {
        let original = match version {
            WhichVersion::Current => None,
            WhichVersion::Original => {
                let found = self.store().dead_letter(right.member().workspace(), id).await?;
                self.check_original(ctx, right, found.and_then(|(letter, _)| letter.version)).await?
            }
        };
        let replay = self.build_replay(right, input, version, original.as_ref()).await?;
        self.transaction(unit!(|tx| {
            self.recheck_original(tx, ctx, right.app(), original.as_ref()).await?;
            Ok::<_, Problem>(replay_open_dead_letter(tx, ctx, right, id, replay.clone()).await?)
        }))
        .await
    }

    /// Starts a run with the input of an open dead letter of the member's workspace, on its app's current version.
    ///
    /// # Errors
    /// 404 `dead_letter_not_found` if there is no such dead letter; 403 if the caller may not edit its app; those of
    /// [`Application::replay_dead_letter`].
    pub async fn replay_dead_letter_of(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<ReplayedRun, Problem> {
        let (id, right) = self.editable_dead_letter(ctx, member, id).await?;
        self.replay_dead_letter(ctx, &right, id, None, WhichVersion::Current).await
    }

    /// Discards an open dead letter of the member's workspace.
    ///
    /// # Errors
    /// 404 `dead_letter_not_found` if there is no such dead letter; 403 if the caller may not edit its app; a [`Problem`] if
    /// it is settled, or the store fails.
    pub async fn discard_dead_letter_of(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<(), Problem> {
        let (id, right) = self.editable_dead_letter(ctx, member, id).await?;
        self.transaction(unit!(|tx| discard_open_dead_letter(tx, ctx, &right, id).await)).await?;
        Ok(())
    }

    async fn editable_dead_letter(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<(DeadLetterId, AppRight<CanEdit>), Problem> {
        let (id, access) = self.dead_letter(ctx, id).await?;
        // A person in two workspaces may send ids of the other.
        if access.member().workspace() != member.workspace() {
            return Err(Problem::not_found("dead letter"));
        }
        Ok((id, access.require()?))
    }

    /// Starts a run with the input of a run that failed or was blocked.
    ///
    /// # Errors
    /// [`Problem`] if the run cannot be replayed, the app cannot run, the original version may do more than the current one
    /// and the caller may not give that to the app, the workspace's quota is used up and no more runs may wait, or the store
    /// fails.
    pub async fn replay_run(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: RunId,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
    ) -> Result<ReplayedRun, Problem> {
        let original = match version {
            WhichVersion::Current => None,
            WhichVersion::Original => {
                let found = self.store().run(right.member().workspace(), id).await?;
                self.check_original(ctx, right, found.and_then(|run| run.version)).await?
            }
        };
        let replay = self.build_replay(right, input, version, original.as_ref()).await?;
        self.transaction(unit!(|tx| {
            self.recheck_original(tx, ctx, right.app(), original.as_ref()).await?;
            Ok::<_, Problem>(replay_run(tx, ctx, right, id, replay.clone()).await?)
        }))
        .await
    }

    /// Checks that the caller may run the version that failed: a replay of it is a gain as a rollback to it is, because the run
    /// has the permissions of that version and an input of the caller's. Returns `None` if there is no version to run, which
    /// the replay itself refuses.
    async fn check_original(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        version: Option<VersionRef>,
    ) -> Result<Option<EarlierVersion>, Problem> {
        let (member, app) = (right.member(), right.app());
        let workspace = member.workspace();
        let Some(version) = version else { return Ok(None) };
        let found = self.store().version(workspace, app, version.id).await?;
        let Some((version, content)) = found.filter(|(version, _)| version.is_runnable) else {
            return Ok(None);
        };
        let current = self.store().app(workspace, app).await?.and_then(|app| app.current_version);
        let Some(current) = current else { return Ok(None) };
        let Some((current, before)) = self.store().version(workspace, app, current).await? else {
            return Ok(None);
        };
        // A run answers no visitors.
        let has_fetch = false;
        let baseline = Baseline::of(&current, before.manifest, has_fetch);
        let measured = (version, content.manifest, has_fetch);
        let earlier =
            self.measure_earlier_version(ctx, member, measured, baseline).await.map_err(advise_current)?;
        earlier.check_gains(&ctx.caller, member.role()).map_err(refuse_original)?;
        Ok(Some(earlier))
    }

    /// Checks the same in the transaction that starts the run: a permission that was taken away meanwhile is not used.
    async fn recheck_original(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        app: AppId,
        original: Option<&EarlierVersion>,
    ) -> Result<(), Problem> {
        let Some(original) = original else { return Ok(()) };
        let right = self.lock_app::<CanEdit>(tx, ctx, app).await?;
        recheck_projects(tx, right.member(), &original.manifest, &original.publishing.baseline).await?;
        check_earlier_version(tx, ctx, &right, original).await.map_err(refuse_original)
    }

    async fn build_replay(
        &self,
        right: &AppRight<CanEdit>,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
        original: Option<&EarlierVersion>,
    ) -> Result<ReplayRequest, Problem> {
        let runs_per_month = self.runs_per_month(right.member().workspace()).await?;
        let permitted = original.map(|original| original.version.id);
        Ok(ReplayRequest { input, version, permitted, runs_per_month })
    }
}

/// Converts a refusal to run the original version.
fn refuse_original(error: AppError) -> Problem {
    match error {
        AppError::GainNeedsApproval(reasons) => Problem::forbidden(
            "approval_needs_console",
            "The original version is outside the safe band of the current one: a builder replays it in the console.",
        )
        .hint(format!(
            "{} Replay with the current version, or ask a builder to replay it in the console.",
            reasons.join(" ")
        )),
        other => advise_current(other.into()),
    }
}

/// Replaces advice about publishing a version by advice about the replay.
fn advise_current(problem: Problem) -> Problem {
    match (problem.kind, &*problem.code) {
        (ProblemKind::Forbidden, "approval_needs_console" | "admin_approval_required") => {
            problem.hint("Replay with the current version, or ask an admin to replay it in the console.")
        }
        (ProblemKind::Conflict, "version_unusable") => problem.hint("Replay with the current version."),
        (ProblemKind::Conflict, "stale_version") => problem.hint("Send the request again."),
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_replay_says_what_to_do_instead() {
        let gain = AppError::GainNeedsApproval(vec!["The app gains access.".to_owned()]);
        for (error, code, who) in [
            (gain, "approval_needs_console", "a builder"),
            (AppError::ConnectionNeedsAdmin { in_console: false }, "approval_needs_console", "an admin"),
            (AppError::ConnectionNeedsAdmin { in_console: true }, "admin_approval_required", "an admin"),
            (AppError::VersionUnusable, "version_unusable", ""),
        ] {
            let problem = refuse_original(error);
            let hint = problem.hint.as_deref().unwrap_or_default();
            assert_eq!(problem.code, code);
            assert!(hint.contains("with the current version") && hint.contains(who), "{hint}");
        }
        let stale = refuse_original(AppError::StaleVersion);
        assert_eq!((&*stale.code, stale.hint.as_deref()), ("stale_version", Some("Send the request again.")));
    }
}
