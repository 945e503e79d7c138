//! The end of a rotation: seals everything anew under the newest master key, and keeps what older keys are still needed
//! for, so that they can be removed.

use std::collections::BTreeMap;

use ::connections::{app_secrets::SealedAppSecret, connection::SecretPurpose};
use kernel::{
    Id, Randomness, StoreError,
    id::{ProjectId, kind},
    mail,
    token::RetiredPepper,
    vault::{Vault, key_id},
};
use projects::Settings;
use runs::webhooks::Webhook;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, DerivePartialModel, EntityTrait, FromQueryResult, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, OnConflict},
};
use uuid::Uuid;

use crate::{
    connections as connections_store,
    convert::to_json,
    entity::{
        app_secrets, backend_projects, column::DbId, connection_secrets, connections, invites,
        oauth_access_tokens, oauth_refresh_tokens, outbox, project_keys, retired_peppers, sessions, tokens,
        webhooks,
    },
    error::OrStoreError as _,
    query::literal,
    store::Store,
};

/// Encryption context of a retired pepper, before its key's id.
const PEPPER_OWNER: &str = "retired pepper";
/// Rows that are read at once.
const CHUNK_ROWS: u64 = 200;

/// Outcome of sealing everything anew.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RekeyReport {
    /// Secrets, of webhooks, connections, apps, waiting mail and projects, that rest on the newest key now.
    pub sealed: u64,
    /// Secrets that no configured key opens. They stay as they are.
    pub unreadable: u64,
}

/// Values that rest on one master key.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct MasterKeyUsage {
    /// Sealed secrets.
    pub sealed: u64,
    /// Digests of sessions, tokens, keys and invites.
    pub digests: u64,
}

/// Rows whose value was made with one master key.
#[derive(FromQueryResult)]
struct KeyCountRow {
    key_id: String,
    count: i64,
}

/// A webhook's sealed secret, and what it is bound to.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "webhooks::Entity")]
struct WebhookSecretRow {
    id: DbId<kind::Hook>,
    workspace_id: DbId<kind::Workspace>,
    secret_sealed: Option<String>,
}

/// The sealed content of an e-mail.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "outbox::Entity")]
struct SealedEmailRow {
    id: DbId<kind::Mail>,
    sealed: String,
}

/// The settings of a project, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "backend_projects::Entity")]
struct SettingsRow {
    id: DbId<kind::Project>,
    settings: String,
}

/// Condition that a project's settings hold a symmetric key (RFC 7518, section 6.4).
const SYMMETRIC_KEY_PATTERN: &str = "%\"oct\"%";

