//! Types of `observability`.

use super::enumeration::enumerations;

enumerations! {
    /// The severity of a line, lowest first.
    LogLevel: observability::LogLevel;
    /// The writer of a line.
    LogSource: observability::LogSource;
}
