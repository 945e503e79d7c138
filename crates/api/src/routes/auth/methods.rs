//! Ways to sign in.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, SignIn},
    http::error::ApiResult,
    state::Api,
};

/// Ways to sign in at this server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignInMethods {
    /// Sign-in with a code or link by e-mail, which every server has.
    email: bool,
    /// Sign-in with passkeys. They need a public URL with a host name.
    passkeys: bool,
    /// Sign-in as anybody without proof, on servers for development only.
    development: bool,
    /// Issuers of OpenID Connect.
    #[schema(inline)]
    oidc: Vec<IssuerView>,
}

/// An issuer of OpenID Connect.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuerView {
    /// Name in paths, as in `/v1/auth/oidc/{provider}/start`.
    #[schema(min_length = 1)]
    name: String,
    /// Name for people.
    #[schema(min_length = 1)]
    title: String,
}

/// List the ways to sign in
///
/// They are the same for everybody and need no sign-in.
#[utoipa::path(get, path = "/v1/auth/methods", tag = "session", responses((status = 200, body = SignInMethods)))]
pub(crate) async fn list_sign_in_methods(
    State(api): State<Api>,
    _ctx: Ctx<SignIn>,
) -> ApiResult<Json<SignInMethods>> {
    let issuers = api.oidc_providers().providers().iter();
    Ok(Json(SignInMethods {
        email: true,
        passkeys: api.relying_party().is_some(),
        development: api.settings().dev_login,
        oidc: issuers
            .map(|issuer| IssuerView { name: issuer.name.clone(), title: issuer.title.clone() })
            .collect(),
    }))
}
