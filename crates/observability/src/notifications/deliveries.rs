//! Channels, and what became of the deliveries by each.

use serde::{Deserialize, Serialize};

/// The ways to tell people (specification part B, "AlertEvent").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The list of notifications in the console.
    InApp,
    /// E-mail.
    Email,
    /// The messaging bot of the workspace.
    Messenger,
}

kernel::names! {
    Channel { InApp = "in_app", Email = "email", Messenger = "messenger" }
}

/// The states of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is to be sent, or to be sent again.
    Pending,
    /// The channel accepted it.
    Sent,
    /// It was not sent, for a reason.
    Undelivered,
}

kernel::names! {
    DeliveryState { Pending = "pending", Sent = "sent", Undelivered = "undelivered" }
}

/// The reasons for which a channel told nobody, or not a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryReason {
    /// The delivery has not ended.
    Pending,
    /// The server has no such channel.
    NotConfigured,
    /// Nobody wants to be told by this channel.
    NoRecipients,
    /// The channel told of the same object within the last hour.
    Repeated,
    /// The channel told the workspace of too much within the last hour.
    RateLimited,
    /// The person turned the channel off.
    TurnedOff,
    /// The person may not see the object any more, or it is gone.
    NoAccess,
    /// The channel refused the message for good.
    Rejected,
    /// The channel did not accept the message within a day.
    Expired,
    /// People are told of such objects in the console alone.
    InAppOnly,
}

kernel::names! {
    DeliveryReason {
        Pending = "pending",
        NotConfigured = "not_configured",
        NoRecipients = "no_recipients",
        Repeated = "repeated",
        RateLimited = "rate_limited",
        TurnedOff = "turned_off",
        NoAccess = "no_access",
        Rejected = "rejected",
        Expired = "expired",
        InAppOnly = "in_app_only",
    }
}

/// Outcome of one channel's deliveries of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelReport {
    /// The channel.
    pub channel: Channel,
    /// Number of people whom it told; `None` for the list in the console, which is open to everyone who may see the object.
    pub recipients: Option<u32>,
    /// The reason for which it told nobody; `None` if it told somebody.
    pub reason: Option<DeliveryReason>,
}

/// Reports the channels of a notification that people are told in the console alone.
#[must_use]
pub fn report_in_app_only() -> Vec<ChannelReport> {
    let report = |channel| match channel {
        Channel::InApp => ChannelReport { channel, recipients: None, reason: None },
        Channel::Email | Channel::Messenger => {
            ChannelReport { channel, recipients: Some(0), reason: Some(DeliveryReason::InAppOnly) }
        }
    };
    Channel::ALL.into_iter().map(report).collect()
}

/// Deliveries of one notification by one channel that ended alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryCount {
    /// The channel.
    pub channel: Channel,
    /// The state.
    pub state: DeliveryState,
    /// The reason, if they were not sent.
    pub reason: Option<DeliveryReason>,
    /// Number of them.
    pub count: u32,
}

/// Adds deliveries up to a report for each channel, in the order of [`Channel`].
///
/// `is_planned` says whether e-mail was planned: before that, it has told nobody. A channel without deliveries is not
/// configured.
#[must_use]
pub fn report_channels(counts: &[DeliveryCount], is_planned: bool) -> Vec<ChannelReport> {
    let report = |channel| {
        let of_channel = || counts.iter().filter(move |count| count.channel == channel);
        let sent = of_channel().filter(|count| count.state == DeliveryState::Sent).map(|count| count.count);
        let recipients = sent.sum();
        let is_to_plan = channel == Channel::Email && !is_planned;
        let is_pending = is_to_plan || of_channel().any(|count| count.state == DeliveryState::Pending);
        let reason = match (recipients, is_pending) {
            (1.., _) => None,
            (0, true) => Some(DeliveryReason::Pending),
            // The reason of most people.
            (0, false) => {
                let most = of_channel().max_by_key(|count| count.count);
                Some(most.and_then(|count| count.reason).unwrap_or(DeliveryReason::NotConfigured))
            }
        };
        ChannelReport { channel, recipients: Some(recipients), reason }
    };
    // A notification is in the list as soon as it exists.
    let list = ChannelReport { channel: Channel::InApp, recipients: None, reason: None };
    vec![list, report(Channel::Email), report(Channel::Messenger)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_has_told_somebody_or_says_why_not() {
        let count = |state, reason, count| DeliveryCount { channel: Channel::Email, state, reason, count };
        let turned_off = Some(DeliveryReason::TurnedOff);
        for (counts, is_planned, expected) in [
            (vec![], false, (0, Some(DeliveryReason::Pending))),
            (vec![count(DeliveryState::Sent, None, 3)], true, (3, None)),
            (
                vec![count(DeliveryState::Sent, None, 1), count(DeliveryState::Pending, None, 2)],
                true,
                (1, None),
            ),
            (vec![count(DeliveryState::Pending, None, 2)], true, (0, Some(DeliveryReason::Pending))),
            (
                vec![
                    count(DeliveryState::Undelivered, Some(DeliveryReason::Rejected), 1),
                    count(DeliveryState::Undelivered, turned_off, 2),
                ],
                true,
                (0, turned_off),
            ),
        ] {
            let reports = report_channels(&counts, is_planned);
            let (recipients, reason) = expected;
            assert_eq!((reports[1].recipients, reports[1].reason), (Some(recipients), reason), "{counts:?}");
            assert_eq!(reports[2].reason, Some(DeliveryReason::NotConfigured), "it has no deliveries");
            assert_eq!(reports.iter().map(|report| report.channel).collect::<Vec<_>>(), Channel::ALL);
        }
    }
}
