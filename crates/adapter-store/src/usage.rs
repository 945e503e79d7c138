//! Times of last use, written for many rows at once.

use std::collections::BTreeMap;

use kernel::{Id, StoreError, Timestamp};
use sea_orm::{EntityName, Iden};
use uuid::Uuid;

use crate::{
    sql::{Sql, statement_chunks},
    store::Store,
};

impl Store {
    /// Moves the time of last use forward of each row that was used.
    pub(crate) async fn touch<K>(
        &self,
        table: impl EntityName,
        column: impl Iden,
        uses: &[(Id<K>, Timestamp)],
    ) -> Result<(), StoreError> {
        let (table, column) = (table.table_name().to_owned(), column.to_string());
        for uses in statement_chunks(&latest_by_id(uses)) {
            // By hand: the builder does not name the columns of a list of rows.
            let mut sql = Sql::new("WITH used (id, at) AS (VALUES ");
            sql.push_values(uses, |sql, (id, at)| {
                sql.bind(*id).push(", ").bind(*at);
            });
            sql.push(&format!(
                ") UPDATE {table} SET {column} = used.at FROM used WHERE {table}.id = used.id \
                 AND ({table}.{column} IS NULL OR {table}.{column} < used.at)"
            ));
            sql.execute(&*self.write().await?).await?;
        }
        Ok(())
    }
}

/// Returns the last use of each id, in the order of the ids: `UPDATE … FROM` takes any of several rows with one id, and two
/// statements that lock rows in one order cannot deadlock.
fn latest_by_id<K>(uses: &[(Id<K>, Timestamp)]) -> Vec<(Uuid, i64)> {
    let mut latest = BTreeMap::new();
    for (id, at) in uses {
        let known = latest.entry(id.uuid()).or_insert(i64::MIN);
        *known = at.timestamp_millis().max(*known);
    }
    latest.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_use_of_each_id_counts() {
        let id = |number| Id::<kernel::id::kind::Token>::from_uuid(Uuid::from_u128(number));
        let at = |millis| Timestamp::from_timestamp_millis(millis).unwrap();
        let latest = latest_by_id(&[(id(2), at(5)), (id(1), at(9)), (id(2), at(7)), (id(2), at(6))]);
        assert_eq!(latest, [(id(1).uuid(), 9), (id(2).uuid(), 7)]);
    }
}
