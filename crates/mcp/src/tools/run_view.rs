//! Represents a run for agents, with the names of the API.

use runs::Run;
use serde_json::{Value, json};

pub(super) fn summary(run: &Run) -> Value {
    let fault = run.state.fault();
    json!({
        "id": run.id,
        "appId": run.app,
        "appName": run.app_name,
        "roadId": run.automation,
        "roadName": run.automation_name,
        "trigger": run.trigger,
        "status": run.state.status(),
        "attempt": run.attempt,
        "acceptedAt": run.accepted_at,
        "startedAt": run.state.started_at(),
        "finishedAt": run.state.finished_at(),
        "errorCode": fault.map(|fault| &fault.code),
        "errorMessage": fault.map(|fault| &fault.message),
    })
}
