//! Workspaces.

mod create;
mod list;
mod switch;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-"), list::list_workspaces))
        .routes(op!(Access::console("-").cost(20), create::create_workspace))
        .routes(op!(Access::console("member"), switch::switch_workspace))
}
