//! Listing the tools of a workspace.

use axum::{Json, extract::State};
use kernel::{authority::Member, caller::Scope};
use runs::agent_tools::ListedTool;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::AgentToolView;
use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// The tools of a workspace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentTools {
    /// At most 200, the one that was called last first.
    #[schema(max_items = 200)]
    items: Vec<AgentToolView>,
}

/// List the tools of agents
///
/// In the console, all tools of apps that you can view. With a token, those that it can call now: the live ones of apps
/// that you can run, and none without the scope `write`.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/agent-tools", tag = "agent-tools",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = AgentTools))
)]
pub(crate) async fn list_agent_tools(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<AgentTools>> {
    let found =
        api.store().agent_tools(member.workspace(), member.user(), member.visibility(), ctx.now).await?;
    let can_call = ctx.caller.allows(Scope::Write);
    let is_shown =
        |listed: &ListedTool| !ctx.caller.is_token() || (can_call && listed.is_callable_by(&member));
    let shown = found.into_iter().filter(is_shown);
    let items = shown.filter_map(|listed| AgentToolView::of(&member, listed)).collect();
    Ok(Json(AgentTools { items }))
}
