//! Mail of a server without an SMTP server: it prints mail to its log, from which it is read back.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{Server, eventually};

/// An e-mail from the log.
#[derive(Debug, Clone)]
pub struct Mail {
    pub to: String,
    pub subject: String,
    /// The plain text body.
    pub text: String,
}

impl Mail {
    fn parse_log_line(line: &str) -> Option<Self> {
        let entry: Value = serde_json::from_str(line).ok()?;
        let message = entry.pointer("/message")?.as_str()?.strip_prefix("mail to ")?;
        let (head, text) = message.split_once("\n\n")?;
        let (to, subject) = head.split_once(": ")?;
        Some(Self { to: to.to_owned(), subject: subject.to_owned(), text: text.to_owned() })
    }

    /// Returns the six-digit code that is on a line of its own.
    pub fn code(&self) -> Result<String> {
        let digits = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
        let code = self.text.lines().map(str::trim).find(digits);
        code.map(str::to_owned).with_context(|| format!("no code in {self:?}"))
    }

    /// Returns the link that is on a line of its own.
    pub fn link(&self) -> Result<String> {
        let link = self.text.lines().find(|line| line.starts_with("http"));
        link.map(str::to_owned).with_context(|| format!("no link in {self:?}"))
    }
}

impl Server {
    /// Returns the e-mails to an address so far, oldest first.
    #[must_use]
    pub fn mails_to(&self, to: &str) -> Vec<Mail> {
        self.log().lines().filter_map(Mail::parse_log_line).filter(|mail| mail.to == to).collect()
    }

    /// Waits until `count` e-mails to an address were sent, and returns the newest.
    pub async fn wait_for_mail(&self, to: &str, count: usize) -> Result<Mail> {
        let mails = eventually("the mail is sent", async || {
            let mails = self.mails_to(to);
            ensure!(mails.len() >= count, "{} mails to {to}", mails.len());
            Ok(mails)
        })
        .await?;
        ensure!(mails.len() == count, "{} mails to {to}, not {count}", mails.len());
        mails.last().cloned().context("`count` is zero")
    }
}
