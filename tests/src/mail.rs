//! Mail of a server that has no mail server: read back from its log.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{Server, eventually};

/// A mail that was printed to the log.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The recipient's address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The body as plain text.
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

    /// The six digits that stand on a line of their own.
    ///
    /// # Errors
    /// When there are none.
    pub fn code(&self) -> Result<String> {
        let digits = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
        let code = self.text.lines().map(str::trim).find(digits);
        code.map(str::to_owned).with_context(|| format!("no code in {self:?}"))
    }

    /// The link that stands on a line of its own.
    ///
    /// # Errors
    /// When there is none.
    pub fn link(&self) -> Result<String> {
        let link = self.text.lines().find(|line| line.starts_with("http"));
        link.map(str::to_owned).with_context(|| format!("no link in {self:?}"))
    }
}

impl Server {
    /// Every mail to an address so far, oldest first.
    #[must_use]
    pub fn mails_to(&self, to: &str) -> Vec<Mail> {
        self.log().lines().filter_map(Mail::parse_log_line).filter(|mail| mail.to == to).collect()
    }

    /// The newest of `count` mails to an address, once that many were sent.
    ///
    /// # Errors
    /// When there are fewer after a while, or more.
    pub async fn wait_for_mail(&self, to: &str, count: usize) -> Result<Mail> {
        let mails = eventually("the mail is sent", async || {
            let mails = self.mails_to(to);
            ensure!(mails.len() >= count, "{} mails to {to}", mails.len());
            Ok(mails)
        })
        .await?;
        ensure!(mails.len() == count, "{} mails to {to}, not {count}", mails.len());
        mails.last().cloned().context("no mail was asked for")
    }
}
