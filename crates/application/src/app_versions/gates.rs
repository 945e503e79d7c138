//! Gates for the hosts in the manifest of a new version.

use apps::Manifest;
use connections::{
    Gate, GateHost, GateStatus,
    gates::{GateError, MAX_GATES, Method},
};
use kernel::{
    Caller, Context,
    authority::{Member, Role},
};

use crate::{Application, Problem, Tx};

/// Creates a gate for each host in the manifest that has none: open if an admin creates the version in the console,
/// otherwise closed until an admin opens it. A request with a token never opens a gate. Returns what is left to do in
/// the console.
///
/// # Errors
/// [`Problem`] if a host is malformed, there are too many gates, or the store fails.
pub async fn create_gates(
    app: &Application,
    tx: &mut dyn Tx,
    ctx: &Context,
    member: &Member,
    manifest: &Manifest,
) -> Result<Vec<String>, Problem> {
    if manifest.permissions.egress.is_empty() {
        return Ok(Vec::new());
    }
    let workspace = member.workspace();
    let in_console = matches!(ctx.caller, Caller::Session(_) | Caller::System(_));
    let may_open = in_console && member.role().at_least(Role::Admin);
    let mut known: Vec<Gate> = app.store().gates(workspace).await?;
    // A host is not reached through the gate of a connection.
    known.retain(|gate| gate.connection.is_none());
    let mut needs_console = Vec::new();
    for egress in &manifest.permissions.egress {
        let host = GateHost::parse(&egress.host)
            .map_err(|error| Problem::invalid_field("manifest.permissions.egress", error))?;
        let status = match known.iter().find(|gate| gate.host == host) {
            Some(gate) => gate.status,
            None => {
                if known.len() >= MAX_GATES as usize {
                    return Err(GateError::TooManyGates.into());
                }
                // All: the manifest may name fewer.
                let methods = Method::ALL.to_vec();
                let mut gate = Gate::new_open(ctx, workspace, egress.host.clone(), host, methods);
                if !may_open {
                    gate.status = GateStatus::Closed;
                }
                tx.insert_gate(&gate).await?;
                let detail = serde_json::json!({ "host": egress.host, "status": gate.status.as_str() });
                tx.audit(ctx.audit_entry("gate.create").workspace(workspace).target(gate.id).detail(detail));
                let status = gate.status;
                known.push(gate);
                status
            }
        };
        if status == GateStatus::Closed {
            needs_console.push(format!("An admin opens the gate to {}.", egress.host));
        }
    }
    needs_console.dedup();
    Ok(needs_console)
}
