//! Requests to the data API of backend projects.

use ::projects::{
    ports::TrafficLog,
    traffic::{Counted, KeptRequest, Request},
};
use async_trait::async_trait;
use kernel::{Id, StoreError, id::ProjectId};
use uuid::Uuid;

use crate::{
    Store,
    convert::{Row, millis},
    sql::{Sql, column, in_few_shapes},
};

const COLUMNS: &str =
    "project_id, at, method, path, rows_table, status, micros, key_id, row_count, error_code";

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[async_trait]
impl TrafficLog for Store {
    async fn note_requests(&self, requests: &[Request], counted: &[Counted]) -> Result<(), StoreError> {
        for requests in in_few_shapes(requests) {
            let mut sql = Sql::new("INSERT INTO project_requests (");
            sql.push(COLUMNS).push(") VALUES ").rows(requests, |sql, request| {
                sql.bind(request.project.uuid()).push(", ").bind(millis(request.at)).push(", ");
                sql.bind(request.method.clone()).push(", ").bind(request.path.clone()).push(", ");
                sql.bind(request.table.clone()).push(", ").bind(i64::from(request.status)).push(", ");
                sql.bind(signed(request.micros)).push(", ").bind(request.key.uuid()).push(", ");
                sql.bind(request.rows.map(signed)).push(", ").bind(request.error_code.clone());
            });
            sql.execute(&self.write()).await?;
        }
        for counted in in_few_shapes(counted) {
            let mut sql = Sql::new(
                "INSERT INTO project_minutes (project_id, at, bucket, requests, errors, last_at) VALUES ",
            );
            sql.rows(counted, |sql, count| {
                sql.bind(count.project.uuid()).push(", ").bind(count.minute).push(", ");
                sql.bind(i64::from(count.bucket)).push(", ").bind(signed(count.requests)).push(", ");
                sql.bind(signed(count.errors)).push(", ").bind(count.last_at);
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

    async fn project_requests(&self, project: ProjectId, limit: u32) -> Result<Vec<KeptRequest>, StoreError> {
        let mut sql = Sql::new("SELECT id, ");
        sql.push(COLUMNS).push(" FROM project_requests WHERE project_id = ").bind(project.uuid());
        sql.push(" ORDER BY id DESC LIMIT ").bind(i64::from(limit));
        let found = sql.all(self.read()).await?;
        found
            .iter()
            .map(|found| {
                let row = Row { table: "project_requests", id: project.uuid() };
                let rows: Option<i64> = column(found, 9)?;
                Ok(KeptRequest {
                    number: row.number(column::<i64>(found, 0)?)?,
                    request: Request {
                        project,
                        at: row.moment(column(found, 2)?)?,
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

    async fn project_counts(&self, project: ProjectId, begin: i64) -> Result<Vec<Counted>, StoreError> {
        let mut sql =
            Sql::new("SELECT at, bucket, requests, errors, last_at FROM project_minutes WHERE project_id = ");
        sql.bind(project.uuid()).push(" AND at >= ").bind(begin);
        let found = sql.all(self.read()).await?;
        found
            .iter()
            .map(|found| {
                let row = Row { table: "project_minutes", id: project.uuid() };
                Ok(Counted {
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
