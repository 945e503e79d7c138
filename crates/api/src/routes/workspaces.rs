//! Workspaces.

mod create;
mod list;
mod retention;
mod switch;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_workspaces))
        .routes(op!(create::create_workspace, cost = 20))
        .routes(op!(switch::switch_workspace))
        .routes(op!(retention::read_retention))
}
