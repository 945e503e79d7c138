//! Planned changes of apps.

mod read;
mod view;

pub(super) use view::ChangePlanView;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(Access::read("plan_owner"), read::read_change))
}
