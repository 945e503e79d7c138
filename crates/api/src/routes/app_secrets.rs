//! Secrets of apps that belong to no connection.

mod delete;
mod list;
mod put;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_app_secrets))
        .routes(op!(put::put_app_secret))
        .routes(op!(delete::delete_app_secret))
}
