//! Represents a dead letter for agents, with the names of the API.

use kernel::rfc3339::to_rfc3339;
use runs::dead_letters::{DeadLetter, DeadLetterOrigin, DeadLetterStatus};
use serde_json::{Value, json};

pub(super) fn summary(dead_letter: &DeadLetter) -> Value {
    let (run, delivery) = match dead_letter.origin {
        DeadLetterOrigin::Run(run) => (Some(run), None),
        DeadLetterOrigin::Delivery(delivery) => (None, Some(delivery)),
    };
    let replay = match &dead_letter.status {
        DeadLetterStatus::Replayed(_, run) => Some(*run),
        DeadLetterStatus::Open | DeadLetterStatus::Discarded(_) => None,
    };
    json!({
        "id": dead_letter.id,
        "kind": dead_letter.origin.kind(),
        "state": dead_letter.status.state(),
        "appId": dead_letter.app,
        "appName": dead_letter.app_name,
        "roadId": dead_letter.automation,
        "roadName": dead_letter.automation_name,
        "trigger": dead_letter.trigger,
        "reason": dead_letter.reason,
        "message": dead_letter.message,
        "runId": run,
        "deliveryId": delivery,
        "attempt": dead_letter.attempt,
        "payloadBytes": dead_letter.payload_bytes,
        "preview": dead_letter.preview,
        "createdAt": to_rfc3339(&dead_letter.created_at),
        "replayRunId": replay,
    })
}
