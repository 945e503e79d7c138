//! Who is in a workspace.

mod change;
mod list;
mod remove;
mod transfer;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("member"), list::list_members))
        .routes(op!(Access::console("admin"), change::change_member))
        .routes(op!(Access::console("member"), remove::remove_member))
        .routes(op!(Access::console("owner").cost(5), transfer::transfer_ownership))
}
