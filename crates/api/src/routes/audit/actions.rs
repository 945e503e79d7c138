//! Listing the actions of an audit log.

use axum::{Json, extract::State};
use kernel::authority::Admin;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// The actions of a workspace's audit log, each once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditActions {
    #[schema(example = json!(["app.create", "member.remove"]))]
    items: Vec<String>,
}

/// List the actions of a workspace's audit log
///
/// Those that the log has entries of, in the order of the alphabet.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/audit/actions", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = AuditActions)))]
pub(crate) async fn list_audit_actions(
    State(api): State<Api>,
    Authorized(_ctx, admin): Authorized<Console, Admin>,
) -> ApiResult<Json<AuditActions>> {
    Ok(Json(AuditActions { items: api.store().audit_actions(admin.workspace()).await? }))
}
