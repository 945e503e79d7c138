//! Inbound webhooks: the one path under `/v1` that any site's server may call.

mod cors;
mod receive;

use axum::routing::options;
use runs::webhooks::WebhookReceiver;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    // What proved itself takes from the webhook's own minute, and from nobody else's.
    OpenApiRouter::new()
        .routes(op!(receive::receive_webhook, cost = 0))
        .route("/v1/hooks/{id}", options(cors::preflight))
}

/// What receives calls.
pub(super) fn receiver(api: &Api) -> WebhookReceiver<'_> {
    WebhookReceiver {
        store: api.store(),
        rate_limiter: api.rate_limits(),
        vault: api.vault(),
        peppers: api.peppers(),
    }
}
