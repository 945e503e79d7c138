//! Invites.

use ::workspace::invites::{Invite, InviteState, InvitesRead, InvitesTx};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{InviteId, UserId, WorkspaceId},
    token::Digest,
};
use uuid::Uuid;

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    sql::{Sql, SqlExecutor, SqlRow, column},
};

/// A list is never longer. Settled invites are swept away after a while.
const MAX_INVITES: &str = "500";

const SELECT_INVITES: &str = "SELECT id, workspace_id, email, role, invited_by, created_at, days, expires_at, \
                       access_ends_at, state, settled_at, accepted_by FROM invites WHERE ";

fn invite(found: &SqlRow) -> Result<Invite, StoreError> {
    let row = RowContext { table: "invites", id: column(found, 0)? };
    let settled_at = row.optional_timestamp(column(found, 10)?)?;
    let accepted_by: Option<Uuid> = column(found, 11)?;
    let state = match (column::<String>(found, 9)?.as_str(), settled_at, accepted_by) {
        ("pending", None, None) => InviteState::Pending,
        ("accepted", Some(at), Some(by)) => InviteState::Accepted { by: Id::from_uuid(by), at },
        ("revoked", Some(at), None) => InviteState::Revoked { at },
        (state, ..) => return Err(row.error(format_args!("{state} lacks what belongs to it"))),
    };
    Ok(Invite {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(column(found, 1)?),
        email: fold_email(column(found, 2)?),
        role: row.parse(&column::<String>(found, 3)?)?,
        invited_by: Id::from_uuid(column(found, 4)?),
        created_at: row.timestamp(column(found, 5)?)?,
        lifetime_days: row.number(column(found, 6)?)?,
        expires_at: row.timestamp(column(found, 7)?)?,
        access_ends_at: row.optional_timestamp(column(found, 8)?)?,
        state,
    })
}

/// The address as people's addresses are compared; invites may have been written before they were folded.
fn fold_email(email: String) -> String {
    kernel::email_address::normalize(&email).unwrap_or(email)
}

/// The columns of a state: its name, when it was settled, and by whom it was accepted.
fn state_columns(state: InviteState) -> (&'static str, Option<i64>, Option<Uuid>) {
    match state {
        InviteState::Pending => ("pending", None, None),
        InviteState::Accepted { by, at } => ("accepted", Some(millis(at)), Some(by.uuid())),
        InviteState::Revoked { at } => ("revoked", Some(millis(at)), None),
    }
}

async fn find_by_digest<D: SqlExecutor>(db: &D, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
    if digests.is_empty() {
        return Ok(None);
    }
    let mut sql = Sql::new(SELECT_INVITES);
    sql.push("digest IN (").bind_all(digests.iter().map(|digest| digest.as_bytes().to_vec())).push(")");
    sql.fetch_optional(db).await?.as_ref().map(invite).transpose()
}

async fn fetch_count(sql: Sql, db: &impl SqlExecutor, workspace: WorkspaceId) -> Result<u64, StoreError> {
    let counted = sql.fetch_optional(db).await?.map(|found| column::<i64>(&found, 0)).transpose()?;
    RowContext { table: "invites", id: workspace.uuid() }.number(counted.unwrap_or_default())
}

#[async_trait]
impl InvitesRead for Store {
    async fn invites(&self, workspace: WorkspaceId) -> Result<Vec<Invite>, StoreError> {
        let mut sql = Sql::new(SELECT_INVITES);
        sql.push("workspace_id = ").bind(workspace.uuid()).push(" ORDER BY id DESC LIMIT ").push(MAX_INVITES);
        sql.fetch_all(self.read()).await?.iter().map(invite).collect()
    }

    async fn invite_address(
        &self,
        workspace: WorkspaceId,
        id: InviteId,
    ) -> Result<Option<String>, StoreError> {
        let mut sql = Sql::new("SELECT email FROM invites WHERE id = ");
        sql.bind(id.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.fetch_optional(self.read()).await?.map(|found| column(&found, 0)).transpose()
    }

    async fn find_invite_by_digest(&self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        find_by_digest(self.read(), digests).await
    }
}

#[async_trait]
impl InvitesTx for StoreTx {
    async fn invite_by_digest(&mut self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        find_by_digest(self.read(), digests).await
    }

