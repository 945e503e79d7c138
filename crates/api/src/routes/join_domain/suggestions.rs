//! Listing workspaces that a person can join by their domain.

use axum::{Json, extract::State};
use kernel::id::WorkspaceId;
use serde::Serialize;
use utoipa::ToSchema;
use workspace::join_domains::{Domain, JoinRole};

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, schemas},
    state::Api,
};

/// The workspaces that you can join by the domain of your address.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JoinSuggestions {
    items: Vec<JoinSuggestion>,
}

/// A workspace that you can join.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JoinSuggestion {
    workspace_id: WorkspaceId,
    name: String,
    member_count: u64,
    /// Role that you would get.
    #[schema(value_type = schemas::workspace::JoinRole)]
    role: JoinRole,
}

/// List the workspaces that you can join by your domain
#[utoipa::path(get, path = "/v1/me/join-suggestions", tag = "people", responses((status = 200, body = JoinSuggestions)))]
pub(crate) async fn list_join_suggestions(
    State(api): State<Api>,
    ctx: Ctx<Console>,
) -> ApiResult<Json<JoinSuggestions>> {
    let (_, user) = api.signed_in_user(&ctx).await?;
    let found = match Domain::from_email(user.email.as_str()) {
        Some(domain) => api.store().join_suggestion(&domain, user.id, ctx.now).await?,
        None => None,
    };
    let items = found.into_iter().map(|found| JoinSuggestion {
        workspace_id: found.workspace,
        name: found.name,
        member_count: found.member_count,
        role: found.role,
    });
    Ok(Json(JoinSuggestions { items: items.collect() }))
}
