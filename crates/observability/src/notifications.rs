//! Notifications: alerts that the people of a workspace are told, and their deliveries by channel.
//!
//! An alert among the events of a workspace is a notification with the same number; further alerts about the same object in
//! the same hour are counted with it. The store writes it with the event, so that what is reported is also told. A worker then
//! plans its deliveries ([`plan_emails`]) and carries them out.

mod configure;
mod deliveries;
mod email;
mod mark_read;
mod plan;
mod ports;

use kernel::{
    Timestamp,
    changes::Audience,
    events::{Event, EventKind, RunStage},
    id::{AppId, ApprovalId, AutomationId, ConnectionId, RunId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use configure::configure_notifications;
pub use deliveries::{
    Channel, ChannelReport, DeliveryCount, DeliveryReason, DeliveryState, report_channels, report_in_app_only,
};
pub use email::{EmailContent, compose};
pub use mark_read::mark_notifications_read;
pub use plan::{
    EmailFacts, EmailPlan, MAX_EMAILED_PER_HOUR, MAX_RECIPIENTS, PLAN_WINDOW, PlannedEmail, plan_emails,
};
pub use ports::{
    ClaimedDelivery, DeliveryOutcome, EmailOrder, NewDelivery, NotificationQueue, NotificationsRead,
    NotificationsTx,
};

/// Days for which notifications and their deliveries are kept.
pub const RETENTION_DAYS: u32 = 30;

/// The kinds of notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// Three runs of an app in a row failed or were blocked.
    AppFailing,
    /// Three runs of an automation in a row failed or were blocked.
    AutomationFailing,
    /// A connection does not work any more.
    ConnectorDown,
    /// A run asks a person a question.
    ApprovalNeeded,
}

kernel::names! {
    NotificationKind {
        AppFailing = "app_failing",
        AutomationFailing = "automation_failing",
        ConnectorDown = "connector_down",
        ApprovalNeeded = "approval_needed",
    }
}

/// The object that a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationSubject {
    /// An app whose runs fail.
    App {
        /// The app.
        app: AppId,
        /// The last run that failed.
        run: RunId,
    },
    /// An automation whose runs fail.
    Automation {
        /// Its app.
        app: AppId,
        /// The automation.
        automation: AutomationId,
        /// The last run that failed.
        run: RunId,
    },
    /// A connection that does not work any more.
    Connection(ConnectionId),
    /// A question of a run.
    Approval {
        /// App of the run.
        app: AppId,
        /// The run.
        run: RunId,
        /// The question.
        approval: ApprovalId,
    },
}

impl NotificationSubject {
    /// Returns the kind of notifications about such an object.
    #[must_use]
    pub fn kind(&self) -> NotificationKind {
        match self {
            Self::App { .. } => NotificationKind::AppFailing,
            Self::Automation { .. } => NotificationKind::AutomationFailing,
            Self::Connection(_) => NotificationKind::ConnectorDown,
            Self::Approval { .. } => NotificationKind::ApprovalNeeded,
        }
    }

    /// Returns the app that the object is or belongs to.
    #[must_use]
    pub fn app(&self) -> Option<AppId> {
        match self {
            Self::App { app, .. } | Self::Automation { app, .. } | Self::Approval { app, .. } => Some(*app),
            Self::Connection(_) => None,
        }
    }

    /// Returns `true` if people are told of it in the console alone.
    #[must_use]
    pub fn is_in_app_only(&self) -> bool {
        matches!(self, Self::Approval { .. })
    }

    /// Returns the run with which it came to this.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::App { run, .. } | Self::Automation { run, .. } | Self::Approval { run, .. } => Some(*run),
            Self::Connection(_) => None,
        }
    }
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Number of the event that it tells of.
    pub seq: u64,
    /// Time of the event.
    pub at: Timestamp,
    /// The object that it is about.
    pub subject: NotificationSubject,
    /// The code of the failure.
    pub code: String,
}

