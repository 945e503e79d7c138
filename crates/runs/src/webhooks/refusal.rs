//! Refusals of webhook calls (the response table of the specification).

use std::time::Duration;

use kernel::StoreError;

/// Codes of refusals that only the owner of the webhook can fix. Any sender can cause the others.
pub const OWNER_FIXABLE_REFUSALS: [&str; 5] =
    ["hook_disabled", "automation_paused", "not_runnable", "trigger_not_declared", "quota_reached"];

/// A rate limit that a call exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitExceeded {
    /// Time until the next call is allowed.
    pub retry_after: Duration,
    /// Most calls in a minute, if the caller may know.
    pub limit_per_minute: Option<u32>,
}

/// Reason why a call is refused.
#[derive(Debug, thiserror::Error)]
pub enum WebhookRefusal {
    /// 400: the body does not parse as its content type says.
    #[error("the body is invalid: {0}")]
    InvalidBody(String),
    /// 400: the idempotency key is invalid.
    #[error("the idempotency key is invalid")]
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
    /// 403: the webhook is disabled.
    #[error("the webhook is disabled")]
    Disabled,
    /// 403: a public form was submitted from a site that is not listed.
    #[error("the site is not listed")]
    BadOrigin,
    /// 404: there is no webhook at this URL.
    #[error("there is no such webhook")]
    NotFound,
    /// 409: this signed request was already accepted.
    #[error("the request was already accepted")]
    Replayed,
    /// 409: the automation is paused.
    #[error("the automation is paused")]
    AutomationPaused,
    /// 409: the app has no version to run, or is paused.
    #[error("the app cannot run now")]
    NotRunnable,
    /// 409: the app's manifest declares no webhook trigger.
    #[error("the app declares no webhook trigger")]
    TriggerNotDeclared,
    /// 409: the workspace has used up its runs of the month.
    #[error("the workspace has used up its runs of this month")]
    QuotaReached,
    /// 413: the body is too large.
    #[error("the body is too large")]
    TooLarge {
        /// Largest size allowed, in KiB.
        limit_kib: usize,
    },
    /// 415: the body is neither JSON nor a form.
    #[error("the media type is not supported")]
    UnsupportedMediaType,
    /// 415: the body is compressed.
    #[error("the content coding is not supported")]
    UnsupportedEncoding,
    /// 429: too many calls.
    #[error("too many calls")]
    RateLimited(RateLimitExceeded),
    /// 503: the webhook's secret cannot be opened.
    #[error("the webhook's secret cannot be opened")]
    SecretUnreadable,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WebhookRefusal {
    /// Returns true if the call counts against its sender's address, as a stranger's guess does.
    #[must_use]
    pub fn counts_against_sender(&self) -> bool {
        matches!(self, Self::BadSignature | Self::BadToken | Self::StaleTimestamp | Self::NotFound)
    }

    /// Returns the code for the recorded delivery; `None` for a call that is not recorded, because it proved nothing,
    /// came too often, or met a failure of the server.
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

    /// Returns the code for the count of refused calls; `None` for a call that is recorded as a delivery, that came too
    /// often, or that met a failure of the server.
    #[must_use]
    pub fn counted_code(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadSignature => "bad_signature",
            Self::BadToken => "bad_token",
            Self::StaleTimestamp => "stale_timestamp",
            Self::TooLarge { .. } => "too_large",
            Self::UnsupportedMediaType | Self::UnsupportedEncoding => "unsupported_media_type",
            _ => return None,
        })
    }

    /// Returns the message for people; it is specific for calls that could not start a run.
    #[must_use]
    pub fn display_message(&self) -> &'static str {
        match self {
            Self::Disabled => "The webhook is disabled.",
            Self::AutomationPaused => "The automation is paused.",
            Self::NotRunnable => "The app has no version to run, or is paused.",
            Self::TriggerNotDeclared => "The app's manifest declares no webhook trigger.",
            Self::QuotaReached => "The workspace has used up its runs of this month.",
            _ => "The call was refused.",
        }
    }

    /// Returns true if the call is kept for replay: nothing is wrong with it, but it could not start a run.
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
