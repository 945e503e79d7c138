//! A dead letter as agents see it: the names of the API.

use runs::dead_letters::{DeadLetter, LetterFate, LetterOrigin};
use serde_json::{Value, json};

pub(super) fn summary(letter: &DeadLetter) -> Value {
    let (run, delivery) = match letter.origin {
        LetterOrigin::Run(run) => (Some(run), None),
        LetterOrigin::Delivery(delivery) => (None, Some(delivery)),
    };
    let replay = match &letter.fate {
        LetterFate::Replayed(_, run) => Some(*run),
        LetterFate::Open | LetterFate::Discarded(_) => None,
    };
    json!({
        "id": letter.id,
        "kind": letter.origin.kind(),
        "state": letter.fate.state(),
        "appId": letter.app,
        "appName": letter.app_name,
        "roadId": letter.automation,
        "roadName": letter.automation_name,
        "trigger": letter.trigger,
        "reason": letter.reason,
        "message": letter.message,
        "runId": run,
        "deliveryId": delivery,
        "attempt": letter.attempt,
        "payloadBytes": letter.payload_bytes,
        "preview": letter.preview,
        "createdAt": letter.created_at,
        "replayRunId": replay,
    })
}
