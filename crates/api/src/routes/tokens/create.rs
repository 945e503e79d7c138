//! Creating a personal access token.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    authority::Member,
    caller::{Scope, Scopes},
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::TokenRecord;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A new personal access token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateToken {
    #[schema(min_length = 1, max_length = 60, example = "Deploys")]
    name: String,
    #[schema(min_items = 1, max_items = 3, example = json!(["read"]))]
    scopes: Vec<Scope>,
    /// 1 to 365; null for a token that does not expire. Default: 90.
    #[serde(default = "default_expires_in_days")]
    #[schema(minimum = 1, maximum = 365, default = 90)]
    expires_in_days: Option<u16>,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the type of the field: null means that the token does not expire"
)]
fn default_expires_in_days() -> Option<u16> {
    Some(90)
}

/// A new token with its value.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    token: TokenRecord,
    /// Value of the token. It is returned only here.
    secret: String,
}

/// Create a personal access token
///
/// A token cannot create other tokens. If you have a passkey, you must step up before you create a token with the scope
/// `admin`; otherwise 403 `step_up_required`.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/tokens", tag = "tokens", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = CreateToken, example = json!({"name": "Deploys", "scopes": ["read"], "expiresInDays": 90})), responses((status = 200, body = CreatedToken)))]
pub(crate) async fn create_token(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    payload: Payload,
) -> ApiResult<Json<CreatedToken>> {
    let input: CreateToken = payload.json()?;
    let input = identity::tokens::CreateToken {
        name: input.name,
        scopes: Scopes::new(&input.scopes)?,
        expires_in_days: input.expires_in_days,
    };
    if input.scopes.allows(Scope::Admin) {
        api.require_step_up(&ctx).await?;
    }
    let created = api
        .transaction(unit!(|tx| identity::tokens::create_token(
            tx,
            &ctx,
            api.peppers(),
            &member,
            input.clone()
        )
        .await))
        .await?;
    let secret = created.secret.expose_secret().to_owned();
    Ok(Json(CreatedToken { token: created.token.into(), secret }))
}
