//! State of the installation as a whole, in the one row of `installation`.

use std::time::Duration;

use kernel::{Randomness, StoreError, vault::Vault};
use sea_orm::{
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, QuerySelect as _, Value,
    sea_query::Expr,
};
use secrecy::SecretString;
use tokio::time::timeout;

use crate::{
    entity::{installation, webhooks},
    error::OrStoreError as _,
    store::Store,
};

/// The id of the one row.
const ROW_ID: i32 = 1;
/// Encryption context of the check value.
const KEY_CHECK_OWNER: [&str; 2] = ["installation", "key check"];
/// The sealed text: it says nothing, opening it says everything.
const KEY_CHECK_PLAINTEXT: &str = "qala";
/// Time that a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// A probe fills a page of the database, so that a full disk is noticed.
const PROBE_BYTES: usize = 4096;

/// Reasons why the master key is not this installation's.
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

/// The installation's row, without the probe's filling.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "installation::Entity")]
struct StateRow {
    key_check: Option<String>,
    paused: bool,
}

/// A webhook's sealed secret.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "webhooks::Entity")]
struct SealedRow {
    secret_sealed: Option<String>,
}

impl Store {
    /// Checks that the vault's keys are those of this database. The first check of a database seals a check value.
    ///
    /// # Errors
    /// Fails if no key opens what was sealed, or the database fails.
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
        let sealed = vault.seal(random, &KEY_CHECK_OWNER, &SecretString::from(KEY_CHECK_PLAINTEXT));
        installation::Entity::update_many()
            .col_expr(installation::Column::KeyCheck, Expr::value(sealed))
            .filter(installation::Column::Id.eq(ROW_ID))
            .filter(installation::Column::KeyCheck.is_null())
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        // Another node may have been first, with a key of its own.
        match self.load_key_check().await? {
            Some(sealed) => verify_opens(vault, &KEY_CHECK_OWNER, &sealed),
            None => Ok(()),
        }
    }

    /// Checks that the vault's keys are those of this database, and writes nothing. Returns `true` if there was
    /// anything to check.
    ///
    /// # Errors
    /// Fails if no key opens what was sealed, or the database fails.
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
    /// Fails if the database fails.
    pub async fn reseal_key_check(&self, vault: &Vault, random: &dyn Randomness) -> Result<(), StoreError> {
        let sealed = vault.seal(random, &KEY_CHECK_OWNER, &SecretString::from(KEY_CHECK_PLAINTEXT));
        self.update_installation(installation::Column::KeyCheck, sealed).await
    }

    /// Sets one column of the installation's row.
    async fn update_installation(
        &self,
        column: installation::Column,
        value: impl Into<Value>,
    ) -> Result<(), StoreError> {
        installation::Entity::update_many()
            .col_expr(column, Expr::value(value))
            .filter(installation::Column::Id.eq(ROW_ID))
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn load_state(&self) -> Result<Option<StateRow>, StoreError> {
        installation::Entity::find_by_id(ROW_ID)
            .into_partial_model::<StateRow>()
            .one(self.read())
            .await
            .or_store_error()
    }

    /// The sealed check value, if one was made.
    pub(crate) async fn load_key_check(&self) -> Result<Option<String>, StoreError> {
        Ok(self.load_state().await?.and_then(|state| state.key_check))
    }

    /// The key of some webhook's secret that none of the vault's keys is; nothing if there is no such secret.
    async fn find_unknown_key_id(&self, vault: &Vault) -> Result<Option<String>, StoreError> {
        let found = webhooks::Entity::find()
            .filter(webhooks::Column::SecretSealed.is_not_null())
            .limit(1)
            .into_partial_model::<SealedRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(sealed) = found.and_then(|found| found.secret_sealed) else { return Ok(None) };
        let id = kernel::vault::key_id(&sealed).unwrap_or_default();
        Ok((!vault.has_key(id)).then(|| id.to_owned()))
    }

    /// Returns `true` if nodes start no run, schedule or mail.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn is_paused(&self) -> Result<bool, StoreError> {
        Ok(self.load_state().await?.is_some_and(|state| state.paused))
    }

    /// Pauses the installation, or lets nodes start runs, schedules and mail again. A node that works already goes on.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn set_paused(&self, paused: bool) -> Result<(), StoreError> {
        self.update_installation(installation::Column::Paused, paused).await
    }

    /// Writes something, at most every two seconds, to know that writes succeed.
    ///
    /// # Errors
    /// The error of the last write, if it failed.
    pub async fn probe_write(&self) -> Result<(), StoreError> {
        let write = async || {
            let filled = self.update_installation(installation::Column::Probe, "0".repeat(PROBE_BYTES));
            match timeout(PROBE_TIMEOUT, filled).await {
                Ok(written) => written.map_err(|error| error_chain(&error)),
                Err(_) => Err("it took longer than 5 seconds".to_owned()),
            }
        };
        let outcome = self.inner().write_probe.check(write).await;
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