impl Store {
    /// Seals everything under the vault's newest key, and keeps the peppers of the others.
    ///
    /// # Errors
    /// Fails if the database fails. What was done by then stays; the next call goes on.
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
        self.rekey_connections(vault, random, &mut report).await?;
        self.rekey_apps(vault, random, &mut report).await?;
        let mut peppers = self.retired_peppers(vault).await?;
        peppers.extend(retired.iter().cloned());
        for pepper in &peppers {
            let sealed = vault.seal(random, &[PEPPER_OWNER, pepper.key_id()], pepper.secret());
            let row =
                retired_peppers::ActiveModel { key_id: Set(pepper.key_id().to_owned()), sealed: Set(sealed) };
            let replace = OnConflict::column(retired_peppers::Column::KeyId)
                .update_column(retired_peppers::Column::Sealed)
                .to_owned();
            retired_peppers::Entity::insert(row)
                .on_conflict(replace)
                .exec_without_returning(&*self.write().await?)
                .await
                .or_store_error()?;
        }
        // Last: until it is sealed anew the old key is asked for.
        self.reseal_key_check(vault, random).await?;
        Ok(report)
    }

    /// Returns the peppers of master keys that were rotated away. One that does not open is left out.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn retired_peppers(&self, vault: &Vault) -> Result<Vec<RetiredPepper>, StoreError> {
        let found = retired_peppers::Entity::find().all(self.read()).await.or_store_error()?;
        let mut peppers = Vec::with_capacity(found.len());
        for row in &found {
            let opened = vault.open(&[PEPPER_OWNER, &row.key_id], &row.sealed).ok();
            peppers.extend(opened.and_then(|secret| RetiredPepper::new(&row.key_id, secret)));
        }
        Ok(peppers)
    }

    /// Counts what rests on each master key, by its id.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn master_key_usage(&self) -> Result<BTreeMap<String, MasterKeyUsage>, StoreError> {
        let mut all: BTreeMap<String, MasterKeyUsage> = BTreeMap::new();
        let sealed = [
            self.count_sealed(webhooks::Column::SecretSealed).await?,
            self.count_sealed(outbox::Column::Sealed).await?,
            self.count_sealed(connection_secrets::Column::Sealed).await?,
            self.count_sealed(app_secrets::Column::Sealed).await?,
            self.count_sealed(retired_peppers::Column::Sealed).await?,
        ];
        for row in sealed.into_iter().flatten() {
            all.entry(row.key_id).or_default().sealed += row.count.unsigned_abs();
        }
        let digests = [
            self.count_digests(sessions::Column::Digest).await?,
            self.count_digests(tokens::Column::Digest).await?,
            self.count_digests(project_keys::Column::Digest).await?,
            self.count_digests(webhooks::Column::TokenDigest).await?,
            self.count_digests(oauth_access_tokens::Column::Digest).await?,
            self.count_digests(oauth_refresh_tokens::Column::Digest).await?,
            self.count_digests(invites::Column::Digest).await?,
        ];
        for row in digests.into_iter().flatten() {
            all.entry(row.key_id).or_default().digests += row.count.unsigned_abs();
        }
        for (_, settings, _) in self.settings_with_secrets().await? {
            for key in settings.identity.iter().flat_map(|provider| &provider.keys) {
                if let Some(id) = key.sealed.as_deref().and_then(key_id) {
                    all.entry(id.to_owned()).or_default().sealed += 1;
                }
            }
        }
        Ok(all)
    }

    /// Counts the sealed texts of a column by their key: `qs1.` and the eight digits of its id come first.
    async fn count_sealed<C>(&self, column: C) -> Result<Vec<KeyCountRow>, StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        let key_id = Func::cust("substr").arg(column.into_expr()).arg(literal(5)).arg(literal(8));
        self.count_by_key(column, key_id.into()).await
    }

    /// Counts the digests of a column by their pepper's key, whose id is the first four bytes.
    async fn count_digests<C>(&self, column: C) -> Result<Vec<KeyCountRow>, StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        let key_id = Func::cust("substr").arg(column.into_expr()).arg(literal(1)).arg(literal(4));
        let in_hex = if self.is_postgres() {
            Func::cust("encode").arg(key_id).arg(literal("hex"))
        } else {
            Func::lower(Func::cust("hex").arg(key_id))
        };
        self.count_by_key(column, in_hex.into()).await
    }

    async fn count_by_key<C>(&self, column: C, key_id: Expr) -> Result<Vec<KeyCountRow>, StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        <C::EntityName as EntityTrait>::find()
            .filter(column.is_not_null())
            .group_by(key_id.clone())
            .select_only()
            .expr_as(key_id, "key_id")
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .into_model::<KeyCountRow>()
            .all(self.read())
            .await
            .or_store_error()
    }

    async fn rekey_webhooks(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        use webhooks::Column;
        let mut after = Uuid::nil();
        loop {
            let found = webhooks::Entity::find()
                .filter(Column::SecretSealed.is_not_null())
                .filter(Column::Id.gt(after))
                .order_by_asc(Column::Id)
                .limit(CHUNK_ROWS)
                .into_partial_model::<WebhookSecretRow>()
                .all(self.read())
                .await
                .or_store_error()?;
            let Some(last) = found.last() else { return Ok(()) };
            after = last.id.0.uuid();
            for WebhookSecretRow { id, workspace_id, secret_sealed } in found {
                let owner = Webhook::secret_owner(workspace_id.0, id.0);
                let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
                let sealed = secret_sealed.unwrap_or_default();
                let place = (Column::SecretSealed, Column::Id.eq(id));
                self.reseal((vault, random), &owner, place, sealed, report).await?;
            }
        }
    }

    async fn rekey_outbox(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        use outbox::Column;
        let mut after = Uuid::nil();
        loop {
            let found = outbox::Entity::find()
                .filter(Column::Id.gt(after))
                .order_by_asc(Column::Id)
                .limit(CHUNK_ROWS)
                .into_partial_model::<SealedEmailRow>()
                .all(self.read())
                .await
                .or_store_error()?;
            let Some(last) = found.last() else { return Ok(()) };
            after = last.id.0.uuid();
            for SealedEmailRow { id, sealed } in found {
                let owner = mail::encryption_context(id.0);
                let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
                self.reseal((vault, random), &owner, (Column::Sealed, Column::Id.eq(id)), sealed, report)
                    .await?;
            }
        }
    }

    async fn rekey_connections(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        use connection_secrets::Column;
        let mut after = Uuid::nil();
        loop {
            let found = connections::Entity::find()
                .filter(connections::Column::KeyId.is_not_null())
                .filter(connections::Column::Id.gt(after))
                .order_by_asc(connections::Column::Id)
                .limit(CHUNK_ROWS)
                .all(self.read())
                .await
                .or_store_error()?;
            let Some(last) = found.last() else { return Ok(()) };
            after = last.id.0.uuid();
            for model in found {
                let of_connection = Column::ConnectionId.eq(model.id);
                let secrets = connection_secrets::Entity::find().filter(of_connection.clone());
                let connection = connections_store::without_gate(model)?;
                for secret in secrets.clone().all(self.read()).await.or_store_error()? {
                    let context = connection.sealing_context(secret.purpose.0);
                    let is_row = of_connection.clone().and(Column::Purpose.eq(secret.purpose));
                    let place = (Column::Sealed, is_row);
                    self.reseal((vault, random), &context.parts(), place, secret.sealed, report).await?;
                }
                // A connection that a person allowed in a browser has tokens only.
                let stored = secrets.all(self.read()).await.or_store_error()?;
                let of = |purpose| stored.iter().find(|secret| secret.purpose.0 == purpose);
                let stored = of(SecretPurpose::Secret).or_else(|| of(SecretPurpose::Tokens));
                let newest = stored.and_then(|secret| key_id(&secret.sealed));
                if newest.is_some() && newest != connection.key_id.as_deref() {
                    connections::Entity::update_many()
                        .col_expr(connections::Column::KeyId, Expr::value(newest.map(str::to_owned)))
                        .filter(connections::Column::Id.eq(DbId(connection.id)))
                        .filter(connections::Column::SecretVersion.eq(i64::from(connection.secret_version)))
                        .filter(connections::Column::KeyId.is_not_null())
                        .exec(&*self.write().await?)
                        .await
                        .or_store_error()?;
                }
            }
        }
    }

    async fn rekey_apps(
        &self,
        vault: &Vault,
        random: &dyn Randomness,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError> {
        use app_secrets::Column;
        let mut after = (DbId::<kind::App>(Id::from_uuid(Uuid::nil())), String::new());
        loop {
            // Both parts of the key: an app's secrets may lie in two chunks.
            let is_later_name = Column::AppId.eq(after.0).and(Column::Name.gt(after.1.as_str()));
            let found = app_secrets::Entity::find()
                .filter(Column::AppId.gt(after.0).or(is_later_name))
                .order_by_asc(Column::AppId)
                .order_by_asc(Column::Name)
                .limit(CHUNK_ROWS)
                .all(self.read())
                .await
                .or_store_error()?;
            let Some(last) = found.last() else { return Ok(()) };
            after = (last.app_id, last.name.clone());
            for model in found {
                let is_row = Column::AppId.eq(model.app_id).and(Column::Name.eq(model.name.as_str()));
                let SealedAppSecret { secret, sealed } = connections_store::app_secret(model)?;
                let owner = secret.sealing_context();
                let owner = owner.each_ref().map(String::as_str);
                self.reseal((vault, random), &owner, (Column::Sealed, is_row), sealed, report).await?;
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
                let updated = backend_projects::Entity::update_many()
                    .col_expr(backend_projects::Column::Settings, Expr::value(to_json(&settings)?))
                    .filter(backend_projects::Column::Id.eq(DbId(id)))
                    .filter(backend_projects::Column::Settings.eq(text))
                    .exec(&*self.write().await?)
                    .await
                    .or_store_error()?;
                report.sealed += updated.rows_affected;
            }
        }
        Ok(())
    }

    /// Returns the settings that hold symmetric keys, parsed and as they are stored.
    async fn settings_with_secrets(&self) -> Result<Vec<(ProjectId, Settings, String)>, StoreError> {
        let found = backend_projects::Entity::find()
            .filter(backend_projects::Column::Settings.like(SYMMETRIC_KEY_PATTERN))
            .into_partial_model::<SettingsRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        found
            .into_iter()
            .map(|row| {
                let settings =
                    serde_json::from_str(&row.settings).map_err(|error| StoreError::Failed(error.into()))?;
                Ok((row.id.0, settings, row.settings))
            })
            .collect()
    }

    /// Seals one secret anew, unless it rests on the newest key or was changed meanwhile.
    async fn reseal<C>(
        &self,
        (vault, random): (&Vault, &dyn Randomness),
        owner: &[&str],
        (column, is_row): (C, Expr),
        sealed: String,
        report: &mut RekeyReport,
    ) -> Result<(), StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        if vault.uses_newest_key(&sealed) {
            return Ok(());
        }
        let Ok(secret) = vault.open(owner, &sealed) else {
            report.unreadable += 1;
            return Ok(());
        };
        let updated = <C::EntityName as EntityTrait>::update_many()
            .col_expr(column, Expr::value(vault.seal(random, owner, &secret)))
            .filter(is_row)
            .filter(column.eq(sealed))
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        report.sealed += updated.rows_affected;
        Ok(())
    }
}
