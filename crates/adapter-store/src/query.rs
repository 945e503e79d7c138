//! Shapes of queries that several aggregates share, over sea-orm's builder.

use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, WorkspaceId, kind},
};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter as _, QuerySelect as _,
    QueryTrait as _, Select, StatementBuilder, Value,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, LockType},
};
use uuid::Uuid;

use crate::{
    entity::{column::DbId, workspaces},
    error::OrStoreError as _,
};

/// A value that stands in the text of a statement, so that an index that is limited to it serves: a bound one would
/// leave open whether the index has the rows.
pub(crate) fn literal(value: impl Into<Value>) -> Expr {
    Expr::Constant(value.into())
}

/// A time that has not come at `now`, or is not set.
pub(crate) fn unset_or_after<C: ColumnTrait>(column: C, now: Timestamp) -> Expr {
    column.is_null().or(column.gt(now.timestamp_millis()))
}

/// The condition that the workspace with this id exists and is not deleted.
pub(crate) fn is_live_workspace(id: Expr) -> Expr {
    let live = workspaces::Entity::find()
        .filter(Expr::col((workspaces::Entity, workspaces::Column::Id)).eq(id))
        .filter(workspaces::Column::DeletedAt.is_null())
        .select_only()
        .expr(literal(1))
        .into_query();
    Expr::exists(live)
}

/// Counts the rows that a query selects.
pub(crate) async fn count<E: EntityTrait>(
    select: Select<E>,
    db: &impl ConnectionTrait,
) -> Result<u64, StoreError> {
    #[derive(FromQueryResult)]
    struct Counted {
        count: i64,
    }
    let select = select.select_only().expr_as(Func::count(Expr::col(Asterisk)), "count");
    let counted = select.into_model::<Counted>().one(db).await.or_store_error()?;
    Ok(counted.map_or(0, |counted| counted.count.unsigned_abs()))
}

/// Returns `true` if a query selects any row.
pub(crate) async fn exists<E: EntityTrait>(
    select: Select<E>,
    db: &impl ConnectionTrait,
) -> Result<bool, StoreError> {
    let query = select.select_only().expr(literal(1)).limit(1).into_query();
    Ok(db.query_one(&query).await.or_store_error()?.is_some())
}

/// Runs a built query; its rows are read by the names of their columns.
pub(crate) async fn fetch_all<T: FromQueryResult>(
    query: &impl StatementBuilder,
    db: &impl ConnectionTrait,
) -> Result<Vec<T>, StoreError> {
    let rows = db.query_all(query).await.or_store_error()?;
    rows.iter().map(|row| T::from_query_result(row, "").or_store_error()).collect()
}

/// Runs a built query; its first row, if there is one.
pub(crate) async fn fetch_one<T: FromQueryResult>(
    query: &impl StatementBuilder,
    db: &impl ConnectionTrait,
) -> Result<Option<T>, StoreError> {
    let row = db.query_one(query).await.or_store_error()?;
    row.map(|row| T::from_query_result(&row, "").or_store_error()).transpose()
}

/// Locks rows against other writers. Rows that point at the locked ones can still be written. SQLite, which has one
/// writer, takes no locks.
pub(crate) const ROW_LOCK: LockType = LockType::NoKeyUpdate;

/// Returns the workspace and the app of a row; the columns name them in this order.
pub(crate) async fn scope<E: EntityTrait>(
    select: Select<E>,
    [workspace, app]: [E::Column; 2],
    db: &impl ConnectionTrait,
) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
    #[derive(FromQueryResult)]
    struct ScopeRow {
        workspace: DbId<kind::Workspace>,
        app: DbId<kind::App>,
    }
    let select = select.select_only().column_as(workspace, "workspace").column_as(app, "app");
    let found = select.into_model::<ScopeRow>().one(db).await.or_store_error()?;
    Ok(found.map(|row| (row.workspace.0, row.app.0)))
}

/// Returns the ids of the rows that a query selects, in its order.
pub(crate) async fn ids<E: EntityTrait, K: Send + Sync + 'static>(
    select: Select<E>,
    id: E::Column,
    db: &impl ConnectionTrait,
) -> Result<Vec<Id<K>>, StoreError> {
    #[derive(FromQueryResult)]
    struct IdRow {
        id: Uuid,
    }
    let found =
        select.select_only().column_as(id, "id").into_model::<IdRow>().all(db).await.or_store_error()?;
    Ok(found.into_iter().map(|row| Id::from_uuid(row.id)).collect())
}
