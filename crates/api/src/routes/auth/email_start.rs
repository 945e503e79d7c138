//! Asking for a sign-in code.

use axum::{Json, extract::State};
use identity::{Email, sign_in::CODE_LIFETIME};
use kernel::Locale;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Mail,
    envelope::ApiResult,
    extract::{Ctx, Payload},
    state::Api,
};

/// Who wants to sign in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartEmailSignIn {
    #[schema(min_length = 3, max_length = 254, example = "aru@example.com")]
    email: String,
    /// The language of the mail.
    #[serde(default)]
    locale: Option<Locale>,
}

/// That a code was sent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailSignInStarted {
    sent: bool,
    /// Seconds for which the code is good.
    #[schema(minimum = 1)]
    expires_in: i64,
}

/// Ask for a sign-in code by e-mail
///
/// The answer is the same whether the address is known or not.
#[utoipa::path(post, path = "/v1/auth/email/start", tag = "session", request_body = StartEmailSignIn, responses((status = 200, body = EmailSignInStarted)))]
pub(crate) async fn start_email_sign_in(
    State(api): State<Api>,
    ctx: Ctx,
    payload: Payload,
) -> ApiResult<Json<EmailSignInStarted>> {
    api.limits.take_sign_in(ctx.address)?;
    let input: StartEmailSignIn = payload.json()?;
    let email: Email = input.email.parse()?;
    send_code(&api, &ctx, &email, input.locale).await?;
    Ok(Json(EmailSignInStarted { sent: true, expires_in: CODE_LIFETIME.num_seconds() }))
}

/// Mails a code.
pub(crate) async fn send_code(api: &Api, ctx: &Ctx, email: &Email, _locale: Option<Locale>) -> ApiResult<()> {
    let mut tx = api.store().begin().await?;
    let code =
        identity::sign_in::start_email_sign_in(&mut *tx, ctx, &api.services.peppers, email.clone()).await?;
    tx.commit().await?;
    let minutes = CODE_LIFETIME.num_minutes();
    api.services.mailer.send(Mail::SignInCode { to: email.clone(), code: code.0, minutes }).await;
    Ok(())
}
