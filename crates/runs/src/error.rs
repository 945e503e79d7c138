//! Errors of this domain.

use kernel::{StoreError, id::RunId};

use crate::{
    InvalidInput,
    agent_tools::{AgentToolState, ToolBlock},
};

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The automation does not exist, or belongs to another app.
    #[error("there is no such automation")]
    AutomationNotFound,
    /// The automation's trigger is neither a webhook nor a form.
    #[error("the automation is not triggered by a webhook")]
    NotAWebhook,
    /// The automation's webhook was not configured yet.
    #[error("the automation has no webhook")]
    WebhookNotFound,
    /// The webhook's mode has no secret to rotate.
    #[error("the webhook has no secret")]
    NoSecret,
    /// The change breaks something, and was not confirmed.
    #[error("the change needs a confirmation: {0}")]
    ConfirmationNeeded(WebhookBreakage),
    /// The app has no version to run, or is paused.
    #[error("the app cannot run now")]
    NotRunnable,
    /// The workspace has used up its runs of the month.
    #[error("the workspace has used up its runs of this month")]
    QuotaReached,
    /// The run does not exist, or belongs to another app.
    #[error("there is no such run")]
    RunNotFound,
    /// The approval does not exist, or belongs to another run.
    #[error("there is no such approval")]
    ApprovalNotFound,
    /// The approval was decided, or has expired.
    #[error("the approval was decided or has expired")]
    ApprovalResolved,
    /// The run has ended.
    #[error("the run has ended")]
    RunEnded,
    /// The run neither failed nor was blocked.
    #[error("the run did not fail")]
    RunNotFailed,
    /// The dead letter does not exist, or belongs to another app.
    #[error("there is no such dead letter")]
    DeadLetterNotFound,
    /// The dead letter was replayed or discarded.
    #[error("the dead letter was replayed or discarded")]
    DeadLetterResolved,
    /// The sender retried the refused call, and it was accepted as this run.
    #[error("the call was accepted later, as {0}")]
    CallAccepted(RunId),
    /// The input is no longer stored, and the request gives none.
    #[error("the input is no longer stored")]
    PayloadGone,
    /// The version that failed is unknown or gone.
    #[error("the original version is unknown or gone")]
    NoOriginalVersion,
    /// The files of the version that failed are deleted.
    #[error("the files of the original version are deleted")]
    VersionUnusable,
    /// The version that failed is another one than was checked for the caller.
    #[error("the original version was not checked for the caller")]
    VersionNotPermitted,
    /// The automation does not exist, belongs to another app, or is not published as a tool.
    #[error("there is no such tool")]
    AgentToolNotFound,
    /// The automation cannot be published as a tool.
    #[error("the automation cannot be published: {}", .0.as_str())]
    ToolBlocked(ToolBlock),
    /// The permissions of the app are not those that a person reviewed.
    #[error("the permissions were not reviewed")]
    PermissionsChanged,
    /// The workspace has [`MAX_TOOLS`](crate::agent_tools::MAX_TOOLS) tools.
    #[error("the workspace has too many tools")]
    TooManyTools,
    /// Another tool of the workspace has the name.
    #[error("the name of the tool is taken")]
    ToolNameTaken,
    /// The tool is not live.
    #[error("the tool is not live: {}", .0.as_str())]
    ToolNotLive(AgentToolState),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Consequence of a change of a webhook that its owner must confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookBreakage {
    /// The webhook demands no proof any more.
    #[error("the proof is removed")]
    ProofRemoved,
    /// The secret is replaced or removed, so that current senders are refused.
    #[error("the secret is replaced or removed")]
    SecretReplaced,
}
