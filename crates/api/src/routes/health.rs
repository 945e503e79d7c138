//! Whether the server lives and can serve.

mod live;
mod ready;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::public(), live::check_health))
        .routes(op!(Access::public(), ready::check_readiness))
}
