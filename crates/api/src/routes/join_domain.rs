//! Joining by one's company's domain.

mod change;
mod delete;
mod join;
mod put;
mod read;
mod suggestions;
mod verify;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-"), suggestions::list_join_suggestions))
        .routes(op!(Access::console("-").cost(5), join::join_workspace))
        .routes(op!(Access::console("admin"), read::read_join_domain))
        .routes(op!(Access::console("admin").cost(5), put::put_join_domain))
        .routes(op!(Access::console("admin"), change::change_join_domain))
        .routes(op!(Access::console("admin"), delete::delete_join_domain))
        .routes(op!(Access::console("admin").cost(20), verify::verify_join_domain))
}
