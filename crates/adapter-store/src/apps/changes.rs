//! Planned changes.

use ::apps::changes::{Change, ChangesRead, ChangesTx};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, ChangeId, UserId, WorkspaceId},
};
use uuid::Uuid;

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis, to_json},
    sql::{Sql, column},
};

#[async_trait]
impl ChangesRead for Store {
    async fn change_scope(&self, id: ChangeId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        let mut sql = Sql::new("SELECT workspace_id, app_id FROM app_changes WHERE id = ");
        sql.bind(id.uuid());
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        Ok(Some((Id::from_uuid(column(&found, 0)?), Id::from_uuid(column(&found, 1)?))))
    }

    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let mut sql =
            Sql::new("SELECT app_id, run_id, plan, created_at, expires_at FROM app_changes WHERE id = ");
        sql.bind(id.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.push(" AND owner_id = ").bind(owner.uuid());
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let row = RowContext { table: "app_changes", id: id.uuid() };
        let run: Option<Uuid> = column(&found, 1)?;
        Ok(Some(Change {
            id,
            workspace,
            app: Id::from_uuid(column(&found, 0)?),
            owner,
            run: run.map(Id::from_uuid),
            plan: row.json(&column::<String>(&found, 2)?)?,
            created_at: row.timestamp(column(&found, 3)?)?,
            expires_at: row.timestamp(column(&found, 4)?)?,
        }))
    }
}

#[async_trait]
impl ChangesTx for StoreTx {
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT count(*) FROM app_changes WHERE expires_at > ");
        sql.bind(millis(now)).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.push(" AND owner_id = ").bind(owner.uuid());
        match sql.fetch_optional(self.read()).await? {
            Some(found) => Ok(u64::try_from(column::<i64>(&found, 0)?).unwrap_or_default()),
            None => Ok(0),
        }
    }

    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError> {
        let mut sql = Sql::new(
            "INSERT INTO app_changes (id, workspace_id, app_id, owner_id, run_id, plan, created_at, expires_at) VALUES (",
        );
        sql.bind(change.id.uuid()).push(", ").bind(change.workspace.uuid()).push(", ");
        sql.bind(change.app.uuid()).push(", ").bind(change.owner.uuid()).push(", ");
        sql.bind(change.run.map(Id::uuid)).push(", ").bind(to_json(&change.plan)?).push(", ");
        sql.bind(millis(change.created_at)).push(", ").bind(millis(change.expires_at)).push(")");
        sql.execute(self.write()).await.map(drop)
    }
}
