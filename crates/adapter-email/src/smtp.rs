//! The transport to a mail server.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kernel::{
    Clock,
    id::MailId,
    mail::{DeliveryError, MailTransport, RenderedEmail},
};
use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{Mailbox, MultiPart, header},
    transport::smtp,
};
use secrecy::ExposeSecret as _;

use crate::url::SmtpUrl;

/// Time limit of one step of a delivery.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends e-mails through one mail server.
pub struct SmtpMailTransport {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    /// Host of the server.
    host: String,
    from: Mailbox,
    clock: Arc<dyn Clock>,
}

/// Returns true if `text` is a sender: an address, or a name with one, as in `Qala <qala@example.com>`.
#[must_use]
pub fn is_mailbox(text: &str) -> bool {
    text.parse::<Mailbox>().is_ok()
}

/// The reason for which a transport cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SmtpSetupError {
    /// The sender is not a mailbox.
    #[error("the sender must be an address, or a name and an address as in `Qala <qala@example.com>`")]
    InvalidSender,
    /// The URL of the server cannot be used.
    #[error("cannot set up the mail server: {0}")]
    InvalidServer(#[from] smtp::Error),
}

impl SmtpMailTransport {
    /// Creates a transport to `server` for e-mails from `from`, as in `Qala <qala@example.com>`. Does not connect yet.
    ///
    /// # Errors
    /// Fails if one of them is malformed.
    pub fn new(server: &SmtpUrl, from: &str, clock: Arc<dyn Clock>) -> Result<Self, SmtpSetupError> {
        let from: Mailbox = from.parse().map_err(|_| SmtpSetupError::InvalidSender)?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(server.url.expose_secret())?;
        Ok(Self {
            transport: transport.timeout(Some(TIMEOUT)).build(),
            host: server.host.clone(),
            from,
            clock,
        })
    }

    /// Connects to the server, and signs in if its URL has credentials.
    ///
    /// # Errors
    /// The reason for the failure, without the credentials.
    pub async fn test_connection(&self) -> Result<(), DeliveryError> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(DeliveryError::Transient("the server accepts connections but is not ready".to_owned()))
            }
            Err(error) => Err(classify_error(&error)),
        }
    }

    fn build_message(&self, mail_id: MailId, content: &RenderedEmail) -> Result<Message, DeliveryError> {
        let never = |what: &str| DeliveryError::Permanent(what.to_owned());
        let to: Mailbox = content.to.parse().map_err(|_| never("the recipient is not an address"))?;
        // A resent e-mail has the same message id, by which mail programs show it once.
        let id = format!("<{mail_id}@{}>", self.from.email.domain());
        Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(&content.subject)
            .message_id(Some(id))
            .date(self.clock.now().into())
            // RFC 3834, section 5: automatic responders do not reply to it.
            .raw_header(header::HeaderValue::new(
                header::HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ))
            .multipart(MultiPart::alternative_plain_html(content.text.clone(), content.html.clone()))
            .map_err(|_| never("the e-mail cannot be written as a message"))
    }
}

#[async_trait]
impl MailTransport for SmtpMailTransport {
    // Neither the recipient nor the content: a message has links that sign people in.
    #[tracing::instrument(
        name = "deliver_email",
        level = "debug",
        skip_all,
        fields(host = %self.host, method = "SMTP", email = %id),
        err(level = "debug")
    )]
    async fn deliver(&self, id: MailId, content: &RenderedEmail) -> Result<(), DeliveryError> {
        let message = self.build_message(id, content)?;
        self.transport.send(message).await.map(drop).map_err(|error| classify_error(&error))
    }
}

/// Only a permanent status is final. The text beside a status may repeat the e-mail, so it is left out.
fn classify_error(error: &smtp::Error) -> DeliveryError {
    let code = error.status().map(|code| format!("the server responded with {code}"));
    if error.is_permanent() {
        return DeliveryError::Permanent(code.unwrap_or_else(|| "the server rejected the e-mail".to_owned()));
    }
    DeliveryError::Transient(code.unwrap_or_else(|| {
        let what = if error.is_timeout() {
            "the server took too long"
        } else if error.is_tls() {
            "the server's TLS certificate is not trusted"
        } else if error.is_response() {
            "the server's response is not valid SMTP"
        } else {
            "the server cannot be reached"
        };
        what.to_owned()
    }))
}

impl std::fmt::Debug for SmtpMailTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SmtpMailTransport").field("from", &self.from).finish_non_exhaustive()
    }
}
