//! Join domains: joining a workspace with an e-mail address of its domain.

mod change;
mod delete;
mod join;
mod put;
mod read;
mod suggestions;
mod verify;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(suggestions::list_join_suggestions))
        .routes(op!(join::join_workspace, cost = 5))
        .routes(op!(read::read_join_domain))
        .routes(op!(put::put_join_domain, cost = 5))
        .routes(op!(change::change_join_domain))
        .routes(op!(delete::delete_join_domain))
        .routes(op!(verify::verify_join_domain, cost = 20))
}
