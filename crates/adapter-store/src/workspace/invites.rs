//! Invites.

use ::workspace::invites::{Invite, InviteState, InvitesRead, InvitesTx};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    email_address::legacy_spellings,
    id::{InviteId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, FromQueryResult, JoinType, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select, UpdateMany,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    convert::{RowContext, digest_bytes},
    entity::{
        column::{DbId, DbText, DbTime},
        invites::{self, InviteStatus},
        members, users,
    },
    error::OrStoreError as _,
    query::{self, literal, unset_or_after},
    store::Store,
    tx::StoreTx,
};

fn invite(model: invites::Model) -> Result<Invite, StoreError> {
    let row = RowContext::new("invites", model.id);
    let state = match (model.state, model.settled_at, model.accepted_by) {
        (InviteStatus::Pending, None, None) => InviteState::Pending,
        (InviteStatus::Accepted, Some(at), Some(by)) => InviteState::Accepted { by: by.0, at: at.0 },
        (InviteStatus::Revoked, Some(at), None) => InviteState::Revoked { at: at.0 },
        (state, ..) => return Err(row.error(format_args!("{state:?} lacks what belongs to it"))),
    };
    Ok(Invite {
        id: model.id.0,
        workspace: model.workspace_id.0,
        email: fold_email(model.email),
        role: model.role.0,
        invited_by: model.invited_by.0,
        created_at: model.created_at.0,
        lifetime_days: row.number(model.days)?,
        expires_at: model.expires_at.0,
        access_ends_at: model.access_ends_at.map(DbTime::into_inner),
        state,
    })
}

/// The address as people's addresses are compared; invites may have been written before they were folded.
fn fold_email(email: String) -> String {
    kernel::email_address::normalize(&email).unwrap_or(email)
}

/// The columns that follow from an invite's state.
fn state_columns(state: InviteState) -> invites::ActiveModel {
    let (state, settled_at, accepted_by) = match state {
        InviteState::Pending => (InviteStatus::Pending, None, None),
        InviteState::Accepted { by, at } => (InviteStatus::Accepted, Some(at), Some(by)),
        InviteState::Revoked { at } => (InviteStatus::Revoked, Some(at), None),
    };
    invites::ActiveModel {
        state: Set(state),
        settled_at: Set(settled_at.map(DbTime)),
        accepted_by: Set(accepted_by.map(DbId)),
        ..Default::default()
    }
}

/// Selects a workspace's invites.
fn invites_of(workspace: WorkspaceId) -> Select<invites::Entity> {
    invites::Entity::find().filter(invites::Column::WorkspaceId.eq(DbId(workspace)))
}

/// The condition that an invite is pending, by which the partial index is found.
fn is_pending() -> Expr {
    Expr::col((invites::Entity, invites::Column::State)).eq(literal(InviteStatus::Pending))
}

