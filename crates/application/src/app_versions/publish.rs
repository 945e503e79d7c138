//! Publishing a version: what is checked before the transaction, and once more in it. Every way to give an app another version
//! goes through here, because checking code takes seconds in which rights and the current version may change.

use std::collections::BTreeMap;

use apps::{
    App, AppError, AppVersion, Manifest, VersionKind,
    changes::Remaining,
    safe_band::{PublishRule, Reach, check_gains, is_confined},
    trust,
    versions::{Baseline, BuiltFrom, CreateVersion, Publishing, RollBack, Rollback, VersionContent},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, Locked, Member, Sharing},
    id::{AppId, WorkspaceId},
};
use projects::{ProjectFact, authorize_project};

use serde_json::json;

use super::{
    check_code, check_connectors, check_projects,
    consequences::{Consequences, VersionMove, move_automations},
    create_gates,
};
use crate::{Application, Problem, Tx};

/// A version that a caller wants to publish.
#[derive(Debug)]
pub struct NewVersion {
    /// Manifest.
    pub manifest: Manifest,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
    /// Summary of the change.
    pub summary: Option<String>,
    /// Origin of the version.
    pub kind: VersionKind,
    /// Instruction and builder, if it is built from an instruction.
    pub built_from: Option<BuiltFrom>,
    /// Sharing of the app.
    pub sharing: Sharing,
    /// Version that it is measured against, and the rule.
    pub publishing: Publishing,
}

/// A version as an app has it now.
#[derive(Debug)]
pub struct CurrentVersion {
    /// Baseline of the next version.
    pub baseline: Baseline,
    /// Number within the app.
    pub number: u32,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
}

impl Application {
    /// Reads the current version of an app; `None` if it has none.
    ///
    /// # Errors
    /// [`Problem`] if there is no such app, or the store fails.
    pub async fn read_current_version(
        &self,
        ctx: &Context,
        member: &Member,
        app: AppId,
        rule: PublishRule,
    ) -> Result<Option<CurrentVersion>, Problem> {
        let workspace = member.workspace();
        let app = self.store().app(workspace, app).await?.ok_or_else(|| Problem::not_found("app"))?;
        let Some(current) = app.current_version else { return Ok(None) };
        let found = self.store().version(workspace, app.id, current).await?;
        let Some((version, VersionContent { manifest, files })) = found else { return Ok(None) };
        // Nobody else is measured by it.
        let is_measured = is_confined(&ctx.caller, member.role(), rule);
        let has_fetch = !is_measured || self.has_fetch(ctx, &version, &files).await?;
        let number = version.number;
        Ok(Some(CurrentVersion { baseline: Baseline::of(&version, manifest, has_fetch), number, files }))
    }

    /// Returns `true` if the code of a version answers requests of visitors. Versions of earlier releases did not record it.
    pub(crate) async fn has_fetch(
        &self,
        ctx: &Context,
        version: &AppVersion,
        files: &BTreeMap<String, String>,
    ) -> Result<bool, Problem> {
        match version.handlers {
            Some(handlers) => Ok(handlers.fetch),
            None => Ok(check_code(self, ctx, version.workspace, files).await?.fetch),
        }
    }

    /// Checks a version: its projects, its connections, what the app gains by it, and its code.
    ///
    /// # Errors
    /// [`Problem`] that says what is refused, or if the code cannot be checked now or the store fails.
    pub async fn check_version(
        &self,
        ctx: &Context,
        member: &Member,
        new: NewVersion,
    ) -> Result<CreateVersion, Problem> {
        self.check_permissions(ctx, member, &new.manifest, &new.publishing).await?;
        let trust_score = trust::assess(&new.manifest, &new.files).score;
        let check = |has_fetch| {
            let reach = Reach { manifest: &new.manifest, trust_score, has_fetch, sharing: new.sharing };
            let reasons = new.publishing.baseline.reasons_outside(reach);
            check_gains(&ctx.caller, member.role(), new.publishing.rule, &reasons)
        };
        // What the manifest alone decides needs no check of the code.
        check(false)?;
        let handlers = check_code(self, ctx, member.workspace(), &new.files).await?;
        check(handlers.fetch)?;
        let NewVersion { manifest, files, summary, kind, built_from, publishing, .. } = new;
        Ok(CreateVersion { manifest, files, summary, kind, built_from, handlers: Some(handlers), publishing })
    }

