//! Notifications of a workspace, and each person's settings for them.

mod list;
mod mark_read;
mod read_settings;
mod update_settings;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_notifications))
        .routes(op!(mark_read::mark_notifications_read))
        .routes(op!(read_settings::read_notification_settings))
        .routes(op!(update_settings::update_notification_settings))
}
