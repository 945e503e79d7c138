//! Types of `observability`.

use super::enumeration::enumerations;

enumerations! {
    /// The kind of a reason for which an app is not healthy.
    HealthReasonCode: observability::health::HealthReasonCode;
    /// The severity of a line, lowest first.
    LogLevel: observability::LogLevel;
    /// The writer of a line.
    LogSource: observability::LogSource;
    /// A way to tell people.
    NotificationChannel: observability::notifications::Channel;
    /// The kind of a notification.
    NotificationKind: observability::notifications::NotificationKind;
    /// The reason for which a channel told nobody.
    NotificationReason: observability::notifications::DeliveryReason;
}
