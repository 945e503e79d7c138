//! Lists of people, and what ends with a membership.

use std::collections::BTreeSet;

use ::identity::{
    User,
    people::{PeopleRead, PeopleTx},
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId},
};

use crate::{
    Store, StoreTx,
    caller_cache::CallerChange,
    convert::{RowContext, ids, millis},
    identity::devices::{APPROVED, DENIED},
    sql::{Sql, column, statement_chunks},
};

#[async_trait]
impl PeopleRead for Store {
    async fn users(&self, wanted: &[UserId]) -> Result<Vec<User>, StoreError> {
        let mut users = Vec::with_capacity(wanted.len());
        for wanted in statement_chunks(&ids(wanted)) {
            let mut sql = Sql::new("SELECT id, name, email, created_at FROM users WHERE id IN (");
            sql.bind_all(wanted.iter().copied()).push(")");
            for found in sql.fetch_all(self.read()).await? {
                let row = RowContext { table: "users", id: column(&found, 0)? };
                users.push(User {
                    id: Id::from_uuid(row.id),
                    name: column(&found, 1)?,
                    email: row.parse(&column::<String>(&found, 2)?)?,
                    created_at: row.timestamp(column(&found, 3)?)?,
                });
            }
        }
        Ok(users)
    }

    async fn find_online_users(
        &self,
        wanted: &[UserId],
        since: Timestamp,
        now: Timestamp,
    ) -> Result<BTreeSet<UserId>, StoreError> {
        let mut online = BTreeSet::new();
        for wanted in statement_chunks(&ids(wanted)) {
            let mut sql = Sql::new("SELECT DISTINCT user_id FROM sessions WHERE user_id IN (");
            sql.bind_all(wanted.iter().copied()).push(") AND last_seen_at > ").bind(millis(since));
            sql.push(" AND expires_at > ").bind(millis(now));
            for found in sql.fetch_all(self.read()).await? {
                online.insert(Id::from_uuid(column(&found, 0)?));
            }
        }
        Ok(online)
    }
}

#[async_trait]
impl PeopleTx for StoreTx {
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError> {
        let mut sql = Sql::new("UPDATE tokens SET revoked_at = ");
        sql.bind(millis(at)).push(" WHERE workspace_id = ").bind(workspace.uuid());
        sql.push(" AND user_id = ").bind(user.uuid()).push(" AND revoked_at IS NULL RETURNING id");
        // Most hold none: then nothing was written, and nothing need be audited.
        let revoked = sql.fetch_all(self.read()).await?;
        if !revoked.is_empty() {
            self.write();
        }
        let mut tokens = Vec::with_capacity(revoked.len());
        for found in &revoked {
            let token = Id::from_uuid(column(found, 0)?);
            self.invalidate_caller(CallerChange::Token(token));
            tokens.push(token);
        }
        Ok(tokens)
    }

    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError> {
        let mut sql = Sql::new("UPDATE device_logins SET state = ");
        sql.bind(DENIED).push(" WHERE state = ").bind(APPROVED).push(" AND approved_workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND approved_by = ").bind(user.uuid()).push(" RETURNING id");
        let denied = sql.fetch_all(self.read()).await?;
        if !denied.is_empty() {
            self.write();
        }
        denied.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect()
    }
}
