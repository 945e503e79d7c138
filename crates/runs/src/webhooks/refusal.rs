//! Every way a webhook call is refused; the answer table of the specification.

use std::time::Duration;

use kernel::{Problem, ProblemKind, StoreError};

/// The codes of refusals that a webhook's owner can mend, and no sender. Anybody may cause the others.
pub const OWNER_FIXABLE_REFUSALS: [&str; 5] =
    ["hook_disabled", "automation_paused", "not_runnable", "trigger_not_declared", "quota_reached"];

/// A limit that a call ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitExceeded {
    /// How long until there is room.
    pub retry_after: Duration,
    /// How many calls it takes in a minute, where it is the caller's to know.
    pub limit_per_minute: Option<u32>,
}

/// Why a call is refused.
#[derive(Debug, thiserror::Error)]
pub enum WebhookRefusal {
    /// 400: the body does not parse as its content type says.
    #[error("the body is invalid: {0}")]
    InvalidBody(String),
    /// 400: the key cannot be used.
    #[error("the idempotency key is unusable")]
    InvalidIdempotencyKey,
    /// 401: the signature is wrong in any way.
    #[error("the signature is wrong")]
    BadSignature,
    /// 401: the token is wrong or missing.
    #[error("the token is wrong")]
    BadToken,
    /// 401: the signature is right and too old or too new.
    #[error("the timestamp is stale")]
    StaleTimestamp,
    /// 403: its owner switched it off.
    #[error("the webhook is switched off")]
    Disabled,
    /// 403: a public form was posted from a site that is not listed.
    #[error("the site is not listed")]
    BadOrigin,
    /// 404: no webhook at this address.
    #[error("there is no such webhook")]
    NotFound,
    /// 409: this signed request was accepted already.
    #[error("the request was accepted already")]
    Replayed,
    /// 409: the automation is paused.
    #[error("the automation is paused")]
    AutomationPaused,
    /// 409: the app has no version or is paused.
    #[error("the app cannot run")]
    NotRunnable,
    /// 409: the app's manifest declares no webhook trigger.
    #[error("the app declares no webhook trigger")]
    TriggerNotDeclared,
    /// 409: the runs of the month are used up.
    #[error("the quota is reached")]
    QuotaReached,
    /// 413: the body is too large.
    #[error("the body is too large")]
    TooLarge {
        /// The most it may have, in KiB.
        limit_kib: usize,
    },
    /// 415: neither JSON nor a form.
    #[error("the media type is unsupported")]
    UnsupportedMediaType,
    /// 415: the body is compressed.
    #[error("the content coding is unsupported")]
    UnsupportedEncoding,
    /// 429: too many calls.
    #[error("too many calls")]
    RateLimited(RateLimitExceeded),
    /// 503: the secret cannot be read.
    #[error("the webhook's secret cannot be read")]
    SecretUnreadable,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WebhookRefusal {
    /// Whether the call counts against its sender's address: what a stranger who guesses would cause.
    #[must_use]
    pub fn counts_against_sender(&self) -> bool {
        matches!(self, Self::BadSignature | Self::BadToken | Self::StaleTimestamp | Self::NotFound)
    }

    /// What the delivery's row says; none for a call that is not worth a row, since it proved nothing or came too often.
    #[must_use]
    pub fn delivery_code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Disabled => "hook_disabled",
            Self::BadOrigin => "bad_origin",
            Self::AutomationPaused => "automation_paused",
            Self::NotRunnable => "not_runnable",
            Self::TriggerNotDeclared => "trigger_not_declared",
            Self::QuotaReached => "quota_reached",
            Self::InvalidBody(_) => "invalid_body",
            Self::InvalidIdempotencyKey => "invalid_idempotency_key",
            Self::Replayed => "replayed",
            _ => return None,
        })
    }

    /// What the console says of a call that could not run.
    #[must_use]
    pub fn display_message(&self) -> &'static str {
        match self {
            Self::Disabled => "The webhook's owner switched it off.",
            Self::AutomationPaused => "The automation is paused.",
            Self::NotRunnable => "The app has no version to run, or is paused.",
            Self::TriggerNotDeclared => "The app's manifest declares no webhook trigger.",
            Self::QuotaReached => "The workspace has used up its runs of this month.",
            _ => "The call was refused.",
        }
    }

    /// Whether the call is kept for replay: nothing is wrong with it, it only could not run.
    #[must_use]
    pub fn is_replayable(&self) -> bool {
        matches!(
            self,
            Self::Disabled
                | Self::AutomationPaused
                | Self::NotRunnable
                | Self::TriggerNotDeclared
                | Self::QuotaReached
        )
    }
}

impl From<WebhookRefusal> for Problem {
    fn from(refusal: WebhookRefusal) -> Self {
        use ProblemKind::{Invalid, TooLarge, Unauthorized, Unsupported};
        match refusal {
            WebhookRefusal::InvalidBody(why) => Self::new(
                Invalid,
                "invalid_body",
                format!("The body does not parse as its Content-Type says: {why}"),
            ),
            WebhookRefusal::InvalidIdempotencyKey => {
                Self::new(Invalid, "invalid_idempotency_key", "The Idempotency-Key cannot be used.")
                    .hint("Send it once, with 1 to 255 visible ASCII characters.")
            }
            WebhookRefusal::BadSignature => {
                Self::new(Unauthorized, "bad_signature", "The signature does not match.")
                    .hint("Sign the very bytes you send, with the webhook's current secret.")
            }
            WebhookRefusal::BadToken => Self::new(Unauthorized, "bad_token", "The token is wrong or missing."),
            WebhookRefusal::StaleTimestamp => Self::new(
                Unauthorized,
                "stale_timestamp",
                "The timestamp is more than five minutes from the server's.",
            )
            .hint("Set your clock, and sign each request when you send it."),
            WebhookRefusal::Disabled => Self::forbidden("hook_disabled", refusal.display_message()),
            WebhookRefusal::BadOrigin => {
                Self::forbidden("bad_origin", "This form does not take submissions from that site.")
                    .hint("Its owner can list the site.")
            }
            WebhookRefusal::NotFound => {
                Self::new(ProblemKind::NotFound, "hook_not_found", "There is no webhook at this address.")
            }
            WebhookRefusal::Replayed => Self::conflict("replayed", "This signed request was accepted already.")
                .hint("Sign each request anew; send an Idempotency-Key to make a retry safe."),
            WebhookRefusal::AutomationPaused => Self::conflict("automation_paused", refusal.display_message())
                .retry_after(Duration::from_secs(300)),
            WebhookRefusal::NotRunnable => {
                Self::conflict("not_runnable", refusal.display_message()).retry_after(Duration::from_secs(300))
            }
            WebhookRefusal::TriggerNotDeclared => Self::conflict("trigger_not_declared", refusal.display_message()),
            WebhookRefusal::QuotaReached => Self::conflict("quota_reached", refusal.display_message()),
            WebhookRefusal::TooLarge { limit_kib } => {
                Self::new(TooLarge, "too_large", format!("The body may have at most {limit_kib} KiB."))
            }
            WebhookRefusal::UnsupportedMediaType => {
                Self::new(Unsupported, "unsupported_media_type", "The body must be JSON or a form.")
                    .hint("Send Content-Type: application/json, another type that ends with +json, or application/x-www-form-urlencoded.")
            }
            WebhookRefusal::UnsupportedEncoding => {
                Self::new(Unsupported, "unsupported_media_type", "The body must not be compressed.")
                    .hint("Send it as it is, without a Content-Encoding.")
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
