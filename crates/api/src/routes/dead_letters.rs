//! Dead letters: failed runs and refused calls, kept for replay.

mod bulk;
mod discard;
mod list;
mod read;
mod replay;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_dead_letters))
        .routes(op!(bulk::settle_dead_letters, cost = 20))
        .routes(op!(read::read_dead_letter))
        .routes(op!(discard::discard_dead_letter))
        .routes(op!(replay::replay_dead_letter, cost = 5))
}
