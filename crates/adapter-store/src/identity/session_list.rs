//! The list of sessions, and stepping up.

use ::identity::{
    ports::{SessionRead, SessionTx, SessionUsageWriter},
    sessions::Session,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{SessionId, UserId},
    page::PageRequest,
    token::Digest,
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::Expr,
};

use crate::{
    Store, StoreTx,
    caller_cache::CallerChange,
    convert::millis,
    entity::sessions,
    error::OrStoreError as _,
    sql::{Sql, column, latest_by_id, statement_chunks},
};

/// How many sessions that are too many one sign-in ends.
const MAX_EVICTED_SESSIONS: u64 = 500;

#[async_trait]
impl SessionRead for Store {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let found = sessions::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        found.as_ref().map(super::session).transpose()
    }

    async fn sessions_of(&self, user: UserId, page: PageRequest) -> Result<Vec<Session>, StoreError> {
        let found = sessions::Entity::find()
            .filter(sessions::Column::UserId.eq(user.uuid()))
            .apply_if(page.after, |query, after| query.filter(sessions::Column::Id.lt(after)))
            .order_by_desc(sessions::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.iter().map(super::session).collect()
    }
}

#[async_trait]
impl SessionTx for StoreTx {
    async fn delete_session_of(&mut self, user: UserId, session: SessionId) -> Result<bool, StoreError> {
        let deleted = sessions::Entity::delete_by_id(session.uuid())
            .filter(sessions::Column::UserId.eq(user.uuid()))
            .exec(self.read())
            .await
            .or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.write();
        self.invalidate_caller(CallerChange::Session(session));
        Ok(true)
    }

    async fn delete_sessions_of(&mut self, user: UserId, keep: Option<SessionId>) -> Result<u64, StoreError> {
        let mut sql = Sql::new("DELETE FROM sessions WHERE user_id = ");
        sql.bind(user.uuid());
        if let Some(keep) = keep {
            sql.push(" AND id <> ").bind(keep.uuid());
        }
        sql.push(" RETURNING id");
        let ended = sql.fetch_all(self.write()).await?;
        for row in &ended {
            self.invalidate_caller(CallerChange::Session(Id::from_uuid(column(row, 0)?)));
        }
        Ok(ended.len() as u64)
    }

    async fn delete_oldest_sessions_of(
        &mut self,
        user: UserId,
        keep: u64,
    ) -> Result<Vec<SessionId>, StoreError> {
        let mut sql = Sql::new("DELETE FROM sessions WHERE user_id = ");
        sql.bind(user.uuid()).push(" AND id IN (SELECT id FROM sessions WHERE user_id = ").bind(user.uuid());
        // A session that was opened just now has not been seen yet.
        sql.push(" ORDER BY COALESCE(last_seen_at, created_at) DESC, id DESC LIMIT ");
        sql.push(&MAX_EVICTED_SESSIONS.to_string())
            .push(" OFFSET ")
            .push(&keep.to_string())
            .push(") RETURNING id");
        let ended = sql.fetch_all(self.read()).await?;
        if !ended.is_empty() {
            self.write();
        }
        let mut sessions = Vec::with_capacity(ended.len());
        for row in &ended {
            let session = Id::from_uuid(column(row, 0)?);
            self.invalidate_caller(CallerChange::Session(session));
            sessions.push(session);
        }
        Ok(sessions)
    }

    async fn record_step_up(
        &mut self,
        session: SessionId,
        digest: &Digest,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let updated = sessions::Entity::update_many()
            .col_expr(sessions::Column::Digest, Expr::value(digest.as_bytes().to_vec()))
            .col_expr(sessions::Column::SteppedUpAt, Expr::value(millis(at)))
            .filter(sessions::Column::Id.eq(session.uuid()))
            .exec(self.read())
            .await
            .or_store_error()?;
        if updated.rows_affected == 0 {
            return Ok(false);
        }
        self.write();
        self.invalidate_caller(CallerChange::Session(session));
        Ok(true)
    }
}

#[async_trait]
impl SessionUsageWriter for Store {
    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
        for uses in statement_chunks(&latest_by_id(uses)) {
            let mut sql = Sql::new("WITH used (id, at) AS (VALUES ");
            sql.push_values(uses, |sql, (id, at)| {
                sql.bind(*id).push(", ").bind(*at);
            });
            sql.push(
                ") UPDATE sessions SET last_seen_at = used.at FROM used WHERE sessions.id = used.id \
                 AND (sessions.last_seen_at IS NULL OR sessions.last_seen_at < used.at)",
            );
            sql.execute(&self.write()).await?;
        }
        // What is remembered of them is older now, and a session must not look idle that is in use.
        self.inner().caller_cache.invalidate(uses.iter().map(|(id, _)| CallerChange::Session(*id)));
        Ok(())
    }
}
