//! Outcome of a run that a tool started.

use std::time::Duration;

use application::{Application, Problem};
use kernel::{Context, authority::AppAccess};
use runs::{Run, RunStatus, automations::StartedRun};
use serde_json::{Value, json};

use super::{Reply, UNTRUSTED_CONTENT_NOTICE};

/// Time to wait for the end of a run.
const MAX_WAIT: Duration = Duration::from_secs(25);

/// Waits for the end of a run that a tool started, and adds to `content` what became of it.
pub(super) async fn wait_for_outcome(
    app: &Application,
    ctx: &Context,
    access: &AppAccess,
    started: StartedRun,
    mut content: Value,
) -> Result<Reply, Problem> {
    content["runId"] = json!(started.run);
    if started.is_on_hold {
        content["status"] = "held".into();
        content["hint"] =
            "The runs of the month are used up. The run waits for the next month or a larger plan, at most \
                           seven days."
                .into();
        return Ok(content.into());
    }
    let run = app.wait_for_run(ctx, access, started.run, MAX_WAIT).await?;
    let status = run.state.status();
    content["status"] = json!(status);
    match status {
        RunStatus::Queued | RunStatus::Running => {
            content["hint"] = "The run goes on. Get its result with get_run.".into();
        }
        RunStatus::WaitingApproval => {
            content["hint"] =
                "A person has to answer a question of the run. Get its result with get_run.".into();
        }
        RunStatus::Succeeded => {
            content["result"] = json!(app.result_of(access, &run).await?);
            content["untrusted"] = json!({ "result": UNTRUSTED_CONTENT_NOTICE });
        }
        RunStatus::Failed | RunStatus::Blocked => return Ok(failure(&run, content)),
    }
    Ok(content.into())
}

fn failure(run: &Run, mut content: Value) -> Reply {
    let fault = run.state.fault();
    content["errorCode"] = json!(fault.map(|fault| &fault.code));
    content["errorMessage"] = json!(fault.map(|fault| &fault.message));
    content["hint"] = "Get the reason with explain_run.".into();
    content["untrusted"] = json!({ "errorMessage": UNTRUSTED_CONTENT_NOTICE });
    Reply { content, is_failure: true }
}
