//! Polling a device login.

use application::unit;
use axum::{Json, extract::State};
use identity::device::{PollOutcome, RedeemOutcome, check_device_login, redeem_device_login};
use kernel::Context;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, Public},
    http::{error::ApiResult, extract::Payload},
    routes::tokens::view::TokenRecord,
    state::Api,
};

/// The device code of the login.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PollDeviceLogin)]
pub(crate) struct PollDeviceLoginBody {
    #[schema(example = "qdc_3nVb8KqT0wYx5ZrLm1cJd7PfGh2Es9Aa4Qu6")]
    device_code: String,
}

/// State of a device login for the command line.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DevicePollStatus {
    /// Nobody has decided yet. Poll again after `interval`.
    Pending,
    /// The request came too early. From now on, `interval` is longer.
    SlowDown,
    /// A person approved it. The response has the token, only this once.
    Approved,
    /// A person denied it.
    Denied,
    /// The code is unknown, expired or used up.
    Expired,
}

/// The state of a device login.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DevicePoll {
    status: DevicePollStatus,
    /// Seconds to wait before the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    interval: Option<i64>,
    /// Value of the token. It is returned only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "qat_…")]
    token: Option<String>,
    /// Record of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_record: Option<TokenRecord>,
}

/// Outcome of a token request with a device code.
#[derive(Debug)]
pub(crate) enum DeviceTokenOutcome {
    /// Seconds to wait.
    Pending(i64),
    /// Seconds to wait from now on.
    SlowDown(i64),
    /// The token.
    Token(Box<identity::tokens::CreatedToken>),
    Denied,
    Expired,
    /// Another program started the login.
    OtherClient,
}

/// Redeems a device code, for the program `client` if it is named. The token is returned only once.
pub(crate) async fn redeem_device_code(
    api: &Api,
    ctx: &Context,
    device_code: &str,
    client: Option<&str>,
) -> ApiResult<DeviceTokenOutcome> {
    let peppers = api.peppers();
    let polled = check_device_login(api.store(), peppers, device_code, client, ctx.now).await?;
    let (login, approval) = match polled {
        PollOutcome::Pending(interval) => return Ok(DeviceTokenOutcome::Pending(interval.num_seconds())),
        PollOutcome::SlowDown(interval) => return Ok(DeviceTokenOutcome::SlowDown(interval.num_seconds())),
        PollOutcome::Denied => return Ok(DeviceTokenOutcome::Denied),
        PollOutcome::Expired => return Ok(DeviceTokenOutcome::Expired),
        PollOutcome::OtherClient => return Ok(DeviceTokenOutcome::OtherClient),
        PollOutcome::Approved(login, approval) => (login, approval),
    };
    let fact = api.store().membership(approval.workspace, approval.approved_by).await?;
    let redeemed = api
        .transaction(
            unit!(|tx| redeem_device_login(tx, ctx, peppers, &login, &approval, fact.as_ref()).await),
        )
        .await?;
    Ok(match redeemed {
        RedeemOutcome::Token(created) => DeviceTokenOutcome::Token(created),
        RedeemOutcome::Denied => DeviceTokenOutcome::Denied,
        RedeemOutcome::Expired => DeviceTokenOutcome::Expired,
    })
}

/// Poll a device login
///
/// The status code is 200 in every state. The token is returned once; later requests get `expired`. A request before
/// the interval has passed gets `slow_down`, and the interval grows by five seconds for good.
#[utoipa::path(post, path = "/v1/cli/device/poll", tag = "device-login", request_body(content = PollDeviceLoginBody, example = json!({"deviceCode": "qdc_3nVb8KqT0wYx5ZrLm1cJd7PfGh2Es9Aa4Qu6"})), responses((status = 200, body = DevicePoll)))]
pub(crate) async fn poll_device_login(
    State(api): State<Api>,
    ctx: Ctx<Public>,
    payload: Payload,
) -> ApiResult<Json<DevicePoll>> {
    let question: PollDeviceLoginBody = payload.json()?;
    let answer = redeem_device_code(&api, &ctx, &question.device_code, None).await?;
    let bare = |status, interval| DevicePoll { status, interval, token: None, token_record: None };
    Ok(Json(match answer {
        DeviceTokenOutcome::Pending(interval) => bare(DevicePollStatus::Pending, Some(interval)),
        DeviceTokenOutcome::SlowDown(interval) => bare(DevicePollStatus::SlowDown, Some(interval)),
        DeviceTokenOutcome::Denied => bare(DevicePollStatus::Denied, None),
        DeviceTokenOutcome::Expired | DeviceTokenOutcome::OtherClient => {
            bare(DevicePollStatus::Expired, None)
        }
        DeviceTokenOutcome::Token(created) => DevicePoll {
            status: DevicePollStatus::Approved,
            interval: None,
            token: Some(created.secret.expose_secret().to_owned()),
            token_record: Some(created.token.into()),
        },
    }))
}
