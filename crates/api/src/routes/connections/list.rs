//! Listing connections.

use axum::{Json, extract::State};
use connections::{
    catalogue::{CatalogueRegion, catalogue},
    connection::HTTP_CONNECTOR,
};
use kernel::{
    Caller,
    authority::{Member, Role},
    id::WorkspaceId,
    page::Page,
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::Profile;

use super::view::{ConnectionItem, hide_apps, set_app_statuses};
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, paging::PageParams},
    state::Api,
};
use application::Problem;

/// The connections of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConnectionList {
    workspace_id: WorkspaceId,
    /// Whether the caller can connect and disconnect services.
    can_manage: bool,
    /// Connectors that the workspace's profile allows.
    allowed: Vec<String>,
    /// Connectors among them that are connected in a browser, by an OAuth app of the operator.
    oauth_ready: Vec<String>,
    connections: Vec<ConnectionItem>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the connections of a workspace
///
/// Oldest first. A disconnected connection stays in the list for 30 days, without its secret.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/connections", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams),
    responses((status = 200, body = ConnectionList))
)]
pub(crate) async fn list_connections(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<ConnectionList>> {
    let page = input.request()?;
    let workspace = api.store().workspace(member.workspace()).await?;
    let profile = workspace.ok_or_else(|| Problem::not_found("workspace"))?.profile;
    let mut found = connections::connections::list_connections(api.store(), &ctx, &member, page).await?;
    hide_apps(&api, &ctx, &member, &mut found).await?;
    let mut page =
        Page::from_limit_plus_one(found, page.limit, |view| view.connection.id).map(ConnectionItem::from);
    set_app_statuses(&api, &ctx, &member, &mut page.items).await?;
    let allowed = allowed_connectors(profile);
    let ready = api.oauth_apps().connectors().filter(|ready| allowed.iter().any(|one| one == ready));
    let is_admin = member.role().at_least(Role::Admin) && matches!(ctx.caller, Caller::Session(_));
    Ok(Json(ConnectionList {
        workspace_id: member.workspace(),
        can_manage: is_admin,
        oauth_ready: ready.map(str::to_owned).collect(),
        allowed,
        connections: page.items,
        next_cursor: page.next_cursor,
    }))
}

/// Returns the connectors that a profile allows: with `kz-strict` those of the region, and own HTTP connections.
pub(super) fn allowed_connectors(profile: Profile) -> Vec<String> {
    let is_allowed = |regions: &[CatalogueRegion], connector: &str| {
        profile != Profile::KzStrict || connector == HTTP_CONNECTOR || regions.contains(&CatalogueRegion::Kz)
    };
    let entries = catalogue().iter();
    entries
        .filter_map(|entry| {
            entry.connector_id.as_deref().filter(|connector| is_allowed(&entry.regions, connector))
        })
        .map(str::to_owned)
        .collect()
}
