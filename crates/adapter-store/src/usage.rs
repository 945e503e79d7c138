//! Times of last use, written for many rows at once.

use std::collections::BTreeMap;

use kernel::{Id, StoreError, Timestamp};
use sea_orm::{
    ConnectionTrait as _, EntityTrait,
    sea_query::{CommonTableExpression, Expr, ExprTrait as _, Query, Values},
};
use uuid::Uuid;

use crate::{error::OrStoreError as _, sql::statement_chunks, store::Store};

impl Store {
    /// Moves the time of last use forward of each row that was used.
    pub(crate) async fn touch<E: EntityTrait, K>(
        &self,
        entity: E,
        column: E::Column,
        uses: &[(Id<K>, Timestamp)],
    ) -> Result<(), StoreError> {
        let (stored, used_at) = (|| Expr::col((entity, column)), || Expr::col(("used", "at")));
        for uses in statement_chunks(&latest_by_id(uses)) {
            let rows = uses.iter().map(|(id, at)| Values(vec![(*id).into(), (*at).into()])).collect();
            let used =
                CommonTableExpression::new().table_name("used").columns(["id", "at"]).values(rows).to_owned();
            let update = Query::update()
                .with_cte(used)
                .table(entity)
                .from("used")
                .value(column, used_at())
                .and_where(Expr::col((entity, "id")).equals(("used", "id")))
                .and_where(stored().is_null().or(stored().lt(used_at())))
                .to_owned();
            self.write().await?.execute(&update).await.or_store_error()?;
        }
        Ok(())
    }
}

/// Returns the last use of each id, in the order of the ids: `UPDATE … FROM` takes any of several rows with one id, and
/// two statements that lock rows in one order cannot deadlock.
fn latest_by_id<K>(uses: &[(Id<K>, Timestamp)]) -> Vec<(Uuid, i64)> {
    let mut latest = BTreeMap::new();
    for (id, at) in uses {
        let known = latest.entry(id.uuid()).or_insert(i64::MIN);
        *known = Ord::max(at.timestamp_millis(), *known);
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