    async fn invite(&mut self, workspace: WorkspaceId, id: InviteId) -> Result<Option<Invite>, StoreError> {
        let mut sql = Sql::new(SELECT_INVITES);
        sql.push("id = ").bind(id.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.fetch_optional(self.read()).await?.as_ref().map(invite).transpose()
    }

    async fn count_pending(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT count(*) FROM invites WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND state = 'pending' AND expires_at > ").bind(millis(now));
        fetch_count(sql, self.read(), workspace).await
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        emails: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let mut sql =
            Sql::new("SELECT u.email FROM users u JOIN members m ON m.user_id = u.id AND m.workspace_id = ");
        let spellings: Vec<String> =
            emails.iter().flat_map(|email| kernel::email_address::legacy_spellings(email)).collect();
        sql.bind(workspace.uuid()).push(" WHERE u.email IN (").bind_all(spellings.iter().map(String::as_str));
        sql.push(") AND (m.access_ends_at IS NULL OR m.access_ends_at > ").bind(millis(now));
        sql.push(") ORDER BY u.email");
        sql.fetch_all(self.read()).await?.iter().map(|found| column(found, 0)).collect()
    }

    async fn insert_invite(&mut self, invite: &Invite, digest: &Digest) -> Result<(), StoreError> {
        let (name, settled_at, accepted_by) = state_columns(invite.state);
        let mut sql = Sql::new(
            "INSERT INTO invites (id, workspace_id, email, role, digest, invited_by, created_at, days, expires_at, \
             access_ends_at, state, settled_at, accepted_by) VALUES (",
        );
        sql.bind(invite.id.uuid()).push(", ").bind(invite.workspace.uuid()).push(", ");
        sql.bind(invite.email.as_str()).push(", ").bind(invite.role.role().as_str()).push(", ");
        sql.bind(digest.as_bytes().to_vec()).push(", ").bind(invite.invited_by.uuid()).push(", ");
        sql.bind(millis(invite.created_at)).push(", ").bind(i64::from(invite.lifetime_days)).push(", ");
        sql.bind(millis(invite.expires_at)).push(", ").bind(invite.access_ends_at.map(millis)).push(", ");
        sql.bind(name).push(", ").bind(settled_at).push(", ").bind(accepted_by).push(")");
        sql.execute(self.write()).await.map(drop)
    }

    async fn update_invite(&mut self, invite: &Invite, digest: Option<&Digest>) -> Result<(), StoreError> {
        let (name, settled_at, accepted_by) = state_columns(invite.state);
        let mut sql = Sql::new("UPDATE invites SET invited_by = ");
        sql.bind(invite.invited_by.uuid()).push(", expires_at = ").bind(millis(invite.expires_at));
        sql.push(", state = ").bind(name).push(", settled_at = ").bind(settled_at);
        sql.push(", accepted_by = ").bind(accepted_by);
        if let Some(digest) = digest {
            sql.push(", digest = ").bind(digest.as_bytes().to_vec());
        }
        sql.push(" WHERE id = ").bind(invite.id.uuid());
        sql.push(" AND workspace_id = ").bind(invite.workspace.uuid());
        sql.execute(self.write()).await.map(drop)
    }

    async fn revoke_invites_of(
        &mut self,
        workspace: WorkspaceId,
        inviter: UserId,
        at: Timestamp,
    ) -> Result<Vec<InviteId>, StoreError> {
        let mut sql = Sql::new("UPDATE invites SET state = 'revoked', settled_at = ");
        sql.bind(millis(at)).push(" WHERE workspace_id = ").bind(workspace.uuid());
        sql.push(" AND invited_by = ").bind(inviter.uuid()).push(" AND state = 'pending' RETURNING id");
        let revoked = sql.fetch_all(self.read()).await?;
        if !revoked.is_empty() {
            self.write();
        }
        revoked.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect()
    }

    async fn revoke_pending(
        &mut self,
        workspace: WorkspaceId,
        email: &str,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut sql = Sql::new("UPDATE invites SET state = 'revoked', settled_at = ");
        sql.bind(millis(at)).push(" WHERE workspace_id = ").bind(workspace.uuid());
        let spellings = kernel::email_address::legacy_spellings(email);
        sql.push(" AND email IN (").bind_all(spellings.iter().map(String::as_str));
        sql.push(") AND state = 'pending'");
        // Nothing that waited is nothing written.
        let revoked = sql.execute(self.read()).await?;
        if revoked > 0 {
            self.write();
        }
        Ok(revoked)
    }
}
