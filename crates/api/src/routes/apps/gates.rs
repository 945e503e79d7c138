//! Gates for the hosts that a new version asks for.

use apps::Manifest;
use connections::{
    Gate, GateHost, GateStatus,
    gates::{GateView, Method},
};
use kernel::{
    Context, Problem,
    authority::{Member, Role},
};

use crate::{ports::Tx, state::Api};

/// Makes a gate for each host of the manifest that has none yet: open when an admin makes the version, else closed
/// until an admin opens it.
pub(super) async fn make_gates(
    api: &Api,
    tx: &mut dyn Tx,
    ctx: &Context,
    member: &Member,
    manifest: &Manifest,
) -> Result<(), Problem> {
    if manifest.permissions.egress.is_empty() {
        return Ok(());
    }
    let workspace = member.workspace();
    let existing: Vec<GateView> = api.store().list(workspace, ctx.now).await?;
    for egress in &manifest.permissions.egress {
        let host = GateHost::parse(&egress.host)
            .map_err(|error| Problem::invalid_field("manifest.permissions.egress", error))?;
        if existing.iter().any(|view| view.gate.host == host) {
            continue;
        }
        let methods =
            vec![Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];
        let mut gate = Gate::open(ctx, workspace, egress.host.clone(), host, methods);
        if !member.role().at_least(Role::Admin) {
            gate.status = GateStatus::Closed;
        }
        tx.insert_gate(&gate).await?;
        let detail = serde_json::json!({ "host": egress.host, "status": gate.status.as_str() });
        tx.audit(ctx.audit("gate.create").workspace(workspace).target(gate.id).detail(detail));
    }
    Ok(())
}
