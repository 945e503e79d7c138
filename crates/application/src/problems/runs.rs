//! Problems of automations, runs, approvals and dead letters.

mod cron;

use std::borrow::Cow;

use runs::{
    InvalidInput, RunsError, WebhookBreakage,
    agent_tools::{AgentToolState, InvalidSchema, InvalidToolInput, MAX_TOOLS, ToolBlock},
    automations::{MAX_INPUT, occurrences::MAX_WINDOW_MINUTES},
    webhooks::form::{MAX_ALLOWED_SITES, MAX_REDIRECT_BYTES},
};

use crate::problem::Problem;

impl From<RunsError> for Problem {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::InvalidInput(error) => error.into(),
            RunsError::AutomationNotFound => Self::not_found("automation"),
            RunsError::NotAWebhook => {
                Self::conflict("not_a_webhook", "This automation is not triggered by a webhook or a form.")
                    .hint("Create an automation whose trigger has the type `webhook` or `form`.")
            }
            RunsError::WebhookNotFound => Self::not_found("webhook").hint("Create it with PUT."),
            RunsError::NoSecret => {
                Self::conflict("no_secret", "This webhook's mode has no secret to rotate.")
            }
            RunsError::ConfirmationNeeded(breakage) => {
                let message = match breakage {
                    WebhookBreakage::ProofRemoved => {
                        "Without proof, anyone who knows the URL can start this automation."
                    }
                    WebhookBreakage::SecretReplaced => {
                        "Another mode replaces or removes the secret, and current senders will be refused."
                    }
                };
                Self::conflict("confirmation_needed", message)
                    .hint("Send `confirm: true` to make the change.")
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
            RunsError::RunEnded => {
                Self::conflict("run_ended", "This run has ended, so there is nothing to cancel.")
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
            RunsError::VersionUnusable => Self::conflict(
                "version_unusable",
                "The files of the original version are deleted: it is not among the newest of the app.",
            )
            .hint("Replay it with the current version."),
            RunsError::VersionNotPermitted => {
                Self::conflict("stale_version", "The run got its version while it was replayed.")
                    .hint("Send the request again.")
            }
            RunsError::AgentToolNotFound => Self::not_found("agent tool").hint("Publish it with PUT."),
            RunsError::ToolBlocked(block) => tool_blocked(block),
            RunsError::PermissionsChanged => {
                Self::conflict("permissions_changed", "The app may do something else than was reviewed.")
                    .hint("Read the tool, review the permissions, and publish it with the new `hash`.")
            }
            RunsError::TooManyTools => {
                Self::conflict("too_many_tools", format!("A workspace can have at most {MAX_TOOLS} tools."))
                    .hint("Delete those that no agent calls.")
            }
            RunsError::ToolNameTaken => {
                Self::conflict("tool_name_taken", "Another tool of this workspace has this name.")
                    .hint("Choose another name.")
            }
            RunsError::ToolNotLive(state) => tool_not_live(state),
            RunsError::Store(error) => error.into(),
        }
    }
}

fn tool_blocked(block: ToolBlock) -> Problem {
    let (message, hint) = match block {
        ToolBlock::NoApp => ("This automation runs no app.", "Choose an automation of an app."),
        ToolBlock::NotDeployed => ("The app has no version to run.", "Publish a version of the app first."),
        ToolBlock::NoInputPath => (
            "Events start this automation, so it takes no arguments.",
            "Create an automation whose trigger has another type.",
        ),
        ToolBlock::NotRunnable => (
            "The app or the automation is paused or a draft.",
            "Resume the app and make the automation active, then publish it.",
        ),
    };
    Problem::conflict("tool_blocked", message).hint(hint)
}

fn tool_not_live(state: AgentToolState) -> Problem {
    let message = match state {
        AgentToolState::Off => "This tool is turned off.",
        AgentToolState::NeedsReview => {
            "The permissions of this tool's app have changed, and nobody has reviewed them yet."
        }
        AgentToolState::Live | AgentToolState::Paused => "This tool's app or automation is paused.",
    };
    Problem::conflict("tool_not_live", message).hint("List the tools again, and use one that is live.")
}

fn join_path(root: &str, path: &str) -> String {
    if path.is_empty() { root.to_owned() } else { format!("{root}.{path}") }
}

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        let (field, rule): (&str, Cow<'static, str>) = match error {
            InvalidInput::AutomationName => ("name", "must have 1 to 60 printable characters".into()),
            InvalidInput::MaxConcurrency => ("maxConcurrency", "must be from 1 to 1000, or null".into()),
            InvalidInput::Retries => ("retries", "must be from 0 to 5".into()),
            InvalidInput::TriggerKind => (
                "trigger.type",
                "cannot change while the automation has a webhook; create another automation".into(),
            ),
            InvalidInput::CronFields => ("trigger.cron", "must have five fields, such as `0 9 * * 1`".into()),
            InvalidInput::CronItem(item) => ("trigger.cron", cron::rule(&item).into()),
            InvalidInput::Cron(_) => ("trigger.cron", "is not a valid cron expression".into()),
            InvalidInput::CronNeverFires => ("trigger.cron", "must fire at some time".into()),
            InvalidInput::Timezone => {
                ("trigger.timezone", "must be an IANA time zone such as Asia/Almaty".into())
            }
            InvalidInput::CatchUpWindow => {
                ("trigger.catchUpMinutes", format!("must be from 1 to {MAX_WINDOW_MINUTES}").into())
            }
            InvalidInput::RunInput => {
                ("input", format!("must have at most {} KiB of JSON", MAX_INPUT >> 10).into())
            }
            InvalidInput::ReplayInput => {
                ("payload", format!("must have at most {} KiB of JSON", MAX_INPUT >> 10).into())
            }
            InvalidInput::StartDelay => ("runAt", "must be at most 30 days ahead".into()),
            InvalidInput::DelayedStart => {
                ("runAt", "must be omitted while the automation limits its concurrency".into())
            }
            InvalidInput::CallsPerMinute => ("perMinute", "must be from 1 to 600".into()),
            InvalidInput::ProofMode => {
                ("mode", "must be form, because a public form triggers this automation".into())
            }
            InvalidInput::FormInOtherMode => ("form", "is allowed only in the mode form".into()),
            InvalidInput::HiddenField => {
                ("form.hiddenField", "must have 1 to 64 letters, digits, underscores or hyphens".into())
            }
            InvalidInput::SiteCount => {
                ("form.allowedSites", format!("must have at most {MAX_ALLOWED_SITES} sites").into())
            }
            InvalidInput::Site => (
                "form.allowedSites",
                "must be complete origins without a path, such as https://www.example.com".into(),
            ),
            InvalidInput::ToolName => (
                "name",
                "must have 2 to 48 lower-case letters, digits and `_`, and begin with a letter".into(),
            ),
            InvalidInput::ToolTitle => ("title", "must have 1 to 60 printable characters".into()),
            InvalidInput::ToolDescription => {
                ("description", "must have 8 to 400 printable characters".into())
            }
            InvalidInput::ToolSchema(InvalidSchema { path, reason }) => {
                return Self::invalid_field(&join_path("inputSchema", &path), reason);
            }
            InvalidInput::ToolInput(InvalidToolInput { path, reason }) => {
                return Self::invalid_field(&join_path("input", &path), reason);
            }
            InvalidInput::Redirect => (
                "form.redirect",
                format!("must be an https URL of at most {MAX_REDIRECT_BYTES} characters, or null").into(),
            ),
        };
        Self::invalid_field(field, rule)
    }
}
