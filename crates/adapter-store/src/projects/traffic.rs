//! Requests to the data API of backend projects.

use ::projects::{
    ports::TrafficLog,
    traffic::{RequestCount, RequestRecord, StoredRequest},
};
use async_trait::async_trait;
use kernel::{StoreError, id::ProjectId, page::PageRequest};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        project_minutes, project_requests,
    },
    error::OrStoreError as _,
    sql::statement_chunks,
    store::Store,
};

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn request_row(request: &RequestRecord) -> project_requests::ActiveModel {
    project_requests::ActiveModel {
        id: NotSet,
        project_id: Set(DbId(request.project)),
        at: Set(DbTime(request.at)),
        method: Set(request.method.clone()),
        path: Set(request.path.clone()),
        rows_table: Set(request.table.clone()),
        status: Set(request.status.into()),
        micros: Set(to_i64(request.micros)),
        key_id: Set(DbId(request.key)),
        row_count: Set(request.rows.map(to_i64)),
        error_code: Set(request.error_code.clone()),
    }
}

fn count_row(count: &RequestCount) -> project_minutes::ActiveModel {
    project_minutes::ActiveModel {
        project_id: Set(DbId(count.project)),
        at: Set(count.minute),
        bucket: Set(count.bucket.into()),
        requests: Set(to_i64(count.requests)),
        errors: Set(to_i64(count.errors)),
        last_at: Set(count.last_at),
    }
}

/// Adds a count to one that is there.
fn add_to_count() -> OnConflict {
    use project_minutes::Column;
    let stored = |column| Expr::col((project_minutes::Entity, column));
    let added = |column| Expr::col(("excluded", column));
    let is_later = added(Column::LastAt).gt(stored(Column::LastAt));
    let last_at = Expr::case(is_later, added(Column::LastAt)).finally(stored(Column::LastAt));
    OnConflict::columns([Column::ProjectId, Column::At, Column::Bucket])
        .value(Column::Requests, stored(Column::Requests).add(added(Column::Requests)))
        .value(Column::Errors, stored(Column::Errors).add(added(Column::Errors)))
        .value(Column::LastAt, Expr::Case(Box::new(last_at)))
        .to_owned()
}

#[span_macros::traced]
#[async_trait]
impl TrafficLog for Store {
    async fn record_requests(
        &self,
        requests: &[RequestRecord],
        counted: &[RequestCount],
    ) -> Result<(), StoreError> {
        for requests in statement_chunks(requests) {
            project_requests::Entity::insert_many(requests.iter().map(request_row))
                .exec_without_returning(&*self.write().await?)
                .await
                .or_store_error()?;
        }
        for counted in statement_chunks(counted) {
            project_minutes::Entity::insert_many(counted.iter().map(count_row))
                .on_conflict(add_to_count())
                .exec_without_returning(&*self.write().await?)
                .await
                .or_store_error()?;
        }
        Ok(())
    }

    async fn project_requests(
        &self,
        project: ProjectId,
        page: PageRequest<u64>,
    ) -> Result<Vec<StoredRequest>, StoreError> {
        let found = project_requests::Entity::find()
            .filter(project_requests::Column::ProjectId.eq(DbId(project)))
            .apply_if(page.after, |query, after| {
                query.filter(project_requests::Column::Id.lt(i64::try_from(after).unwrap_or(i64::MAX)))
            })
            .order_by_desc(project_requests::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("project_requests", project);
        found
            .into_iter()
            .map(|model| {
                Ok(StoredRequest {
                    number: row.number(model.id)?,
                    request: RequestRecord {
                        project,
                        at: model.at.0,
                        method: model.method,
                        path: model.path,
                        table: model.rows_table,
                        status: row.number(model.status)?,
                        micros: row.number(model.micros)?,
                        key: model.key_id.0,
                        rows: model.row_count.map(|rows| row.number(rows)).transpose()?,
                        error_code: model.error_code,
                    },
                })
            })
            .collect()
    }

    async fn project_request_counts(
        &self,
        project: ProjectId,
        begin: i64,
    ) -> Result<Vec<RequestCount>, StoreError> {
        let found = project_minutes::Entity::find()
            .filter(project_minutes::Column::ProjectId.eq(DbId(project)))
            .filter(project_minutes::Column::At.gte(begin))
            .all(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("project_minutes", project);
        found
            .into_iter()
            .map(|model| {
                Ok(RequestCount {
                    project,
                    minute: model.at,
                    bucket: row.number(model.bucket)?,
                    requests: row.number(model.requests)?,
                    errors: row.number(model.errors)?,
                    last_at: model.last_at,
                })
            })
            .collect()
    }
}
