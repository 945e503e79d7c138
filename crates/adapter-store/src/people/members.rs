//! Who is in a workspace.

use ::workspace::members::{Departure, Home, MembersRead, MembersTx, Membership};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use crate::{
    Store, StoreTx,
    convert::{Row, millis},
    remembered::Change,
    sql::{Db as _, Sql, SqlRow, column, for_update},
};

/// More people than a list is for; it is never longer.
const MAX_MEMBERS: &str = "5000";

const COLUMNS: &str = "SELECT user_id, role, joined_at, access_ends_at FROM members WHERE workspace_id = ";

fn membership(found: &SqlRow) -> Result<Membership, StoreError> {
    let row = Row { table: "members", id: column(found, 0)? };
    Ok(Membership {
        user: Id::from_uuid(row.id),
        role: row.parse(&column::<String>(found, 1)?)?,
        joined_at: row.moment(column(found, 2)?)?,
        access_ends_at: row.moment_or_none(column(found, 3)?)?,
    })
}

#[async_trait]
impl MembersRead for Store {
    async fn members(&self, workspace: WorkspaceId, now: Timestamp) -> Result<Vec<Membership>, StoreError> {
        let mut sql = Sql::new(COLUMNS);
        sql.bind(workspace.uuid()).push(" AND (access_ends_at IS NULL OR access_ends_at > ");
        sql.bind(millis(now)).push(
            ") ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 WHEN 'builder' THEN 2 WHEN 'member' THEN 3 \
             ELSE 4 END, joined_at, user_id LIMIT ",
        );
        sql.push(MAX_MEMBERS);
        sql.all(self.read()).await?.iter().map(membership).collect()
    }
}

#[async_trait]
impl MembersTx for StoreTx {
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<Home>, StoreError> {
        let mut sql = Sql::new("SELECT id, name, locale FROM workspaces WHERE id = ");
        sql.bind(workspace.uuid()).push(for_update(self.read().backend()));
        let found = sql.one(self.read()).await?;
        found
            .map(|found| {
                let row = Row { table: "workspaces", id: column(&found, 0)? };
                Ok(Home { name: column(&found, 1)?, locale: row.parse(&column::<String>(&found, 2)?)? })
            })
            .transpose()
    }

    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError> {
        let mut sql = Sql::new(COLUMNS);
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        sql.one(self.read()).await?.as_ref().map(membership).transpose()
    }

    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT count(*) FROM members WHERE workspace_id = ");
        sql.bind(workspace.uuid())
            .push(" AND role = 'owner' AND (access_ends_at IS NULL OR access_ends_at > ");
        sql.bind(millis(now)).push(")");
        let counted = sql.one(self.read()).await?.map(|found| column::<i64>(&found, 0)).transpose()?;
        Row { table: "members", id: workspace.uuid() }.number(counted.unwrap_or_default())
    }

    async fn put_membership(
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
        self.changed(Change::Member(workspace, membership.user));
        sql.execute(self.write()).await.map(drop)
    }

    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError> {
        self.changed(Change::Member(workspace, user));
        let mut sql = Sql::new("DELETE FROM members WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        sql.execute(self.write()).await.map(drop)
    }

    async fn departure(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Departure>, StoreError> {
        let mut sql = Sql::new("SELECT kind FROM departures WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        let Some(found) = sql.one(self.read()).await? else { return Ok(None) };
        match column::<String>(&found, 0)?.as_str() {
            "left" => Ok(Some(Departure::Left)),
            "removed" => Ok(Some(Departure::Removed)),
            other => {
                Err(Row { table: "departures", id: user.uuid() }
                    .error(format_args!("{other} is no way to go")))
            }
        }
    }

    async fn set_departure(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        departure: Option<(Departure, Timestamp)>,
    ) -> Result<(), StoreError> {
        let sql = match departure {
            None => {
                let mut sql = Sql::new("DELETE FROM departures WHERE workspace_id = ");
                sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
                sql
            }
            Some((departure, at)) => {
                let kind = match departure {
                    Departure::Left => "left",
                    Departure::Removed => "removed",
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
