//! `start_automation`: starts an automation, and returns what became of the run.

use application::{Application, Problem};
use kernel::{Context, authority::CanRun};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Reply, run_outcome::wait_for_outcome};

pub(super) const NAME: &str = "start_automation";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    automation_id: String,
    input: Option<Value>,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Start an automation",
        "Starts an automation by hand, whatever its trigger and status, and waits up to 25 seconds for the end of the run. \
         Returns the result of the run or, if it goes on, its id for get_run. The run may reach other hosts, as its app may. \
         Prefer a tool whose name begins with run_ if there is one for the task.",
        json!({
            "automationId": { "type": "string", "description": "Id of the automation, from list_automations." },
            // A single type, because several clients refuse a property without one; any JSON is accepted.
            "input": { "type": "object", "description": "Input for the app, which gets it as event.data. Default: null." },
        }),
        &["automationId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Reply, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (automation, access) = app.automation(ctx, &arguments.automation_id).await?;
    let right = access.require::<CanRun>()?;
    let input = arguments.input.unwrap_or_default().to_string();
    let input = RawValue::from_string(input).map_err(Problem::internal)?;
    let started = app.start_automation(ctx, &right, automation, input, None).await?;
    wait_for_outcome(app, ctx, &right, started, json!({ "automationId": automation })).await
}
