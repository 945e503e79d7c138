//! Pages for people: signing in, approving a command line, and the documents of the web console. All but the console's work
//! without JavaScript.

mod console;
mod device;
mod sign_in;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use crate::{auth::access::with_cost, http::pages::html_errors, state::Api};

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/", get(console::show))
        .route("/welcome", get(console::show))
        .route("/account", get(console::show))
        .route("/account/{*page}", get(console::show))
        .route("/w/{*page}", get(console::show))
        .route("/sign-in", get(sign_in::show))
        .route("/sign-in/start", with_cost(5, post(sign_in::start)))
        .route("/sign-in/email", with_cost(5, get(sign_in::show_email_link).post(sign_in::verify)))
        .route("/sign-in/dev", with_cost(5, post(sign_in::dev_sign_in)))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/device", get(device::show))
        .route("/device/approve", post(device::approve))
        .route("/device/deny", post(device::deny))
        .route_layer(middleware::from_fn(html_errors))
}
