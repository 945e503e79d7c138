//! The outboxes of all projects: the table `qala_rows.outbox`.

use backend_data::{
    ProjectRef, StoreError,
    store::{OUTBOX_PAGE, OutboxEntry, OutboxRecord},
};
use sqlx::PgConnection;

use super::error::{internal_error, to_store_error};

/// Age after which an entry is pending for every process. The process that added it delivers it sooner.
const PENDING_AGE: &str = "10 seconds";

/// Adds entries within the transaction of the change.
pub(super) async fn add(
    connection: &mut PgConnection,
    project: &ProjectRef,
    entries: &[OutboxEntry],
    rows: Option<u64>,
) -> Result<(), StoreError> {
    let rows = rows.map(i64::try_from).transpose().map_err(internal_error)?;
    for entry in entries {
        let insert = sqlx::query(
            "INSERT INTO \"qala_rows\".\"outbox\" (\"project\", \"id\", \"shard\", \"body\", \"rows\") \
             VALUES ($1, $2, $3, $4, $5)",
        );
        let insert = insert.bind(project.id.as_str()).bind(&entry.id).bind(i32::from(project.shard));
        let insert = insert.bind(&entry.body).bind(rows).persistent(false);
        insert.execute(&mut *connection).await.map_err(to_store_error)?;
    }
    Ok(())
}

/// Returns the projects that have pending entries, at most 1,000.
pub(super) async fn list_projects(connection: &mut PgConnection) -> Result<Vec<ProjectRef>, StoreError> {
    let found: Vec<(String, i32)> = sqlx::query_as(
        "SELECT DISTINCT \"project\", \"shard\" FROM \"qala_rows\".\"outbox\" \
         WHERE \"at\" < clock_timestamp() - $1::interval ORDER BY 1 LIMIT 1000",
    )
    .bind(PENDING_AGE)
    .persistent(false)
    .fetch_all(connection)
    .await
    .map_err(to_store_error)?;
    let project = |(id, shard): (String, i32)| {
        Ok(ProjectRef::new(
            id.parse().map_err(internal_error)?,
            u16::try_from(shard).map_err(internal_error)?,
        ))
    };
    found.into_iter().map(project).collect()
}

/// Returns the oldest entries of a project.
pub(super) async fn read_oldest(
    connection: &mut PgConnection,
    project: &ProjectRef,
) -> Result<Vec<OutboxRecord>, StoreError> {
    let found: Vec<(String, String, Option<i64>)> = sqlx::query_as(
        "SELECT \"id\", \"body\", \"rows\" FROM \"qala_rows\".\"outbox\" WHERE \"project\" = $1 \
         ORDER BY \"at\", \"id\" LIMIT $2",
    )
    .bind(project.id.as_str())
    .bind(i64::try_from(OUTBOX_PAGE).map_err(internal_error)?)
    .persistent(false)
    .fetch_all(connection)
    .await
    .map_err(to_store_error)?;
    let record = |(id, body, rows): (String, String, Option<i64>)| {
        let rows = rows.map(u64::try_from).transpose().map_err(internal_error)?;
        Ok(OutboxRecord { entry: OutboxEntry { id, body }, rows })
    };
    found.into_iter().map(record).collect()
}

/// Removes entries.
pub(super) async fn clear(
    connection: &mut PgConnection,
    project: &ProjectRef,
    ids: &[String],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM \"qala_rows\".\"outbox\" WHERE \"project\" = $1 AND \"id\" = ANY($2)")
        .bind(project.id.as_str())
        .bind(ids)
        .persistent(false)
        .execute(connection)
        .await
        .map_err(to_store_error)?;
    Ok(())
}
