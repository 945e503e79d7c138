//! Changing a person's notification settings.

use application::{Problem, unit};
use axum::extract::State;
use kernel::authority::Member;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::NotificationSettingsView;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UpdateNotificationSettings {
    /// True to get e-mail, false to get none.
    #[serde(default)]
    email: Option<bool>,
}

/// Change your notification settings
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/notifications/settings", tag = "observability",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch),
    request_body(content = UpdateNotificationSettings, example = json!({"email": false})),
    responses((status = 200, body = NotificationSettingsView))
)]
pub(crate) async fn update_notification_settings(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<NotificationSettingsView>> {
    let input: UpdateNotificationSettings = payload.json()?;
    let settings = api
        .transaction(unit!(|tx| {
            if_match.check(NotificationSettingsView::locked(tx, &member)).await?;
            let settings =
                observability::notifications::configure_notifications(tx, &ctx, &member, input.email).await?;
            Ok::<_, Problem>(settings)
        }))
        .await?;
    Ok(Tagged(NotificationSettingsView::new(settings, api.settings().delivery)))
}
