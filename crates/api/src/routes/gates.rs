//! Gates: permissions of a workspace's apps to reach other hosts.

mod create;
mod delete;
mod list;
mod set_status;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_gates))
        .routes(op!(create::create_gate))
        .routes(op!(set_status::set_gate_status))
        .routes(op!(delete::delete_gate))
}
