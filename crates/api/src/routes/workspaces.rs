//! Workspaces.

mod create;
mod delete;
mod list;
mod read;
mod restore;
mod retention;
mod switch;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_workspaces))
        .routes(op!(create::create_workspace, cost = 20))
        .routes(op!(read::read_workspace))
        .routes(op!(update::update_workspace))
        .routes(op!(delete::delete_workspace, cost = 10))
        .routes(op!(restore::restore_workspace, cost = 10))
        .routes(op!(switch::switch_workspace))
        .routes(op!(retention::read_retention))
}
