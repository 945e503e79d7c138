//! The overview of a workspace.

mod read;
mod search;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(read::read_overview)).routes(op!(search::search_workspace, cost = 3))
}
