//! The console session.

mod end;
mod end_one;
mod end_others;
mod list;
mod read;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-"), read::read_session))
        .routes(op!(Access::console("-"), end::end_session))
        .routes(op!(Access::console("-"), list::list_sessions, end_others::end_other_sessions))
        .routes(op!(Access::console("-"), end_one::end_one_session))
}
