//! Lists of people, and what ends with a membership.

use std::collections::BTreeSet;

use ::identity::{
    User,
    people::{PeopleRead, PeopleTx},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, FromQueryResult, QueryFilter as _, QuerySelect as _, sea_query::Expr,
};

use super::models;
use crate::{
    caller_cache::CallerChange,
    entity::{
        column::{DbId, DbTime},
        device_logins::{self, DeviceLoginState},
        sessions, tokens, users,
    },
    error::OrStoreError as _,
    sql::statement_chunks,
    store::Store,
    tx::StoreTx,
};

/// A person who is online.
#[derive(FromQueryResult)]
struct OnlineRow {
    user_id: DbId<kind::User>,
}

#[span_macros::traced]
#[async_trait]
impl PeopleRead for Store {
    async fn users(&self, wanted: &[UserId]) -> Result<Vec<User>, StoreError> {
        let mut users = Vec::with_capacity(wanted.len());
        for wanted in statement_chunks(wanted) {
            let found = users::Entity::find()
                .filter(users::Column::Id.is_in(wanted.iter().copied().map(DbId)))
                .all(self.read())
                .await
                .or_store_error()?;
            for model in found {
                users.push(models::user(model)?);
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
        for wanted in statement_chunks(wanted) {
            let found = sessions::Entity::find()
                .filter(sessions::Column::UserId.is_in(wanted.iter().copied().map(DbId)))
                .filter(sessions::Column::LastSeenAt.gt(DbTime(since)))
                .filter(sessions::Column::ExpiresAt.gt(DbTime(now)))
                .select_only()
                .column(sessions::Column::UserId)
                .distinct()
                .into_model::<OnlineRow>()
                .all(self.read())
                .await
                .or_store_error()?;
            online.extend(found.into_iter().map(|row| row.user_id.0));
        }
        Ok(online)
    }
}

#[span_macros::traced]
#[async_trait]
impl PeopleTx for StoreTx {
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError> {
        let revoked = tokens::Entity::update_many()
            .col_expr(tokens::Column::RevokedAt, Expr::value(DbTime(at)))
            .filter(tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(tokens::Column::UserId.eq(DbId(user)))
            .filter(tokens::Column::RevokedAt.is_null())
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        // Most hold none: then nothing was written, and nothing need be audited.
        if !revoked.is_empty() {
            self.mark_written();
        }
        let revoked: Vec<TokenId> = revoked.into_iter().map(|token| token.id.0).collect();
        for token in &revoked {
            self.invalidate_caller(CallerChange::Token(*token));
        }
        Ok(revoked)
    }

    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError> {
        let denied = device_logins::Entity::update_many()
            .col_expr(device_logins::Column::State, Expr::value(DeviceLoginState::Denied))
            .filter(device_logins::Column::State.eq(DeviceLoginState::Approved))
            .filter(device_logins::Column::ApprovedWorkspaceId.eq(DbId(workspace)))
            .filter(device_logins::Column::ApprovedBy.eq(DbId(user)))
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        if !denied.is_empty() {
            self.mark_written();
        }
        Ok(denied.into_iter().map(|login| login.id.0).collect())
    }
}
