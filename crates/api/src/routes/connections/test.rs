//! Testing a connection.

use application::Problem;
use axum::{Json, extract::State};
use connections::connection_test::Checked;
use kernel::authority::Admin;
use serde::Serialize;
use utoipa::ToSchema;

use super::{create_http::shown, read::parse_connection_id, view::ConnectionItem};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, schemas},
    state::Api,
};

/// The result of a test.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConnectionTest {
    /// Whether the connection works; null if the service could not be asked.
    #[schema(required)]
    ok: Option<bool>,
    /// `gate` if a request was sent, `format` if the stored secret was only opened and its form checked.
    #[schema(value_type = schemas::connections::Checked)]
    checked: Checked,
    /// Status of the response; null if the token endpoint was asked.
    #[schema(required, maximum = 999)]
    status: Option<u16>,
    /// Milliseconds until the response.
    #[schema(required)]
    latency_ms: Option<u64>,
    /// Reason why it does not work or could not be asked: a code of the gate, `upstream_error` or `unexpected_status`.
    #[schema(required)]
    reason: Option<&'static str>,
    connection: ConnectionItem,
}

/// Test a connection
///
/// Sends one request that changes nothing through the gate, and records what it says about the connection. Takes at most 15 seconds.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/connections/{id}/test", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("id" = kernel::id::ConnectionId, Path, description = "The connection.")),
    responses((status = 200, body = ConnectionTest))
)]
pub(crate) async fn test_connection(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, id)): Path<(String, String)>,
) -> ApiResult<Json<ConnectionTest>> {
    let id = parse_connection_id(&id)?;
    let found = api.store().find_connection(admin.workspace(), id).await?;
    let connection = found.ok_or_else(|| Problem::not_found("connection"))?;
    let result = api.test_connection(connection.clone()).await?;
    let Json(connection) = shown(&api, &ctx, &admin, connection).await?;
    Ok(Json(ConnectionTest {
        ok: result.ok,
        checked: result.checked,
        status: result.status,
        latency_ms: result.latency_ms(),
        reason: result.reason,
        connection,
    }))
}
