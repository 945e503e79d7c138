//! The purge of a deleted project: its keys and its log of requests, its record last.

use ::projects::projects::deletion::{ProjectPurge, PurgedProject};
use async_trait::async_trait;
use kernel::{StoreError, Timestamp, id::ProjectId};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _, SelectStatement},
};

use crate::{
    convert::RowContext,
    entity::{
        backend_projects::{self, Column},
        column::{DbId, DbTime},
        project_keys, project_minutes, project_requests, workspaces,
    },
    error::OrStoreError as _,
    query,
    store::Store,
};

/// Selects the ids of workspaces that are being purged.
fn purged_workspaces() -> SelectStatement {
    workspaces::Entity::find()
        // As the partial index has it.
        .filter(workspaces::Column::DeletedAt.is_not_null())
        .filter(workspaces::Column::PurgeStartedAt.is_not_null())
        .select_only()
        .column(workspaces::Column::Id)
        .into_query()
}

#[span_macros::traced]
#[async_trait]
impl ProjectPurge for Store {
    async fn begin_project_purges(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        after: Option<ProjectId>,
        limit: u32,
    ) -> Result<Vec<PurgedProject>, StoreError> {
        let is_due = Column::DeletedAt
            .lte(DbTime(deleted_before))
            .or(Column::WorkspaceId.in_subquery(purged_workspaces()));
        let due = backend_projects::Entity::find()
            .filter(is_due.clone())
            .apply_if(after, |query, after| query.filter(Column::Id.gt(DbId(after))))
            .order_by_asc(Column::Id)
            .limit(u64::from(limit));
        // Looked up before the write lock is asked for: nearly always there is nothing to do.
        let ids: Vec<ProjectId> = query::ids(due, Column::Id, self.read()).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = || ids.iter().copied().map(DbId);
        backend_projects::Entity::update_many()
            .col_expr(Column::PurgeStartedAt, Expr::value(DbTime(now)))
            .filter(Column::Id.is_in(ids()))
            .filter(is_due)
            .filter(Column::PurgeStartedAt.is_null())
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        let marked = backend_projects::Entity::find()
            .filter(Column::Id.is_in(ids()))
            .filter(Column::PurgeStartedAt.is_not_null())
            .order_by_asc(Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        let purged = marked.into_iter().map(|model| {
            let shard = RowContext::new("backend_projects", model.id).number(model.shard)?;
            Ok(PurgedProject { project: model.id.0, workspace: model.workspace_id.0, shard })
        });
        purged.collect()
    }

    async fn purge_project(&self, project: ProjectId) -> Result<bool, StoreError> {
        let requests =
            project_requests::Entity::find().filter(project_requests::Column::ProjectId.eq(DbId(project)));
        self.purge_rows(requests).await?;
        let minutes =
            project_minutes::Entity::find().filter(project_minutes::Column::ProjectId.eq(DbId(project)));
        self.purge_rows(minutes).await?;
        let keys = project_keys::Entity::find().filter(project_keys::Column::ProjectId.eq(DbId(project)));
        self.purge_rows(keys).await?;
        let deleted = backend_projects::Entity::delete_by_id(project)
            .filter(Column::PurgeStartedAt.is_not_null())
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(deleted.rows_affected > 0)
    }
}
