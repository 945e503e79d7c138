//! Signing in with a code from an e-mail.

use application::{Problem, unit};
use axum::{extract::State, response::Response};
use identity::Email;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{SessionView, signed_in_response};
use crate::{
    auth::{Ctx, ExtractSignInClient, SignIn},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A code from an e-mail.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyEmailSignIn {
    #[schema(min_length = 3, max_length = 254, example = "aru@example.com")]
    email: String,
    /// Six digits; other characters, such as blanks that were copied with them, are ignored.
    #[schema(min_length = 6, max_length = 32, example = "123456")]
    code: String,
}

/// Returns the digits of a code as a person copied it: with blanks around it, or between its digits.
pub(in crate::routes) fn digits_of(code: &str) -> String {
    code.chars().filter(char::is_ascii_digit).collect()
}

/// Sign in with an e-mailed code
///
/// Five wrong codes invalidate the right one. The response sets the session cookie.
#[utoipa::path(post, path = "/v1/auth/email/verify", tag = "session", request_body(content = VerifyEmailSignIn, example = json!({"email": "aru@example.com", "code": "123456"})), responses((status = 200, body = SessionView), (status = 401, description = "The code is wrong or no longer valid: `invalid_code`.", body = crate::http::error::ErrorEnvelope)))]
pub(crate) async fn verify_email_sign_in(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    ExtractSignInClient(client): ExtractSignInClient,
    payload: Payload,
) -> ApiResult<Response> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let input: VerifyEmailSignIn = payload.json()?;
    let email: Email = input.email.parse()?;
    let (code, peppers) = (&digits_of(&input.code), api.peppers());
    let outcome = api
        .transaction(unit!(|tx| {
            let mut outcome =
                identity::sign_in::verify_email_sign_in(tx, &ctx, peppers, &email, code, &client).await?;
            if let Ok(opened) = &mut outcome {
                api.open_first_workspace(tx, &ctx, opened).await?;
            }
            Ok::<_, Problem>(outcome)
        }))
        .await?;
    signed_in_response(&api, &ctx, &outcome?).await
}
