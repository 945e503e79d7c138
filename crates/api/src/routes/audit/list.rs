//! What was done in a workspace.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    Problem,
    authority::Admin,
    id::{AuditId, RequestId, TokenId, UserId},
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use workspace::audit_log::{AuditFilter, AuditRecord};

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Which rows, and which page of them.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAudit {
    /// Only this action, as `member.remove`.
    #[param(min_length = 1, max_length = 64)]
    action: Option<String>,
    /// Only what this person did, with their tokens too.
    actor: Option<UserId>,
    /// What the page before gave as `nextCursor`.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// What was done in a workspace, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditList {
    items: Vec<AuditView>,
    /// For the next page; null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Something that was done.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub(crate) struct AuditView {
    id: AuditId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    /// As `noun.verb`.
    #[schema(example = "member.remove")]
    action: String,
    actor: ActorView,
    /// The id of what it was done to.
    #[schema(required)]
    target: Option<String>,
    request_id: RequestId,
    /// Where the request came from.
    #[schema(required)]
    address: Option<String>,
    /// What else there is to know; never a secret.
    #[schema(required, value_type = Option<Object>)]
    detail: Option<serde_json::Value>,
}

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorView {
    /// A person's id, a key's, or the name of a part of Qala such as `system:first-start`.
    id: String,
    /// The person's name.
    #[schema(required)]
    name: Option<String>,
    /// The token that acted for the person.
    #[schema(required)]
    token_id: Option<TokenId>,
}

/// List what was done in a workspace
#[utoipa::path(get, path = "/v1/workspaces/{ws}/audit", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListAudit), responses((status = 200, body = AuditList)))]
pub(crate) async fn list_audit(
    State(api): State<Api>,
    Authorized(_ctx, admin): Authorized<Console, Admin>,
    Params(input): Params<ListAudit>,
) -> ApiResult<Json<AuditList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    if input.action.as_ref().is_some_and(|action| !is_action(action)) {
        return Err(Problem::invalid_field("action", "must be an action such as member.remove").into());
    }
    let filter = AuditFilter { action: input.action, actor: input.actor };
    let found = api.store().audit_records(admin.workspace(), &filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |record| record.id);
    let mut people: Vec<UserId> =
        page.items.iter().filter_map(AuditRecord::actor_ids).map(|(user, _)| user).collect();
    people.sort_unstable();
    people.dedup();
    let people = api.store().users(&people).await?;
    let names: BTreeMap<UserId, String> = people.into_iter().map(|user| (user.id, user.name)).collect();
    let page = page.map(|record| view(record, &names));
    Ok(Json(AuditList { items: page.items, next_cursor: page.next_cursor }))
}

fn is_action(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.')
}

fn view(record: AuditRecord, names: &BTreeMap<UserId, String>) -> AuditView {
    let actor = match record.actor_ids() {
        Some((user, token_id)) => {
            ActorView { id: user.to_string(), name: names.get(&user).cloned(), token_id }
        }
        None => ActorView { id: record.actor, name: None, token_id: None },
    };
    AuditView {
        id: record.id,
        at: record.at,
        action: record.action,
        actor,
        target: record.target,
        request_id: record.request,
        address: record.address,
        detail: record.detail,
    }
}
