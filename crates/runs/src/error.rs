//! What can go wrong with automations and runs.

use kernel::{Problem, StoreError, id::RunId};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A field is out of its bounds.
    #[error("`{field}` {what}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// What it must be.
        what: String,
    },
    /// The automation is gone.
    #[error("there is no such automation")]
    AutomationNotFound,
    /// The automation's trigger is not a webhook.
    #[error("the automation is not started by a webhook")]
    NotAWebhook,
    /// The automation has no webhook set up yet.
    #[error("the automation has no webhook yet")]
    WebhookNotFound,
    /// The webhook has no secret to rotate.
    #[error("the webhook has no secret")]
    NoSecret,
    /// The change needs `confirm: true`.
    #[error("the change needs a confirmation")]
    ConfirmationNeeded(&'static str),
    /// The app has no version to run, or is switched off.
    #[error("the app cannot run now")]
    NotRunnable,
    /// The workspace has used up its runs of the month.
    #[error("the workspace has used up its runs of this month")]
    QuotaReached,
    /// The run is gone.
    #[error("there is no such run")]
    RunNotFound,
    /// There is no such question.
    #[error("there is no such approval")]
    ApprovalNotFound,
    /// The question was answered, or is too old.
    #[error("the approval is settled")]
    ApprovalResolved,
    /// The run did not fail.
    #[error("the run did not fail")]
    RunNotFailed,
    /// The dead letter is gone.
    #[error("there is no such dead letter")]
    DeadLetterNotFound,
    /// The dead letter was replayed or discarded.
    #[error("the dead letter is settled")]
    DeadLetterResolved,
    /// The sender sent the refused call again, and it was accepted: this is its run.
    #[error("the call was accepted later, as {0}")]
    CallAccepted(RunId),
    /// What the app was given is not kept any more.
    #[error("the payload is gone")]
    PayloadGone,
    /// There is no version that failed.
    #[error("there is no original version")]
    NoOriginalVersion,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RunsError {
    pub(crate) fn invalid(field: &'static str, what: impl Into<String>) -> Self {
        Self::InvalidField { field, what: what.into() }
    }
}

impl From<RunsError> for Problem {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::InvalidField { field, what } => Self::invalid_field(field, what),
            RunsError::AutomationNotFound => Self::not_found("automation"),
            RunsError::NotAWebhook => {
                Self::conflict("not_a_webhook", "This automation is not started by a webhook or a form.")
                    .hint("Make an automation whose trigger has the type `webhook` or `form`.")
            }
            RunsError::WebhookNotFound => Self::not_found("webhook").hint("Set it up with PUT first."),
            RunsError::NoSecret => {
                Self::conflict("no_secret", "This webhook's mode has no secret to rotate.")
            }
            RunsError::ConfirmationNeeded(why) => {
                Self::conflict("confirmation_needed", why).hint("Send `confirm: true` if you mean it.")
            }
            RunsError::NotRunnable => {
                Self::conflict("not_runnable", "The app has no version to run, or is paused.")
                    .hint("Publish a version or resume the app, then try again.")
            }
            RunsError::QuotaReached => {
                Self::conflict("quota_reached", "The workspace has used up its runs of this month.")
            }
            RunsError::RunNotFound => Self::not_found("run"),
            RunsError::ApprovalNotFound => Self::not_found("approval"),
            RunsError::ApprovalResolved => {
                Self::conflict("approval_settled", "Somebody has answered already, or it is too late.")
            }
            RunsError::RunNotFailed => {
                Self::conflict("run_not_failed", "Only a run that failed or was blocked is replayed.")
                    .hint("Start its automation again.")
            }
            RunsError::DeadLetterNotFound => Self::not_found("dead letter"),
            RunsError::DeadLetterResolved => {
                Self::conflict("dead_letter_settled", "Somebody has replayed or discarded it already.")
            }
            RunsError::CallAccepted(run) => Self::conflict(
                "call_accepted",
                format!("The sender sent this call again, and it was accepted as {run}."),
            )
            .hint("Discard the dead letter, or replay the run if it failed."),
            RunsError::PayloadGone => {
                Self::conflict("payload_gone", "What the app was given is not kept any more.")
                    .hint("Say what it is to be given.")
            }
            RunsError::NoOriginalVersion => {
                Self::conflict("no_original_version", "No version of the app had run.")
                    .hint("Replay it with the current version.")
            }
            RunsError::Store(error) => error.into(),
        }
    }
}
