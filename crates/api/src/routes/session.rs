//! The console session.

mod cookie;
mod end;
mod read;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) use cookie::with_cookie;
pub(crate) use view::{SessionView, UserView};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-"), read::read_session))
        .routes(op!(Access::console("-"), end::end_session))
}
