//! Starting a device login.

use axum::{Json, extract::State};
use identity::device::{LIFETIME, POLL_INTERVAL, Purpose, StartDeviceLogin, StartedDeviceLogin};
use kernel::caller::{Scope, Scopes};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, Public},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};
use application::{rate_limits::network_prefix, unit};

/// What a command line asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = StartDeviceLogin)]
pub(crate) struct StartDeviceLoginBody {
    /// The program, in its own words.
    #[schema(min_length = 1, max_length = 60, example = "qala-cli")]
    client: String,
    /// `login` when not said.
    #[serde(default)]
    purpose: Purpose,
    /// What the token will be called; made from program and machine when not said.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60)]
    name: Option<String>,
    /// `read` and `write`; both when not said. Never `admin`.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 2, example = json!(["read"]))]
    scopes: Option<Vec<Scope>>,
    /// 90 when not said.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 365, default = 90)]
    expires_in_days: Option<u16>,
    /// The machine, in its own words.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, example = "laptop")]
    host: Option<String>,
}

/// An open login.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedView {
    /// What the command line asks with. It shows it to nobody.
    device_code: String,
    /// What the person types.
    #[schema(example = "BCDF-GHJK")]
    user_code: String,
    /// Where the person types it.
    #[schema(format = "uri")]
    verification_uri: String,
    /// The same, with the code filled in.
    #[schema(format = "uri")]
    verification_uri_complete: String,
    /// Seconds for which the codes are good.
    #[schema(minimum = 1)]
    expires_in: i64,
    /// Seconds to wait between two questions.
    #[schema(minimum = 1)]
    interval: i64,
}

/// Start a device login
///
/// A command line asks, shows the person `userCode` and `verificationUri`, and polls. At most 2,000 logins are open at
/// once, and 20 from one address.
#[utoipa::path(post, path = "/v1/cli/device", tag = "device-login", request_body(content = StartDeviceLoginBody, example = json!({"client": "qala-cli", "host": "laptop", "scopes": ["read"], "expiresInDays": 30})), responses((status = 200, body = StartedView)))]
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

/// Where the person goes, without and with the code.
pub(super) fn verification_uris(api: &Api, started: &StartedDeviceLogin) -> (String, String) {
    let page = format!("{}/device", api.settings().public_url);
    let complete = format!("{page}?user_code={}", started.user_code);
    (page, complete)
}
