//! Mail over SMTP (RFC 5321), by `lettre`.

mod smtp;
mod url;

pub use smtp::{SmtpMailTransport, SmtpSetupError, is_mailbox};
pub use url::{SmtpUrl, SmtpUrlError};
