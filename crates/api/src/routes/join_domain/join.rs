//! Joining a workspace with an address of its domain.

use application::{Problem, unit};
use axum::{Json, extract::State};

use crate::{
    auth::{Console, Ctx},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        views::{EmptyBody, JoinedView, SessionView},
    },
    state::Api,
};

/// Join a workspace by the domain of your address
///
/// The domain of your address must be exactly the one that the workspace has verified. For everybody else the workspace
/// does not exist, including people who were removed from it: they need an invite.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/join", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = EmptyBody, example = json!({})), responses((status = 200, body = JoinedView)))]
pub(crate) async fn join_workspace(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(ws): Path<String>,
    payload: Payload,
) -> ApiResult<Json<JoinedView>> {
    let (session, user) = api.signed_in_user(&ctx).await?;
    let workspace = ws.parse().map_err(|_| Problem::not_found("workspace"))?;
    let _: EmptyBody = payload.json_or_empty()?;
    let person = (user.id, user.email.as_str());
    let admitted = api
        .transaction(unit!(|tx| {
            let admitted = workspace::join_domains::join_by_domain(tx, &ctx, workspace, person).await?;
            api.open_joined_workspace(tx, &ctx, &session, &admitted).await?;
            if !admitted.is_new {
                // Only the session changes.
                tx.audit(ctx.audit_entry("session.switch").workspace(workspace).target(session.session));
            }
            Ok::<_, Problem>(admitted)
        }))
        .await?;
    Ok(Json(JoinedView { session: SessionView::joined(&api, &ctx, session, &user, &admitted).await? }))
}
