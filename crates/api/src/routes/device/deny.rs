//! Denying a device login.

use application::unit;
use axum::{Json, extract::State};

use super::{
    approve::DeviceDecided,
    read::{DeviceStatus, find_login},
};
use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// Deny a device login
#[utoipa::path(post, path = "/v1/cli/device/{userCode}/deny", tag = "device-login", params(("userCode" = String, Path, description = "The code that the command line shows.")), responses((status = 200, body = DeviceDecided)))]
pub(crate) async fn deny_device_login(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(typed): Path<String>,
) -> ApiResult<Json<DeviceDecided>> {
    let (code, login, _) = find_login(&api, &ctx, &typed).await?;
    api.transaction(unit!(|tx| identity::device::deny_device_login(tx, &ctx, &login).await)).await?;
    Ok(Json(DeviceDecided { user_code: code.to_string(), status: DeviceStatus::Denied }))
}
