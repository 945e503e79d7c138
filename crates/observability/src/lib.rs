//! Logs of apps, and the event feed of a workspace. No I/O happens here.
//!
//! * [`feed`]: numbered events, and the listeners that wait for them
//! * [`logs`]: log lines of apps, of the platform and of gates

pub mod feed;
pub mod logs;

pub use feed::{EventFeed, EventListener, EventSink};
pub use logs::{LogLevel, LogLine, LogQuery, LogRead, LogSink, LogSource, NewLogLine};
