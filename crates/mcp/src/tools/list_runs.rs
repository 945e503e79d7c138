//! `list_runs`: lists the runs of the workspace.

use application::{Application, Problem};
use kernel::{
    Context,
    id::{AppId, AutomationId},
    page::{Page, PageRequest},
};
use rmcp::model::{JsonObject, Tool};
use runs::{RunStatus, TriggerKind, runs::RunFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, run_view};

pub(super) const NAME: &str = "list_runs";
const DEFAULT_LIMIT: u32 = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: Option<AppId>,
    automation_id: Option<AutomationId>,
    status: Option<RunStatus>,
    trigger: Option<TriggerKind>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "List runs",
        "Lists the runs of apps that your person can view, newest first.",
        json!({
            "appId": { "type": "string", "description": "Id of an app; only its runs are returned." },
            "automationId": { "type": "string", "description": "Id of an automation; only its runs are returned." },
            "status": {
                "type": "string",
                "enum": ["queued", "running", "waiting_approval", "succeeded", "failed", "blocked"],
            },
            "trigger": { "type": "string", "enum": ["schedule", "webhook", "form", "manual", "event"] },
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
    let filter = RunFilter {
        app: arguments.app_id,
        automation: arguments.automation_id,
        status: arguments.status,
        trigger: arguments.trigger,
        ..RunFilter::default()
    };
    let found = app.store().runs(member.workspace(), member.visibility(), filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |run| run.id);
    let items: Vec<Value> = page.items.iter().map(run_view::summary).collect();
    Ok(
        json!({ "items": items, "nextCursor": page.next_cursor, "untrusted": { "errorMessage": UNTRUSTED_CONTENT_NOTICE } }),
    )
}
