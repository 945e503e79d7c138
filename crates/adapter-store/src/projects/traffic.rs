//! Requests to the data API of backend projects.

use ::projects::{
    ports::TrafficLog,
    traffic::{RequestCount, RequestRecord, StoredRequest},
};
use async_trait::async_trait;
use kernel::{Id, StoreError, id::ProjectId};
use uuid::Uuid;

use crate::{
    Store,
    convert::{RowContext, millis},
    sql::{Sql, column, statement_chunks},
};

const COLUMNS: &str =
    "project_id, at, method, path, rows_table, status, micros, key_id, row_count, error_code";

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[async_trait]
impl TrafficLog for Store {
    async fn record_requests(
        &self,
        requests: &[RequestRecord],
        counted: &[RequestCount],
    ) -> Result<(), StoreError> {
        for requests in statement_chunks(requests) {
            let mut sql = Sql::new("INSERT INTO project_requests (");
            sql.push(COLUMNS).push(") VALUES ").push_values(requests, |sql, request| {
                sql.bind(request.project.uuid()).push(", ").bind(millis(request.at)).push(", ");
                sql.bind(request.method.clone()).push(", ").bind(request.path.clone()).push(", ");
                sql.bind(request.table.clone()).push(", ").bind(i64::from(request.status)).push(", ");
                sql.bind(to_i64(request.micros)).push(", ").bind(request.key.uuid()).push(", ");
                sql.bind(request.rows.map(to_i64)).push(", ").bind(request.error_code.clone());
            });
            sql.execute(&self.write()).await?;
        }
        for counted in statement_chunks(counted) {
            let mut sql = Sql::new(
                "INSERT INTO project_minutes (project_id, at, bucket, requests, errors, last_at) VALUES ",
            );
            sql.push_values(counted, |sql, count| {
                sql.bind(count.project.uuid()).push(", ").bind(count.minute).push(", ");
                sql.bind(i64::from(count.bucket)).push(", ").bind(to_i64(count.requests)).push(", ");
                sql.bind(to_i64(count.errors)).push(", ").bind(count.last_at);
            });
            sql.push(
                " ON CONFLICT (project_id, at, bucket) DO UPDATE SET \
                 requests = project_minutes.requests + excluded.requests, \
                 errors = project_minutes.errors + excluded.errors, \
                 last_at = CASE WHEN excluded.last_at > project_minutes.last_at THEN excluded.last_at \
                 ELSE project_minutes.last_at END",
            );
            sql.execute(&self.write()).await?;
        }
        Ok(())
    }

    async fn project_requests(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<StoredRequest>, StoreError> {
        let mut sql = Sql::new("SELECT id, ");
        sql.push(COLUMNS).push(" FROM project_requests WHERE project_id = ").bind(project.uuid());
        sql.push(" ORDER BY id DESC LIMIT ").bind(i64::from(limit));
        let found = sql.fetch_all(self.read()).await?;
        found
            .iter()
            .map(|found| {
                let row = RowContext { table: "project_requests", id: project.uuid() };
                let rows: Option<i64> = column(found, 9)?;
                Ok(StoredRequest {
                    number: row.number(column::<i64>(found, 0)?)?,
                    request: RequestRecord {
                        project,
                        at: row.timestamp(column(found, 2)?)?,
                        method: column(found, 3)?,
                        path: column(found, 4)?,
                        table: column(found, 5)?,
                        status: row.number(column::<i64>(found, 6)?)?,
                        micros: row.number(column::<i64>(found, 7)?)?,
                        key: Id::from_uuid(column::<Uuid>(found, 8)?),
                        rows: rows.map(|rows| row.number(rows)).transpose()?,
                        error_code: column(found, 10)?,
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
        let mut sql =
            Sql::new("SELECT at, bucket, requests, errors, last_at FROM project_minutes WHERE project_id = ");
        sql.bind(project.uuid()).push(" AND at >= ").bind(begin);
        let found = sql.fetch_all(self.read()).await?;
        found
            .iter()
            .map(|found| {
                let row = RowContext { table: "project_minutes", id: project.uuid() };
                Ok(RequestCount {
                    project,
                    minute: column(found, 0)?,
                    bucket: row.number(column::<i64>(found, 1)?)?,
                    requests: row.number(column::<i64>(found, 2)?)?,
                    errors: row.number(column::<i64>(found, 3)?)?,
                    last_at: column(found, 4)?,
                })
            })
            .collect()
    }
}
