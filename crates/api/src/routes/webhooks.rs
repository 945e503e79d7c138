//! Configuring webhooks.

mod change;
mod configure;
mod form;
mod read;
mod rotate;
mod send_sample;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(read::read_webhook))
        .routes(op!(configure::configure_webhook, cost = 5))
        .routes(op!(change::change_webhook))
        .routes(op!(rotate::rotate_webhook, cost = 5))
        .routes(op!(send_sample::test_webhook, cost = 10))
}
