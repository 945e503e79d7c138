//! Problems of automations, runs, approvals and dead letters.

use runs::RunsError;

use crate::problem::Problem;

impl From<RunsError> for Problem {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::InvalidField { field, what } => Self::invalid_field(field, what),
            RunsError::AutomationNotFound => Self::not_found("automation"),
            RunsError::NotAWebhook => {
                Self::conflict("not_a_webhook", "This automation is not triggered by a webhook or a form.")
                    .hint("Create an automation whose trigger has the type `webhook` or `form`.")
            }
            RunsError::WebhookNotFound => Self::not_found("webhook").hint("Create it with PUT."),
            RunsError::NoSecret => {
                Self::conflict("no_secret", "This webhook's mode has no secret to rotate.")
            }
            RunsError::ConfirmationNeeded(why) => {
                Self::conflict("confirmation_needed", why).hint("Send `confirm: true` to make the change.")
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
                Self::conflict("approval_settled", "This approval was already decided, or it has expired.")
            }
            RunsError::RunNotFailed => {
                Self::conflict("run_not_failed", "Only a run that failed or was blocked can be replayed.")
                    .hint("Start its automation again.")
            }
            RunsError::DeadLetterNotFound => Self::not_found("dead letter"),
            RunsError::DeadLetterResolved => {
                Self::conflict("dead_letter_settled", "This dead letter was already replayed or discarded.")
            }
            RunsError::CallAccepted(run) => Self::conflict(
                "call_accepted",
                format!("The sender retried this call, and it was accepted as {run}."),
            )
            .hint("Discard the dead letter, or replay the run if it failed."),
            RunsError::PayloadGone => {
                Self::conflict("payload_gone", "The original input is no longer stored.")
                    .hint("Send an input with the replay.")
            }
            RunsError::NoOriginalVersion => {
                Self::conflict("no_original_version", "The original version is unknown or no longer exists.")
                    .hint("Replay it with the current version.")
            }
            RunsError::Store(error) => error.into(),
        }
    }
}
