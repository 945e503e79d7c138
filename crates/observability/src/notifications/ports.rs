//! The store that notifications need.

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::Member,
    id::{NotificationDeliveryId, UserId, WorkspaceId},
    page::PageRequest,
};

use super::{
    Channel, DeliveryReason, EmailContent, EmailFacts, ListedNotification, Notification,
    NotificationSettings, ReadPosition,
};

/// Reads of notifications.
#[async_trait]
pub trait NotificationsRead: Send + Sync {
    /// Returns a page of a workspace's notifications that a member may see, newest first, and one item more if there is a
    /// next page. What an app is told of is seen by those who may view it; what a connection is told of, by every member.
    async fn notifications(
        &self,
        member: &Member,
        page: PageRequest<u64>,
    ) -> Result<Vec<ListedNotification>, StoreError>;

    /// Returns what the person has read; `None` in a view as a role, which has nothing to read.
    async fn read_position(&self, member: &Member) -> Result<Option<ReadPosition>, StoreError>;

    /// Counts the notifications that a member may see and has not read, at most `limit`.
    async fn count_unread_notifications(
        &self,
        member: &Member,
        position: ReadPosition,
        limit: u32,
    ) -> Result<u32, StoreError>;

    /// Returns what a person chose in a workspace.
    async fn notification_settings(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<NotificationSettings, StoreError>;
}

/// Writes of notifications.
#[async_trait]
pub trait NotificationsTx: UnitOfWork {
    /// Locks a person's settings, or the place where they will be, and returns them.
    async fn notification_settings_for_update(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<NotificationSettings, StoreError>;

    /// Saves whether a person gets e-mail.
    async fn set_notification_email(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        email: bool,
    ) -> Result<(), StoreError>;

    /// Saves that a person has seen the notifications up to a number, but not beyond the newest event's. A smaller number
    /// than the stored one changes nothing. Needs no audit entry.
    async fn set_notifications_read(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        up_to: u64,
    ) -> Result<(), StoreError>;
}

/// A delivery to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDelivery {
    /// The id.
    pub id: NotificationDeliveryId,
    /// The channel.
    pub channel: Channel,
    /// The order to send it, or the reason not to.
    pub order: Result<EmailOrder, DeliveryReason>,
}

/// An e-mail to send to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmailOrder {
    /// The person.
    pub recipient: UserId,
    /// Time from which it may be sent.
    pub due_at: Timestamp,
    /// Time after which it is not sent any more.
    pub expires_at: Timestamp,
}

/// A delivery that a worker has claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The id.
    pub id: NotificationDeliveryId,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Number of the notification.
    pub seq: u64,
    /// The person.
    pub recipient: UserId,
    /// Number of earlier attempts.
    pub attempts: u32,
    /// Time after which it is not sent any more.
    pub expires_at: Timestamp,
}

/// The end of a delivery, or of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The channel accepted it.
    Sent,
    /// It is not sent, for a reason.
    Undelivered(DeliveryReason),
    /// It is to be tried again at this time.
    Retry(Timestamp),
}

/// Notifications whose deliveries are to be planned, and deliveries that are due.
#[async_trait]
pub trait NotificationQueue: Send + Sync {
    /// Claims up to `limit` notifications whose deliveries are to be planned, those of a workspace in the order of their
    /// numbers. No other worker gets them for `lease`.
    async fn claim_notifications(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<Notification>, StoreError>;

    /// Returns what the plan of a notification's e-mails depends on.
    async fn email_facts(
        &self,
        notification: &Notification,
        now: Timestamp,
    ) -> Result<EmailFacts, StoreError>;

    /// Writes the deliveries of a notification, in one transaction; nothing if another worker has done so.
    async fn plan_deliveries(
        &self,
        notification: &Notification,
        deliveries: &[NewDelivery],
    ) -> Result<(), StoreError>;

    /// Claims up to `limit` deliveries that are due. No other worker gets them for `lease`.
    async fn claim_deliveries(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedDelivery>, StoreError>;

    /// Returns what an e-mail is about and to which address it goes, or the reason for which the person is no longer told.
    async fn email_content(
        &self,
        delivery: &ClaimedDelivery,
        now: Timestamp,
    ) -> Result<Result<EmailContent, DeliveryReason>, StoreError>;

    /// Records the outcome of an attempt.
    async fn end_attempt(
        &self,
        delivery: NotificationDeliveryId,
        outcome: DeliveryOutcome,
    ) -> Result<(), StoreError>;
}
