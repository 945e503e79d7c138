//! An independent SMTP server, `aiosmtpd`, which stores mail in a maildir.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use mail_parser::{Message, MessageParser};
use tempfile::TempDir;

use crate::{eventually, eventually_within};

/// Debian's interpreter, which finds the packages of Debian.
const PYTHON: &str = "/usr/bin/python3";

/// Longer than the first retry delay after a mail server was unreachable.
const MAIL_DEADLINE: Duration = Duration::from_secs(45);

/// A running mail server. Dropping it kills the process and removes its mail.
#[derive(Debug)]
pub struct MailServer {
    address: SocketAddr,
    folder: TempDir,
    process: Child,
}

impl MailServer {
    /// Starts a server and waits until it listens.
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // aiosmtpd cannot choose a free port and report it, so one is chosen here just before.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = Command::new(PYTHON);
        command.args(["-m", "aiosmtpd", "--nosetuid", "--smtputf8", "--listen", &address.to_string()]);
        command.args(["--class", "aiosmtpd.handlers.Mailbox"]).arg(folder.path().join("mail"));
        let process = command.stdin(Stdio::null()).spawn().context("cannot start Debian's python3")?;
        let mut server = Self { address, folder, process };
        eventually("the mail server listens", async || {
            TcpStream::connect(address).map(drop).context("nothing listens; is python3-aiosmtpd installed?")
        })
        .await?;
        if let Some(status) = server.process.try_wait()? {
            bail!("aiosmtpd ended with {status}; is python3-aiosmtpd installed?");
        }
        Ok(server)
    }

    /// The URL for `--smtp-url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// The maildir, which is created with the first e-mail.
    #[must_use]
    pub fn maildir(&self) -> PathBuf {
        self.folder.path().join("mail")
    }

    /// Waits for mail to an address, and fails if several arrive.
    pub async fn wait_for_mail(&self, to: &str) -> Result<Message<'static>> {
        let mails = eventually_within(MAIL_DEADLINE, "the mail arrives", async || {
            let mails = self.mails_to(to)?;
            ensure!(!mails.is_empty(), "no mail to {to}");
            Ok(mails)
        })
        .await?;
        let [mail] = mails.as_slice() else { bail!("{} mails to {to}", mails.len()) };
        Ok(mail.clone())
    }

    /// Returns the mail to an address so far.
    pub fn mails_to(&self, to: &str) -> Result<Vec<Message<'static>>> {
        let Ok(entries) = std::fs::read_dir(self.maildir().join("new")) else {
            return Ok(Vec::new());
        };
        let mut mails = Vec::new();
        for entry in entries {
            let bytes = std::fs::read(entry?.path())?;
            let mail = MessageParser::new().parse(&bytes).context("cannot parse an e-mail")?;
            let recipients = mail.to().into_iter().flat_map(|to| to.iter());
            if recipients.filter_map(|address| address.address()).any(|address| address == to) {
                mails.push(mail.into_owned());
            }
        }
        Ok(mails)
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
