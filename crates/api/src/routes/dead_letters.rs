//! Failed runs and refused calls that are kept for replay.

mod bulk;
mod discard;
mod list;
mod read;
mod replay;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("member"), list::list_dead_letters))
        .routes(op!(Access::write("member").cost(20), bulk::settle_dead_letters))
        .routes(op!(Access::read("can_view"), read::read_dead_letter))
        .routes(op!(Access::console("can_edit"), discard::discard_dead_letter))
        .routes(op!(Access::write("can_edit").cost(5), replay::replay_dead_letter))
}
