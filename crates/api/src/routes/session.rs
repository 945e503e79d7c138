//! Sessions of the console.

mod end;
mod end_one;
mod end_others;
mod list;
mod read;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(read::read_session))
        .routes(op!(end::end_session))
        .routes(op!(list::list_sessions))
        .routes(op!(end_others::end_other_sessions))
        .routes(op!(end_one::end_one_session))
}
