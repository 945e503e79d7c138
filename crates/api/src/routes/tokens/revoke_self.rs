//! Revoking the presented token.

use axum::{Json, extract::State};
use kernel::{Caller, Problem};

use crate::{
    auth::{AnyToken, Ctx},
    http::{error::ApiResult, views::Ack},
    state::Api,
};

/// Revoke the presented token at once
///
/// An agent sign-in ends with it, and its other tokens too.
#[utoipa::path(delete, path = "/v1/tokens/self", tag = "tokens", responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_own_token(State(api): State<Api>, ctx: Ctx<AnyToken>) -> ApiResult<Json<Ack>> {
    let Caller::Token(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let mut tx = api.store().begin().await?;
    match caller.grant {
        None => {
            identity::tokens::revoke_token(&mut *tx, &ctx, caller.workspace, caller.user, caller.token)
                .await?;
        }
        Some(grant) => {
            identity::oauth::grants::revoke_grant(&mut *tx, &ctx, caller.workspace, caller.user, grant)
                .await?;
        }
    }
    tx.commit().await?;
    Ok(Json(Ack::OK))
}
