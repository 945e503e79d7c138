//! `approve_change`: makes a planned change, inside the safe band.

use application::{Application, Problem};
use apps::Manifest;
use kernel::{Context, authority::CanEdit};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::change_view;

pub(super) const NAME: &str = "approve_change";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    change_id: String,
    manifest: Value,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Approve a planned change",
        "Makes a change that plan_change planned: creates a version with the planned manifest, and moves the app and its \
         automations. Works only if needsConsole of the plan is empty: if the app gains a permission, ask the person to \
         approve the change in the console.",
        json!({
            "changeId": { "type": "string", "description": "Id of the change, from plan_change." },
            "manifest": {
                "type": "object",
                "description": "The manifest of the plan, exactly as plan_change returned it.",
            },
        }),
        &["changeId", "manifest"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.change(ctx, &arguments.change_id).await?;
    let right = access.require::<CanEdit>()?;
    let manifest = Manifest::parse(&arguments.manifest)?;
    let change = app.approve_change(ctx, &right, id, &manifest).await?;
    let change = app.with_remaining_steps(change).await?;
    Ok(change_view::view(&change, ctx.now))
}
