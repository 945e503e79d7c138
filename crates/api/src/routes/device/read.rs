//! Reading the request of a device login, for the person who decides.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use identity::device::{DeviceLogin, DeviceLoginState, Purpose, UserCode};
use kernel::{
    Caller, Context,
    authority::Role,
    caller::{Scope, SessionCaller},
    id::WorkspaceId,
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::WorkspaceSummary;

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Path, schemas},
    state::Api,
};

/// State of a device login for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DeviceStatus {
    Pending,
    Approved,
    Denied,
    Expired,
}

impl DeviceStatus {
    pub(crate) fn of(login: &DeviceLogin, now: kernel::Timestamp) -> Self {
        match login.state(now) {
            DeviceLoginState::Pending => Self::Pending,
            DeviceLoginState::Approved(_) | DeviceLoginState::Delivered => Self::Approved,
            DeviceLoginState::Denied => Self::Denied,
            DeviceLoginState::Expired => Self::Expired,
        }
    }
}

/// The request of a command line to sign in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceLoginView {
    user_code: String,
    client: String,
    #[schema(value_type = schemas::identity::Purpose)]
    purpose: Purpose,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    #[schema(max_items = 2)]
    scopes: Vec<Scope>,
    #[schema(minimum = 1, maximum = 365)]
    expires_in_days: u16,
    #[schema(required)]
    host: Option<String>,
    /// IP address that sent the request.
    #[schema(required)]
    address: Option<String>,
    status: DeviceStatus,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    /// Your workspaces; the token is valid in one of them.
    workspaces: Vec<DeviceWorkspace>,
}

/// A workspace for which a token can be created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeviceWorkspace {
    id: WorkspaceId,
    name: String,
    slug: String,
    role: Role,
}

impl From<WorkspaceSummary> for DeviceWorkspace {
    fn from(workspace: WorkspaceSummary) -> Self {
        let WorkspaceSummary { id, name, slug, role, .. } = workspace;
        Self { id, name, slug, role }
    }
}

/// Returns the login with a typed code, and the caller's session. Wrong codes count against the session and the
/// address.
pub(crate) async fn find_login(
    api: &Api,
    ctx: &Context,
    typed: &str,
) -> ApiResult<(UserCode, DeviceLogin, SessionCaller)> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let code: UserCode = typed.parse()?;
    let attempt = api.attempt_limiter().begin(session.session, ctx.client_ip, ctx.now)?;
    let found = api.store().device_login_by_user_code(&code.candidate_digests(api.peppers())).await?;
    let Some(login) = found else { return Err(identity::IdentityError::DeviceLoginNotFound.into()) };
    attempt.succeed();
    Ok((code, login, session.clone()))
}

/// Read a device login
///
/// A session may send at most five wrong codes in ten minutes, an address at most ten.
#[utoipa::path(
    get, path = "/v1/cli/device/{userCode}", tag = "device-login",
    params(
        (
            "userCode" = String,
            Path,
            description = "The code that the command line shows; case and dash do not matter."
        )
    ),
    responses((status = 200, body = DeviceLoginView))
)]
pub(crate) async fn read_device_login(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(typed): Path<String>,
) -> ApiResult<Json<DeviceLoginView>> {
    let (code, login, session) = find_login(&api, &ctx, &typed).await?;
    let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
    let status = DeviceStatus::of(&login, ctx.now);
    Ok(Json(DeviceLoginView {
        user_code: code.to_string(),
        client: login.request.client,
        purpose: login.request.purpose,
        name: login.request.name,
        scopes: login.request.scopes.to_vec(),
        expires_in_days: login.request.expires_in_days,
        host: login.request.host,
        address: login.client_ip.map(|address| address.to_string()),
        status,
        created_at: login.created_at,
        expires_at: login.expires_at,
        workspaces: workspaces.into_iter().map(DeviceWorkspace::from).collect(),
    }))
}
