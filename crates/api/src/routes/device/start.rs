//! Starting a device login.

use axum::{Json, extract::State};
use identity::device::{LIFETIME, POLL_INTERVAL, Purpose, StartDeviceLogin, StartedDeviceLogin};
use kernel::caller::{Scope, Scopes};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, Public},
    http::{error::ApiResult, extract::Payload, schemas},
    state::Api,
};
use application::{rate_limits::network_prefix, unit};

/// The request of a command line to sign in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = StartDeviceLogin)]
pub(crate) struct StartDeviceLoginBody {
    /// Program, as it names itself.
    #[schema(min_length = 1, max_length = 60, example = "qala-cli")]
    client: String,
    /// Default: `login`.
    #[serde(default)]
    #[schema(value_type = schemas::identity::Purpose)]
    purpose: Purpose,
    /// Name of the token. Default: made from the program and the machine.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60)]
    name: Option<String>,
    /// `read`, `write` or both. Default: both. Never `admin`.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 2, example = json!(["read"]))]
    scopes: Option<Vec<Scope>>,
    /// Default: 90.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 365, default = 90)]
    expires_in_days: Option<u16>,
    /// Machine, as it names itself.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, example = "laptop")]
    host: Option<String>,
}

/// A pending device login.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedView {
    /// Code with which the command line polls. It must not be shown to anybody.
    device_code: String,
    /// Code for the person to type.
    #[schema(example = "BCDF-GHJK")]
    user_code: String,
    /// URL of the page on which the person types the code.
    #[schema(format = "uri")]
    verification_uri: String,
    /// The same URL with the code filled in.
    #[schema(format = "uri")]
    verification_uri_complete: String,
    /// Seconds until the codes expire.
    #[schema(minimum = 1)]
    expires_in: i64,
    /// Seconds to wait between two polls.
    #[schema(minimum = 1)]
    interval: i64,
}

/// Start a device login
///
/// Show the person `userCode` and `verificationUri`, then poll. At most 2,000 logins can be pending at once, and 20
/// from one address.
#[utoipa::path(
    post, path = "/v1/cli/device", tag = "device-login",
    request_body(
        content = StartDeviceLoginBody,
        example = json!({"client": "qala-cli", "host": "laptop", "scopes": ["read"], "expiresInDays": 30})
    ),
    responses((status = 200, body = StartedView))
)]
pub(crate) async fn start_device_login(
    State(api): State<Api>,
    ctx: Ctx<Public>,
    payload: Payload,
) -> ApiResult<Json<StartedView>> {
    let input: StartDeviceLoginBody = payload.json()?;
    let input = StartDeviceLogin {
        client: input.client,
        purpose: input.purpose,
        name: input.name,
        scopes: Scopes::new(&input.scopes.unwrap_or_else(|| vec![Scope::Read, Scope::Write]))?,
        expires_in_days: input.expires_in_days.unwrap_or(90),
        host: input.host,
        network: ctx.client_ip.map(network_prefix),
    };
    let started = start(&api, &ctx, input).await?;
    let (verification_uri, verification_uri_complete) = verification_uris(&api, &started);
    Ok(Json(StartedView {
        device_code: started.device_code.expose_secret().to_owned(),
        user_code: started.user_code.to_string(),
        verification_uri,
        verification_uri_complete,
        expires_in: LIFETIME.num_seconds(),
        interval: POLL_INTERVAL.num_seconds(),
    }))
}

pub(super) async fn start(
    api: &Api,
    ctx: &kernel::Context,
    input: StartDeviceLogin,
) -> ApiResult<StartedDeviceLogin> {
    let started = api
        .transaction(unit!(
            |tx| identity::device::start_device_login(tx, ctx, api.peppers(), input.clone()).await
        ))
        .await?;
    Ok(started)
}

/// Returns the URL of the page for the person, without and with the code.
pub(super) fn verification_uris(api: &Api, started: &StartedDeviceLogin) -> (String, String) {
    let page = format!("{}/device", api.settings().public_url);
    let complete = format!("{page}?user_code={}", started.user_code);
    (page, complete)
}
