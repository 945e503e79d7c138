//! Lines of log (specification part B, "LogLine").

use std::str::FromStr;

use async_trait::async_trait;
use kernel::{
    Problem, StoreError, Timestamp,
    events::RefusedRequest,
    id::{AppId, RunId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

/// How many characters of a line are kept.
pub const MAX_MESSAGE_CHARS: usize = 2000;
/// How many days lines are kept.
pub const RETENTION_DAYS: u32 = 30;

macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident, $field:literal { $($(#[$vdoc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum $type {
            $($(#[$vdoc])* $variant,)*
        }

        impl $type {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $name)),*];

            /// The name on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                Self::ALL[self as usize].1
            }

            /// The number stores keep.
            #[must_use]
            pub fn number(self) -> i16 {
                self as i16
            }

            /// See [`Self::number`].
            #[must_use]
            pub fn from_number(number: i16) -> Option<Self> {
                Self::ALL.get(usize::try_from(number).ok()?).map(|(value, _)| *value)
            }
        }

        impl FromStr for $type {
            type Err = Problem;

            fn from_str(text: &str) -> Result<Self, Problem> {
                let found = Self::ALL.iter().find(|(_, name)| *name == text);
                found
                    .map(|(value, _)| *value)
                    .ok_or_else(|| Problem::invalid_field($field, concat!("must be one of", $(" ", $name),*)))
            }
        }
    };
}

numbered! {
    /// How loud a line is.
    LogLevel, "level" {
        /// For whoever hunts a fault.
        Debug = "debug",
        /// What happened.
        Info = "info",
        /// What should not go on.
        Warn = "warn",
        /// What failed.
        Error = "error",
    }
}

numbered! {
    /// Who says a line.
    LogSource, "source" {
        /// The app's code.
        App = "app",
        /// Qala.
        Platform = "platform",
        /// The gate.
        Gate = "gate",
    }
}

/// A line on its way into the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogLine {
    /// When it was said.
    pub at: Timestamp,
    /// How loud it is.
    pub level: LogLevel,
    /// Who says it.
    pub source: LogSource,
    /// What is said, at most [`MAX_MESSAGE_CHARS`] characters.
    pub message: String,
}

impl NewLogLine {
    /// A line; what is too long is cut, and ends in an ellipsis.
    #[must_use]
    pub fn new(at: Timestamp, level: LogLevel, source: LogSource, mut message: String) -> Self {
        if message.len() > MAX_MESSAGE_CHARS
            && let Some((cut, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS - 1)
            && message[cut..].chars().nth(1).is_some()
        {
            message.truncate(cut);
            message.push('…');
        }
        // PostgreSQL keeps no NUL in text.
        if message.contains('\0') {
            message = message.replace('\0', "\u{fffd}");
        }
        Self { at, level, source, message }
    }
}

/// A line of log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Its number, rising over all apps.
    pub id: u64,
    /// The app.
    pub app: AppId,
    /// The run, unless it was said while answering over HTTP.
    pub run: Option<RunId>,
    /// The rest.
    pub content: NewLogLine,
}

/// Which lines are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Only this loud or louder.
    pub level: Option<LogLevel>,
    /// Only what this one says.
    pub source: Option<LogSource>,
    /// Only lines that hold this text, whatever its case.
    pub text: Option<String>,
    /// Only of this run.
    pub run: Option<RunId>,
    /// Only older than this line.
    pub before: Option<u64>,
    /// At most so many, 1 to 500.
    pub limit: u32,
}

impl LogQuery {
    /// How many lines are given at most.
    pub const MAX_LIMIT: u32 = 500;
    /// How many lines are given when not said.
    pub const DEFAULT_LIMIT: u32 = 200;

    /// The last lines of a run.
    #[must_use]
    pub fn for_run(run: RunId, source: Option<LogSource>, limit: u32) -> Self {
        Self { level: None, source, text: None, run: Some(run), before: None, limit }
    }
}

/// Reads lines.
#[async_trait]
pub trait LogRead: Send + Sync {
    /// An app's lines, newest first; up to one more than the limit.
    async fn log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        query: &LogQuery,
    ) -> Result<Vec<LogLine>, StoreError>;

    /// An app's lines of one event, oldest first.
    async fn event_log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: EventLinesQuery,
    ) -> Result<Vec<LogLine>, StoreError>;
}

/// The lines that one event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLinesQuery {
    /// The event's number.
    pub seq: u64,
    /// The run that said them; none when it was an answer over HTTP.
    pub run: Option<RunId>,
    /// Only newer than this line.
    pub after: u64,
    /// At most so many.
    pub limit: u32,
}

/// Takes lines that belong to no run.
#[async_trait]
pub trait LogSink: Send + Sync {
    /// Keeps lines said while an app answered over HTTP, and tells who follows of them and of calls that the gate
    /// refused meanwhile.
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
