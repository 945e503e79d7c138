//! Planned changes of an app: what would change, shown to a person before anything is built (specification part B,
//! "ChangePlan").

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp, UnitOfWork,
    authority::{AppRight, Builder, CanEdit},
    id::{AppId, ChangeId, RunId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{AppError, Manifest, manifest::HttpMethod};

/// How long a plan may be approved.
pub const LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How many plans of one person are open at once.
pub const MAX_OPEN: u64 = 50;

/// What is to be changed, and from what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePlan {
    /// The version it starts from.
    pub base: VersionId,
    /// What was asked for.
    pub instruction: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// The manifest as it was.
    pub before: Manifest,
    /// The manifest as it is to be.
    pub manifest: Manifest,
    /// What happens when it is approved.
    pub steps: Vec<String>,
    /// What to know before.
    pub notes: Vec<String>,
    /// What only an admin in the console can do for it.
    pub needs_console: Vec<String>,
}

/// A planned change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The change.
    pub id: ChangeId,
    /// The workspace it is in.
    pub workspace: WorkspaceId,
    /// The app it changes.
    pub app: AppId,
    /// Who planned it; nobody else sees it.
    pub owner: UserId,
    /// The run that suggested it.
    pub run: Option<RunId>,
    /// What is to be changed.
    pub plan: ChangePlan,
    /// When it was planned.
    pub created_at: Timestamp,
    /// Until when it may be approved.
    pub expires_at: Timestamp,
}

/// How a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChangeState {
    /// It waits for its owner.
    Planned,
    /// It is being built.
    Building,
    /// It is a version.
    Live,
    /// It could not be built.
    Failed,
    /// Its owner did not approve it in time.
    Expired,
}

impl Change {
    /// How it stands.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ChangeState {
        if self.expires_at <= now { ChangeState::Expired } else { ChangeState::Planned }
    }
}

/// What stands of the app before it is changed.
#[derive(Debug, Clone)]
pub struct AppBaseline {
    /// The version that is current.
    pub version: VersionId,
    /// Its manifest.
    pub manifest: Manifest,
    /// Whether an open gate of the workspace leads to the host with the method.
    pub is_gate_open: bool,
}

/// A host that a run was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedHost {
    /// The run.
    pub run: RunId,
    /// The host, as a manifest names it.
    pub host: String,
    /// How it was called.
    pub method: HttpMethod,
}

/// Plans to let an app reach the host that a run of it was refused. Nothing is built.
///
/// # Errors
/// When the manifest names the host already or cannot name it, the person has too many plans open, or what the store
/// says.
pub async fn plan_egress(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    (right, builder): (&AppRight<CanEdit>, &Builder),
    baseline: AppBaseline,
    refused: RefusedHost,
) -> Result<Change, AppError> {
    let RefusedHost { run, host, method } = refused;
    let manifest = baseline.manifest.with_egress(&host, method).ok_or(AppError::NothingToChange)?;
    let workspace = right.member().workspace();
    let owner = builder.user();
    if tx.count_open_changes(workspace, owner, ctx.now).await? >= MAX_OPEN {
        return Err(AppError::TooManyChanges);
    }
    let method = method.as_str();
    let mut steps = vec![
        format!("Name {host} with the method {method} in the manifest."),
        "Make a new version with the same code, and move the app to it.".to_owned(),
    ];
    let mut needs_console = Vec::new();
    if !baseline.is_gate_open {
        steps.push(format!("Open the gate to {host}."));
        needs_console.push(format!("An admin opens the gate to {host}."));
    }
    let plan = ChangePlan {
        base: baseline.version,
        instruction: format!("Let the app call {host} with the method {method}."),
        summary: format!("The app may call {host} with the method {method}."),
        before: baseline.manifest,
        manifest,
        steps,
        notes: vec![format!("A run was refused this call: {run}.")],
        needs_console,
    };
    let change = Change {
        id: ctx.new_id(),
        workspace,
        app: right.app(),
        owner,
        run: Some(run),
        plan,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
    };
    tx.insert_change(&change).await?;
    let detail = serde_json::json!({ "app": change.app, "run": run, "host": host, "method": method });
    tx.audit(ctx.audit_entry("change.plan").workspace(workspace).target(change.id).detail(detail));
    Ok(change)
}

/// Reads planned changes.
#[async_trait]
pub trait ChangesRead: Send + Sync {
    /// In which workspace and of which app a change is; for authorisation.
    async fn change_scope(&self, id: ChangeId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// A change that this person planned.
    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError>;
}

/// Writes planned changes.
#[async_trait]
pub trait ChangesTx: UnitOfWork {
    /// How many changes a person has planned that have not expired.
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a change.
    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError>;
}
