//! The data API of backend projects, called with project keys.

mod problem;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) use problem::rest_problem;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
}
