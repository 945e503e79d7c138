//! Rows of earlier releases, whose code is in the row and is not counted. Each is moved in a transaction of its own.

use std::collections::BTreeMap;

use ::apps::storage::KEPT_VERSIONS;
use kernel::{
    StoreError, Timestamp,
    id::{ImportId, VersionId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DerivePartialModel, EntityTrait as _,
    JoinType, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _,
};

use super::{CodeWrite, STORED_APART, prune::plan_prune, write::bytes};
use crate::{
    convert::RowContext,
    entity::{
        app_versions, apps,
        column::{DbId, DbTime},
        imports,
    },
    error::OrStoreError as _,
    query::ROW_LOCK,
    store::Store,
};

/// Rows that are moved before other work has its turn.
const BATCH: u64 = 100;

/// A version whose files are in its row.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct InlineVersionRow {
    app_id: DbId<kind::App>,
    number: i64,
    summary: String,
    manifest: String,
    files: String,
    instruction: Option<String>,
    #[sea_orm(from_expr = "apps::Column::DeletedAt")]
    app_deleted_at: Option<DbTime>,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "imports::Entity")]
struct ImportRow {
    report: String,
    needs: String,
}

impl Store {
    /// Moves files of versions out of their rows; returns true if there are more.
    pub(super) async fn adopt_versions(&self, now: Timestamp) -> Result<bool, StoreError> {
        let mut after = None;
        loop {
            let found = self.versions_to_adopt(after).await?;
            let (is_full, mut has_moved) = (found.len() as u64 == BATCH, false);
            after = found.last().map(|(version, _)| *version);
            for (version, workspace) in found {
                match self.adopt_version(workspace.0, version.0, now).await {
                    // It stays as it is, and whoever reads it is told the same.
                    Err(error @ StoreError::Inconsistent { .. }) => {
                        tracing::error!(error = &error as &dyn std::error::Error, "cannot count a version");
                    }
                    adopted => {
                        adopted?;
                        has_moved = true;
                    }
                }
            }
            // Versions that stay would be found again: behind a batch of them, the search goes on at once.
            if has_moved || !is_full {
                return Ok(is_full);
            }
        }
    }

    /// Returns the first versions behind this one whose files are in their rows.
    async fn versions_to_adopt(
        &self,
        after: Option<DbId<kind::Version>>,
    ) -> Result<Vec<(DbId<kind::Version>, DbId<kind::Workspace>)>, StoreError> {
        use app_versions::Column;
        app_versions::Entity::find()
            .filter(Column::StoredBytes.is_null())
            .apply_if(after, |query, after| query.filter(Column::Id.gt(after)))
            .order_by_asc(Column::Id)
            .limit(BATCH)
            .select_only()
            .columns([Column::Id, Column::WorkspaceId])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()
    }

    async fn adopt_version(
        &self,
        workspace: WorkspaceId,
        id: VersionId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        use app_versions::Column;
        let mut tx = self.begin().await?;
        let db = tx.write();
        let mut code = CodeWrite::begin(db, workspace).await?;
        // Another node may have moved it meanwhile.
        let found = app_versions::Entity::find_by_id(id)
            .join(JoinType::InnerJoin, app_versions::Relation::App.def())
            .filter(Column::StoredBytes.is_null())
            .into_partial_model::<InlineVersionRow>()
            .one(db)
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(()) };
        let row_bytes = version_bytes(&found.manifest, &found.summary, found.instruction.as_deref());
        let is_deleted = found.app_deleted_at.is_some();
        if !is_deleted {
            let files: BTreeMap<String, String> = RowContext::new("app_versions", id).json(&found.files)?;
            code.replace_files(id.uuid(), &files).await?;
            if found.number > i64::from(KEPT_VERSIONS) {
                plan_prune(db, workspace, found.app_id.0, now).await?;
            }
        }
        code.count_row(row_bytes);
        let changed = app_versions::ActiveModel {
            id: Set(DbId(id)),
            files: Set(STORED_APART.to_owned()),
            stored_bytes: Set(Some(row_bytes)),
            files_deleted_at: Set(is_deleted.then_some(DbTime(now))),
            ..Default::default()
        };
        changed.update_without_returning(db).await.or_store_error()?;
        code.finish_unchecked().await?;
        tx.commit_unaudited().await
    }

    /// Counts imports; returns true if there are more.
    pub(super) async fn adopt_imports(&self) -> Result<bool, StoreError> {
        use imports::Column;
        let found: Vec<(DbId<kind::Import>, DbId<kind::Workspace>)> = imports::Entity::find()
            .filter(Column::StoredBytes.is_null())
            .order_by_asc(Column::Id)
            .limit(BATCH)
            .select_only()
            .columns([Column::Id, Column::WorkspaceId])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        let has_more = found.len() as u64 == BATCH;
        for (import, workspace) in found {
            self.adopt_import(workspace.0, import.0).await?;
        }
        Ok(has_more)
    }

    async fn adopt_import(&self, workspace: WorkspaceId, id: ImportId) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let db = tx.write();
        // A change of an import locks it before it counts.
        let found = imports::Entity::find_by_id(DbId(id))
            .filter(imports::Column::StoredBytes.is_null())
            .lock(ROW_LOCK)
            .into_partial_model::<ImportRow>()
            .one(db)
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(()) };
        let mut code = CodeWrite::begin(db, workspace).await?;
        let stored = import_bytes(&found.report, &found.needs);
        code.count_row(stored);
        let changed =
            imports::ActiveModel { id: Set(DbId(id)), stored_bytes: Set(Some(stored)), ..Default::default() };
        changed.update_without_returning(db).await.or_store_error()?;
        code.finish_unchecked().await?;
        tx.commit_unaudited().await
    }
}

/// Returns the bytes that a version counts for beside its files.
pub(crate) fn version_bytes(manifest: &str, summary: &str, instruction: Option<&str>) -> i64 {
    bytes(manifest.len() + summary.len() + instruction.map_or(0, str::len))
}

/// Returns the bytes that an import counts for.
pub(crate) fn import_bytes(report: &str, needs: &str) -> i64 {
    bytes(report.len() + needs.len())
}
