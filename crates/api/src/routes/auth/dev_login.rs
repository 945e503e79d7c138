//! The development sign-in.

use application::{Problem, unit};
use axum::{extract::State, response::Response};
use identity::Email;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{SessionView, signed_in_response};
use crate::{
    auth::{Ctx, ExtractSignInClient, SignIn},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::Payload,
    },
    state::Api,
};

/// The person who signs in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DevLogin {
    #[schema(min_length = 3, max_length = 254, example = "aru@example.com")]
    email: String,
    /// Name for a new person. Default: made from the address.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
}

/// Sign in for development
///
/// The server does not check that the address is yours. Available only on servers started with the development sign-in,
/// which listen on the local machine only.
#[utoipa::path(post, path = "/v1/auth/dev-login", tag = "session", request_body(content = DevLogin, example = json!({"email": "aru@example.com"})), responses((status = 200, body = SessionView), (status = 404, description = "The development sign-in is disabled.", body = ErrorEnvelope)))]
pub(crate) async fn sign_in_without_proof(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    ExtractSignInClient(client): ExtractSignInClient,
    payload: Payload,
) -> ApiResult<Response> {
    if !api.settings().dev_login {
        return Err(Problem::not_found("route").into());
    }
    let input: DevLogin = payload.json()?;
    let email: Email = input.email.parse()?;
    let (name, peppers) = (input.name.as_deref(), api.peppers());
    let opened = api
        .transaction(unit!(|tx| {
            let mut opened = identity::sign_in::dev_sign_in(tx, &ctx, peppers, &email, name, &client).await?;
            api.open_first_workspace(tx, &ctx, &mut opened).await?;
            Ok::<_, Problem>(opened)
        }))
        .await?;
    signed_in_response(&api, &ctx, &opened).await
}
