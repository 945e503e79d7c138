//! Spans of the program's log, by which each line leads to its request or run.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{AutomationFixture, BackendProject, Database, Reply, Server, eventually};

/// Does nothing.
const IDLE: &str = "export default { async scheduled() {} }";

/// Runs `check` on a server that logs spans of all levels, on both databases.
async fn with_all_spans(check: impl AsyncFn(&Server) -> Result<()>) -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let server = Server::with(database).env("QALA_LOG", "debug");
        tests::on_server(server, async |server| check(&server).await).await?;
    }
    Ok(())
}

/// Returns the lines of the log with this message.
fn lines(server: &Server, message: &str) -> Vec<Value> {
    let log = server.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

/// Returns the spans of the line with this message whose outermost span has this value, outermost first.
async fn spans_of(server: &Server, message: &str, (name, value): (&str, &str)) -> Result<Value> {
    eventually("a line of the log", async || {
        let line = lines(server, message).into_iter().find(|line| line["spans"][0][name] == value);
        Ok(line.with_context(|| format!("{message:?} of {value}"))?["spans"].take())
    })
    .await
}

/// Returns the spans of the line that ends this reply's request.
async fn request_spans(server: &Server, reply: &Reply) -> Result<Value> {
    let request = reply.header("x-request-id").context("a request id")?;
    spans_of(server, "request completed", ("request_id", request)).await
}

#[tokio::test]
async fn a_request_is_a_span_with_its_id_and_workspace() -> Result<()> {
    with_all_spans(async |server| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let members = owner.get(&format!("/v1/workspaces/{workspace}/members")).await?;
        let spans = request_spans(server, &members).await?;
        assert_eq!((&spans[0]["name"], &spans[0]["workspace"]), (&json!("request"), &json!(workspace)));
        // A stranger's request says nothing about a workspace that the stranger may not see.
        let stranger = server.sign_in("stranger@example.test").await?;
        let refused = stranger.get(&format!("/v1/workspaces/{workspace}/members")).await?;
        refused.assert_status(404);
        assert_eq!(request_spans(server, &refused).await?[0].get("workspace"), None);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_request_with_a_project_key_is_a_span_with_its_project() -> Result<()> {
    with_all_spans(async |server| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        let key = json!({"kind": "secret", "name": "Server", "scopes": ["rows:read"]});
        let key = owner.post(&project.console_path("/keys"), &key).await?.string_at("/secret")?;
        let rows = owner.with_bearer(&key).get(&project.rest_path("nothing")).await?;
        rows.assert_status(404);
        let spans = request_spans(server, &rows).await?;
        assert_eq!(spans[0]["project"], json!(project.id));
        assert!(!server.log().contains(&key[8..]), "the log holds the key");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_attempt_of_a_run_is_a_span() -> Result<()> {
    with_all_spans(async |server| {
        let world = AutomationFixture::create(server, IDLE).await?;
        let path = format!("/v1/automations/{}/run", world.automation);
        let run = world.owner.post(&path, &json!({})).await?.string_at("/runId")?;
        world.owner.wait_for_success(&run).await?;
        let spans = spans_of(server, "attempt finished", ("run", &run)).await?;
        let span = &spans[0];
        assert_eq!((&span["name"], &span["attempt"]), (&json!("run"), &json!(1)));
        assert_eq!((&span["workspace"], &span["app"]), (&json!(world.workspace.id), &json!(world.app)));
        Ok(())
    })
    .await
}
