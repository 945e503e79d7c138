//! The upkeep of stored code: rows of earlier releases are counted, and files that nothing needs are deleted.

use ::apps::storage::{CodeUpkeep, StoredCodeRead};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, id::WorkspaceId};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, OnConflict},
};

use super::{is_in_use, stored_bytes};
use crate::{
    entity::{breaking_migrations, column::DbTime, installation},
    error::OrStoreError as _,
    store::Store,
};

/// Time for an upgrade of all nodes, counted from the start of the first: older ones cannot read files that are stored apart.
const UPGRADE_TIME: TimeDelta = TimeDelta::days(1);

#[derive(DerivePartialModel)]
#[sea_orm(entity = "installation::Entity")]
struct StartRow {
    code_files_from: Option<DbTime>,
}

#[span_macros::traced]
#[async_trait]
impl StoredCodeRead for Store {
    async fn stored_code_bytes(&self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        stored_bytes(self.read(), workspace).await
    }
}

#[span_macros::traced]
#[async_trait]
impl CodeUpkeep for Store {
    async fn keep_up_code(&self, now: Timestamp) -> Result<bool, StoreError> {
        if !self.begin_code_files(now).await? {
            return Ok(false);
        }
        let has_more =
            [self.adopt_versions(now).await?, self.adopt_imports().await?, self.prune_versions(now).await?];
        Ok(has_more.contains(&true))
    }
}

impl Store {
    /// Begins to store files apart once the time of the upgrade is over; returns true if they are.
    async fn begin_code_files(&self, now: Timestamp) -> Result<bool, StoreError> {
        if is_in_use(self.read()).await? {
            return Ok(true);
        }
        let found = installation::Entity::find()
            .into_partial_model::<StartRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        match found.and_then(|row| row.code_files_from) {
            None => {
                installation::Entity::update_many()
                    .col_expr(installation::Column::CodeFilesFrom, Expr::value(DbTime(now + UPGRADE_TIME)))
                    .filter(installation::Column::CodeFilesFrom.is_null())
                    .exec(&*self.write().await?)
                    .await
                    .or_store_error()?;
                Ok(false)
            }
            Some(from) if from.0 > now => Ok(false),
            Some(_) => {
                let row =
                    breaking_migrations::ActiveModel { version: Set(migrations::CODE_FILES.to_owned()) };
                let once = OnConflict::column(breaking_migrations::Column::Version).do_nothing().to_owned();
                breaking_migrations::Entity::insert(row)
                    .on_conflict(once)
                    .exec_without_returning(&*self.write().await?)
                    .await
                    .or_store_error()?;
                tracing::info!(
                    "files of versions are stored once from now on; older programs can no longer start"
                );
                Ok(true)
            }
        }
    }
}
