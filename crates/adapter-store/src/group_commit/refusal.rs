//! Calls that proved themselves and were refused all the same.

use kernel::StoreError;
use runs::webhooks::RefusedDelivery;

use super::dead_letters;
use crate::{
    convert::millis,
    sql::{Sql, SqlExecutor, statement_chunks_for},
};

/// Notes them for the console's list, and keeps those for replay that could not run.
pub(crate) async fn insert_refusals<D: SqlExecutor>(
    db: &D,
    all: &[&RefusedDelivery],
) -> Result<(), StoreError> {
    for refused in statement_chunks_for(db, all) {
        let mut sql = Sql::new(
            "INSERT INTO deliveries (id, webhook_id, workspace_id, refusal, received_at, bytes, sample) VALUES ",
        );
        sql.push_values(refused, |sql, refused| {
            sql.bind(refused.id.uuid()).push(", ").bind(refused.hook.uuid()).push(", ");
            sql.bind(refused.workspace.uuid()).push(", ").bind(refused.code).push(", ");
            sql.bind(millis(refused.at))
                .push(", ")
                .bind(i64::from(refused.bytes))
                .push(", ")
                .bind(refused.is_sample);
        });
        sql.execute(db).await?;
    }
    dead_letters::insert_refused_calls(db, all).await
}
