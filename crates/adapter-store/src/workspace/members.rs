//! Who is in a workspace.

use ::workspace::members::{LeaveReason, MembersRead, MembersTx, Membership, WorkspaceInfo};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use crate::{
    Store, StoreTx,
    caller_cache::CallerChange,
    convert::{RowContext, millis},
    sql::{Sql, SqlExecutor as _, SqlRow, column, for_update},
};

/// More people than a list is for; it is never longer.
const MAX_MEMBERS: &str = "5000";

const SELECT_MEMBERS: &str =
    "SELECT user_id, role, joined_at, access_ends_at FROM members WHERE workspace_id = ";

fn membership(found: &SqlRow) -> Result<Membership, StoreError> {
    let row = RowContext { table: "members", id: column(found, 0)? };
    Ok(Membership {
        user: Id::from_uuid(row.id),
        role: row.parse(&column::<String>(found, 1)?)?,
        joined_at: row.timestamp(column(found, 2)?)?,
        access_ends_at: row.optional_timestamp(column(found, 3)?)?,
    })
}

#[async_trait]
impl MembersRead for Store {
    async fn members(&self, workspace: WorkspaceId, now: Timestamp) -> Result<Vec<Membership>, StoreError> {
        let mut sql = Sql::new(SELECT_MEMBERS);
        sql.bind(workspace.uuid()).push(" AND (access_ends_at IS NULL OR access_ends_at > ");
        sql.bind(millis(now)).push(
            ") ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 WHEN 'builder' THEN 2 WHEN 'member' THEN 3 \
             ELSE 4 END, joined_at, user_id LIMIT ",
        );
        sql.push(MAX_MEMBERS);
        sql.fetch_all(self.read()).await?.iter().map(membership).collect()
    }
}

#[async_trait]
impl MembersTx for StoreTx {
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError> {
        let mut sql = Sql::new("SELECT id, name, locale FROM workspaces WHERE id = ");
        sql.bind(workspace.uuid()).push(for_update(self.read().backend()));
        let found = sql.fetch_optional(self.read()).await?;
        found
            .map(|found| {
                let row = RowContext { table: "workspaces", id: column(&found, 0)? };
                Ok(WorkspaceInfo {
                    name: column(&found, 1)?,
                    locale: row.parse(&column::<String>(&found, 2)?)?,
                })
            })
            .transpose()
    }

    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError> {
        let mut sql = Sql::new(SELECT_MEMBERS);
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        sql.fetch_optional(self.read()).await?.as_ref().map(membership).transpose()
    }

    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT count(*) FROM members WHERE workspace_id = ");
        sql.bind(workspace.uuid())
            .push(" AND role = 'owner' AND (access_ends_at IS NULL OR access_ends_at > ");
        sql.bind(millis(now)).push(")");
        let counted =
            sql.fetch_optional(self.read()).await?.map(|found| column::<i64>(&found, 0)).transpose()?;
        RowContext { table: "members", id: workspace.uuid() }.number(counted.unwrap_or_default())
    }

    async fn upsert_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError> {
        let mut sql =
            Sql::new("INSERT INTO members (workspace_id, user_id, role, joined_at, access_ends_at) VALUES (");
        sql.bind(workspace.uuid()).push(", ").bind(membership.user.uuid()).push(", ");
        sql.bind(membership.role.as_str()).push(", ").bind(millis(membership.joined_at)).push(", ");
        sql.bind(membership.access_ends_at.map(millis)).push(
            ") ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role, \
             joined_at = excluded.joined_at, access_ends_at = excluded.access_ends_at",
        );
        self.invalidate_caller(CallerChange::Member(workspace, membership.user));
        sql.execute(self.write()).await.map(drop)
    }

    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError> {
        self.invalidate_caller(CallerChange::Member(workspace, user));
        let mut sql = Sql::new("DELETE FROM members WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        sql.execute(self.write()).await.map(drop)
    }

    async fn leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<LeaveReason>, StoreError> {
        let mut sql = Sql::new("SELECT kind FROM departures WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        match column::<String>(&found, 0)?.as_str() {
            "left" => Ok(Some(LeaveReason::Left)),
            "removed" => Ok(Some(LeaveReason::Removed)),
            other => Err(RowContext { table: "departures", id: user.uuid() }
                .error(format_args!("{other} is no way to go"))),
        }
    }

    async fn set_leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        departure: Option<(LeaveReason, Timestamp)>,
    ) -> Result<(), StoreError> {
        let sql = match departure {
            None => {
                let mut sql = Sql::new("DELETE FROM departures WHERE workspace_id = ");
                sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
                sql
            }
            Some((departure, at)) => {
                let kind = match departure {
                    LeaveReason::Left => "left",
                    LeaveReason::Removed => "removed",
                };
                let mut sql = Sql::new("INSERT INTO departures (workspace_id, user_id, kind, at) VALUES (");
                sql.bind(workspace.uuid()).push(", ").bind(user.uuid()).push(", ").bind(kind).push(", ");
                sql.bind(millis(at)).push(
                    ") ON CONFLICT (workspace_id, user_id) DO UPDATE SET kind = excluded.kind, at = excluded.at",
                );
                sql
            }
        };
        sql.execute(self.write()).await.map(drop)
    }
}
