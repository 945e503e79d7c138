//! Planned changes as tools show them.

use apps::changes::{Change, ChangeOutcome};
use kernel::{Timestamp, rfc3339::to_rfc3339};
use serde_json::{Value, json};

/// Returns a change with its plan.
pub(super) fn view(change: &Change, now: Timestamp) -> Value {
    let plan = &change.plan;
    let permissions: Vec<String> = plan.differences().iter().map(|it| it.describe(plan.locale)).collect();
    let (version, message) = match &change.outcome {
        Some(ChangeOutcome::Live(version)) => (Some(version), None),
        Some(ChangeOutcome::Failed(message)) => (None, Some(message)),
        None => (None, None),
    };
    json!({
        "changeId": change.id,
        "appId": change.app,
        "state": change.state(now),
        "message": message,
        "versionId": version,
        "summary": plan.summary,
        "steps": plan.steps,
        "notes": plan.notes,
        "permissions": permissions,
        "needsConsole": plan.needs_console,
        "expiresAt": to_rfc3339(&change.expires_at),
        "manifest": plan.manifest,
    })
}
