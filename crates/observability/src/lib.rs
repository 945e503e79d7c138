//! What apps said while they ran, and what happened in a workspace. No I/O happens here.

pub mod feed;
pub mod logs;

pub use feed::{EventFeed, EventListener};
pub use logs::{LogLevel, LogLine, LogQuery, LogRead, LogSink, LogSource, NewLogLine};
