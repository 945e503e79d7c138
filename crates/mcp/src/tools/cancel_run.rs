//! `cancel_run`: ends a run that has not ended.

use application::{Application, Problem, unit};
use kernel::{Context, authority::CanRun};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::run_view;

pub(super) const NAME: &str = "cancel_run";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    run_id: String,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Cancel a run",
        "Ends a run that is queued, running or waiting for a person; it fails with the code cancelled and is not retried. What \
         its code did until then stays done. A run that has ended is left as it is.",
        json!({ "runId": { "type": "string", "description": "Id of the run, from list_runs." } }),
        &["runId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.run(ctx, &arguments.run_id).await?;
    let right = access.require::<CanRun>()?;
    app.transaction(unit!(|tx| runs::runs::cancel_run(tx, ctx, &right, id).await)).await?;
    let run = app.store().run(right.member().workspace(), id).await?;
    Ok(run_view::summary(&run.ok_or_else(|| Problem::not_found("run"))?))
}
