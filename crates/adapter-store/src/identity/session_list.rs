//! The list of sessions, and stepping up.

use ::identity::{
    ports::{SessionRead, SessionTx, SessionUsageWriter},
    sessions::Session,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{SessionId, UserId},
    page::PageRequest,
    token::Digest,
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, Func},
};

use crate::{
    caller_cache::CallerChange,
    entity::{
        column::{DbId, DbTime},
        sessions,
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

/// Sessions that one sign-in ends, beyond those that a person may have; at most.
const MAX_EVICTED_SESSIONS: u64 = 500;

#[span_macros::traced]
#[async_trait]
impl SessionRead for Store {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let found = sessions::Entity::find_by_id(id).one(self.read()).await.or_store_error()?;
        Ok(found.map(Session::from))
    }

    async fn sessions_of(&self, user: UserId, page: PageRequest) -> Result<Vec<Session>, StoreError> {
        let found = sessions::Entity::find()
            .filter(sessions::Column::UserId.eq(DbId(user)))
            .apply_if(page.after, |query, after| query.filter(sessions::Column::Id.lt(after)))
            .order_by_desc(sessions::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Session::from).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl SessionTx for StoreTx {
    async fn delete_session_of(&mut self, user: UserId, session: SessionId) -> Result<bool, StoreError> {
        let deleted = sessions::Entity::delete_by_id(session)
            .filter(sessions::Column::UserId.eq(DbId(user)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        self.invalidate_caller(CallerChange::Session(session));
        Ok(true)
    }

    async fn delete_sessions_of(&mut self, user: UserId, keep: Option<SessionId>) -> Result<u64, StoreError> {
        let ended = sessions::Entity::delete_many()
            .filter(sessions::Column::UserId.eq(DbId(user)))
            .apply_if(keep, |query, keep| query.filter(sessions::Column::Id.ne(DbId(keep))))
            .exec_with_returning(self.write())
            .await
            .or_store_error()?;
        for session in &ended {
            self.invalidate_caller(CallerChange::Session(session.id.0));
        }
        Ok(ended.len() as u64)
    }

    async fn delete_oldest_sessions_of(
        &mut self,
        user: UserId,
        keep: u64,
    ) -> Result<Vec<SessionId>, StoreError> {
        use sessions::Column;
        // A session that was opened just now has not been seen yet.
        let seen_at = Func::coalesce([Expr::col(Column::LastSeenAt), Expr::col(Column::CreatedAt)]);
        let oldest = sessions::Entity::find()
            .filter(Column::UserId.eq(DbId(user)))
            .order_by_desc(seen_at)
            .order_by_desc(Column::Id)
            .limit(MAX_EVICTED_SESSIONS)
            .offset(keep)
            .select_only()
            .column(Column::Id)
            .into_query();
        let ended = sessions::Entity::delete_many()
            .filter(Column::UserId.eq(DbId(user)))
            .filter(Column::Id.in_subquery(oldest))
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        if !ended.is_empty() {
            self.mark_written();
        }
        let ended: Vec<SessionId> = ended.into_iter().map(|session| session.id.0).collect();
        for session in &ended {
            self.invalidate_caller(CallerChange::Session(*session));
        }
        Ok(ended)
    }

    async fn record_step_up(
        &mut self,
        session: SessionId,
        digest: &Digest,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let updated = sessions::Entity::update_many()
            .col_expr(sessions::Column::Digest, Expr::value(digest.as_bytes().to_vec()))
            .col_expr(sessions::Column::SteppedUpAt, Expr::value(DbTime(at)))
            .filter(sessions::Column::Id.eq(DbId(session)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if updated.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        self.invalidate_caller(CallerChange::Session(session));
        Ok(true)
    }
}

#[span_macros::traced]
#[async_trait]
impl SessionUsageWriter for Store {
    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        self.touch(sessions::Entity, sessions::Column::LastSeenAt, uses).await?;
        // Cached sessions are stale now, and one that is in use must not look idle.
        self.inner()
            .after_commit
            .caller_cache
            .invalidate(uses.iter().map(|(id, _)| CallerChange::Session(*id)));
        Ok(())
    }
}
