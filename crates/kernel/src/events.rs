//! Events of a workspace, as feeds and streams deliver them.

use crate::{
    Timestamp,
    changes::{Audience, Change},
    id::{AppId, ApprovalId, AutomationId, ConnectionId, DeliveryId, RunId, VersionId, WorkspaceId},
};

/// A fact of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Those who can receive it.
    pub audience: Audience,
    /// Time of the event.
    pub at: Timestamp,
    /// The fact itself.
    pub kind: EventKind,
}

impl Event {
    /// Creates a fact about one app, which everyone who may view the app can receive.
    #[must_use]
    pub fn of_app(workspace: WorkspaceId, app: AppId, at: Timestamp, kind: EventKind) -> Self {
        Self { workspace, audience: Audience::AppViewers(app), at, kind }
    }
}

/// The kinds of events. Each `code` is stable and meant for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A run reached a stage.
    Run {
        /// The run.
        run: RunId,
        /// The stage.
        stage: RunStage,
    },
    /// The app has a new version.
    VersionCreated {
        /// The version.
        version: VersionId,
        /// Its number within the app.
        number: u32,
    },
    /// The app went back to an earlier version.
    RolledBack {
        /// The version that was current before.
        from: VersionId,
        /// The version that is current since.
        version: VersionId,
        /// Its number within the app.
        number: u32,
    },
    /// A request of the app to another host was refused.
    EgressRefused {
        /// The run that sent the request; `None` when the app was answering an HTTP request.
        run: Option<RunId>,
        /// The refused request.
        request: RefusedRequest,
    },
    /// A webhook refused a call whose sender was verified.
    WebhookCallRefused {
        /// The refused call.
        delivery: DeliveryId,
        /// The automation that the call would have started.
        automation: AutomationId,
        /// The code of the refusal.
        code: String,
    },
    /// Runs of the app fail repeatedly.
    AppFailing {
        /// The latest failed run.
        run: RunId,
        /// The code of its failure.
        code: String,
    },
    /// Runs of an automation fail repeatedly.
    AutomationFailing {
        /// The automation.
        automation: AutomationId,
        /// The latest failed run.
        run: RunId,
        /// The code of its failure.
        code: String,
    },
    /// A connection does not work any more.
    ConnectorDown {
        /// The connection.
        connection: ConnectionId,
        /// The reason: `auth_rejected` or `expired`.
        code: String,
    },
    /// The app logged lines while it answered an HTTP request.
    LinesLogged {
        /// Number of lines.
        lines: u32,
    },
    /// Something that people see was changed.
    Changed(Change),
}

/// A request of an app to another host that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// Method and host, as in `GET api.example.com`.
    pub request_line: String,
    /// The code of the refusal.
    pub code: String,
}

/// A stage of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStage {
    /// The run is in the queue.
    Queued,
    /// An attempt has started.
    Running,
    /// An attempt failed, and the run is in the queue again.
    Retried {
        /// The code of the failure.
        code: String,
    },
    /// The run waits for an approval.
    AwaitingApproval {
        /// The approval.
        approval: ApprovalId,
    },
    /// The run succeeded.
    Succeeded,
    /// The run failed and is not retried.
    Failed {
        /// The code of the failure.
        code: String,
    },
    /// The run failed because a request to another host was refused and its code did not handle that.
    Blocked {
        /// The code of the refusal.
        code: String,
    },
}
