//! Planned changes.

use ::apps::changes::{Change, ChangeOutcome, ChangesRead, ChangesTx};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, ChangeId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _, Select,
    sea_query::Expr,
};

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
        outcome: match (model.version_id, &model.failure) {
            (Some(version), _) => Some(ChangeOutcome::Live(version.0)),
            (None, Some(failure)) => Some(ChangeOutcome::Failed(failure.clone())),
            (None, None) => None,
        },
    })
}

/// Selects a change that a person planned.
fn change_of(workspace: WorkspaceId, owner: UserId, id: ChangeId) -> Select<app_changes::Entity> {
    app_changes::Entity::find_by_id(id)
        .filter(app_changes::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(app_changes::Column::OwnerId.eq(DbId(owner)))
}

#[span_macros::traced]
#[async_trait]
impl ChangesRead for Store {
    async fn app_of_change(&self, owner: UserId, id: ChangeId) -> Result<Option<AppId>, StoreError> {
        use app_changes::Column;
        let change = app_changes::Entity::find_by_id(id).filter(Column::OwnerId.eq(DbId(owner)));
        let app = change.select_only().column(Column::AppId).into_tuple::<DbId<kind::App>>();
        Ok(app.one(self.read()).await.or_store_error()?.map(|app| app.0))
    }

    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let found = change_of(workspace, owner, id).one(self.read()).await.or_store_error()?;
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
            .filter(app_changes::Column::OwnerId.eq(DbId(owner)))
            .filter(app_changes::Column::VersionId.is_null())
            .filter(app_changes::Column::Failure.is_null());
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
            version_id: Set(None),
            failure: Set(None),
        };
        app_changes::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn change_for_update(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let locked = change_of(workspace, owner, id).lock_exclusive();
        let found = locked.one(self.write()).await.or_store_error()?;
        found.as_ref().map(change).transpose()
    }

    async fn settle_change(&mut self, id: ChangeId, outcome: &ChangeOutcome) -> Result<(), StoreError> {
        use app_changes::Column;
        let change = app_changes::Entity::update_many().filter(Column::Id.eq(DbId(id)));
        let settled = match outcome {
            ChangeOutcome::Live(version) => change.col_expr(Column::VersionId, Expr::value(DbId(*version))),
            ChangeOutcome::Failed(message) => change.col_expr(Column::Failure, Expr::value(message.clone())),
        };
        settled.exec(self.write()).await.or_store_error()?;
        Ok(())
    }
}
