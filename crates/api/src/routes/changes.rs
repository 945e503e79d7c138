//! Planned changes of apps.

mod approve;
mod list;
mod plan;
mod read;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(plan::plan_change))
        .routes(op!(list::list_changes))
        .routes(op!(read::read_change))
        .routes(op!(approve::approve_change))
}
