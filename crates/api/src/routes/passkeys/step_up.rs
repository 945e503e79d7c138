//! Stepping up with a passkey.

use application::{Problem, unit};
use axum::{Json, extract::State, response::Response};
use kernel::Caller;

use super::{PasskeyAnswer, PasskeyChallenge, authenticators, log_refusal, parse_ceremony_id};
use crate::{
    auth::{Console, Ctx, with_session_cookie},
    http::{error::ApiResult, extract::Payload, views::Ack},
    state::Api,
};

/// Start a step-up with a passkey
#[utoipa::path(post, path = "/v1/auth/passkeys/step-up/start", tag = "passkeys", responses((status = 200, body = PasskeyChallenge)))]
pub(crate) async fn start_passkey_step_up(
    State(api): State<Api>,
    ctx: Ctx<Console>,
) -> ApiResult<Json<PasskeyChallenge>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let authenticators = authenticators(&api)?;
    let keys = api.store().passkeys_of(caller.user).await?;
    let (ceremony_id, options) = api
        .transaction(unit!(
            |tx| identity::passkeys::start_step_up(tx, &ctx, authenticators, caller, &keys).await
        ))
        .await?;
    Ok(Json(PasskeyChallenge { ceremony_id, options }))
}

/// Finish a step-up with a passkey
///
/// For ten minutes, the session counts as freshly proven. The response sets a new session cookie; the old one stops
/// working.
#[utoipa::path(post, path = "/v1/auth/passkeys/step-up/finish", tag = "passkeys", request_body(content = PasskeyAnswer, example = json!({"ceremonyId": "pkc_01h455vb4pex5vsknk084sn02q", "credential": {"id": "BwcHBwcHBwcHBwcHBwcHBw", "rawId": "BwcHBwcHBwcHBwcHBwcHBw", "type": "public-key", "response": {"clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0", "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA", "signature": "MEUCIQDx", "userHandle": null}}})), responses((status = 200, body = Ack)))]
pub(crate) async fn finish_passkey_step_up(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    payload: Payload,
) -> ApiResult<Response> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let authenticators = authenticators(&api)?;
    let input: PasskeyAnswer = payload.json()?;
    let answer = (parse_ceremony_id(&input.ceremony_id)?, &input.credential);
    let keys = api.store().passkeys_of(caller.user).await?;
    let checks = (authenticators, api.peppers());
    let outcome = api
        .transaction(unit!(|tx| {
            identity::passkeys::finish_step_up(tx, &ctx, checks, caller, answer, &keys).await
        }))
        .await?;
    let secret = outcome.inspect_err(log_refusal)?;
    Ok(with_session_cookie(&api, Some(&secret), Json(Ack::OK))?)
}
