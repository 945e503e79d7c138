//! Mail over SMTP (RFC 5321), by `lettre`.

mod smtp;
mod url;

pub use smtp::{CourierError, SmtpCourier};
pub use url::{SmtpUrl, SmtpUrlError};
