//! Members of a workspace.

mod change;
mod list;
mod remove;
mod transfer;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_members))
        .routes(op!(change::change_member))
        .routes(op!(remove::remove_member))
        .routes(op!(transfer::transfer_ownership, cost = 5))
}
