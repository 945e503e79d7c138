//! Runs.

mod list;
mod queue_health;
mod read;
mod replay;
mod view;

pub(super) use replay::ReplayedView;
pub(super) use view::VersionRefView;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("can_view"), read::read_run))
        .routes(op!(Access::write("can_edit").cost(5), replay::replay_run))
        .routes(op!(Access::read("member"), list::list_runs))
        .routes(op!(Access::read("member"), queue_health::read_queue_health))
}
