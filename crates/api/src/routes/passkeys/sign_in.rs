//! Signing in with a passkey.

use application::{Problem, unit};
use axum::{Json, extract::State, response::Response};

use super::{PasskeyAnswer, PasskeyChallenge, authenticators, log_refusal, parse_ceremony_id};
use crate::{
    auth::{Ctx, ExtractSignInClient, SignIn},
    http::{error::ApiResult, extract::Payload, views::SessionView},
    routes::auth::signed_in_response,
    state::Api,
};

/// Start a sign-in with a passkey
///
/// You need not say who you are: the browser offers the passkeys that it has for this site.
#[utoipa::path(post, path = "/v1/auth/passkeys/sign-in/start", tag = "passkeys", responses((status = 200, body = PasskeyChallenge)))]
pub(crate) async fn start_passkey_sign_in(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
) -> ApiResult<Json<PasskeyChallenge>> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let authenticators = authenticators(&api)?;
    let (ceremony_id, options) = api
        .transaction(unit!(|tx| identity::passkeys::start_sign_in(tx, &ctx, authenticators).await))
        .await?;
    Ok(Json(PasskeyChallenge { ceremony_id, options }))
}

/// Finish a sign-in with a passkey
#[utoipa::path(post, path = "/v1/auth/passkeys/sign-in/finish", tag = "passkeys", request_body(content = PasskeyAnswer, example = json!({"ceremonyId": "pkc_01h455vb4pex5vsknk084sn02q", "credential": {"id": "BwcHBwcHBwcHBwcHBwcHBw", "rawId": "BwcHBwcHBwcHBwcHBwcHBw", "type": "public-key", "response": {"clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0", "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA", "signature": "MEUCIQDx", "userHandle": null}}})), responses((status = 200, body = SessionView), (status = 401, description = "`passkey_refused`", body = crate::http::error::ErrorEnvelope)))]
pub(crate) async fn finish_passkey_sign_in(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    ExtractSignInClient(client): ExtractSignInClient,
    payload: Payload,
) -> ApiResult<Response> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let authenticators = authenticators(&api)?;
    let input: PasskeyAnswer = payload.json()?;
    let answer = (parse_ceremony_id(&input.ceremony_id)?, &input.credential);
    let claimed = match authenticators.identify_user(&input.credential) {
        Ok(user) => api.store().user(user).await?,
        Err(_) => None,
    };
    let claimed = match claimed {
        Some(user) => {
            let keys = api.store().passkeys_of(user.id).await?;
            Some((user, keys))
        }
        None => None,
    };
    let checks = (authenticators, api.peppers());
    let outcome = api
        .transaction(unit!(|tx| {
            let claimed = claimed.clone();
            let mut outcome =
                identity::passkeys::finish_sign_in(tx, &ctx, checks, answer, claimed, &client).await?;
            if let Ok(opened) = &mut outcome {
                api.open_first_workspace(tx, &ctx, opened).await?;
            }
            Ok::<_, Problem>(outcome)
        }))
        .await?;
    signed_in_response(&api, &ctx, &outcome.inspect_err(log_refusal)?).await
}
