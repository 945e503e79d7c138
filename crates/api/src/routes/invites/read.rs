//! Reading a pending invite by its link.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::{
    WorkspaceError,
    invites::{InviteRole, preview_invite},
};

use crate::{
    auth::{Ctx, SignIn},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::Path,
        schemas,
    },
    state::Api,
};

/// Preview of a pending invite, for everybody with its link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitePreview {
    workspace_name: String,
    /// Name of the person who sent it; null if that person is gone.
    #[schema(required)]
    inviter_name: Option<String>,
    #[schema(value_type = schemas::workspace::InviteRole)]
    role: InviteRole,
    /// Time at which the link expires.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    /// Time at which the membership's access ends; null for never.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    access_ends_at: Option<DateTime<Utc>>,
}

/// Read a pending invite
///
/// Anybody with the link may read it, before signing in. Invites that are accepted, revoked or expired are 404. The invited
/// address is not returned.
#[utoipa::path(get, path = "/v1/invites/{token}", tag = "invites", params(("token" = String, Path, description = "The token of the invite's link.")), responses((status = 200, body = InvitePreview), (status = 404, description = "There is no pending invite with this token.", body = ErrorEnvelope)))]
pub(crate) async fn read_invite(
    State(api): State<Api>,
    ctx: Ctx<SignIn>,
    Path(token): Path<String>,
) -> ApiResult<Json<InvitePreview>> {
    let invite = preview_invite(api.store(), &ctx, api.peppers(), &token).await?;
    let invite = invite.ok_or(WorkspaceError::InviteNotFound)?;
    let workspace = api.store().workspace(invite.workspace).await?;
    let workspace = workspace.ok_or_else(|| Problem::from(WorkspaceError::InviteNotFound))?;
    let inviter = api.store().users(&[invite.invited_by]).await?.pop();
    Ok(Json(InvitePreview {
        workspace_name: workspace.name,
        inviter_name: inviter.map(|inviter| inviter.name),
        role: invite.role,
        expires_at: invite.expires_at,
        access_ends_at: invite.access_ends_at,
    }))
}
