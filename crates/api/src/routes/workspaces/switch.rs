//! Switching the workspace of a session.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{Caller, StoreError, authority::Member, caller::SessionCaller};

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, views::SessionView},
    state::Api,
};

/// Switch this session to another of your workspaces
#[utoipa::path(post, path = "/v1/workspaces/{ws}/switch", tag = "workspaces", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = SessionView)))]
pub(crate) async fn switch_workspace(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
) -> ApiResult<Json<SessionView>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    api.transaction(unit!(|tx| {
        tx.set_session_workspace(session.session, member.workspace()).await?;
        tx.audit(ctx.audit_entry("session.switch").workspace(member.workspace()).target(session.session));
        Ok::<_, StoreError>(())
    }))
    .await?;
    let session = SessionCaller { workspace: Some(member.workspace()), ..session.clone() };
    Ok(Json(SessionView::of(&api, &session, None, ctx.now).await?))
}
