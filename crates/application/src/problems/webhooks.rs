//! Problems of webhook calls (the response table of the specification).

use std::time::Duration;

use runs::webhooks::{RateLimitExceeded, WebhookRefusal};

use crate::problem::{Problem, ProblemKind};

impl From<WebhookRefusal> for Problem {
    fn from(refusal: WebhookRefusal) -> Self {
        use ProblemKind::{Invalid, TooLarge, Unauthorized, Unsupported};
        match refusal {
            WebhookRefusal::InvalidBody(why) => Self::new(
                Invalid,
                "invalid_body",
                format!("The body does not match its Content-Type: {why}"),
            ),
            WebhookRefusal::InvalidIdempotencyKey => {
                Self::new(Invalid, "invalid_idempotency_key", "The Idempotency-Key is invalid.")
                    .hint("Send it once, with 1 to 255 visible ASCII characters.")
            }
            WebhookRefusal::BadSignature => {
                Self::new(Unauthorized, "bad_signature", "The signature does not match.")
                    .hint("Sign the exact bytes that you send, with the webhook's current secret.")
            }
            WebhookRefusal::BadToken => Self::new(Unauthorized, "bad_token", "The token is wrong or missing."),
            WebhookRefusal::StaleTimestamp => Self::new(
                Unauthorized,
                "stale_timestamp",
                "The timestamp differs from the server's by more than five minutes.",
            )
            .hint("Set your clock, and sign each request when you send it."),
            WebhookRefusal::Disabled => Self::forbidden("hook_disabled", refusal.display_message()),
            WebhookRefusal::BadOrigin => {
                Self::forbidden("bad_origin", "This form does not accept submissions from that site.")
                    .hint("Ask its owner to add the site to the allowed sites.")
            }
            WebhookRefusal::NotFound => {
                Self::new(ProblemKind::NotFound, "hook_not_found", "There is no webhook at this URL.")
            }
            WebhookRefusal::Replayed => Self::conflict("replayed", "This signed request was already accepted.")
                .hint("Sign each request anew. To make retries safe, send an Idempotency-Key."),
            WebhookRefusal::AutomationPaused => Self::conflict("automation_paused", refusal.display_message())
                .retry_after(Duration::from_secs(300)),
            WebhookRefusal::NotRunnable => {
                Self::conflict("not_runnable", refusal.display_message()).retry_after(Duration::from_secs(300))
            }
            WebhookRefusal::TriggerNotDeclared => Self::conflict("trigger_not_declared", refusal.display_message()),
            WebhookRefusal::QuotaReached => Self::conflict("quota_reached", refusal.display_message()),
            WebhookRefusal::TooLarge { limit_kib } => {
                Self::new(TooLarge, "too_large", format!("The body must have at most {limit_kib} KiB."))
            }
            WebhookRefusal::UnsupportedMediaType => {
                Self::new(Unsupported, "unsupported_media_type", "The body must be JSON or a form.")
                    .hint("Send Content-Type: application/json, another type that ends with +json, or application/x-www-form-urlencoded.")
            }
            WebhookRefusal::UnsupportedEncoding => {
                Self::new(Unsupported, "unsupported_media_type", "The body must not be compressed.")
                    .hint("Send it without a Content-Encoding.")
            }
            WebhookRefusal::RateLimited(RateLimitExceeded { retry_after: wait, limit_per_minute: limit }) => {
                let problem = Self::rate_limited(wait);
                match limit {
                    Some(limit) => problem.with_limit(limit),
                    None => problem,
                }
            }
            WebhookRefusal::SecretUnreadable => {
                Self::unavailable("hook_unreadable", "The server cannot read this webhook's secret.")
                    .hint("Rotate the secret.")
            }
            WebhookRefusal::Store(error) => error.into(),
        }
    }
}
