//! E-mail over SMTP (RFC 5321), with `lettre`.

mod smtp;
mod url;

pub use smtp::{SmtpMailTransport, SmtpSetupError, is_mailbox};
pub use url::{SmtpUrl, SmtpUrlError};
