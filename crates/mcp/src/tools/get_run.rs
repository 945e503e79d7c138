//! `get_run`: returns one run with its steps and, if it failed, an explanation.

use application::{Application, Problem};
use kernel::{Context, rfc3339::to_rfc3339};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, run_view};

pub(super) const NAME: &str = "get_run";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    run_id: String,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Get a run",
        "Returns one run with its steps, what it returned if it was started by hand or by an agent and, if it failed or was \
         blocked, the reason.",
        json!({ "runId": { "type": "string", "description": "Id of the run, from list_runs." } }),
        &["runId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.run(ctx, &arguments.run_id).await?;
    let run = app.store().run(access.member().workspace(), id).await?;
    let run = run.ok_or_else(|| Problem::not_found("run"))?;
    let mut view = run_view::summary(&run);
    let steps: Vec<Value> = run
        .steps
        .iter()
        .map(|step| {
            json!({
                "label": step.label,
                "status": step.status,
                "startedAt": step.started_at.as_ref().map(to_rfc3339),
                "durationMs": step.duration_ms,
                "detail": step.detail,
            })
        })
        .collect();
    view["steps"] = steps.into();
    view["explanation"] = json!(app.explanation_of(&access, &run).await?);
    view["result"] = json!(app.result_of(&access, &run).await?);
    view["untrusted"] = json!({
        "errorMessage": UNTRUSTED_CONTENT_NOTICE,
        "steps": UNTRUSTED_CONTENT_NOTICE,
        "result": UNTRUSTED_CONTENT_NOTICE,
    });
    Ok(view)
}
