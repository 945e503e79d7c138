//! Revoking the presented token.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::Caller;

use crate::{
    auth::{AnyToken, Ctx},
    http::{error::ApiResult, views::Ack},
    state::Api,
};

/// Revoke the presented token
///
/// The token stops working at once. For an agent's access token, the grant with all its tokens is revoked.
#[utoipa::path(delete, path = "/v1/tokens/self", tag = "tokens", responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_own_token(State(api): State<Api>, ctx: Ctx<AnyToken>) -> ApiResult<Json<Ack>> {
    let Caller::Token(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let (workspace, user) = (caller.workspace, caller.user);
    api.transaction(unit!(|tx| {
        match caller.grant {
            None => {
                identity::tokens::revoke_token(tx, &ctx, workspace, user, caller.token).await?;
            }
            Some(grant) => identity::oauth::grants::revoke_grant(tx, &ctx, workspace, user, grant).await?,
        }
        Ok::<_, Problem>(())
    }))
    .await?;
    Ok(Json(Ack::OK))
}
