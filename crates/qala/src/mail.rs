//! The transport of e-mail: a mail server or, without one, the log.

use std::sync::Arc;

use adapter_email::{SmtpMailTransport, SmtpUrl, is_mailbox};
use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use kernel::{
    Clock,
    id::MailId,
    mail::{Delivery, DeliveryError, MailTransport, RenderedEmail},
};
use secrecy::ExposeSecret as _;
use url::Url;

use crate::cli::ServeArguments;

/// Returns the transport that the options ask for, and the kind of delivery.
pub(crate) fn mail_transport(
    arguments: &ServeArguments,
    public_url: &str,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<(Arc<dyn MailTransport>, Delivery)> {
    Ok(match smtp_transport(arguments, public_url, clock)? {
        Some(transport) => (Arc::new(transport), Delivery::Email),
        None => (Arc::new(LogMailTransport), Delivery::DevLog),
    })
}

/// Returns the transport to the mail server, or `None` if none is configured.
pub(crate) fn smtp_transport(
    arguments: &ServeArguments,
    public_url: &str,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Option<SmtpMailTransport>> {
    if let Some(from) = &arguments.mail_from {
        ensure!(is_mailbox(from), "--mail-from: {from} is not an address such as Qala <qala@example.com>");
    }
    let Some(url) = &arguments.smtp_url else { return Ok(None) };
    let url: SmtpUrl = url.expose_secret().parse().context("--smtp-url")?;
    let from = match &arguments.mail_from {
        Some(from) => from.clone(),
        None => {
            let public: Url = public_url.parse().context("--public-url")?;
            let domain = public
                .domain()
                .context("--mail-from: required, because the public URL has no domain to send e-mail from")?;
            format!("Qala <no-reply@{domain}>")
        }
    };
    Ok(Some(SmtpMailTransport::new(&url, &from, clock).context("--smtp-url, --mail-from")?))
}

/// Prints e-mails to the log.
#[derive(Debug)]
struct LogMailTransport;

#[async_trait]
impl MailTransport for LogMailTransport {
    async fn deliver(&self, _: MailId, content: &RenderedEmail) -> Result<(), DeliveryError> {
        let RenderedEmail { to, subject, text, .. } = content;
        tracing::info!("mail to {to}: {subject}\n\n{text}");
        Ok(())
    }
}
