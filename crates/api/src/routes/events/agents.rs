//! The feed for agents (specification part B, "Agent tools").

use kernel::authority::Member;
use std::time::Duration;

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};
use application::{Problem, feeds::AgentFeed};

/// Position in the feed, and time to wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAgentEvents {
    /// The `cursor` of the previous response. Default: from now on.
    since: Option<u64>,
    /// Seconds to wait if there are no events.
    #[param(minimum = 0, maximum = 25, default = 0)]
    wait: Option<u64>,
}

/// Read events that an agent may want to act on
///
/// Finished runs, approvals that wait for a person, and alerts, of apps that you can view, oldest first. With `wait`,
/// the response is sent as soon as there is an event, or empty after that time. If you send `cursor` as the next
/// `since`, you get each event exactly once; `gap` says that events are missing because they are no longer stored.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/agent-events", tag = "agent-tools",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListAgentEvents),
    responses((status = 200, body = schemas::application::AgentFeed))
)]
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
