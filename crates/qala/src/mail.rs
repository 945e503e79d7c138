//! Mail without a mail server: printed to the log, for whoever develops.

use api::{Mail, Mailer};
use async_trait::async_trait;
use secrecy::ExposeSecret as _;

/// Prints mail to the log.
#[derive(Debug)]
pub(crate) struct LogMailer;

#[async_trait]
impl Mailer for LogMailer {
    async fn send(&self, mail: Mail) {
        match mail {
            Mail::SignInCode { to, code, minutes } => {
                let code = code.expose_secret();
                tracing::info!(%to, "mail: your code for Qala is {code}; it is good for {minutes} minutes");
            }
        }
    }
}
