//! What apps said while they ran. No I/O happens here.

pub mod logs;

pub use logs::{LogLevel, LogLine, LogQuery, LogRead, LogSink, LogSource, NewLogLine};