impl Notification {
    /// Returns the notification of an event; none if people need not be told of it.
    ///
    /// If `has_failing_automation` says that the same run brought an automation down, that is told and the app is not: one
    /// failure is told once.
    #[must_use]
    pub fn of_event(event: &Event, seq: u64, has_failing_automation: impl Fn(RunId) -> bool) -> Option<Self> {
        let app = match event.audience {
            Audience::AppViewers(app) => Some(app),
            _ => None,
        };
        let (subject, code) = match (&event.kind, app) {
            (EventKind::AppFailing { run, code }, Some(app)) if !has_failing_automation(*run) => {
                (NotificationSubject::App { app, run: *run }, code.as_str())
            }
            (EventKind::AutomationFailing { automation, run, code }, Some(app)) => {
                (NotificationSubject::Automation { app, automation: *automation, run: *run }, code.as_str())
            }
            (EventKind::ConnectorDown { connection, code }, _) => {
                (NotificationSubject::Connection(*connection), code.as_str())
            }
            (EventKind::Run { run, stage: RunStage::AwaitingApproval { approval } }, Some(app)) => {
                let subject = NotificationSubject::Approval { app, run: *run, approval: *approval };
                (subject, subject.kind().as_str())
            }
            _ => return None,
        };
        let code = code.to_owned();
        Some(Self { workspace: event.workspace, seq, at: event.at, subject, code })
    }
}

/// Names of the objects of a notification, as they are now; `None` for one that is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubjectNames {
    /// The app.
    pub app: Option<String>,
    /// The automation.
    pub automation: Option<String>,
    /// The connection.
    pub connection: Option<String>,
}

/// A notification in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedNotification {
    /// The notification.
    pub notification: Notification,
    /// Names of its objects.
    pub names: SubjectNames,
    /// Number of further alerts about the same object in the same hour.
    pub repeats: u64,
    /// Reports of the channels.
    pub channels: Vec<ChannelReport>,
}

/// The notifications that a person has read: those up to a number, and those from before they joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPosition {
    /// Number of the last notification that they have seen.
    pub read_to: u64,
    /// Time at which they joined the workspace.
    pub joined_at: Timestamp,
}

impl ReadPosition {
    /// Returns true if the person has not read a notification.
    #[must_use]
    pub fn is_unread(&self, notification: &Notification) -> bool {
        notification.seq > self.read_to && notification.at >= self.joined_at
    }
}

/// The choices of a person about the notifications of a workspace, and what they have seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationSettings {
    /// Whether they get e-mail.
    pub email: bool,
    /// Number of the last notification that they have seen.
    pub read_to: u64,
}

impl NotificationSettings {
    /// The settings of a person who chose nothing.
    pub const DEFAULT: Self = Self { email: true, read_to: 0 };
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;

    fn event(kind: EventKind) -> Event {
        Event::of_app(id(1), id(2), Timestamp::UNIX_EPOCH, kind)
    }

    #[test]
    fn a_failure_is_told_once_and_other_events_are_not_told() {
        let code = || "timeout".to_owned();
        let app = event(EventKind::AppFailing { run: id(3), code: code() });
        let told = Notification::of_event(&app, 7, |_| false).unwrap();
        assert_eq!((told.subject.kind(), told.seq), (NotificationKind::AppFailing, 7));
        assert_eq!((told.subject.app(), told.subject.run()), (Some(id(2)), Some(id(3))));
        assert_eq!(Notification::of_event(&app, 7, |run| run == id(3)), None);
        let automation = event(EventKind::AutomationFailing { automation: id(4), run: id(3), code: code() });
        let told = Notification::of_event(&automation, 8, |_| true).unwrap();
        assert_eq!(told.subject.kind(), NotificationKind::AutomationFailing);
        let stage = RunStage::AwaitingApproval { approval: id(5) };
        let asked = event(EventKind::Run { run: id(3), stage });
        let told = Notification::of_event(&asked, 10, |_| false).unwrap();
        assert_eq!(
            (told.subject.kind(), told.code.as_str()),
            (NotificationKind::ApprovalNeeded, "approval_needed")
        );
        assert!(told.subject.is_in_app_only());
        let queued = event(EventKind::Run { run: id(3), stage: RunStage::Queued });
        assert_eq!(Notification::of_event(&queued, 11, |_| false), None);
        assert_eq!(Notification::of_event(&event(EventKind::LinesLogged { lines: 1 }), 9, |_| false), None);
    }
}
