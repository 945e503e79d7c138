//! Turning a caller and an id from a path into a proof of authority. An id that is malformed, unknown or of another
//! workspace responds 404; this module decides it for all routes.

mod locked;
mod proof;
mod requirement;

pub use proof::{AppProof, Deferred, Proof, Restorable};
pub use requirement::Requirement;

use std::str::FromStr as _;

use identity::sessions::{StepUpProof, require_step_up};
use imports::imports::{Import, ImportError};
use kernel::{
    Caller, Context, Id, Timestamp,
    authority::{AppAccess, Member, Owner, Role, authorize_app, authorize_member},
    id::{
        AppId, AutomationId, ChangeId, DeadLetterId, GateId, ImportId, Kind, ProjectId, RunId, WorkspaceId,
    },
};
use projects::{ProjectAccess, ProjectRight, access::Own, authorize_project};
use workspace::WorkspaceRead;

use crate::{Application, Problem};

fn parse_id<K: Kind>(text: &str, what: &str) -> Result<Id<K>, Problem> {
    Id::from_str(text).map_err(|_| Problem::not_found(what))
}

/// Returns a caller's membership of a workspace.
///
/// # Errors
/// 404 `workspace_not_found` if they have none; 401 for a caller that is not a person; a [`Problem`] if the store
/// fails.
pub async fn membership_of<S: WorkspaceRead + ?Sized>(
    store: &S,
    caller: &Caller,
    workspace: WorkspaceId,
    now: Timestamp,
) -> Result<Member, Problem> {
    let user = caller.user().ok_or_else(Problem::unauthorized)?;
    let fact = store.membership(workspace, user).await?;
    Ok(authorize_member(caller, workspace, fact.as_ref(), now)?)
}

