//! Reading an authorization request.

use application::{Problem, unit};
use axum::{Json, extract::State};
use identity::oauth::{Authorization, ConsentError, authorizations::claim_authorization};
use kernel::{Context, id::UserId};

use super::view::AuthorizationView;
use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Path},
    state::Api,
};

impl Api {
    /// Claims the authorization request for a person, who is then the only one to see it.
    ///
    /// # Errors
    /// 404 `authorization_not_found` if it does not exist or somebody else has claimed it; 409 `authorization_decided`
    /// if it is decided; a [`Problem`] if the store fails.
    pub(super) async fn open_authorization(
        &self,
        ctx: &Context,
        user: UserId,
        id: &str,
    ) -> Result<Authorization, Problem> {
        let id = id.parse().map_err(|_| ConsentError::AuthorizationNotFound)?;
        let authorization =
            self.transaction(unit!(|tx| claim_authorization(tx, ctx, user, id).await)).await?;
        Ok(authorization)
    }
}

/// Read an agent client's authorization request
///
/// The first person who reads it is the one to decide. For everybody else it does not exist.
#[utoipa::path(get, path = "/v1/oauth/authorizations/{id}", tag = "oauth", params(("id" = kernel::id::AuthorizationId, Path, description = "The authorization.")), responses((status = 200, body = AuthorizationView)))]
pub(crate) async fn read_authorization(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(id): Path<String>,
) -> ApiResult<Json<AuthorizationView>> {
    let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
    let authorization = api.open_authorization(&ctx, user, &id).await.map_err(|problem| {
        // A decided request is no longer shown.
        if problem.kind == application::ProblemKind::Conflict {
            Problem::not_found("authorization")
        } else {
            problem
        }
    })?;
    let workspaces = api.store().workspaces_of(user, ctx.now).await?;
    let user = api.store().user(user).await?.ok_or_else(Problem::unauthorized)?;
    Ok(Json(AuthorizationView::of(authorization, user, workspaces)))
}
