//! `plan_change`: plans a change of an app from sentences.

use application::{Application, Problem};
use kernel::{Context, authority::CanEdit};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::change_view;

pub(super) const NAME: &str = "plan_change";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: String,
    instruction: String,
}

pub(super) fn definition() -> Tool {
    super::addition_tool(
        NAME,
        "Plan a change of an app",
        "Plans what sentences in English, Russian or Kazakh ask for: hosts, connections, tables, schedules, name, \
         description, sharing, budget and retries, such as \"Let the app read from api.github.com. Run it every weekday at \
         9:00.\" Nothing changes until approve_change. What was not understood is in notes; what only a person can approve \
         in the console is in needsConsole.",
        json!({
            "appId": { "type": "string", "description": "Id of the app, from list_apps." },
            "instruction": { "type": "string", "description": "The sentences; 4 to 2,000 characters." },
        }),
        &["appId", "instruction"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let right = app.app(ctx, &arguments.app_id).await?.require::<CanEdit>()?;
    let (change, _) = app.plan_change(ctx, &right, &arguments.instruction).await?;
    Ok(change_view::view(&change, ctx.now))
}
