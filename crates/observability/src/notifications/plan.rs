//! The plan of the e-mails about a notification: recipients and times.

use chrono::TimeDelta;
use kernel::{Timestamp, id::UserId};

use super::DeliveryReason;

/// Time within which an object is told of once, and a workspace of [`MAX_EMAILED_PER_HOUR`] of a kind.
pub const PLAN_WINDOW: TimeDelta = TimeDelta::hours(1);
/// Maximum number of a workspace's notifications of one kind that are e-mailed within [`PLAN_WINDOW`]. By kind, so that whoever
/// lets apps fail cannot keep admins from hearing of a connection.
pub const MAX_EMAILED_PER_HOUR: u64 = 20;
/// Maximum number of people who get an e-mail about one notification.
pub const MAX_RECIPIENTS: u32 = 50;
/// Number of a workspace's e-mails that are due at once; of the others, one a second is.
const BURST: u64 = 10;

/// Facts on which the plan depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailFacts {
    /// Whether an earlier notification about the same object was e-mailed within [`PLAN_WINDOW`].
    pub is_repeated: bool,
    /// Number of the workspace's notifications of this kind that were e-mailed within [`PLAN_WINDOW`].
    pub emailed: u64,
    /// Number of the workspace's e-mails that are to be sent already.
    pub waiting: u64,
    /// People to tell, at most [`MAX_RECIPIENTS`]: owners and admins, and the person who made the app.
    pub recipients: Vec<UserId>,
}

/// An e-mail to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedEmail {
    /// The recipient.
    pub recipient: UserId,
    /// Time from which it may be sent.
    pub due_at: Timestamp,
}

/// Plan of the e-mails about a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmailPlan {
    /// No e-mail, for a reason.
    Skip(DeliveryReason),
    /// These e-mails.
    Send(Vec<PlannedEmail>),
}

/// Plans the e-mails about a notification. `facts` is `None` if the server sends no e-mail.
///
/// The e-mails of a workspace are spread over time, so that one with many admins or many failures does not delay those of its
/// neighbours.
#[must_use]
pub fn plan_emails(facts: Option<&EmailFacts>, now: Timestamp) -> EmailPlan {
    match facts {
        None => EmailPlan::Skip(DeliveryReason::NotConfigured),
        Some(EmailFacts { is_repeated: true, .. }) => EmailPlan::Skip(DeliveryReason::Repeated),
        Some(facts) if facts.emailed >= MAX_EMAILED_PER_HOUR => EmailPlan::Skip(DeliveryReason::RateLimited),
        Some(facts) if facts.recipients.is_empty() => EmailPlan::Skip(DeliveryReason::NoRecipients),
        Some(facts) => {
            let due_at = |position: u64| {
                let seconds = u32::try_from(position.saturating_sub(BURST - 1)).unwrap_or(u32::MAX);
                now + TimeDelta::seconds(seconds.into())
            };
            let planned = |(position, recipient): (u64, &UserId)| PlannedEmail {
                recipient: *recipient,
                due_at: due_at(position),
            };
            EmailPlan::Send((facts.waiting..).zip(&facts.recipients).map(planned).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;

    fn facts(recipients: u128) -> EmailFacts {
        EmailFacts {
            is_repeated: false,
            emailed: 0,
            waiting: 0,
            recipients: (0..recipients).map(id).collect(),
        }
    }

    #[test]
    fn e_mail_that_would_be_too_much_is_skipped_with_the_reason() {
        let now = Timestamp::UNIX_EPOCH;
        let skipped = |facts: Option<EmailFacts>| match plan_emails(facts.as_ref(), now) {
            EmailPlan::Skip(reason) => Some(reason),
            EmailPlan::Send(_) => None,
        };
        assert_eq!(skipped(None), Some(DeliveryReason::NotConfigured));
        assert_eq!(skipped(Some(facts(0))), Some(DeliveryReason::NoRecipients));
        assert_eq!(
            skipped(Some(EmailFacts { is_repeated: true, ..facts(1) })),
            Some(DeliveryReason::Repeated)
        );
        let many = |emailed| skipped(Some(EmailFacts { emailed, ..facts(1) }));
        assert_eq!(many(MAX_EMAILED_PER_HOUR), Some(DeliveryReason::RateLimited));
        assert_eq!(many(MAX_EMAILED_PER_HOUR - 1), None);
    }

    #[test]
    fn the_first_ten_e_mails_are_due_at_once_and_then_one_a_second() {
        let now = Timestamp::UNIX_EPOCH;
        let EmailPlan::Send(planned) = plan_emails(Some(&facts(12)), now) else { panic!("it is skipped") };
        let seconds: Vec<_> = planned.iter().map(|email| (email.due_at - now).num_seconds()).collect();
        assert_eq!(seconds, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(planned[11].recipient, id(11));
        let waiting = EmailFacts { waiting: 60, ..facts(2) };
        let EmailPlan::Send(planned) = plan_emails(Some(&waiting), now) else { panic!("it is skipped") };
        let seconds: Vec<_> = planned.iter().map(|email| (email.due_at - now).num_seconds()).collect();
        assert_eq!(seconds, [51, 52], "behind what waits");
    }
}
