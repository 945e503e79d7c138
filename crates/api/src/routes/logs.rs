//! Logs of apps.

pub(crate) mod list;
mod stream;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(list::list_log_lines)).routes(op!(stream::follow_log_lines))
}
