//! Planned changes of apps.

mod read;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(read::read_change))
}
