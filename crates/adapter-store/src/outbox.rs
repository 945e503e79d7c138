//! The outbox, as the mail worker sees it.
//! See `docs/decisions/0017-queue-email-in-a-sealed-outbox.md`.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    id::{MailId, kind},
    mail::{ClaimedEmail, Outbox},
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, FromQueryResult, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _,
    sea_query::{CommonTableExpression, Expr, ExprTrait as _, LockBehavior, LockType, Query},
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        outbox,
    },
    error::OrStoreError as _,
    query,
    store::Store,
};

/// An e-mail that was claimed.
#[derive(FromQueryResult)]
struct ClaimedRow {
    id: DbId<kind::Mail>,
    kind: String,
    sealed: String,
    attempts: i32,
    give_up_at: DbTime,
}

#[span_macros::traced]
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
        let next = outbox::Entity::find()
            .filter(outbox::Column::DueAt.lte(DbTime(now)))
            .order_by_asc(outbox::Column::DueAt)
            .order_by_asc(outbox::Column::Id)
            .limit(u64::from(limit))
            .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
            .select_only()
            .column(outbox::Column::Id)
            .into_query();
        // Materialised: asked for again, the inner select would pass over what it has locked and take more.
        let next = CommonTableExpression::new()
            .table_name("next")
            .column("id")
            .materialized(true)
            .query(next)
            .to_owned();
        let claim = Query::update()
            .with_cte(next)
            .table(outbox::Entity)
            .value(outbox::Column::Attempts, Expr::col(outbox::Column::Attempts).add(1))
            .value(outbox::Column::DueAt, DbTime(now + lease))
            .and_where(
                Expr::col(outbox::Column::Id)
                    .in_subquery(Query::select().column("id").from("next").to_owned()),
            )
            .returning_all()
            .to_owned();
        let leased: Vec<ClaimedRow> = query::fetch_all(&claim, &*self.write().await?).await?;
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
