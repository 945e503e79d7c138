//! The ports of `observability`.

mod health;
mod log_quota;
pub(crate) mod log_rows;
mod logs;
mod metrics;
pub(crate) mod notification_rows;
mod notifications;
