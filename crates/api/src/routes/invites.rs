//! Invites.

mod accept;
mod create;
mod list;
pub(crate) mod page;
mod read;
mod resend;
mod revoke;
mod view;

use axum::{Router, middleware, routing::get};
use utoipa_axum::router::OpenApiRouter;

use crate::{http::pages::html_errors, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(accept::accept_invite, cost = 5))
        .routes(op!(read::read_invite))
        .routes(op!(list::list_invites))
        .routes(op!(create::create_invites, cost = 10))
        .routes(op!(revoke::revoke_invite))
        .routes(op!(resend::resend_invite, cost = 5))
}

/// Returns the routes of the page that an invite links to.
pub(crate) fn pages() -> Router<Api> {
    Router::new()
        .route("/invite/{token}", get(page::show).post(page::accept_form))
        .route_layer(middleware::from_fn(html_errors))
}