impl Application {
    /// Returns the caller's membership of a workspace.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn member(&self, ctx: &Context, workspace: &str) -> Result<Member, Problem> {
        self.member_of(ctx, parse_id(workspace, "workspace")?).await
    }

    /// Returns the caller's ownership of a deleted workspace.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if it is not deleted or the caller does not own it; a [`Problem`] if the store fails.
    pub async fn owner_of_deleted(&self, ctx: &Context, workspace: &str) -> Result<Owner, Problem> {
        let what = "workspace";
        let workspace = parse_id(workspace, what)?;
        let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
        let fact = self.store().membership_in_deleted(workspace, user).await?;
        let member = authorize_member(&ctx.caller, workspace, fact.as_ref(), ctx.now)?;
        member.require_owner().map_err(|_| Problem::not_found(what))
    }

    async fn member_of(&self, ctx: &Context, workspace: WorkspaceId) -> Result<Member, Problem> {
        let member = membership_of(self.store(), &ctx.caller, workspace, ctx.now).await?;
        crate::request_span::record("workspace", &workspace);
        Ok(member)
    }

    /// Returns a gate's id and the caller's membership of its workspace.
    ///
    /// # Errors
    /// 404 `gate_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn gate(&self, ctx: &Context, gate: &str) -> Result<(GateId, Member), Problem> {
        let what = "gate";
        let gate = parse_id(gate, what)?;
        let workspace = self.store().gate_scope(gate).await?.ok_or_else(|| Problem::not_found(what))?;
        let member = self.member_of(ctx, workspace).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok((gate, member))
    }

    /// Proves that the person of the session is present: they used a passkey recently, or have none.
    ///
    /// # Errors
    /// 403 `step_up_required`; 401 for a caller that is not a session; a [`Problem`] if the store fails.
    pub async fn require_step_up(&self, ctx: &Context) -> Result<StepUpProof, Problem> {
        let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized()) };
        let session = self.store().session(caller.session).await?.ok_or_else(Problem::unauthorized)?;
        let has_passkey = !self.store().passkeys_of(caller.user).await?.is_empty();
        Ok(require_step_up(&session, has_passkey, ctx.now)?)
    }

    /// Returns the caller's rights on an app.
    ///
    /// # Errors
    /// 404 `app_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn app(&self, ctx: &Context, app: &str) -> Result<AppAccess, Problem> {
        self.app_by_id(ctx, parse_id(app, "app")?).await
    }

    /// Returns the caller's rights on an app.
    ///
    /// # Errors
    /// 404 `app_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn app_by_id(&self, ctx: &Context, app: AppId) -> Result<AppAccess, Problem> {
        let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
        let missing = || Problem::not_found("app");
        let fact = self.store().app_fact(app, user).await?.ok_or_else(missing)?;
        let member =
            self.member_of(ctx, fact.workspace).await.map_err(|problem| mask_not_found(problem, "app"))?;
        Ok(authorize_app(member, Some(&fact))?)
    }

    /// Returns an automation's id and the caller's rights on its app.
    ///
    /// # Errors
    /// 404 `automation_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn automation(
        &self,
        ctx: &Context,
        automation: &str,
    ) -> Result<(AutomationId, AppAccess), Problem> {
        let what = "automation";
        let automation = parse_id(automation, what)?;
        let (_, app) =
            self.store().automation_scope(automation).await?.ok_or_else(|| Problem::not_found(what))?;
        let access = self.app_by_id(ctx, app).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok((automation, access))
    }

    /// Returns a run's id and the caller's rights on its app.
    ///
    /// # Errors
    /// 404 `run_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn run(&self, ctx: &Context, run: &str) -> Result<(RunId, AppAccess), Problem> {
        let what = "run";
        let run = parse_id(run, what)?;
        let (_, app) = self.store().run_scope(run).await?.ok_or_else(|| Problem::not_found(what))?;
        let access = self.app_by_id(ctx, app).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok((run, access))
    }

    /// Returns a dead letter's id and the caller's rights on its app.
    ///
    /// # Errors
    /// 404 `dead_letter_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn dead_letter(
        &self,
        ctx: &Context,
        dead_letter: &str,
    ) -> Result<(DeadLetterId, AppAccess), Problem> {
        let what = "dead letter";
        let dead_letter = parse_id(dead_letter, what)?;
        let (_, app) =
            self.store().dead_letter_scope(dead_letter).await?.ok_or_else(|| Problem::not_found(what))?;
        let access = self.app_by_id(ctx, app).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok((dead_letter, access))
    }

    /// Returns an import's id and the caller's rights on its app.
    ///
    /// # Errors
    /// 404 `import_not_found` if the caller may not see it; 409 `import_settled` if its app is gone; a [`Problem`] if the
    /// store fails.
    pub async fn import_of_app(
        &self,
        ctx: &Context,
        import_text: &str,
    ) -> Result<(ImportId, AppAccess), Problem> {
        let what = "import";
        let id = parse_id(import_text, what)?;
        let import = self.store().import(id).await?.ok_or_else(|| Problem::not_found(what))?;
        let Some(app) = import.app else {
            // Those who may read it are told what became of it; to others it does not exist.
            let (import, _) = self.import(ctx, import_text).await?;
            return Err(ImportError::NotInReview(import.status).into());
        };
        let access = self.app_by_id(ctx, app).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok((id, access))
    }

    /// Returns an import and the caller's membership of its workspace.
    ///
    /// # Errors
    /// 404 `import_not_found` if the caller neither made it nor is an admin; a [`Problem`] if the store fails.
    pub async fn import(&self, ctx: &Context, import: &str) -> Result<(Import, Member), Problem> {
        let what = "import";
        let import =
            self.store().import(parse_id(import, what)?).await?.ok_or_else(|| Problem::not_found(what))?;
        let member =
            self.member_of(ctx, import.workspace).await.map_err(|problem| mask_not_found(problem, what))?;
        let is_maker = member.beneficiary() == Some(import.created_by);
        if is_maker || member.role().at_least(Role::Admin) {
            Ok((import, member))
        } else {
            Err(Problem::not_found(what))
        }
    }

    /// Returns a planned change's id and the caller's rights on its app.
    ///
    /// # Errors
    /// 404 `change_not_found` if the caller did not plan it or may not see the app; a [`Problem`] if the store fails.
    pub async fn change(&self, ctx: &Context, change: &str) -> Result<(ChangeId, AppAccess), Problem> {
        let what = "change";
        let change = parse_id(change, what)?;
        let owner = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
        let app = self.store().app_of_change(owner, change).await?.ok_or_else(|| Problem::not_found(what))?;
        let access = self.app_by_id(ctx, app).await.map_err(|problem| mask_not_found(problem, what))?;
        // A plan belongs to the person who made it, so nobody has one in a view as a role.
        if access.member().beneficiary().is_none() {
            return Err(Problem::not_found(what));
        }
        Ok((change, access))
    }

    /// Returns the caller's ownership of a deleted backend project.
    ///
    /// # Errors
    /// 404 `project_not_found` if it is not deleted or the caller does not own it; a [`Problem`] if the store fails.
    pub async fn owner_of_deleted_project(
        &self,
        ctx: &Context,
        project: &str,
    ) -> Result<ProjectRight<Own>, Problem> {
        let what = "project";
        let missing = || Problem::not_found(what);
        let project: ProjectId = parse_id(project, what)?;
        let fact = self.store().deleted_project_fact(project).await?.ok_or_else(missing)?;
        let member =
            self.member_of(ctx, fact.workspace).await.map_err(|problem| mask_not_found(problem, what))?;
        authorize_project(member, Some(&fact)).and_then(ProjectAccess::require).map_err(|_| missing())
    }

    /// Returns the caller's access to a backend project.
    ///
    /// # Errors
    /// 404 `project_not_found` if the caller may not see it; a [`Problem`] if the store fails.
    pub async fn project(&self, ctx: &Context, project: &str) -> Result<ProjectAccess, Problem> {
        let what = "project";
        let project: ProjectId = parse_id(project, what)?;
        let fact = self.store().project_fact(project).await?.ok_or_else(|| Problem::not_found(what))?;
        let member =
            self.member_of(ctx, fact.workspace).await.map_err(|problem| mask_not_found(problem, what))?;
        Ok(authorize_project(member, Some(&fact))?)
    }
}

/// Makes a 404 about a parent one about the object itself, so that the response does not reveal that its workspace or
/// app exists.
fn mask_not_found(problem: Problem, what: &str) -> Problem {
    if problem.kind == crate::ProblemKind::NotFound { Problem::not_found(what) } else { problem }
}
