//! Accepting an invite.

use application::{Problem, unit};
use axum::{Json, extract::State};
use identity::User;
use kernel::{Context, caller::SessionCaller};
use workspace::{
    WorkspaceError,
    invites::{AcceptInviteOutcome, accept_invite as accept_one},
};

use crate::{
    auth::{Console, Ctx},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        views::{EmptyBody, JoinedView, SessionView},
    },
    state::Api,
};

/// Accept an invite
///
/// Only the person with the invited address can accept. While the invite is pending, others get 403 `wrong_address`,
/// which does not reveal the address. An invalid link is 404. The invited person gets 409 `invite_expired` or
/// `invite_accepted`, or `invite_withdrawn` if its sender can no longer invite people. Existing members keep the higher
/// role.
#[utoipa::path(post, path = "/v1/invites/{token}/accept", tag = "invites", params(("token" = String, Path, description = "The token of the invite's link.")), request_body(content = EmptyBody, example = json!({})), responses((status = 200, body = JoinedView)))]
pub(crate) async fn accept_invite(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(token): Path<String>,
    payload: Payload,
) -> ApiResult<Json<JoinedView>> {
    let (session, user) = api.signed_in_user(&ctx).await?;
    let _: EmptyBody = payload.json_or_empty()?;
    Ok(Json(JoinedView { session: accept(&api, &ctx, session, &user, &token).await? }))
}

/// Accepts an invite for a signed-in person, and opens the workspace in their session.
pub(super) async fn accept(
    api: &Api,
    ctx: &Context,
    session: SessionCaller,
    user: &User,
    token: &str,
) -> Result<SessionView, Problem> {
    let (person, peppers) = ((user.id, user.email.as_str()), api.peppers());
    let outcome = api
        .transaction(unit!(|tx| {
            let outcome = accept_one(tx, ctx, peppers, person, token).await?;
            if let AcceptInviteOutcome::Joined(admitted) = &outcome {
                api.open_joined_workspace(tx, ctx, &session, admitted).await?;
            }
            Ok::<_, Problem>(outcome)
        }))
        .await?;
    let admitted = match outcome {
        AcceptInviteOutcome::Joined(admitted) => admitted,
        AcceptInviteOutcome::Withdrawn => return Err(WorkspaceError::InviteWithdrawn.into()),
    };
    SessionView::joined(api, ctx, session, user, &admitted).await
}
