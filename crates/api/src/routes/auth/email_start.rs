//! Requesting a sign-in e-mail.

use application::unit;
use axum::{Json, extract::State};
use identity::{
    Email,
    sign_in::{self, CODE_LIFETIME},
};
use kernel::Locale;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, SignIn},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// The person who wants to sign in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartEmailSignIn {
    #[schema(min_length = 3, max_length = 254, example = "aru@example.com")]
    email: String,
    /// Language of the e-mail. Default: English.
    #[serde(default)]
    locale: Locale,
}

/// The e-mail is queued.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailSignInStarted {
    sent: bool,
    /// Seconds until the code and the link expire.
    #[schema(minimum = 1)]
    expires_in: i64,
}

/// Request a sign-in e-mail
///
/// The e-mail has a code and a link. A new e-mail replaces earlier ones. The response does not reveal whether the
/// address is known.
#[utoipa::path(post, path = "/v1/auth/email/start", tag = "session", request_body(content = StartEmailSignIn, example = json!({"email": "aru@example.com", "locale": "en"})), responses((status = 200, body = EmailSignInStarted)))]
pub(crate) async fn start_email_sign_in(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    payload: Payload,
) -> ApiResult<Json<EmailSignInStarted>> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let input: StartEmailSignIn = payload.json()?;
    let email: Email = input.email.parse()?;
    send_sign_in_email(&api, &ctx, email, input.locale, None).await?;
    Ok(Json(EmailSignInStarted { sent: true, expires_in: CODE_LIFETIME.num_seconds() }))
}

/// Queues an e-mail with a code and a link. The link continues to `next` after the sign-in.
pub(crate) async fn send_sign_in_email(
    api: &Api,
    ctx: &kernel::Context,
    email: Email,
    locale: Locale,
    next: Option<&str>,
) -> ApiResult<()> {
    api.rate_limits().check_recipient(email.as_str())?;
    let mut link_base = format!("{}/sign-in/email", api.settings().public_url);
    if let Some(next) = next {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        link_base = format!("{link_base}?{query}");
    }
    let input = sign_in::StartEmailSignIn { email, locale, link_base };
    let (peppers, vault) = (api.peppers(), api.vault());
    api.transaction(unit!(|tx| sign_in::start_email_sign_in(tx, ctx, peppers, vault, input.clone()).await))
        .await?;
    Ok(())
}
