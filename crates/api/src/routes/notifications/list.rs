//! Listing notifications.

use axum::{Json, extract::State};
use kernel::{authority::Member, page::Page};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{NotificationView, count_unread};
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, paging::PageParams},
    state::Api,
};

/// Notifications of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notifications {
    items: Vec<NotificationView>,
    /// Number of notifications that you have not read, of the newest 1,000 since you joined; at most 100. In a view as another
    /// role, 0.
    #[schema(maximum = 100)]
    unread: u32,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the notifications of a workspace
///
/// Alerts of the last 30 days about apps that you can view and about connections, newest first, and what each channel made
/// of them.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/notifications", tag = "observability",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams),
    responses((status = 200, body = Notifications))
)]
pub(crate) async fn list_notifications(
    State(api): State<Api>,
    Authorized(_, member): Authorized<ReadToken, Member>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<Notifications>> {
    let page = input.request()?;
    let found = api.store().notifications(&member, page).await?;
    let position = api.store().read_position(&member).await?;
    let unread = count_unread(&api, &member, position).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |listed| listed.notification.seq);
    let items = page.items.into_iter().map(|listed| NotificationView::new(listed, position)).collect();
    Ok(Json(Notifications { items, unread, next_cursor: page.next_cursor }))
}
