//! Planned changes.

use ::apps::changes::{Change, ChangesRead, ChangesTx};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, ChangeId, UserId, WorkspaceId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use crate::{
    convert::{RowContext, to_json},
    entity::{
        app_changes,
        column::{DbId, DbTime},
    },
    error::OrStoreError as _,
    query,
    store::Store,
    tx::StoreTx,
};

fn change(model: &app_changes::Model) -> Result<Change, StoreError> {
    let row = RowContext::new("app_changes", model.id);
    Ok(Change {
        id: model.id.0,
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        owner: model.owner_id.0,
        run: model.run_id.map(DbId::into_inner),
        plan: row.json(&model.plan)?,
        created_at: model.created_at.0,
        expires_at: model.expires_at.0,
    })
}

#[span_macros::traced]
#[async_trait]
impl ChangesRead for Store {
    async fn change_scope(&self, id: ChangeId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        use app_changes::Column;
        let change = app_changes::Entity::find_by_id(id);
        query::scope(change, [Column::WorkspaceId, Column::AppId], self.read()).await
    }

    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let found = app_changes::Entity::find_by_id(id)
            .filter(app_changes::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(app_changes::Column::OwnerId.eq(DbId(owner)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(change).transpose()
    }
}

#[span_macros::traced]
#[async_trait]
impl ChangesTx for StoreTx {
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let open = app_changes::Entity::find()
            .filter(app_changes::Column::ExpiresAt.gt(DbTime(now)))
            .filter(app_changes::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(app_changes::Column::OwnerId.eq(DbId(owner)));
        query::count(open, self.read()).await
    }

    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError> {
        let row = app_changes::ActiveModel {
            id: Set(DbId(change.id)),
            workspace_id: Set(DbId(change.workspace)),
            app_id: Set(DbId(change.app)),
            owner_id: Set(DbId(change.owner)),
            run_id: Set(change.run.map(DbId)),
            plan: Set(to_json(&change.plan)?),
            created_at: Set(DbTime(change.created_at)),
            expires_at: Set(DbTime(change.expires_at)),
        };
        app_changes::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }
}
