//! Log lines (specification part B, "LogLine").

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    events::RefusedRequest,
    id::{AppId, RunId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

/// Most characters of a line's message.
pub const MAX_MESSAGE_CHARS: usize = 2000;
/// Days for which lines are kept.
pub const RETENTION_DAYS: u32 = 30;

macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $type {
            $($(#[$vdoc])* $variant,)*
        }

        impl $type {
            /// Returns the number in stores: the position of the variant, from 0.
            #[must_use]
            pub fn number(self) -> i16 {
                self as i16
            }

            /// Returns the variant with this [`number`](Self::number).
            #[must_use]
            pub fn from_number(number: i16) -> Option<Self> {
                Self::ALL.get(usize::try_from(number).ok()?).copied()
            }
        }

        kernel::names! { $type { $($variant = $name,)* } }
    };
}

numbered! {
    /// The severity of a line, lowest first.
    LogLevel {
        /// A detail for debugging.
        Debug = "debug",
        /// A normal event.
        Info = "info",
        /// A condition that needs attention.
        Warn = "warn",
        /// A failure.
        Error = "error",
    }
}

numbered! {
    /// The writer of a line.
    LogSource {
        /// The app's code.
        App = "app",
        /// Qala itself.
        Platform = "platform",
        /// The gate, which checks requests to other hosts.
        Gate = "gate",
    }
}

/// A log line before it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogLine {
    /// Time of the line.
    pub at: Timestamp,
    /// Severity.
    pub level: LogLevel,
    /// Writer of the line.
    pub source: LogSource,
    /// Message; at most [`MAX_MESSAGE_CHARS`] characters, without U+0000.
    pub message: String,
}

impl NewLogLine {
    /// Creates a line. A message that is too long is cut and ends in an ellipsis; U+0000 becomes U+FFFD.
    #[must_use]
    pub fn new(at: Timestamp, level: LogLevel, source: LogSource, mut message: String) -> Self {
        if message.len() > MAX_MESSAGE_CHARS
            && let Some((cut, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS - 1)
            && message[cut..].chars().nth(1).is_some()
        {
            message.truncate(cut);
            message.push('…');
        }
        // PostgreSQL cannot store U+0000 in text.
        if message.contains('\0') {
            message = message.replace('\0', "\u{fffd}");
        }
        Self { at, level, source, message }
    }
}

/// A stored log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Number of the line; rises over all apps.
    pub id: u64,
    /// App that the line belongs to.
    pub app: AppId,
    /// Run that wrote the line; none while the app answered over HTTP.
    pub run: Option<RunId>,
    /// Content of the line.
    pub content: NewLogLine,
}

/// A query of an app's log; every filter that is set must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Lowest severity.
    pub level: Option<LogLevel>,
    /// Writer of the lines.
    pub source: Option<LogSource>,
    /// Text that the message contains, ignoring case.
    pub text: Option<String>,
    /// Run that wrote the lines.
    pub run: Option<RunId>,
    /// Number of a line that is newer than all returned ones.
    pub before: Option<u64>,
    /// Most lines to return; 1 to [`MAX_LIMIT`](Self::MAX_LIMIT).
    pub limit: u32,
}

impl LogQuery {
    /// Largest [`limit`](Self::limit).
    pub const MAX_LIMIT: u32 = 500;
    /// Default [`limit`](Self::limit).
    pub const DEFAULT_LIMIT: u32 = 200;

    /// Queries the latest lines of a run.
    #[must_use]
    pub fn for_run(run: RunId, source: Option<LogSource>, limit: u32) -> Self {
        Self { level: None, source, text: None, run: Some(run), before: None, limit }
    }
}

/// Reads log lines.
#[async_trait]
pub trait LogRead: Send + Sync {
    /// Lists an app's lines, newest first; up to one more than the limit.
    async fn log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        query: &LogQuery,
    ) -> Result<Vec<LogLine>, StoreError>;

    /// Lists an app's lines of one event, oldest first.
    async fn event_log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: EventLinesQuery,
    ) -> Result<Vec<LogLine>, StoreError>;
}

/// A query of the lines that one event announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLinesQuery {
    /// Number of the event.
    pub seq: u64,
    /// Run that wrote the lines; none when the app answered over HTTP.
    pub run: Option<RunId>,
    /// Number of a line that is older than all returned ones.
    pub after: u64,
    /// Most lines to return.
    pub limit: u32,
}

/// Stores lines that belong to no run.
#[async_trait]
pub trait LogSink: Send + Sync {
    /// Stores lines that an app wrote while it answered over HTTP. Publishes an event for them, and one for each
    /// request that the gate refused meanwhile.
    async fn append_log(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedRequest>,
    ) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let line = |text: String| {
            NewLogLine::new(Timestamp::UNIX_EPOCH, LogLevel::Info, LogSource::App, text).message
        };
        assert_eq!(line("é".repeat(2000)), "é".repeat(2000));
        let cut = line("é".repeat(2001));
        assert_eq!(cut.chars().count(), 2000);
        assert!(cut.ends_with('…'));
        assert_eq!(line("a\0b".to_owned()), "a\u{fffd}b");
    }

    #[test]
    fn numbers_and_names_go_both_ways() {
        for level in [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error] {
            assert_eq!(LogLevel::from_number(level.number()), Some(level));
            assert_eq!(level.as_str().parse::<LogLevel>().unwrap(), level);
        }
        assert_eq!(LogSource::from_number(9), None);
    }
}
