//! The audit log.

mod actions;
mod list;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_audit, cost = 2))
        .routes(op!(actions::list_audit_actions, cost = 2))
}
