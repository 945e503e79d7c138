//! Runs.

mod list;
mod queue_health;
mod read;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("can_view"), read::read_run))
        .routes(op!(Access::read("member"), list::list_runs))
        .routes(op!(Access::read("member"), queue_health::read_queue_health))
}
