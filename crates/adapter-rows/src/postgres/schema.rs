//! The schema of a project and its row in the table of catalogs.

use backend_data::{Catalog, ProjectRef, StoreError, store::SchemaChange};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{
    error::{self, to_store_error},
    outbox,
};

/// Returns the name of the schema of a project, within PostgreSQL's limit of 63 bytes.
pub(super) fn schema_name(project: &ProjectRef) -> String {
    const WHOLE: usize = 56;
    let id = project.id.as_str();
    if id.len() <= WHOLE {
        return format!("data_{id}");
    }
    // Longer than any name with a whole id, so that no two projects have the same name.
    let digest: String = Sha256::digest(id).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("data_{}_{digest}", id.get(..24).unwrap_or_default())
}

/// Creates a project without tables. An existing one does not change.
pub(super) async fn create(connection: &mut PgConnection, project: &ProjectRef) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await.map_err(to_store_error)?;
    // Versions start at the current time, so that a project that is created again repeats none of its earlier versions.
    let insert = sqlx::query(
        "INSERT INTO \"qala_rows\".\"catalog\" \
         VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, '{\"tables\":[]}') \
         ON CONFLICT DO NOTHING",
    );
    let insert = insert.bind(project.id.as_str()).persistent(false);
    insert.execute(&mut *transaction).await.map_err(to_store_error)?;
    transaction.commit().await.map_err(to_store_error)
}

/// Returns the catalog of a project, or `None` if there is no such project.
pub(super) async fn catalog(
    connection: &mut PgConnection,
    project: &ProjectRef,
    is_persistent: bool,
) -> Result<Option<Catalog>, StoreError> {
    let found: Option<(i64, String)> =
        sqlx::query_as("SELECT \"version\", \"body\" FROM \"qala_rows\".\"catalog\" WHERE \"project\" = $1")
            .bind(project.id.as_str())
            .persistent(is_persistent)
            .fetch_optional(connection)
            .await
            .map_err(to_store_error)?;
    let Some((version, body)) = found else { return Ok(None) };
    let version = u64::try_from(version).map_err(error::internal_error)?;
    Catalog::from_json(version, &body).map(Some).map_err(error::internal_error)
}

/// Applies a schema change if the catalog still has the version that the change was made for.
pub(super) async fn change(
    connection: &mut PgConnection,
    project: &ProjectRef,
    change: SchemaChange,
) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await.map_err(to_store_error)?;
    // The row of the catalog comes first, so that two changes of one project wait for each other here.
    let signed = |version| i64::try_from(version).map_err(error::internal_error);
    let replaced = sqlx::query(
        "UPDATE \"qala_rows\".\"catalog\" SET \"version\" = $1, \"body\" = $2 \
         WHERE \"project\" = $3 AND \"version\" = $4",
    )
    .bind(signed(change.catalog.version)?)
    .bind(change.catalog.to_json().map_err(error::internal_error)?)
    .bind(project.id.as_str())
    .bind(signed(change.from_version)?)
    .persistent(false)
    .execute(&mut *transaction)
    .await
    .map_err(to_store_error)?;
    if replaced.rows_affected() != 1 {
        return Err(StoreError::Stale);
    }
    let make = format!("CREATE SCHEMA IF NOT EXISTS \"{}\"", schema_name(project));
    let make = (!change.statements.is_empty()).then_some(make);
    for statement in make.into_iter().chain(change.statements) {
        let done = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *transaction).await;
        done.map_err(|error| match error::sqlstate(&error).as_deref() {
            // A column that is not nullable was added to a table with rows.
            Some("23502") => StoreError::TableNotEmpty,
            _ => to_store_error(error),
        })?;
    }
    outbox::add(&mut transaction, project, &change.outbox, None).await?;
    transaction.commit().await.map_err(to_store_error)
}

/// Deletes a project with all of its rows.
pub(super) async fn delete(connection: &mut PgConnection, project: &ProjectRef) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await.map_err(to_store_error)?;
    sqlx::query("DELETE FROM \"qala_rows\".\"catalog\" WHERE \"project\" = $1")
        .bind(project.id.as_str())
        .persistent(false)
        .execute(&mut *transaction)
        .await
        .map_err(to_store_error)?;
    let drop = format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", schema_name(project));
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut *transaction).await.map_err(to_store_error)?;
    transaction.commit().await.map_err(to_store_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_names_fit_and_differ() {
        let named = |id: &str| schema_name(&ProjectRef::new(id.parse().unwrap(), 0));
        let (a, b) = (format!("{}a", "x".repeat(63)), format!("{}b", "x".repeat(63)));
        assert_eq!(named("proj_1"), "data_proj_1");
        assert_ne!(named(&a), named(&b));
        assert!(named(&a).len() <= 63 && named(&"y".repeat(56)).len() < named(&a).len());
    }
}
