//! The program's own log, on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// What is logged where nobody says otherwise. A line for every request costs as much as a quick request itself.
const DEFAULT: &str = "info,access=off";

/// Starts logging. `QALA_LOG` chooses what is logged, such as `debug` or `api=debug,info`.
pub(crate) fn start(format: Option<LogFormat>) {
    let filter = EnvFilter::try_from_env("QALA_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let terminal = std::io::stderr().is_terminal();
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(terminal);
    let format = format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
    // A second start, as in a test, keeps the first.
    let _started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => {
            builder.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
        }
    };
}
