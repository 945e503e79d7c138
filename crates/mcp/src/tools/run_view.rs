//! Represents a run for agents, with the names of the API.

use kernel::rfc3339::to_rfc3339;
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
        "acceptedAt": to_rfc3339(&run.accepted_at),
        "startedAt": run.state.started_at().as_ref().map(to_rfc3339),
        "finishedAt": run.state.finished_at().as_ref().map(to_rfc3339),
        "askedBy": run.asked_by.as_ref().map(|agent| json!({ "grantId": agent.grant, "clientName": agent.client_name })),
        "errorCode": fault.map(|fault| &fault.code),
        "errorMessage": fault.map(|fault| &fault.message),
    })
}
