//! Shapes of queries that several aggregates share, over sea-orm's builder.

use chrono::TimeDelta;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, WorkspaceId, kind},
};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, Select, StatementBuilder, Value,
    sea_query::{Asterisk, CommonTableExpression, Expr, ExprTrait as _, Func, LockBehavior, LockType, Query},
};
use uuid::Uuid;

use crate::{
    entity::{
        column::{DbId, DbTime},
        workspaces,
    },
    error::OrStoreError as _,
    store::Store,
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

/// The columns of a table that is a queue.
pub(crate) struct QueueColumns<C> {
    /// The id, a single column.
    pub(crate) id: C,
    /// Time from which a row can be claimed.
    pub(crate) due_at: C,
    /// Number of times that it was claimed.
    pub(crate) attempts: C,
}

/// Claims up to `limit` rows that are due at `now`, those first that are due longest. No other node gets them for `lease`, after
/// which they are due again. The rows are in no order.
pub(crate) async fn claim_due<E, T>(
    store: &Store,
    QueueColumns { id, due_at, attempts }: QueueColumns<E::Column>,
    limit: u32,
    now: Timestamp,
    lease: TimeDelta,
) -> Result<Vec<T>, StoreError>
where
    E: EntityTrait,
    T: FromQueryResult,
{
    let due = E::find().filter(due_at.lte(DbTime(now)));
    // Looked up before the write lock is asked for: most of the time nothing waits.
    if !exists(due.clone(), store.read()).await? {
        return Ok(Vec::new());
    }
    let next = due
        .order_by_asc(due_at)
        .order_by_asc(id)
        .limit(u64::from(limit))
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        .select_only()
        .column_as(id, "id")
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
        .table(E::default())
        .value(attempts, Expr::col(attempts).add(1))
        .value(due_at, DbTime(now + lease))
        .and_where(Expr::col(id).in_subquery(Query::select().column("id").from("next").to_owned()))
        .returning_all()
        .to_owned();
    fetch_all(&claim, &*store.write().await?).await
}
