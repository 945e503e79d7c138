//! What is true of the installation as a whole, in the one row of `installation`.

use std::time::Duration;

use kernel::{Randomness, StoreError, vault::Vault};
use secrecy::SecretString;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use crate::{
    Store,
    sql::{Sql, column},
};

/// What the check value is bound to.
const KEY_CHECK_OWNER: [&str; 2] = ["installation", "key check"];
/// What is sealed: the text says nothing, opening it says everything.
const KEY_CHECK_PLAINTEXT: &str = "qala";
/// How long the outcome of a written probe holds.
const PROBE_CACHE_TTL: Duration = Duration::from_secs(2);
/// How long a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// A probe fills a page of the database, so that a full disk is noticed.
const PROBE_BYTES: usize = 4096;

/// Why the master key is not this installation's.
#[derive(Debug, thiserror::Error)]
pub enum KeyCheckError {
    /// The key does not open what was sealed in this database.
    #[error(
        "this is not the key of this database, which was made with the key {made_with}: give that key; to rotate, give \
         the new key and then the old one, separated by a comma"
    )]
    WrongKey {
        /// The id of the key that the database was made with.
        made_with: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the last probe came to.
#[derive(Default)]
pub(crate) struct WriteProbe(Mutex<Option<(Instant, Result<(), String>)>>);

impl Store {
    /// Checks that the vault's keys are those of this database. The first check of a database seals a check value.
    ///
    /// # Errors
    /// When no key opens what was sealed, or the database fails.
    pub async fn check_or_init_key(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
    ) -> Result<(), KeyCheckError> {
        if let Some(sealed) = self.load_key_check().await? {
            return verify_opens(vault, &KEY_CHECK_OWNER, &sealed);
        }
        // A database of an earlier version has no check value, and may have secrets already.
        if let Some(made_with) = self.find_unknown_key_id(vault).await? {
            return Err(KeyCheckError::WrongKey { made_with });
        }
        let mut sql = Sql::new("UPDATE installation SET key_check = ");
        sql.bind(vault.seal(random, &KEY_CHECK_OWNER, &SecretString::from(KEY_CHECK_PLAINTEXT)));
        sql.push(" WHERE id = 1 AND key_check IS NULL");
        sql.execute(&self.write()).await?;
        // Another node may have been first, with a key of its own.
        match self.load_key_check().await? {
            Some(sealed) => verify_opens(vault, &KEY_CHECK_OWNER, &sealed),
            None => Ok(()),
        }
    }

    /// Checks that the vault's keys are those of this database, and writes nothing. Whether there was anything to check.
    ///
    /// # Errors
    /// When no key opens what was sealed, or the database fails.
    pub async fn verify_key(&self, vault: &Vault) -> Result<bool, KeyCheckError> {
        match self.load_key_check().await? {
            Some(sealed) => verify_opens(vault, &KEY_CHECK_OWNER, &sealed).map(|()| true),
            None => match self.find_unknown_key_id(vault).await? {
                Some(made_with) => Err(KeyCheckError::WrongKey { made_with }),
                None => Ok(false),
            },
        }
    }

    /// Seals the check value under the newest key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn reseal_key_check(&self, vault: &Vault, random: &dyn Randomness) -> Result<(), StoreError> {
        let mut sql = Sql::new("UPDATE installation SET key_check = ");
        sql.bind(vault.seal(random, &KEY_CHECK_OWNER, &SecretString::from(KEY_CHECK_PLAINTEXT)))
            .push(" WHERE id = 1");
        sql.execute(&self.write()).await.map(drop)
    }

    /// The sealed check value, if one was made.
    pub(crate) async fn load_key_check(&self) -> Result<Option<String>, StoreError> {
        let row =
            Sql::new("SELECT key_check FROM installation WHERE id = 1").fetch_optional(self.read()).await?;
        row.map_or(Ok(None), |row| column(&row, 0))
    }

    /// The key of some webhook's secret that none of the vault's keys is; nothing if there is no such secret.
    async fn find_unknown_key_id(&self, vault: &Vault) -> Result<Option<String>, StoreError> {
        let sql = Sql::new("SELECT secret_sealed FROM webhooks WHERE secret_sealed IS NOT NULL LIMIT 1");
        let Some(row) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let sealed: String = column(&row, 0)?;
        let id = kernel::vault::key_id(&sealed).unwrap_or_default();
        Ok((!vault.has_key(id)).then(|| id.to_owned()))
    }

    /// Whether nodes start no run, schedule or mail.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn is_paused(&self) -> Result<bool, StoreError> {
        let row =
            Sql::new("SELECT paused FROM installation WHERE id = 1").fetch_optional(self.read()).await?;
        row.map_or(Ok(false), |row| column(&row, 0))
    }

    /// Says whether nodes start runs, schedules and mail. A node that works already goes on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_paused(&self, paused: bool) -> Result<(), StoreError> {
        let mut sql = Sql::new("UPDATE installation SET paused = ");
        sql.bind(paused).push(" WHERE id = 1");
        sql.execute(&self.write()).await.map(drop)
    }

    /// Writes something, at most every two seconds, to know that writes succeed.
    ///
    /// # Errors
    /// What the last write came to.
    pub async fn probe_write(&self) -> Result<(), StoreError> {
        // One caller writes while the others wait for what it learns.
        let mut last = self.inner().write_probe.0.lock().await;
        let outcome = match last.as_ref() {
            Some((at, outcome)) if at.elapsed() < PROBE_CACHE_TTL => outcome.clone(),
            _ => {
                let mut sql = Sql::new("UPDATE installation SET probe = ");
                sql.bind("0".repeat(PROBE_BYTES)).push(" WHERE id = 1");
                let written = timeout(PROBE_TIMEOUT, sql.execute(&self.write())).await;
                let outcome = match written {
                    Ok(written) => written.map(drop).map_err(|error| error_chain(&error)),
                    Err(_) => Err("it took longer than 5 seconds".to_owned()),
                };
                *last = Some((Instant::now(), outcome.clone()));
                outcome
            }
        };
        outcome.map_err(|error| StoreError::Unavailable(format!("a write failed: {error}").into()))
    }
}

fn verify_opens(vault: &Vault, owner: &[&str], sealed: &str) -> Result<(), KeyCheckError> {
    let made_with = || kernel::vault::key_id(sealed).unwrap_or("of an unknown form").to_owned();
    vault.open(owner, sealed).map(drop).map_err(|_| KeyCheckError::WrongKey { made_with: made_with() })
}

/// An error with its causes.
fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