    /// Checks that the caller may give an app the projects and connections that it gains.
    pub(crate) async fn check_permissions(
        &self,
        ctx: &Context,
        member: &Member,
        manifest: &Manifest,
        publishing: &Publishing,
    ) -> Result<(), Problem> {
        let granted = &publishing.baseline.manifest().permissions;
        check_projects(self, ctx, member.workspace(), manifest, &granted.data).await?;
        check_connectors(self, ctx, member, manifest, &granted.connectors).await
    }

    /// Publishes a version that [`Self::check_version`] checked, and returns what is left to do in the console.
    ///
    /// # Errors
    /// [`Problem`] if the caller may not publish it any more, another version became current that it does not fit, or the store
    /// fails.
    pub async fn publish_version(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        right: &Locked<AppRight<CanEdit>>,
        version: CreateVersion,
    ) -> Result<(App, AppVersion, Vec<String>), Problem> {
        recheck_projects(tx, right.member(), &version.manifest, &version.publishing.baseline).await?;
        let needs_console = create_gates(self, tx, ctx, right.member(), &version.manifest).await?;
        let (app, version) = apps::versions::create_version(tx, ctx, right, version).await?;
        Ok((app, version, needs_console))
    }

    /// Makes an earlier version current, and returns what is left to do in the console and what became of automations.
    pub(super) async fn republish_version(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        right: &Locked<AppRight<CanEdit>>,
        mut request: RollBack,
        moved: &VersionMove<'_>,
    ) -> Result<(Rollback, Vec<String>, Consequences), Problem> {
        let to = &request.to;
        recheck_projects(tx, right.member(), &to.manifest, &to.publishing.baseline).await?;
        let needs_console = create_gates(self, tx, ctx, right.member(), &to.manifest).await?;
        let app = tx.app_for_update(right.member().workspace(), right.app()).await?;
        let app = app.ok_or(AppError::AppNotFound)?;
        // Of two who roll back at once, the second changes no automation.
        if app.current_version != Some(request.expected_current) {
            return Err(AppError::StaleVersion.into());
        }
        let consequences = move_automations(tx, ctx, right, &app, moved).await?;
        let automations: Vec<_> = consequences
            .automations
            .iter()
            .map(|it| json!({ "id": it.id, "change": it.change.as_str() }))
            .collect();
        let remains: Vec<_> = consequences.remains.iter().map(Remaining::subject).collect();
        request.detail = Some(json!({ "automations": automations, "remains": remains }));
        let (_, rollback) = apps::versions::roll_back(tx, ctx, right, request).await?;
        Ok((rollback, needs_console, consequences))
    }
}

/// Checks in a transaction that the caller may still use the projects that a manifest names and the baseline does not.
pub(crate) async fn recheck_projects(
    tx: &mut dyn Tx,
    member: &Member,
    manifest: &Manifest,
    baseline: &Baseline,
) -> Result<(), Problem> {
    let workspace: WorkspaceId = member.workspace();
    let granted = &baseline.manifest().permissions.data;
    for data in manifest.permissions.data.iter().filter(|data| !granted.contains(data)) {
        let project = tx.project_for_update(workspace, data.project_id).await?;
        let fact = project.map(|project| ProjectFact {
            project: project.id,
            workspace: project.workspace,
            created_by: project.created_by,
        });
        let access = authorize_project(member.clone(), fact.as_ref())?;
        if data.access == apps::manifest::DataAccess::Write && !access.can_edit() {
            return Err(projects::access::ProjectAccessError::EditRequired.into());
        }
    }
    Ok(())
}
