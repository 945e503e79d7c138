//! `list_apps`: lists the apps of the workspace.

use application::{Application, Problem, overview::app_status};
use kernel::{
    Context,
    authority::authorize_app,
    id::AppId,
    page::{Page, PageRequest},
    rfc3339::to_rfc3339,
};
use observability::AppHealth;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "list_apps";
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
        "List apps",
        "Lists the apps of the workspace that your person can view, newest first, each with its state, the reasons for it and the person's rights.",
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
    let found = app.store().apps(member.workspace(), member.user(), member.visibility(), page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |(app, _)| app.id);
    let ids: Vec<AppId> = page.items.iter().map(|(app, _)| app.id).collect();
    let health = app.health_of(&member, &ids, ctx.now).await?;
    let unknown = AppHealth::default();
    let items = page.items.into_iter().filter_map(|(app, granted)| {
        // As in the API: one that may not be viewed is left out.
        let access = authorize_app(member.clone(), Some(&app.to_fact(granted))).ok()?;
        let health = health.get(&app.id).unwrap_or(&unknown);
        let reasons = health.reasons().into_iter();
        let reasons = reasons.map(|reason| json!({ "code": reason.code, "count": reason.count }));
        Some(json!({
            "id": app.id,
            "name": app.name,
            "slug": app.slug,
            "description": app.description,
            "category": app.category,
            "status": app_status(&app, health),
            "statusReasons": reasons.collect::<Vec<_>>(),
            "observedAt": health.observed_at.as_ref().map(to_rfc3339),
            "waitingApprovals": health.waiting_approvals,
            "sharing": app.sharing,
            "currentVersionId": app.current_version,
            "rights": access.rights().to_vec(),
            "createdAt": to_rfc3339(&app.created_at),
        }))
    });
    let items: Vec<_> = items.collect();
    Ok(json!({ "items": items, "nextCursor": page.next_cursor }))
}
