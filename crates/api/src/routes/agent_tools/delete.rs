//! Withdrawing a tool.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::view::ToolOfAutomation;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Withdraw a tool of agents
///
/// The automation stays, and so do the runs that agents started.
#[utoipa::path(
    delete, path = "/v1/automations/{id}/agent-tool", tag = "agent-tools",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_agent_tool(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| {
        if_match.check(ToolOfAutomation::locked(tx, &right, id)).await?;
        Ok::<_, Problem>(runs::agent_tools::delete_tool(tx, &ctx, &right, id).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
