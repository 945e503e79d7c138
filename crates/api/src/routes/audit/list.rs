//! Listing the audit log.

use std::collections::{BTreeMap, BTreeSet};

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::Admin,
    id::{AppId, AuditId, AutomationId, GrantId, ProjectId, RequestId, TokenId, UserId},
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use workspace::audit_log::{ActorFilter, AuditFilter, AuditRecord, AuditedObject, NamedObject};

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
    /// Only actions of this person, including those of their tokens and agents; `agents` for those of all agents.
    #[param(value_type = Option<String>, example = "agents")]
    actor: Option<ActorText>,
    /// Only actions of the agent with this grant.
    grant_id: Option<GrantId>,
    /// Only actions on this app and on what belongs to it, such as its versions, automations and planned changes.
    app_id: Option<AppId>,
    /// Only actions on the object with this id.
    #[param(min_length = 1, max_length = 64)]
    target: Option<String>,
    /// Only actions at this time or later.
    from: Option<DateTime<Utc>>,
    /// Only actions before this time.
    to: Option<DateTime<Utc>>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Value of `actor`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Agents {
    Agents,
}

/// A person, or the word for all agents.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum ActorText {
    Agents(Agents),
    Person(UserId),
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
    /// The object as it is now; null if it is gone.
    #[schema(required)]
    object: Option<ObjectView>,
    request_id: RequestId,
    /// IP address of the client.
    #[schema(required)]
    address: Option<String>,
    /// Details of the action; never a secret.
    #[schema(required, value_type = Option<Object>)]
    detail: Option<serde_json::Value>,
}

/// The object of an audit entry, with the names that it has now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditObject)]
pub(crate) struct ObjectView {
    /// Name of the object itself, such as the number of a version.
    #[schema(required)]
    name: Option<String>,
    /// App that it is or belongs to; null if that is deleted.
    #[schema(required)]
    app_id: Option<AppId>,
    /// Name of the app, also of one that is deleted.
    #[schema(required)]
    app_name: Option<String>,
    /// Automation that it is or belongs to.
    #[schema(required)]
    automation_id: Option<AutomationId>,
    #[schema(required)]
    automation_name: Option<String>,
    /// Backend project that it is or belongs to; null if that is deleted.
    #[schema(required)]
    project_id: Option<ProjectId>,
    /// Name of the project, also of one that is deleted.
    #[schema(required)]
    project_name: Option<String>,
}

impl From<AuditedObject> for ObjectView {
    fn from(object: AuditedObject) -> Self {
        let (app_id, app_name) = id_and_name(object.app);
        let (automation_id, automation_name) = id_and_name(object.automation);
        let (project_id, project_name) = id_and_name(object.project);
        Self { name: object.name, app_id, app_name, automation_id, automation_name, project_id, project_name }
    }
}

fn id_and_name<I>(object: Option<NamedObject<I>>) -> (Option<I>, Option<String>) {
    let Some(NamedObject { id, name, is_deleted }) = object else { return (None, None) };
    ((!is_deleted).then_some(id), Some(name))
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
    /// Grant of the agent that acted for the person.
    #[schema(required)]
    grant_id: Option<GrantId>,
    /// Name of the agent's client; null for others, and if the grant is no longer kept.
    #[schema(required)]
    client_name: Option<String>,
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
    if input.target.as_ref().is_some_and(|target| !(1..=64).contains(&target.len())) {
        return Err(Problem::invalid_field("target", "must be an id").into());
    }
    let actor = match (input.actor, input.grant_id) {
        (None, None) => None,
        (Some(ActorText::Agents(_)) | None, Some(grant)) => Some(ActorFilter::Grant(grant)),
        (Some(ActorText::Agents(_)), None) => Some(ActorFilter::Agents),
        (Some(ActorText::Person(person)), None) => Some(ActorFilter::Person(person)),
        (Some(ActorText::Person(_)), Some(_)) => {
            return Err(Problem::invalid_field("grantId", "cannot stand beside a person as actor").into());
        }
    };
    let (action, target, from, to) = (input.action, input.target, input.from, input.to);
    let filter = AuditFilter { action, actor, app: input.app_id, target, from, to };
    let found = api.store().audit_records(admin.workspace(), &filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |record| record.id);
    let mut people: Vec<UserId> = page.items.iter().filter_map(|record| record.actor.user()).collect();
    people.sort_unstable();
    people.dedup();
    let people = api.store().users(&people).await?;
    let names: BTreeMap<UserId, String> = people.into_iter().map(|user| (user.id, user.name)).collect();
    let mut grants: Vec<GrantId> = page.items.iter().filter_map(|record| record.actor.grant()).collect();
    grants.sort_unstable();
    grants.dedup();
    let clients: BTreeMap<GrantId, String> =
        api.store().client_names(admin.workspace(), &grants).await?.into_iter().collect();
    let targets: BTreeSet<&str> = page.items.iter().filter_map(|record| record.target.as_deref()).collect();
    let targets: Vec<&str> = targets.into_iter().collect();
    let objects = api.store().audited_objects(admin.workspace(), &targets).await?;
    let page = page.map(|record| view(record, &names, &clients, &objects));
    Ok(Json(AuditList { items: page.items, next_cursor: page.next_cursor }))
}

fn is_action(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.')
}

fn view(
    record: AuditRecord,
    names: &BTreeMap<UserId, String>,
    clients: &BTreeMap<GrantId, String>,
    objects: &BTreeMap<String, AuditedObject>,
) -> AuditView {
    let user = record.actor.user();
    let actor = ActorView {
        id: user.map_or_else(|| record.actor.to_string(), |user| user.to_string()),
        name: user.and_then(|user| names.get(&user).cloned()),
        token_id: record.actor.token(),
        grant_id: record.actor.grant(),
        client_name: record.actor.grant().and_then(|grant| clients.get(&grant).cloned()),
    };
    AuditView {
        id: record.id,
        at: record.at,
        action: record.action,
        actor,
        object: record.target.as_ref().and_then(|target| objects.get(target)).cloned().map(ObjectView::from),
        target: record.target,
        request_id: record.request,
        address: record.address,
        detail: record.detail,
    }
}
