//! Reading a person's notification settings.

use axum::extract::State;
use kernel::authority::Member;

use super::view::NotificationSettingsView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::Tagged, error::ApiResult},
    state::Api,
};

/// Read your notification settings
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/notifications/settings", tag = "observability",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = NotificationSettingsView, headers(("ETag" = String))))
)]
pub(crate) async fn read_notification_settings(
    State(api): State<Api>,
    Authorized(_, member): Authorized<Console, Member>,
) -> ApiResult<Tagged<NotificationSettingsView>> {
    let settings = api.store().notification_settings(member.workspace(), member.user()).await?;
    Ok(Tagged(NotificationSettingsView::new(settings, api.settings().delivery)))
}
