//! The end of a rotation: seals everything anew under the newest master key, and keeps what older keys are still needed
//! for, so that they can be taken away.

use std::collections::BTreeMap;

use kernel::{
    Id, Randomness, StoreError,
    id::ProjectId,
    mail,
    token::RetiredPepper,
    vault::{Vault, key_id},
};
use projects::Settings;
use runs::webhooks::Webhook;
use uuid::Uuid;

use crate::{
    Store,
    convert::to_json,
    sql::{Sql, SqlRow, column},
};

/// What a retired pepper is bound to.
const PEPPER_OWNER: &str = "retired pepper";
/// How many rows are read at once.
const CHUNK_ROWS: i64 = 200;

/// Tables with digests of secrets that callers present, and the digests' columns.
const DIGEST_COLUMNS: [(&str, &str); 7] = [
    ("sessions", "digest"),
    ("tokens", "digest"),
    ("project_keys", "digest"),
    ("webhooks", "token_digest"),
    ("oauth_access_tokens", "digest"),
    ("oauth_refresh_tokens", "digest"),
    ("invites", "digest"),
];

/// What was sealed anew.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RekeyReport {
    /// Secrets, of webhooks, waiting mail and projects, that rest on the newest key now.
    pub sealed: u64,
    /// Secrets that no configured key opens. They stay as they are.
    pub unreadable: u64,
}

/// What rests on one master key.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct MasterKeyUsage {
    /// Sealed secrets.
    pub sealed: u64,
    /// Digests of sessions, tokens, keys and invites.
    pub digests: u64,
}

fn count_column(row: &SqlRow) -> Result<u64, StoreError> {
    let count: i64 = column(row, 1)?;
    Ok(count.unsigned_abs())
}

impl Store {
    /// Seals everything under the vault's newest key, and keeps the peppers of the others.
    ///
    /// # Errors
    /// When the database fails. What was done by then stays; the next time goes on.
    pub async fn rekey(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        retired: &[RetiredPepper],
    ) -> Result<RekeyReport, StoreError> {
        let mut report = RekeyReport::default();
        self.rekey_webhooks(vault, random, &mut report).await?;
        self.rekey_outbox(vault, random, &mut report).await?;
        self.rekey_projects(vault, random, &mut report).await?;
        let mut peppers = self.retired_peppers(vault).await?;
        peppers.extend(retired.iter().cloned());
        for pepper in &peppers {
            let sealed = vault.seal(random, &[PEPPER_OWNER, pepper.key_id()], pepper.secret());
            let mut sql = Sql::new("INSERT INTO retired_peppers (key_id, sealed) VALUES (");
            sql.bind(pepper.key_id()).push(", ").bind(sealed);
            sql.push(") ON CONFLICT (key_id) DO UPDATE SET sealed = excluded.sealed");
            sql.execute(&self.write()).await?;
        }
        // Last: until it is sealed anew the old key is asked for.
        self.reseal_key_check(vault, random).await?;
        Ok(report)
    }

