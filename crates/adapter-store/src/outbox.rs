//! The outbox, as the mail worker sees it.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    id::{MailId, kind},
    mail::{ClaimedEmail, Outbox},
};
use sea_orm::{ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, sea_query::Expr};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        outbox,
    },
    error::OrStoreError as _,
    query,
    sql::Sql,
    store::Store,
};

/// An e-mail that was claimed.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "outbox::Entity")]
struct ClaimedRow {
    id: DbId<kind::Mail>,
    kind: String,
    sealed: String,
    attempts: i32,
    give_up_at: DbTime,
}

#[async_trait]
impl Outbox for Store {
    async fn claim_emails(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedEmail>, StoreError> {
        // Looked up before the write lock is asked for: most of the time nothing waits.
        let due = outbox::Entity::find().filter(outbox::Column::DueAt.lte(DbTime(now)));
        if !query::exists(due, self.read()).await? {
            return Ok(Vec::new());
        }
        // By hand: the builder has no materialised list in an update. It is materialised since the inner select, asked for
        // again, would pass over what it has locked and take more.
        let mut sql = Sql::new("WITH next (id) AS MATERIALIZED (SELECT id FROM outbox WHERE due_at <= ");
        sql.bind(DbTime(now)).push(" ORDER BY due_at, id LIMIT ").bind(i64::from(limit));
        if self.is_postgres() {
            sql.push(" FOR UPDATE SKIP LOCKED");
        }
        sql.push(") UPDATE outbox SET attempts = attempts + 1, due_at = ").bind(DbTime(now + lease));
        sql.push(" WHERE id IN (SELECT id FROM next) RETURNING id, kind, sealed, attempts, give_up_at");
        let leased: Vec<ClaimedRow> = sql.fetch_models(&*self.write().await?).await?;
        leased
            .into_iter()
            .map(|found| {
                let row = RowContext::new("outbox", found.id);
                Ok(ClaimedEmail {
                    id: found.id.0,
                    kind: found.kind,
                    sealed: found.sealed,
                    attempts: row.number(i64::from(found.attempts) - 1)?,
                    expires_at: found.give_up_at.0,
                })
            })
            .collect()
    }

    async fn delete_email(&self, email: MailId) -> Result<(), StoreError> {
        outbox::Entity::delete_by_id(email).exec(&*self.write().await?).await.or_store_error()?;
        Ok(())
    }

    async fn reschedule_email(&self, email: MailId, at: Timestamp) -> Result<(), StoreError> {
        outbox::Entity::update_many()
            .col_expr(outbox::Column::DueAt, Expr::value(DbTime(at)))
            .filter(outbox::Column::Id.eq(DbId(email)))
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn wait_for_emails(&self, at_most: Duration) {
        drop(tokio::time::timeout(at_most, self.inner().after_commit.outbox_notify.notified()).await);
    }
}
