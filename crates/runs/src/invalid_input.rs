//! Inputs that use cases refuse.

use crate::{
    agent_tools::{InvalidSchema, InvalidToolInput},
    automations::schedule::InvalidCronItem,
};

/// An input whose value a use case refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The name of an automation does not have 1 to 60 printable characters.
    #[error("the name of the automation is out of bounds")]
    AutomationName,
    /// The concurrency limit of an automation is not from 1 to 1,000.
    #[error("the concurrency limit is out of bounds")]
    MaxConcurrency,
    /// An automation has more than five retries.
    #[error("the number of retries is out of bounds")]
    Retries,
    /// The kind of the trigger would change while the automation has a webhook.
    #[error("the kind of trigger cannot change while there is a webhook")]
    TriggerKind,
    /// A cron expression does not have five fields.
    #[error("the cron expression does not have five fields")]
    CronFields,
    /// An item of a cron expression is not one of its field.
    #[error(transparent)]
    CronItem(InvalidCronItem),
    /// A cron expression does not parse, for a reason of the library.
    #[error("the cron expression does not parse: {0}")]
    Cron(String),
    /// A cron expression never fires.
    #[error("the cron expression never fires")]
    CronNeverFires,
    /// The text is not the name of an IANA time zone.
    #[error("the time zone is unknown")]
    Timezone,
    /// The window for missed occurrences is not from 1 to [`MAX_WINDOW_MINUTES`](crate::automations::occurrences::MAX_WINDOW_MINUTES).
    #[error("the window for missed occurrences is out of bounds")]
    CatchUpWindow,
    /// The input of a run has more than [`MAX_INPUT`](crate::automations::MAX_INPUT) bytes.
    #[error("the input is too large")]
    RunInput,
    /// The input of a replay has more than [`MAX_INPUT`](crate::automations::MAX_INPUT) bytes.
    #[error("the input of the replay is too large")]
    ReplayInput,
    /// A run would start later than in 30 days.
    #[error("the start is too far ahead")]
    StartDelay,
    /// A run of an automation with a concurrency limit would start later.
    #[error("a run under a concurrency limit cannot be delayed")]
    DelayedStart,
    /// The rate limit of a webhook is not from 1 to 600 calls a minute.
    #[error("the rate limit of the webhook is out of bounds")]
    CallsPerMinute,
    /// The webhook of an automation that a form triggers would get another mode than `form`.
    #[error("the webhook must be a form")]
    ProofMode,
    /// Form settings are given for a webhook of another mode.
    #[error("only a form has form settings")]
    FormInOtherMode,
    /// The name of the hidden field does not have 1 to 64 letters, digits, underscores or hyphens.
    #[error("the name of the hidden field is out of bounds")]
    HiddenField,
    /// More than [`MAX_ALLOWED_SITES`](crate::webhooks::form::MAX_ALLOWED_SITES) sites may send a form.
    #[error("too many sites are listed")]
    SiteCount,
    /// A text is not the origin of a site.
    #[error("a text is not the origin of a site")]
    Site,
    /// The page after a form is not an https URL of at most [`MAX_REDIRECT_BYTES`](crate::webhooks::form::MAX_REDIRECT_BYTES).
    #[error("the page after the form is not an https URL")]
    Redirect,
    /// The name of a tool is not a lower-case letter and 1 to 47 lower-case letters, digits and underscores.
    #[error("the name of the tool is out of bounds")]
    ToolName,
    /// The title of a tool does not have 1 to 60 printable characters.
    #[error("the title of the tool is out of bounds")]
    ToolTitle,
    /// The description of a tool does not have 8 to 400 printable characters.
    #[error("the description of the tool is out of bounds")]
    ToolDescription,
    /// The schema of a tool's arguments is not of the subset.
    #[error(transparent)]
    ToolSchema(#[from] InvalidSchema),
    /// The arguments of a call do not match the tool's schema.
    #[error(transparent)]
    ToolInput(#[from] InvalidToolInput),
}
