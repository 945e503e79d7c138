//! Imports of workflows.

use ::imports::imports::{Import, ImportStatus, ImportsRead, ImportsTx};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{ImportId, UserId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseTransaction, DerivePartialModel,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
};

use crate::{
    code_files::{self, CodeWrite, import_bytes},
    convert::{RowContext, to_json},
    entity::{
        column::{DbId, DbText, DbTime},
        imports::{ActiveModel, Column, Entity, Model},
    },
    error::OrStoreError as _,
    query,
    store::Store,
    tx::StoreTx,
};

/// Imports that one sweep deletes; at most.
const EXPIRED_BATCH: u64 = 1_000;

fn import(model: &Model) -> Result<Import, StoreError> {
    let row = RowContext::new("imports", model.id);
    Ok(Import {
        id: model.id.0,
        workspace: model.workspace_id.0,
        name: model.name.clone(),
        status: model.status.0,
        app: model.app_id.map(DbId::into_inner),
        automation: model.automation_id.map(DbId::into_inner),
        report: row.json(&model.report)?,
        needs: row.json(&model.needs)?,
        created_by: model.created_by.0,
        created_at: model.created_at.0,
        changed_at: model.changed_at.0,
    })
}

fn row(import: &Import) -> Result<ActiveModel, StoreError> {
    let (report, needs) = (to_json(&import.report)?, to_json(&import.needs)?);
    Ok(ActiveModel {
        id: Set(DbId(import.id)),
        workspace_id: Set(DbId(import.workspace)),
        name: Set(import.name.clone()),
        format: Set(DbText(import.report.format)),
        status: Set(DbText(import.status)),
        app_id: Set(import.app.map(DbId)),
        automation_id: Set(import.automation.map(DbId)),
        stored_bytes: Set(Some(import_bytes(&report, &needs))),
        report: Set(report),
        needs: Set(needs),
        created_by: Set(DbId(import.created_by)),
        created_at: Set(DbTime(import.created_at)),
        changed_at: Set(DbTime(import.changed_at)),
    })
}

/// Bytes that an import counts for.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "Entity")]
struct StoredRow {
    stored_bytes: Option<i64>,
}

/// Counts an import that took `before` bytes and takes `after`.
async fn count(
    db: &DatabaseTransaction,
    workspace: WorkspaceId,
    before: i64,
    after: i64,
) -> Result<(), StoreError> {
    let mut code = CodeWrite::begin(db, workspace).await?;
    code.count_row(after - before);
    code.finish().await
}

impl Store {
    /// Deletes imports that were discarded before a time, a few of them.
    pub(crate) async fn delete_discarded_imports(&self, before: Timestamp) -> Result<(), StoreError> {
        let expired = Entity::find()
            .filter(Column::Status.eq(DbText(ImportStatus::Discarded)))
            .filter(Column::ChangedAt.lte(DbTime(before)))
            .limit(EXPIRED_BATCH);
        for id in query::ids::<_, kind::Import>(expired, Column::Id, self.read()).await? {
            let mut tx = self.begin().await?;
            let db = tx.write();
            let deleted = Entity::delete_many()
                .filter(Column::Id.eq(DbId(id)))
                .exec_with_returning(db)
                .await
                .or_store_error()?;
            for row in deleted {
                count(db, row.workspace_id.0, row.stored_bytes.unwrap_or_default(), 0).await?;
            }
            tx.commit_unaudited().await?;
        }
        Ok(())
    }
}

#[span_macros::traced]
#[async_trait]
impl ImportsRead for Store {
    async fn import(&self, id: ImportId) -> Result<Option<Import>, StoreError> {
        let found = Entity::find_by_id(DbId(id)).one(self.read()).await.or_store_error()?;
        found.as_ref().map(import).transpose()
    }

    async fn imports(
        &self,
        workspace: WorkspaceId,
        maker: Option<UserId>,
        page: PageRequest,
    ) -> Result<Vec<Import>, StoreError> {
        let found = Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(maker, |query, maker| query.filter(Column::CreatedBy.eq(DbId(maker))))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            // Ids are in the order of creation.
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.iter().map(import).collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl ImportsTx for StoreTx {
    async fn count_imports_in_review(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let in_review = Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::Status.eq(DbText(ImportStatus::Review)));
        query::count(in_review, self.read()).await
    }

    async fn insert_import(&mut self, import: &Import) -> Result<(), StoreError> {
        let mut row = row(import)?;
        if !code_files::is_in_use(self.read()).await? {
            row.stored_bytes = Set(None);
        }
        let stored = row.stored_bytes.clone().take().flatten();
        let db = self.write();
        Entity::insert(row).exec_without_returning(db).await.or_store_error()?;
        match stored {
            Some(stored) => count(db, import.workspace, 0, stored).await,
            None => Ok(()),
        }
    }

    async fn import_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ImportId,
    ) -> Result<Option<Import>, StoreError> {
        let locked =
            Entity::find_by_id(DbId(id)).filter(Column::WorkspaceId.eq(DbId(workspace))).lock_exclusive();
        let found = locked.one(self.write()).await.or_store_error()?;
        found.as_ref().map(import).transpose()
    }

    async fn update_import(&mut self, import: &Import) -> Result<(), StoreError> {
        let mut row = row(import)?;
        let db = self.write();
        let before = Entity::find_by_id(DbId(import.id)).into_partial_model::<StoredRow>();
        let before = before.one(db).await.or_store_error()?.and_then(|row| row.stored_bytes);
        match before {
            Some(before) => {
                let after = row.stored_bytes.clone().take().flatten().unwrap_or_default();
                row.update_without_returning(db).await.or_store_error()?;
                count(db, import.workspace, before, after).await
            }
            // It is counted as it is then.
            None => {
                row.stored_bytes = Set(None);
                row.update_without_returning(db).await.or_store_error()?;
                Ok(())
            }
        }
    }
}
