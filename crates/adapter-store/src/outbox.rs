//! The outbox of mail.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Id, StoreError, Timestamp,
    id::MailId,
    mail::{Letter, Outbox, Waiting},
};
use sea_orm::DatabaseTransaction;

use crate::{
    Store,
    convert::{Row, millis},
    sql::{Sql, column, in_few_shapes},
};

pub(crate) async fn write(tx: &DatabaseTransaction, letters: &[Letter]) -> Result<(), StoreError> {
    for letters in in_few_shapes(letters) {
        let mut sql = Sql::new(
            "INSERT INTO outbox (id, kind, sealed, created_at, due_at, give_up_at, attempts) VALUES ",
        );
        sql.rows(letters, |sql, letter| {
            sql.bind(letter.id.uuid()).push(", ").bind(letter.kind).push(", ").bind(letter.sealed.as_str());
            sql.push(", ").bind(millis(letter.created_at)).push(", ").bind(millis(letter.created_at));
            sql.push(", ").bind(millis(letter.give_up_at)).push(", 0");
        });
        sql.execute(tx).await?;
    }
    Ok(())
}

#[async_trait]
impl Outbox for Store {
    async fn take(&self, limit: u32, now: Timestamp, lease: TimeDelta) -> Result<Vec<Waiting>, StoreError> {
        // Looked up before the write lock is asked for: most of the time nothing waits.
        let mut due = Sql::new("SELECT 1 FROM outbox WHERE due_at <= ");
        due.bind(millis(now)).push(" LIMIT 1");
        if due.one(self.read()).await?.is_none() {
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
        let taken = sql.all(&self.write()).await?;
        taken
            .iter()
            .map(|found| {
                let row = Row { table: "outbox", id: column(found, 0)? };
                let attempts: i32 = column(found, 3)?;
                Ok(Waiting {
                    id: Id::from_uuid(row.id),
                    kind: column(found, 1)?,
                    sealed: column(found, 2)?,
                    attempts: row.number(i64::from(attempts) - 1)?,
                    give_up_at: row.moment(column(found, 4)?)?,
                })
            })
            .collect()
    }

    async fn done(&self, letter: MailId) -> Result<(), StoreError> {
        let mut sql = Sql::new("DELETE FROM outbox WHERE id = ");
        sql.bind(letter.uuid());
        sql.execute(&self.write()).await.map(drop)
    }

    async fn again(&self, letter: MailId, at: Timestamp) -> Result<(), StoreError> {
        let mut sql = Sql::new("UPDATE outbox SET due_at = ");
        sql.bind(millis(at)).push(" WHERE id = ").bind(letter.uuid());
        sql.execute(&self.write()).await.map(drop)
    }

    async fn wait_for_letters(&self, at_most: Duration) {
        drop(tokio::time::timeout(at_most, self.inner().letters.notified()).await);
    }
}
