//! What apps said while they ran.

pub(crate) mod list;
mod stream;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("can_edit"), list::list_log_lines))
        .routes(op!(Access::read("can_edit"), stream::follow_log_lines))
}
