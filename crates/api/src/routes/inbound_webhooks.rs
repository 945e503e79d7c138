//! Inbound webhooks: the only path under `/v1` that servers of other sites call.

mod cors;
mod receive;

use axum::routing::options;
use runs::webhooks::WebhookReceiver;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    // Verified calls count only against the limit of the webhook.
    OpenApiRouter::new()
        .routes(op!(receive::receive_webhook, cost = 0))
        .route("/v1/hooks/{id}", options(cors::preflight))
}

/// Returns the receiver of webhook calls.
pub(super) fn receiver(api: &Api) -> WebhookReceiver<'_> {
    WebhookReceiver {
        store: api.store(),
        rate_limiter: api.rate_limits(),
        vault: api.vault(),
        peppers: api.peppers(),
        refused_calls: api.refused_calls(),
    }
}
