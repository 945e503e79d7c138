//! The browser in which somebody signs in.

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use identity::sessions::{SignInClient, describe_user_agent};
use kernel::token::{self, Digest, TokenKind};

use crate::{auth::credentials, http::error::ApiError, state::Api};
use application::authentication::Credential;

/// Description of the browser, and its previous session, which the sign-in ends.
pub(crate) struct ExtractSignInClient(pub(crate) SignInClient);

impl FromRequestParts<Api> for ExtractSignInClient {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let replaces = match credentials::request_credential(api, &parts.headers) {
            Credential::Session(secret) if token::detect_kind(secret) == Some(TokenKind::Session) => {
                let digests: Vec<Digest> = api.peppers().candidate_digests(secret).collect();
                api.store().session_by_digest(&digests).await?.map(|session| session.id)
            }
            _ => None,
        };
        Ok(Self(SignInClient {
            device: user_agent.and_then(describe_user_agent),
            replaced_session: replaces,
        }))
    }
}
