//! Signing in with a link from an e-mail.

use application::{Problem, unit};
use axum::{extract::State, response::Response};
use identity::sign_in::verify_email_link;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{SessionView, signed_in_response};
use crate::{
    auth::{Ctx, ExtractSignInClient, SignIn},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A link from an e-mail.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowEmailLink {
    /// Query parameter `token` of the link.
    #[schema(min_length = 40, max_length = 40)]
    token: String,
}

/// Sign in with an e-mailed link
///
/// The link works once. Opening it in a browser does not use it up; this request does.
#[utoipa::path(post, path = "/v1/auth/email/link", tag = "session", request_body(content = FollowEmailLink, example = json!({"token": "qsl_3nVb8KqT0wYx5ZrLm1cJd7PfGh2Es9Aa4Qu6"})), responses((status = 200, body = SessionView), (status = 401, description = "The link is wrong or no longer valid: `invalid_code`.", body = crate::http::error::ErrorEnvelope)))]
pub(crate) async fn follow_email_link(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    ExtractSignInClient(client): ExtractSignInClient,
    payload: Payload,
) -> ApiResult<Response> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let input: FollowEmailLink = payload.json()?;
    let opened = api
        .transaction(unit!(|tx| {
            let mut opened = verify_email_link(tx, &ctx, api.peppers(), &input.token, &client).await?;
            api.open_first_workspace(tx, &ctx, &mut opened).await?;
            Ok::<_, Problem>(opened)
        }))
        .await?;
    signed_in_response(&api, &ctx, &opened).await
}
