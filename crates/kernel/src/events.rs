//! What happens in a workspace, as those who follow it are told.

use crate::{
    Timestamp,
    id::{AppId, ApprovalId, AutomationId, DeliveryId, RunId, VersionId, WorkspaceId},
};

/// One thing that happened, about one app. Who may view the app is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The app.
    pub app: AppId,
    /// When it happened.
    pub at: Timestamp,
    /// What it was.
    pub kind: EventKind,
}

/// What can happen. Codes are stable, for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A run went on.
    Run {
        /// The run.
        run: RunId,
        /// How far.
        stage: RunStage,
    },
    /// The app has a new version.
    VersionCreated {
        /// The version.
        version: VersionId,
        /// Its number.
        number: u32,
    },
    /// The gate refused a call of the app.
    EgressRefused {
        /// The run that made the call, unless the app was answering over HTTP.
        run: Option<RunId>,
        /// What was refused.
        request: RefusedRequest,
    },
    /// A webhook refused a call that had proved itself.
    WebhookCallRefused {
        /// The call.
        delivery: DeliveryId,
        /// The automation it was to start.
        automation: AutomationId,
        /// Why.
        code: String,
    },
    /// Runs of the app have failed again and again.
    AppFailing {
        /// The last of them so far.
        run: RunId,
        /// Why that one failed.
        code: String,
    },
    /// Runs that an automation started have failed again and again.
    AutomationFailing {
        /// The automation.
        automation: AutomationId,
        /// The last of them so far.
        run: RunId,
        /// Why that one failed.
        code: String,
    },
    /// The app said something while it answered over HTTP.
    LinesLogged {
        /// How many lines.
        lines: u32,
    },
}

/// A call of an app that the gate refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// Method and host, as in `GET api.example.com`.
    pub request_line: String,
    /// Why.
    pub code: String,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStage {
    /// It is in the queue.
    Queued,
    /// An attempt has begun.
    Running,
    /// An attempt failed, and it is in the queue again.
    Retried {
        /// Why the attempt failed.
        code: String,
    },
    /// It waits for somebody to approve.
    AwaitingApproval {
        /// What is to be approved.
        approval: ApprovalId,
    },
    /// It did what it should.
    Succeeded,
    /// It failed for good.
    Failed {
        /// Why.
        code: String,
    },
    /// The gate refused something that its code did not catch.
    Blocked {
        /// Why.
        code: String,
    },
}
