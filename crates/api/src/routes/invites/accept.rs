//! Accepting an invite.

use axum::{Json, extract::State};
use identity::User;
use kernel::{Context, Problem, caller::SessionCaller};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workspace::{
    WorkspaceError,
    invites::{AcceptInviteOutcome, accept_invite as accept_one},
};

use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path, Payload},
    routes::session::SessionView,
    state::Api,
};

/// Nothing need be said.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The session of whoever has come in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Entered {
    pub(crate) session: SessionView,
}

/// Accept an invite
///
/// Only for the person whose address was invited. Anybody else is told 403 `wrong_address` while it waits, and not
/// whom it is for. A link that leads nowhere is 404; the invited person is told 409 `invite_expired` or
/// `invite_accepted`, or `invite_withdrawn` when whoever sent it can invite nobody any more. Whoever is a member already keeps the higher role.
#[utoipa::path(post, path = "/v1/invites/{token}/accept", tag = "invites", params(("token" = String, Path, description = "The token of the invite's link.")), request_body(content = Nothing, example = json!({})), responses((status = 200, body = Entered)))]
pub(crate) async fn accept_invite(
    State(api): State<Api>,
    ctx: Ctx,
    Path(token): Path<String>,
    payload: Payload,
) -> ApiResult<Json<Entered>> {
    let (session, user) = api.signed_in_user(&ctx).await?;
    let _: Nothing = payload.json_or_empty()?;
    Ok(Json(Entered { session: accept(&api, &ctx, session, &user, &token).await? }))
}

/// Accepts an invite for a signed-in person and opens the workspace in their session.
pub(super) async fn accept(
    api: &Api,
    ctx: &Context,
    session: SessionCaller,
    user: &User,
    token: &str,
) -> Result<SessionView, Problem> {
    let mut tx = api.store().begin().await?;
    let person = (user.id, user.email.as_str());
    let peppers = &api.services.peppers;
    let admitted = match accept_one(&mut *tx, ctx, peppers, person, token).await? {
        AcceptInviteOutcome::Joined(admitted) => admitted,
        AcceptInviteOutcome::Withdrawn => {
            tx.commit().await?;
            return Err(WorkspaceError::InviteWithdrawn.into());
        }
    };
    api.open_joined_workspace(&mut *tx, ctx, &session, &admitted).await?;
    tx.commit().await?;
    api.joined_session(ctx, session, user, &admitted).await
}