/// Revokes a workspace's pending invites; the caller says which of them.
fn revoke_pending_of(workspace: WorkspaceId, at: Timestamp) -> UpdateMany<invites::Entity> {
    invites::Entity::update_many()
        .set(state_columns(InviteState::Revoked { at }))
        .filter(invites::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(is_pending())
}

async fn find_by_digest(db: &impl ConnectionTrait, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
    if digests.is_empty() {
        return Ok(None);
    }
    let found = invites::Entity::find()
        .filter(invites::Column::Digest.is_in(digest_bytes(digests)))
        .one(db)
        .await
        .or_store_error()?;
    found.map(invite).transpose()
}

/// An e-mail address.
#[derive(FromQueryResult)]
struct EmailRow {
    email: String,
}

#[span_macros::traced]
#[async_trait]
impl InvitesRead for Store {
    async fn invites(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Vec<Invite>, StoreError> {
        let found = invites_of(workspace)
            .apply_if(page.after, |query, after| query.filter(invites::Column::Id.lt(after)))
            .order_by_desc(invites::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(invite).collect()
    }

    async fn invite_address(
        &self,
        workspace: WorkspaceId,
        id: InviteId,
    ) -> Result<Option<String>, StoreError> {
        let found = invites_of(workspace)
            .filter(invites::Column::Id.eq(DbId(id)))
            .select_only()
            .column(invites::Column::Email)
            .into_model::<EmailRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|row| row.email))
    }

    async fn find_invite_by_digest(&self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        find_by_digest(self.read(), digests).await
    }
}

#[span_macros::traced]
#[async_trait]
impl InvitesTx for StoreTx {
    async fn invite_by_digest(&mut self, digests: &[Digest]) -> Result<Option<Invite>, StoreError> {
        find_by_digest(self.read(), digests).await
    }

    async fn invite(&mut self, workspace: WorkspaceId, id: InviteId) -> Result<Option<Invite>, StoreError> {
        let found = invites_of(workspace)
            .filter(invites::Column::Id.eq(DbId(id)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(invite).transpose()
    }

    async fn count_pending(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let pending =
            invites_of(workspace).filter(is_pending()).filter(invites::Column::ExpiresAt.gt(DbTime(now)));
        query::count(pending, self.read()).await
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        emails: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let spellings = emails.iter().flat_map(|email| legacy_spellings(email));
        let found = users::Entity::find()
            .join_rev(JoinType::InnerJoin, members::Relation::User.def())
            .filter(members::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(users::Column::Email.is_in(spellings))
            .filter(unset_or_after(members::Column::AccessEndsAt, now))
            .select_only()
            .column(users::Column::Email)
            .order_by_asc(users::Column::Email)
            .into_model::<EmailRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(|row| row.email).collect())
    }

    async fn insert_invite(&mut self, invite: &Invite, digest: &Digest) -> Result<(), StoreError> {
        let row = invites::ActiveModel {
            id: Set(DbId(invite.id)),
            workspace_id: Set(DbId(invite.workspace)),
            email: Set(invite.email.clone()),
            role: Set(DbText(invite.role)),
            digest: Set(digest.as_bytes().to_vec()),
            invited_by: Set(DbId(invite.invited_by)),
            created_at: Set(DbTime(invite.created_at)),
            days: Set(invite.lifetime_days.into()),
            expires_at: Set(DbTime(invite.expires_at)),
            access_ends_at: Set(invite.access_ends_at.map(DbTime)),
            ..state_columns(invite.state)
        };
        invites::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn update_invite(&mut self, invite: &Invite, digest: Option<&Digest>) -> Result<(), StoreError> {
        let changes = invites::ActiveModel {
            invited_by: Set(DbId(invite.invited_by)),
            expires_at: Set(DbTime(invite.expires_at)),
            digest: digest.map_or(NotSet, |digest| Set(digest.as_bytes().to_vec())),
            ..state_columns(invite.state)
        };
        invites::Entity::update_many()
            .set(changes)
            .filter(invites::Column::Id.eq(DbId(invite.id)))
            .filter(invites::Column::WorkspaceId.eq(DbId(invite.workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn revoke_invites_of(
        &mut self,
        workspace: WorkspaceId,
        inviter: UserId,
        at: Timestamp,
    ) -> Result<Vec<InviteId>, StoreError> {
        let revoked = revoke_pending_of(workspace, at)
            .filter(invites::Column::InvitedBy.eq(DbId(inviter)))
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        if !revoked.is_empty() {
            self.mark_written();
        }
        Ok(revoked.into_iter().map(|model| model.id.0).collect())
    }

    async fn revoke_pending(
        &mut self,
        workspace: WorkspaceId,
        email: &str,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let revoked = revoke_pending_of(workspace, at)
            .filter(invites::Column::Email.is_in(legacy_spellings(email)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?
            .rows_affected;
        // No pending invite: leave the transaction read-only.
        if revoked > 0 {
            self.mark_written();
        }
        Ok(revoked)
    }
}
