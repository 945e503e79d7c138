//! Notifications on the wire.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use kernel::{
    authority::Member,
    id::{AppId, AutomationId, ConnectionId, RunId},
    mail::Delivery,
};
use observability::notifications::{
    Channel, ChannelReport, DeliveryReason, ListedNotification, NotificationKind, NotificationSettings,
    NotificationSubject, ReadPosition,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{conditional::Representation, schemas},
    state::Api,
};

/// Maximum number of unread notifications that are counted.
const MAX_UNREAD: u32 = 100;

/// Counts the notifications that a member has not read.
///
/// # Errors
/// A [`Problem`] if the store fails.
pub(super) async fn count_unread(
    api: &Api,
    member: &Member,
    position: Option<ReadPosition>,
) -> Result<u32, Problem> {
    let Some(position) = position else { return Ok(0) };
    Ok(api.store().count_unread_notifications(member, position, MAX_UNREAD).await?)
}

/// An alert that the people of a workspace are told.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notification)]
pub(crate) struct NotificationView {
    /// Number of the event that it tells of.
    #[schema(minimum = 1)]
    seq: u64,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    #[schema(value_type = schemas::observability::NotificationKind)]
    kind: NotificationKind,
    /// The app whose runs fail, or whose run asks.
    #[schema(required)]
    app_id: Option<AppId>,
    #[schema(required)]
    app_name: Option<String>,
    /// The automation whose runs fail.
    #[schema(required)]
    road_id: Option<AutomationId>,
    /// Null if it was deleted.
    #[schema(required)]
    road_name: Option<String>,
    /// The connection that does not work any more.
    #[schema(required)]
    connection_id: Option<ConnectionId>,
    /// Null if it was deleted.
    #[schema(required)]
    connection_name: Option<String>,
    /// The run with which the app or automation failed for the third time in a row, or the run that asks.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Code of the failure; `approval_needed` for a question.
    code: String,
    /// Number of further alerts about the same object in the same hour of the clock (UTC), which are told only here.
    repeats: u64,
    /// True if you have not read it.
    unread: bool,
    /// Each channel once: the list, e-mail and messenger.
    #[schema(min_items = 3, max_items = 3)]
    deliveries: Vec<NotificationDelivery>,
}

/// Outcome of one channel's deliveries of a notification.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationDelivery {
    #[schema(value_type = schemas::observability::NotificationChannel)]
    channel: Channel,
    /// True if it told somebody.
    ok: bool,
    /// The reason for which it told nobody; null if it told somebody.
    #[schema(value_type = Option<schemas::observability::NotificationReason>, required)]
    reason: Option<DeliveryReason>,
    /// Number of people whom it told; null for `in_app`, where everyone who may see the object sees it.
    #[schema(required)]
    recipients: Option<u32>,
}

impl From<ChannelReport> for NotificationDelivery {
    fn from(report: ChannelReport) -> Self {
        Self {
            channel: report.channel,
            ok: report.reason.is_none(),
            reason: report.reason,
            recipients: report.recipients,
        }
    }
}

impl NotificationView {
    /// Describes a notification for a person who has read so much; nothing is unread in a view as a role.
    pub(super) fn new(listed: ListedNotification, position: Option<ReadPosition>) -> Self {
        let ListedNotification { notification, names, repeats, channels } = listed;
        let unread = position.is_some_and(|position| position.is_unread(&notification));
        let (road_id, connection_id) = match notification.subject {
            NotificationSubject::App { .. } | NotificationSubject::Approval { .. } => (None, None),
            NotificationSubject::Automation { automation, .. } => (Some(automation), None),
            NotificationSubject::Connection(connection) => (None, Some(connection)),
        };
        Self {
            seq: notification.seq,
            at: notification.at,
            kind: notification.subject.kind(),
            app_id: notification.subject.app(),
            app_name: names.app,
            road_id,
            road_name: names.automation,
            connection_id,
            connection_name: names.connection,
            run_id: notification.subject.run(),
            code: notification.code,
            repeats,
            unread,
            deliveries: channels.into_iter().map(NotificationDelivery::from).collect(),
        }
    }
}

/// Your choices about the notifications of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NotificationSettings)]
pub(crate) struct NotificationSettingsView {
    /// True if you get e-mail about what you administer or made.
    email: bool,
    /// True if the server sends e-mail.
    email_available: bool,
}

impl Representation for NotificationSettingsView {
    const COMPUTED: &'static [&'static str] = &["emailAvailable"];
}

impl NotificationSettingsView {
    pub(super) fn new(settings: NotificationSettings, delivery: Delivery) -> Self {
        Self { email: settings.email, email_available: delivery == Delivery::Email }
    }

    /// Returns the settings of the caller, locked until the transaction ends.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn locked(tx: &mut dyn Tx, member: &Member) -> Result<Option<Self>, Problem> {
        let settings = tx.notification_settings_for_update(member.workspace(), member.user()).await?;
        Ok(Some(Self::new(settings, Delivery::DevLog)))
    }
}
