//! Listing the audit log.

use std::collections::BTreeMap;

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
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

/// Filters, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAudit {
    /// Only this action, such as `member.remove`.
    #[param(min_length = 1, max_length = 64)]
    action: Option<String>,
    /// Only actions of this person, including those with their tokens.
    actor: Option<UserId>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The audit entries of a workspace, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditList {
    items: Vec<AuditView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub(crate) struct AuditView {
    id: AuditId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    /// Action, as `noun.verb`.
    #[schema(example = "member.remove")]
    action: String,
    actor: ActorView,
    /// Id of the object of the action.
    #[schema(required)]
    target: Option<String>,
    request_id: RequestId,
    /// IP address of the client.
    #[schema(required)]
    address: Option<String>,
    /// Details of the action; never a secret.
    #[schema(required, value_type = Option<Object>)]
    detail: Option<serde_json::Value>,
}

/// The actor of an audit entry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorView {
    /// Id of a person or a project key, or the name of a part of Qala, such as `system:first-start`.
    id: String,
    /// Name of the person.
    #[schema(required)]
    name: Option<String>,
    /// Token with which the person acted.
    #[schema(required)]
    token_id: Option<TokenId>,
}

/// List the audit log of a workspace
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
    let mut people: Vec<UserId> = page.items.iter().filter_map(|record| record.actor.user()).collect();
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
    let user = record.actor.user();
    let actor = ActorView {
        id: user.map_or_else(|| record.actor.to_string(), |user| user.to_string()),
        name: user.and_then(|user| names.get(&user).cloned()),
        token_id: record.actor.token(),
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
