//! Fields of the span of a request that are known only once its caller is.

use std::fmt;

use tracing::{Level, Span, enabled, field};

/// Target of the access log.
pub const ACCESS_LOG_TARGET: &str = "access";

/// Records a field of the current span, which must be that of the request, if the access log or `debug` is on. A JSON log
/// reads and writes all fields of a span again for each that is recorded, which takes a tenth of a quick request.
pub fn record(name: &'static str, value: &dyn fmt::Display) {
    if enabled!(target: ACCESS_LOG_TARGET, Level::INFO) || enabled!(Level::DEBUG) {
        Span::current().record(name, field::display(value));
    }
}
