//! Registering a passkey.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::Caller;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{PasskeyChallenge, authenticators, log_refusal, parse_ceremony_id, view::PasskeyView};
use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A new passkey from the browser.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FinishPasskeyRegistration {
    /// The `ceremonyId` of the challenge.
    #[schema(max_length = 64)]
    ceremony_id: String,
    /// Name of the passkey. Default: `Passkey`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60, example = "Laptop")]
    name: Option<String>,
    /// Result of `navigator.credentials.create`, in its JSON format.
    #[schema(value_type = Object)]
    credential: Value,
}

/// Start registering a passkey
///
/// If you have a passkey already, step up with it first; otherwise 403 `step_up_required`.
#[utoipa::path(post, path = "/v1/auth/passkeys/register/start", tag = "passkeys", responses((status = 200, body = PasskeyChallenge)))]
pub(crate) async fn start_passkey_registration(
    State(api): State<Api>,
    ctx: Ctx<Console>,
) -> ApiResult<Json<PasskeyChallenge>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let authenticators = authenticators(&api)?;
    let fresh = api.require_step_up(&ctx).await?;
    let user = api.store().user(caller.user).await?.ok_or_else(Problem::unauthorized)?;
    let existing = api.store().passkeys_of(caller.user).await?;
    let (ceremony_id, options) = api
        .transaction(unit!(|tx| {
            identity::passkeys::start_registration(tx, &ctx, authenticators, &fresh, (&user, &existing)).await
        }))
        .await?;
    Ok(Json(PasskeyChallenge { ceremony_id, options }))
}

/// Finish registering a passkey
#[utoipa::path(post, path = "/v1/auth/passkeys/register/finish", tag = "passkeys", request_body(content = FinishPasskeyRegistration, example = json!({"ceremonyId": "pkc_01h455vb4pex5vsknk084sn02q", "name": "Laptop", "credential": {"id": "BwcHBwcHBwcHBwcHBwcHBw", "rawId": "BwcHBwcHBwcHBwcHBwcHBw", "type": "public-key", "response": {"clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0", "attestationObject": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ"}}})), responses((status = 200, body = PasskeyView)))]
pub(crate) async fn finish_passkey_registration(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    payload: Payload,
) -> ApiResult<Json<PasskeyView>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let authenticators = authenticators(&api)?;
    let input: FinishPasskeyRegistration = payload.json()?;
    let answer = (parse_ceremony_id(&input.ceremony_id)?, &input.credential);
    let name = input.name.as_deref().unwrap_or("Passkey");
    let made = api
        .transaction(unit!(|tx| identity::passkeys::finish_registration(
            tx,
            &ctx,
            authenticators,
            caller,
            answer,
            name
        )
        .await))
        .await?;
    Ok(Json(made.inspect_err(log_refusal)?.into()))
}