    /// The peppers of master keys that were rotated away. One that does not open is left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retired_peppers(&self, vault: &Vault) -> Result<Vec<RetiredPepper>, StoreError> {
        let rows = Sql::new("SELECT key_id, sealed FROM retired_peppers").fetch_all(self.read()).await?;
        let mut peppers = Vec::with_capacity(rows.len());
        for row in &rows {
            let (id, sealed): (String, String) = (column(row, 0)?, column(row, 1)?);
            let opened = vault.open(&[PEPPER_OWNER, &id], &sealed).ok();
            peppers.extend(opened.and_then(|secret| RetiredPepper::new(&id, secret)));
        }
        Ok(peppers)
    }

    /// How much rests on each master key, by its id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn master_key_usage(&self) -> Result<BTreeMap<String, MasterKeyUsage>, StoreError> {
        let mut all: BTreeMap<String, MasterKeyUsage> = BTreeMap::new();
        for (table, sealed) in
            [("webhooks", "secret_sealed"), ("outbox", "sealed"), ("retired_peppers", "sealed")]
        {
            // `qs1.` and eight digits.
            let sql = format!(
                "SELECT substr({sealed}, 5, 8), count(*) FROM {table} WHERE {sealed} IS NOT NULL GROUP BY 1"
            );
            for row in Sql::new(&sql).fetch_all(self.read()).await? {
                all.entry(column(&row, 0)?).or_default().sealed += count_column(&row)?;
            }
        }
        let hex = if self.is_postgres() {
            |digest: &str| format!("encode(substr({digest}, 1, 4), 'hex')")
        } else {
            |digest: &str| format!("lower(hex(substr({digest}, 1, 4)))")
        };
        for (table, digest) in DIGEST_COLUMNS {
            let id = hex(digest);
            let sql = format!("SELECT {id}, count(*) FROM {table} WHERE {digest} IS NOT NULL GROUP BY 1");
            for row in Sql::new(&sql).fetch_all(self.read()).await? {
                all.entry(column(&row, 0)?).or_default().digests += count_column(&row)?;
            }
        }
        for settings in self.settings_with_secrets().await? {
            for key in settings.1.identity.iter().flat_map(|provider| &provider.keys) {
                if let Some(id) = key.sealed.as_deref().and_then(key_id) {
                    all.entry(id.to_owned()).or_default().sealed += 1;
                }
            }
        }
        Ok(all)
    }

    async fn rekey_webhooks(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        let mut after = Uuid::nil();
        loop {
            let mut sql = Sql::new(
                "SELECT id, workspace_id, secret_sealed FROM webhooks WHERE secret_sealed IS NOT NULL",
            );
            sql.push(" AND id > ").bind(after).push(" ORDER BY id LIMIT ").bind(CHUNK_ROWS);
            let rows = sql.fetch_all(self.read()).await?;
            for row in &rows {
                let (id, workspace): (Uuid, Uuid) = (column(row, 0)?, column(row, 1)?);
                let owner = Webhook::secret_owner(Id::from_uuid(workspace), Id::from_uuid(id));
                let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
                let update = ("webhooks", "secret_sealed", id);
                self.reseal((vault, random), &owner, update, column(row, 2)?, report).await?;
                after = id;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    async fn rekey_outbox(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        let mut after = Uuid::nil();
        loop {
            let mut sql = Sql::new("SELECT id, sealed FROM outbox WHERE id > ");
            sql.bind(after).push(" ORDER BY id LIMIT ").bind(CHUNK_ROWS);
            let rows = sql.fetch_all(self.read()).await?;
            for row in &rows {
                let id: Uuid = column(row, 0)?;
                let owner = mail::encryption_context(Id::from_uuid(id));
                let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
                self.reseal((vault, random), &owner, ("outbox", "sealed", id), column(row, 1)?, report)
                    .await?;
                after = id;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    async fn rekey_projects(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        for (id, mut settings, text) in self.settings_with_secrets().await? {
            let Some(provider) = &mut settings.identity else { continue };
            if provider.seal_keys(vault, random, id) {
                let mut sql = Sql::new("UPDATE backend_projects SET settings = ");
                sql.bind(to_json(&settings)?).push(" WHERE id = ").bind(id.uuid());
                sql.push(" AND settings = ").bind(text);
                report.sealed += sql.execute(&self.write()).await?;
            }
        }
        Ok(())
    }

    /// The settings that hold symmetric keys.
    async fn settings_with_secrets(&self) -> Result<Vec<(ProjectId, Settings, String)>, StoreError> {
        let sql = Sql::new("SELECT id, settings FROM backend_projects WHERE settings LIKE '%\"oct\"%'");
        let rows = sql.fetch_all(self.read()).await?;
        rows.iter()
            .map(|row| {
                let (id, text): (Uuid, String) = (column(row, 0)?, column(row, 1)?);
                let settings =
                    serde_json::from_str(&text).map_err(|error| StoreError::Failed(error.into()))?;
                Ok((Id::from_uuid(id), settings, text))
            })
            .collect()
    }

    /// Seals one secret anew, unless it rests on the newest key or was changed meanwhile.
    async fn reseal(
        &self,
        (vault, random): (&Vault, &dyn Randomness),
        owner: &[&str],
        (table, name, id): (&str, &str, Uuid),
        sealed: String,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        if vault.uses_newest_key(&sealed) {
            return Ok(());
        }
        let Ok(secret) = vault.open(owner, &sealed) else {
            report.unreadable += 1;
            return Ok(());
        };
        let mut sql = Sql::new(&format!("UPDATE {table} SET {name} = "));
        sql.bind(vault.seal(random, owner, &secret)).push(" WHERE id = ").bind(id);
        sql.push(&format!(" AND {name} = ")).bind(sealed);
        report.sealed += sql.execute(&self.write()).await?;
        Ok(())
    }
}
