//! Approving a device login.

use application::{authorization::Deferred, unit};
use axum::{Json, extract::State};
use identity::device::ApproveDeviceLogin;
use kernel::{
    authority::Member,
    caller::{Scope, Scopes},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::read::{DeviceStatus, find_login};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};

/// Settings of the token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApproveDeviceLogin)]
pub(crate) struct ApproveDeviceLoginBody {
    /// One of your workspaces.
    #[schema(min_length = 1, max_length = 128)]
    workspace_id: String,
    /// At most the requested scopes; never `admin`.
    #[schema(min_items = 1, max_items = 2, example = json!(["read"]))]
    scopes: Vec<Scope>,
    #[schema(minimum = 1, maximum = 365)]
    expires_in_days: u16,
}

/// The decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceDecided {
    pub(super) user_code: String,
    /// `approved` or `denied`.
    pub(super) status: DeviceStatus,
}

/// Approve a device login
///
/// The command line gets a personal access token of yours in one workspace, once.
#[utoipa::path(post, path = "/v1/cli/device/{userCode}/approve", tag = "device-login", params(("userCode" = String, Path, description = "The code that the command line shows.")), request_body(content = ApproveDeviceLoginBody, example = json!({"workspaceId": "ws_01h455vb4pex5vsknk084sn02q", "scopes": ["read"], "expiresInDays": 30})), responses((status = 200, body = DeviceDecided)))]
pub(crate) async fn approve_device_login(
    State(api): State<Api>,
    Authorized(ctx, membership): Authorized<Console, Deferred<Member>>,
    Path(typed): Path<String>,
    payload: Payload,
) -> ApiResult<Json<DeviceDecided>> {
    let (code, login, _) = find_login(&api, &ctx, &typed).await?;
    let input: ApproveDeviceLoginBody = payload.json()?;
    let member = membership.prove(&api, &ctx, &input.workspace_id).await?;
    let input =
        ApproveDeviceLogin { scopes: Scopes::new(&input.scopes)?, expires_in_days: input.expires_in_days };
    api.transaction(unit!(|tx| identity::device::approve_device_login(
        tx,
        &ctx,
        &member,
        &login,
        input.clone()
    )
    .await))
        .await?;
    Ok(Json(DeviceDecided { user_code: code.to_string(), status: DeviceStatus::Approved }))
}
