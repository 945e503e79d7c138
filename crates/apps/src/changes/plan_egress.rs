//! Planning to let an app reach one more host.

use kernel::{
    Context,
    authority::{AppRight, Builder, CanEdit},
    id::{RunId, VersionId},
};

use super::{Change, ChangePlan, ChangesTx, LIFETIME, MAX_OPEN};
use crate::{AppError, Manifest, manifest::HttpMethod};

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
    right: &AppRight<CanEdit>,
    builder: &Builder,
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
