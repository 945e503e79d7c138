//! `list_automations`: lists the automations of the workspace.

use application::{Application, Problem};
use kernel::{
    Context,
    page::{Page, PageRequest},
    rfc3339::to_rfc3339,
};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "list_automations";
const DEFAULT_LIMIT: u32 = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "List automations",
        "Lists the automations of apps that your person can view, newest first: what starts each, its status and when it \
         runs next.",
        json!({
            "cursor": { "type": "string", "description": "nextCursor of the previous page." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT },
        }),
        &[],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let member = super::authorize_member(app, ctx).await?;
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
    let page = PageRequest::parse(Some(limit), arguments.cursor.as_deref())?;
    let found = app.store().automations(member.workspace(), member.visibility(), None, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |automation| automation.id);
    let items = page.items.into_iter().map(|automation| {
        json!({
            "id": automation.id,
            "name": automation.name,
            "appId": automation.app,
            "trigger": automation.trigger.kind(),
            "status": automation.status,
            "maxConcurrency": automation.max_concurrency,
            "retries": automation.retries,
            "nextRunAt": automation.next_run_at.as_ref().map(to_rfc3339),
        })
    });
    Ok(json!({ "items": items.collect::<Vec<_>>(), "nextCursor": page.next_cursor }))
}
