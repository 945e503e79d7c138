//! `list_dead_letters`: lists failed runs and refused webhook calls of the workspace.

use application::{Application, Problem};
use kernel::{
    Context,
    id::{AppId, AutomationId},
    page::{Page, PageRequest},
};
use rmcp::model::{JsonObject, Tool};
use runs::dead_letters::{DeadLetterFilter, DeadLetterKind, DeadLetterState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, dead_letter_view};

pub(super) const NAME: &str = "list_dead_letters";
const DEFAULT_LIMIT: u32 = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: Option<AppId>,
    automation_id: Option<AutomationId>,
    kind: Option<DeadLetterKind>,
    state: Option<DeadLetterState>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "List dead letters",
        "Lists failed runs and refused webhook calls that are kept for replay, newest first.",
        json!({
            "appId": { "type": "string", "description": "Id of an app; only its dead letters are returned." },
            "automationId": { "type": "string", "description": "Id of an automation; only its dead letters are returned." },
            "kind": { "type": "string", "enum": ["run", "delivery"] },
            "state": {
                "type": "string",
                "enum": ["open", "replayed", "discarded"],
                "description": "Default: open, those not yet replayed or discarded.",
            },
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
    let filter = DeadLetterFilter {
        app: arguments.app_id,
        automation: arguments.automation_id,
        run: None,
        kind: arguments.kind,
        state: Some(arguments.state.unwrap_or(DeadLetterState::Open)),
        trigger: None,
    };
    let found = app.store().dead_letters(member.workspace(), member.visibility(), filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |dead_letter| dead_letter.id);
    let items: Vec<Value> = page.items.iter().map(dead_letter_view::summary).collect();
    let untrusted = json!({ "message": UNTRUSTED_CONTENT_NOTICE, "preview": UNTRUSTED_CONTENT_NOTICE });
    Ok(json!({ "items": items, "nextCursor": page.next_cursor, "untrusted": untrusted }))
}
