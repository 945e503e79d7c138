//! Signing a command line in from a browser.

mod approve;
mod authorization;
mod deny;
pub(crate) mod poll;
pub(crate) mod read;
mod start;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::public().cost(5), start::start_device_login))
        .routes(op!(Access::public().cost(5), authorization::start_device_authorization))
        .routes(op!(Access::public().cost(1), poll::poll_device_login))
        .routes(op!(Access::console("-"), read::read_device_login))
        .routes(op!(Access::console("member"), approve::approve_device_login))
        .routes(op!(Access::console("-"), deny::deny_device_login))
}
