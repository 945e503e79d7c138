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
use sea_orm::{ColumnTrait as _, EntityTrait as _, FromQueryResult, QueryFilter as _, sea_query::Expr};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        outbox,
    },
    error::OrStoreError as _,
    query::{self, QueueColumns},
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
        let columns = QueueColumns {
            id: outbox::Column::Id,
            due_at: outbox::Column::DueAt,
            attempts: outbox::Column::Attempts,
        };
        let leased: Vec<ClaimedRow> =
            query::claim_due::<outbox::Entity, _>(self, columns, limit, now, lease).await?;
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
