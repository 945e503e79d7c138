//! Liveness and readiness of the server.

mod live;
mod ready;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(public live::check_health)).routes(op!(public ready::check_readiness))
}
