//! `list_versions`: lists the versions of an app.

use application::{Application, Problem};
use kernel::{
    Context,
    page::{Page, PageRequest},
};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, version_view};

pub(super) const NAME: &str = "list_versions";
const DEFAULT_LIMIT: u32 = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: String,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "List versions",
        "Lists the versions of an app, newest first, and says which one is current.",
        json!({
            "appId": { "type": "string", "description": "Id of the app, from list_apps." },
            "cursor": { "type": "string", "description": "nextCursor of the previous page." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT },
        }),
        &["appId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let access = app.app(ctx, &arguments.app_id).await?;
    let workspace = access.member().workspace();
    let page = PageRequest::parse(arguments.limit.or(Some(DEFAULT_LIMIT)), arguments.cursor.as_deref())?;
    let found = app.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let versions = app.store().versions(workspace, found.id, page).await?;
    let page = Page::from_limit_plus_one(versions, page.limit, |version| version.id);
    let versions: Vec<Value> =
        page.items.iter().map(|version| version_view::summary(version, found.current_version)).collect();
    Ok(json!({
        "appId": found.id,
        "currentVersionId": found.current_version,
        "items": versions,
        "nextCursor": page.next_cursor,
        "untrusted": { "summary": UNTRUSTED_CONTENT_NOTICE },
    }))
}
