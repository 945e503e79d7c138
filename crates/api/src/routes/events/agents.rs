//! The feed for agents (specification part B, "Agent tools").

use kernel::{Problem, authority::Member};
use std::time::Duration;

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params},
    state::Api,
};
use application::feeds::AgentFeed;

/// From where, and how long to wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAgentEvents {
    /// The `cursor` of the answer before; from now on when not said.
    since: Option<u64>,
    /// For how many seconds to wait while there is nothing.
    #[param(minimum = 0, maximum = 25, default = 0)]
    wait: Option<u64>,
}

/// Read what happened that an agent may act upon
///
/// How runs ended, what waits for a person, and alerts, of apps the caller can view, oldest first. With `wait` the answer
/// comes as soon as there is something, or empty after that time. Nothing is left out and nothing comes twice for
/// whoever sends `cursor` back as `since`; what is no longer kept is announced by `gap`.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/agent-events", tag = "agent-tools", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListAgentEvents), responses((status = 200, body = AgentFeed)))]
pub(crate) async fn list_agent_events(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListAgentEvents>,
) -> ApiResult<Json<AgentFeed>> {
    let wait = input.wait.unwrap_or_default();
    if wait > 25 {
        return Err(Problem::invalid_field("wait", "must be from 0 to 25").into());
    }
    Ok(Json(api.agent_events(&ctx, member, input.since, Duration::from_secs(wait)).await?))
}
