//! Deletion of workspaces.

use ::workspace::workspaces::deletion::DeletionTx;
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    caller_cache::CallerChange,
    entity::{
        column::{DbId, DbTime},
        members, workspaces,
    },
    error::OrStoreError as _,
    query::ROW_LOCK,
    tx::StoreTx,
};

/// The person of a membership.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "members::Entity")]
struct MemberRow {
    user_id: DbId<kind::User>,
}

#[span_macros::traced]
#[async_trait]
impl DeletionTx for StoreTx {
    async fn mark_workspace_deleted(
        &mut self,
        workspace: WorkspaceId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError> {
        let deletion = workspaces::ActiveModel {
            deleted_at: Set(Some(DbTime(at))),
            deleted_by: Set(Some(DbId(by))),
            ..Default::default()
        };
        self.set_deletion(workspace, deletion).await?;
        self.stop_lost_runs();
        Ok(())
    }

    async fn lock_deleted_workspace(
        &mut self,
        workspace: WorkspaceId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let found = workspaces::Entity::find_by_id(workspace)
            .filter(workspaces::Column::PurgeStartedAt.is_null())
            .lock(ROW_LOCK)
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.and_then(|found| found.deleted_at).map(DbTime::into_inner))
    }

    async fn unmark_workspace_deleted(&mut self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let deletion =
            workspaces::ActiveModel { deleted_at: Set(None), deleted_by: Set(None), ..Default::default() };
        self.set_deletion(workspace, deletion).await?;
        self.wake_workers();
        Ok(())
    }
}

impl StoreTx {
    /// Writes the columns of a deletion, and drops what every node has cached about the workspace and its members.
    async fn set_deletion(
        &mut self,
        workspace: WorkspaceId,
        deletion: workspaces::ActiveModel,
    ) -> Result<(), StoreError> {
        use workspaces::Column;
        workspaces::Entity::update_many()
            .set(deletion)
            // What was decided about a webhook call before is decided again.
            .col_expr(Column::Revision, Expr::col(Column::Revision).add(1))
            .filter(Column::Id.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        let members = members::Entity::find()
            .filter(members::Column::WorkspaceId.eq(DbId(workspace)))
            .into_partial_model::<MemberRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        for member in members {
            self.invalidate_caller(CallerChange::Member(workspace, member.user_id.0));
        }
        self.invalidate_caller(CallerChange::Workspace(workspace));
        self.wake_followers(workspace);
        Ok(())
    }
}
