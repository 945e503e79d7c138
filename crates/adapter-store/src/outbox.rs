//! The outbox of mail.
//! See `docs/decisions/0017-queue-email-in-a-sealed-outbox.md`.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Id, StoreError, Timestamp,
    id::MailId,
    mail::{ClaimedEmail, Outbox, OutboxEmail},
};
use sea_orm::DatabaseTransaction;

use crate::{
    Store,
    convert::{RowContext, millis},
    sql::{Sql, column, statement_chunks},
};

pub(crate) async fn insert_emails(
    tx: &DatabaseTransaction,
    emails: &[OutboxEmail],
) -> Result<(), StoreError> {
    for chunk in statement_chunks(emails) {
        let mut sql = Sql::new(
            "INSERT INTO outbox (id, kind, sealed, created_at, due_at, give_up_at, attempts) VALUES ",
        );
        sql.push_values(chunk, |sql, email| {
            sql.bind(email.id.uuid()).push(", ").bind(email.kind).push(", ").bind(email.sealed.as_str());
            sql.push(", ").bind(millis(email.created_at)).push(", ").bind(millis(email.created_at));
            sql.push(", ").bind(millis(email.expires_at)).push(", 0");
        });
        sql.execute(tx).await?;
    }
    Ok(())
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
        let mut due = Sql::new("SELECT 1 FROM outbox WHERE due_at <= ");
        due.bind(millis(now)).push(" LIMIT 1");
        if due.fetch_optional(self.read()).await?.is_none() {
            return Ok(Vec::new());
        }
        // Materialised: asked for again, the inner select would pass over what it has locked and take more.
        let mut sql = Sql::new("WITH next (id) AS MATERIALIZED (SELECT id FROM outbox WHERE due_at <= ");
        sql.bind(millis(now)).push(" ORDER BY due_at, id LIMIT ").bind(i64::from(limit));
        if self.is_postgres() {
            sql.push(" FOR UPDATE SKIP LOCKED");
        }
        sql.push(") UPDATE outbox SET attempts = attempts + 1, due_at = ").bind(millis(now + lease));
        sql.push(" WHERE id IN (SELECT id FROM next) RETURNING id, kind, sealed, attempts, give_up_at");
        let leased = sql.fetch_all(&self.write()).await?;
        leased
            .iter()
            .map(|found| {
                let row = RowContext { table: "outbox", id: column(found, 0)? };
                let attempts: i32 = column(found, 3)?;
                Ok(ClaimedEmail {
                    id: Id::from_uuid(row.id),
                    kind: column(found, 1)?,
                    sealed: column(found, 2)?,
                    attempts: row.number(i64::from(attempts) - 1)?,
                    expires_at: row.timestamp(column(found, 4)?)?,
                })
            })
            .collect()
    }

    async fn delete_email(&self, letter: MailId) -> Result<(), StoreError> {
        let mut sql = Sql::new("DELETE FROM outbox WHERE id = ");
        sql.bind(letter.uuid());
        sql.execute(&self.write()).await.map(drop)
    }

    async fn reschedule_email(&self, email: MailId, at: Timestamp) -> Result<(), StoreError> {
        let mut sql = Sql::new("UPDATE outbox SET due_at = ");
        sql.bind(millis(at)).push(" WHERE id = ").bind(email.uuid());
        sql.execute(&self.write()).await.map(drop)
    }

    async fn wait_for_emails(&self, at_most: Duration) {
        drop(tokio::time::timeout(at_most, self.inner().outbox_notify.notified()).await);
    }
}
