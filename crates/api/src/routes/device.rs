//! Signing a command line in through a browser.

mod approve;
mod authorization;
mod deny;
pub(crate) mod poll;
pub(crate) mod read;
mod start;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(start::start_device_login, cost = 5))
        .routes(op!(authorization::start_device_authorization, cost = 5))
        .routes(op!(poll::poll_device_login, cost = 1))
        .routes(op!(read::read_device_login))
        .routes(op!(approve::approve_device_login))
        .routes(op!(deny::deny_device_login))
}
