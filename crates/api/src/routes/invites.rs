//! Invites.

mod accept;
mod create;
mod list;
pub(crate) mod page;
mod resend;
mod revoke;
mod view;

use axum::{Router, middleware, routing::get};
use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, http::pages::html_errors, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("-").cost(5), accept::accept_invite))
        .routes(op!(Access::console("admin"), list::list_invites))
        .routes(op!(Access::console("admin").cost(10), create::create_invites))
        .routes(op!(Access::console("admin"), revoke::revoke_invite))
        .routes(op!(Access::console("admin").cost(5), resend::resend_invite))
}

/// The page that an invite's link leads to.
pub(crate) fn pages() -> Router<Api> {
    Router::new()
        .route("/invite/{token}", get(page::show).post(page::accept_form))
        .route_layer(middleware::from_fn(html_errors))
}
