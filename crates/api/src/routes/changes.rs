//! Planned changes of apps.

mod read;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(Access::read("plan_owner"), read::read_change))
}
