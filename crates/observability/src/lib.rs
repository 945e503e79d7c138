//! Logs and metrics of apps, the event feed of a workspace, and what its people are told of it. No I/O happens here.
//!
//! * [`feed`]: numbered events, and the listeners that wait for them
//! * [`health`]: what happened to apps, from which their state follows
//! * [`histogram`]: counts of durations, from which percentiles are estimated
//! * [`logs`]: log lines of apps, of the platform and of gates
//! * [`metrics`]: counts, durations and processor time of requests to apps and of runs
//! * [`notifications`]: alerts that people are told, and their deliveries

pub mod feed;
pub mod health;
pub mod histogram;
pub mod logs;
pub mod metrics;
pub mod notifications;

pub use feed::{EventFeed, EventListener, EventSink};
pub use health::{AppHealth, HealthRead};
pub use histogram::Histogram;
pub use logs::{LogLevel, LogLine, LogQuery, LogRead, LogSink, LogSource, NewLogLine};
pub use metrics::{AppMetrics, Measurement, MetricsLog, MetricsRead, MetricsRecorder, Resolution};
pub use notifications::{NotificationQueue, NotificationsRead, NotificationsTx};
