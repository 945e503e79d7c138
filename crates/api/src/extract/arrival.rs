//! The browser in which somebody signs in.

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
};
use identity::sessions::{Arrival, browser};
use kernel::token::{self, Digest, TokenKind};

use crate::{
    credentials::{self, Presented},
    envelope::ApiError,
    state::Api,
};

/// What the browser is, and the session it had until now: signing in ends it.
pub(crate) struct Arriving(pub(crate) Arrival);

impl FromRequestParts<Api> for Arriving {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let replaces = match credentials::presented(api, &parts.headers) {
            Presented::Cookie(secret) if token::recognize(secret) == Some(TokenKind::Session) => {
                let digests: Vec<Digest> = api.services.peppers.candidates(secret).collect();
                api.store().session_by_digest(&digests).await?.map(|session| session.id)
            }
            _ => None,
        };
        Ok(Self(Arrival { device: user_agent.and_then(browser), replaces }))
    }
}
