//! The console session.

mod cookie;
mod end;
mod end_one;
mod end_others;
mod list;
mod read;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) use cookie::with_session_cookie;
pub(crate) use view::{SessionView, UserView};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-"), read::read_session))
        .routes(op!(Access::console("-"), end::end_session))
        .routes(op!(Access::console("-"), list::list_sessions, end_others::end_other_sessions))
        .routes(op!(Access::console("-"), end_one::end_one_session))
}
