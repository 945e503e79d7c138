//! The program's log, on standard error.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// Default filter. Access lines are off because one costs as much as a quick request itself; PostgreSQL's notices say at each
/// start that a schema exists.
const DEFAULT_FILTER: &str = "info,access=off,sea_orm=warn,sqlx=warn";

/// Starts logging. `QALA_LOG` selects what is logged, such as `debug` or `api=debug,info`.
///
/// # Errors
/// Fails if `QALA_LOG` is not a valid filter.
pub(crate) fn init(format: Option<LogFormat>) -> anyhow::Result<()> {
    let filter = match std::env::var("QALA_LOG") {
        Ok(text) if !text.is_empty() => EnvFilter::try_new(&text)
            .with_context(|| format!("QALA_LOG: {text} is not a filter such as debug or api=debug,info"))?,
        _ => EnvFilter::new(DEFAULT_FILTER),
    };
    let terminal = std::io::stderr().is_terminal();
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(terminal);
    let format = format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
    // A second call, as in a test, keeps the first subscriber.
    let _started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => {
            builder.json().flatten_event(true).with_current_span(false).with_span_list(true).try_init()
        }
    };
    Ok(())
}
