//! Imports of workflows.

use ::imports::imports::{Import, ImportStatus, ImportsRead, ImportsTx};
use async_trait::async_trait;
use kernel::{
    StoreError,
    id::{ImportId, UserId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _,
};

use crate::{
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
    Ok(ActiveModel {
        id: Set(DbId(import.id)),
        workspace_id: Set(DbId(import.workspace)),
        name: Set(import.name.clone()),
        format: Set(DbText(import.report.format)),
        status: Set(DbText(import.status)),
        app_id: Set(import.app.map(DbId)),
        automation_id: Set(import.automation.map(DbId)),
        report: Set(to_json(&import.report)?),
        needs: Set(to_json(&import.needs)?),
        created_by: Set(DbId(import.created_by)),
        created_at: Set(DbTime(import.created_at)),
        changed_at: Set(DbTime(import.changed_at)),
    })
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
        Entity::insert(row(import)?).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
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
        row(import)?.update(self.write()).await.or_store_error()?;
        Ok(())
    }
}
