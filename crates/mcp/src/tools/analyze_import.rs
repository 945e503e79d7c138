//! `analyze_import`: reports what an app would keep of another tool's workflow.

use application::{Application, Problem};
use kernel::Context;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::import_view;

pub(super) const NAME: &str = "analyze_import";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    source: String,
}

pub(super) fn definition() -> Tool {
    let title = "Analyze an export";
    // It changes nothing, but takes the scope `write`, as the operation of the API does.
    let annotations = ToolAnnotations::with_title(title)
        .read_only(false)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let tool = super::tool(
        NAME,
        title,
        "Reads a workflow exported from n8n, Make or Node-RED, and grades each step by what an app would keep of it: exact, partial, \
         unsupported or ignored. Lists the connections that it needs. Nothing is kept. Create the app with create_import.",
        json!({
            "source": { "type": "string", "description": "The exported JSON as text; at most 400,000 characters." },
        }),
        &["source"],
    );
    tool.with_annotations(annotations)
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let Arguments { source } = super::parse_arguments(arguments)?;
    let creator = super::authorize_member(app, ctx).await?.require_importer()?;
    let analysis = app.analyze_import(ctx, &creator, source).await?;
    Ok(import_view::view(&analysis.report))
}
