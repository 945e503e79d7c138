//! Pages for people: signing in, and letting a command line in. They work without script.

mod device;
mod sign_in;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use crate::{
    auth::access::Access,
    http::pages::{html_errors, redirect::see_other},
    state::Api,
};

pub(crate) fn router() -> Router<Api> {
    let access = Access::page();
    Router::new()
        .route("/", access.protect(get(async || see_other("/sign-in"))))
        .route("/sign-in", access.protect(get(sign_in::show)))
        .route("/sign-in/start", access.cost(5).protect(post(sign_in::start)))
        .route("/sign-in/email", access.cost(5).protect(get(sign_in::show_email_link).post(sign_in::verify)))
        .route("/sign-in/dev", access.cost(5).protect(post(sign_in::dev_sign_in)))
        .route("/sign-out", access.protect(post(sign_in::sign_out)))
        .route("/device", access.protect(get(device::show)))
        .route("/device/approve", access.protect(post(device::approve)))
        .route("/device/deny", access.protect(post(device::deny)))
        .route_layer(middleware::from_fn(html_errors))
}
