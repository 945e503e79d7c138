//! `create_import`: creates an app of another tool's workflow.

use application::{Application, Problem};
use kernel::Context;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::import_view;

pub(super) const NAME: &str = "create_import";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    source: String,
    name: Option<String>,
}

pub(super) fn definition() -> Tool {
    super::addition_tool(
        NAME,
        "Import a workflow",
        "Creates a private app of a workflow exported from n8n, Make or Node-RED, with a paused automation. Call analyze_import first. \
         Only a person can turn it on, in the console.",
        json!({
            "source": { "type": "string", "description": "The exported JSON as text; at most 400,000 characters." },
            "name": { "type": "string", "description": "Name of the app, 2 to 60 characters. Default: the name of the workflow." },
        }),
        &["source"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let Arguments { source, name } = super::parse_arguments(arguments)?;
    let creator = super::authorize_member(app, ctx).await?.require_importer()?;
    let import = app.create_import(ctx, &creator, source, name).await?;
    Ok(json!({
        "importId": import.id, "appId": import.app, "automationId": import.automation, "name": import.name,
        "status": import.status, "report": import_view::view(&import.report),
    }))
}
