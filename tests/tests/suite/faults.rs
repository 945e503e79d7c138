//! Changes that span two stores, of which one fails: nothing half-done remains.

use anyhow::Result;
use serde_json::json;
use sqlx::{Connection as _, PgConnection, Row as _};
use tests::{BackendProject, Client, Server};

/// Makes every transaction that records a project fail at its commit, and no sooner.
async fn fail_commits(server: &Server) -> Result<()> {
    let fault = match server.database_url() {
        Some(_) => {
            "CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a fault'; END $$; \
             CREATE CONSTRAINT TRIGGER fault AFTER INSERT ON backend_projects DEFERRABLE INITIALLY DEFERRED \
             FOR EACH ROW EXECUTE FUNCTION fault()"
        }
        None => {
            "CREATE TABLE absent (id INTEGER PRIMARY KEY); \
             CREATE TABLE faults (id INTEGER REFERENCES absent (id) DEFERRABLE INITIALLY DEFERRED); \
             CREATE TRIGGER fault AFTER INSERT ON backend_projects BEGIN INSERT INTO faults VALUES (1); END"
        }
    };
    server.execute_sql(fault).await
}

async fn stop_failing_commits(server: &Server) -> Result<()> {
    let table = if server.database_url().is_some() { " ON backend_projects" } else { "" };
    server.execute_sql(&format!("DROP TRIGGER fault{table}")).await
}

/// Counts the projects that exist in the store of rows.
async fn count_project_stores(server: &Server) -> Result<usize> {
    if let Some(url) = server.database_url() {
        let mut connection = PgConnection::connect(url).await?;
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'data%'";
        let schemas: i64 = sqlx::query(schemas).fetch_one(&mut connection).await?.try_get(0)?;
        let catalogs = "SELECT count(*) FROM qala_rows.catalog";
        let catalogs: i64 = sqlx::query(catalogs).fetch_one(&mut connection).await?.try_get(0)?;
        assert_eq!(schemas, catalogs);
        return Ok(usize::try_from(schemas)?);
    }
    let files = std::fs::read_dir(server.data_dir().join("rows/0"))?;
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| name.ends_with(".sqlite3")).count())
}

tests::on_both! {
    async fn a_project_that_is_not_recorded_leaves_no_store_of_rows(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        let before = count_project_stores(&server).await?;

        fail_commits(&server).await?;
        // The description has no 500, so this client does not check it.
        let failing_client = Client::of_another_release(server.base_url()).sign_in("owner@example.test").await?;
        let path = format!("/v1/workspaces/{}/backend/projects", workspace.id);
        let refused = failing_client.post(&path, &json!({"name": "Shop"})).await?;
        assert!(refused.status.is_server_error(), "{refused}");
        let starter = json!({"name": "Other", "profile": "global", "teamSize": "solo", "intents": []});
        let refused = failing_client.post("/v1/workspaces", &starter).await?;
        assert!(refused.status.is_server_error(), "{refused}");
        assert_eq!(count_project_stores(&server).await?, before, "both must be removed again");

        stop_failing_commits(&server).await?;
        BackendProject::create(&owner, &workspace.id).await?;
        assert_eq!(count_project_stores(&server).await?, before + 1);
        // Existing projects are unchanged.
        project.create_table("orders", &[("title", "text")]).await?;
        Ok(())
    }
}
