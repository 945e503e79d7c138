//! Deleting workspaces and backend projects, restoring them, and what is left after a week.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use http::Method;
use serde_json::{Value, json};
use sqlx::Connection as _;
use tests::{
    AutomationFixture, BackendProject, Client, Database, Reply, Server, eventually, eventually_within,
};

/// An app that takes 25 seconds if it is asked to be slow.
const SOURCE: &str = "export default { \
    async scheduled(event) { if (event.data?.slow) await new Promise((resolve) => setTimeout(resolve, 25000)) }, \
    async fetch() { return new Response('served') } }";

/// More than the second in which other nodes learn of a deletion, on a loaded machine.
const SOON: Duration = Duration::from_secs(5);

async fn delete(client: &Client, path: &str, confirm_name: &str) -> Result<Reply> {
    client.request(Method::DELETE, path).json(&json!({"confirmName": confirm_name}))?.send().await
}

async fn restore(client: &Client, path: &str) -> Result<Reply> {
    client.post(&format!("{path}/restore"), &json!({})).await
}

/// The ids in a list.
fn ids(list: &Value) -> Vec<&str> {
    list["items"].as_array().into_iter().flatten().filter_map(|item| item["id"].as_str()).collect()
}

async fn read_status(client: &Client, path: &str) -> Result<u16> {
    Ok(client.get(path).await?.status.as_u16())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_table_is_dropped_by_either_word_of_confirmation(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        for name in ["one", "two", "three"] {
            project.create_table(name, &[("title", "text")]).await?;
        }
        let drop = async |table: &str, body: Value| {
            let path = project.console_path(&format!("/tables/{table}"));
            owner.request(Method::DELETE, &path).json(&body)?.send().await
        };
        for body in [
            json!({}),
            json!({"confirm": "two"}),
            json!({"confirmName": "One"}),
            json!({"confirm": "one", "confirmName": "two"}),
            json!({"confirm": "two", "confirmName": "one"}),
            json!({"confirm": true}),
        ] {
            drop("one", body).await?.assert_error(400, "invalid_request");
        }
        drop("one", json!({"confirm": "one"})).await?.ok()?;
        drop("two", json!({"confirmName": "two"})).await?.ok()?;
        drop("three", json!({"confirm": "three", "confirmName": "three"})).await?.ok()?;
        let kept = owner.get(&project.console_path("")).await?.ok()?["tables"].clone();
        let kept: Vec<&str> = kept.as_array().into_iter().flatten().filter_map(|table| table["name"].as_str()).collect();
        assert_eq!(kept, ["notes"], "a new project has one table of its own");
        Ok(())
    }

    async fn everything_of_a_deleted_workspace_stops_and_goes_on_once_restored(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let (owner, ws) = (&fixture.owner, fixture.workspace.id.as_str());
        let path = format!("/v1/workspaces/{ws}");
        let admin = owner.add_member(ws, "admin").await?;
        let webhook = owner.configure_webhook(&fixture.automation, "signed").await?;
        let project = BackendProject::create(owner, ws).await?;
        let key = project.create_key("secret").await?;
        let rows = async || project.rest_request(owner, (&key, None), Method::GET, "notes")?.send().await;
        rows().await?.assert_status(200);
        let token = owner.with_bearer(&owner.create_token(ws, &["read", "write"]).await?);
        let agent = owner.register_agent("An agent").await?;
        let pair = agent.sign_in(owner, ws, "write").await?;
        let agent_client = owner.with_bearer(&pair.access);
        let app = owner.get(&format!("/v1/apps/{}", fixture.app)).await?;
        let page = format!("/a/{}/", app.string_at("/slug")?);
        let sharing = json!({"sharing": "workspace", "people": []});
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &sharing).await?.assert_status(200);
        server.client().get(&page).await?.assert_status(200);
        let run = webhook.send(&json!({"slow": true})).await?.string_at("/runId")?;
        let run_path = format!("/v1/runs/{run}");
        eventually("the run executes", async || {
            let run = owner.get(&run_path).await?.ok()?;
            ensure!(run["status"] == "running", "{run}");
            Ok(())
        })
        .await?;
        let mut stream = owner.request(Method::GET, &format!("{path}/events")).open_event_stream().await?;
        let invite = owner.create_invite(ws, "guest@example.test", "member").await?;
        let guest = server.sign_in("guest@example.test").await?;

        delete(owner, &path, "Wrong").await?.assert_error(400, "invalid_request");
        delete(&admin, &path, "Tulpar").await?.assert_error(403, "forbidden");
        delete(&token, &path, "Tulpar").await?.assert_error(403, "console_only");
        let (one, two) = tokio::join!(delete(owner, &path, "Tulpar"), delete(owner, &path, "Tulpar"));
        let mut statuses = [one?.status.as_u16(), two?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404]);

        // All at once, without waiting for a cache.
        for gone in [
            path.clone(),
            format!("{path}/members"),
            format!("{path}/audit"),
            format!("/v1/apps/{}", fixture.app),
            format!("/v1/automations/{}", fixture.automation),
            run_path.clone(),
            format!("/v1/backend/projects/{}", project.id),
        ] {
            for client in [owner, &admin] {
                assert_eq!(read_status(client, &gone).await?, 404, "{gone}");
            }
        }
        token.get(&format!("{path}/runs")).await?.assert_error(404, "workspace_not_found");
        token.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        agent_client.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        assert!(!agent.refresh(&pair.refresh).await?.status.is_success());
        rows().await?.assert_error(401, "unauthorized");
        webhook.send(&json!({})).await?.assert_error(404, "hook_not_found");
        server.client().get(&page).await?.assert_status(404);
        guest.post(&format!("/v1/invites/{invite}/accept"), &json!({})).await?.assert_error(404, "invite_not_found");
        let session = owner.get("/v1/session").await?.ok()?;
        assert_eq!((&session["workspaceId"], &session["workspaceRole"]), (&Value::Null, &Value::Null));
        while stream.next_block().await?.is_some() {}
        eventually_within(SOON, "the run is stopped", async || {
            ensure!(server.log().contains("run taken from this node"), "{}", server.log());
            Ok(())
        })
        .await?;

        // Only its owners find it.
        assert_eq!(ids(&owner.get("/v1/workspaces").await?.ok()?), [""; 0]);
        let deleted = owner.get("/v1/workspaces?deleted=true").await?.ok()?;
        assert!(deleted["currentId"].is_null(), "a deleted workspace is not open: {deleted}");
        assert_eq!(ids(&deleted), [ws]);
        assert!(deleted["items"][0]["deletedAt"].is_string() && deleted["items"][0]["restorableUntil"].is_string());
        assert_eq!(ids(&admin.get("/v1/workspaces?deleted=true").await?.ok()?), [""; 0]);
        restore(&admin, &path).await?.assert_error(404, "workspace_not_found");
        restore(&guest, &path).await?.assert_error(404, "workspace_not_found");
        restore(&token, &path).await?.assert_error(403, "console_only");

        let restored = restore(owner, &path).await?.ok()?;
        assert_eq!((&restored["id"], &restored["name"]), (&json!(ws), &json!("Tulpar")));
        restore(owner, &path).await?.assert_error(409, "workspace_not_deleted");
        restore(&admin, &path).await?.assert_error(403, "forbidden");
        assert_eq!(ids(&owner.get("/v1/workspaces").await?.ok()?), [ws]);
        rows().await?.assert_status(200);
        token.get(&format!("{path}/runs")).await?.assert_status(200);
        server.client().get(&page).await?.assert_status(200);
        let next = webhook.send(&json!({})).await?.string_at("/runId")?;
        owner.wait_for_success(&next).await?;
        guest.post(&format!("/v1/invites/{invite}/accept"), &json!({})).await?.assert_status(200);
        // The interrupted run is tried again once its lease has expired, as if its node had been lost.
        let interrupted = owner.get(&run_path).await?.ok()?;
        ensure!(["running", "queued"].map(Into::into).contains(&interrupted["status"]), "{interrupted}");
        let audit = owner.get(&format!("{path}/audit")).await?.ok()?;
        let actions: Vec<_> = audit["items"].as_array().context("no items")?.iter().map(|it| &it["action"]).collect();
        assert!(actions.contains(&&json!("workspace.delete")) && actions.contains(&&json!("workspace.restore")));
        Ok(())
    }

    async fn deleted_workspaces_have_pages(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let mut deleted = Vec::new();
        for name in ["First", "Second", "Third"] {
            let workspace = owner.create_workspace(name).await?;
            delete(&owner, &format!("/v1/workspaces/{}", workspace.id), name).await?.ok()?;
            deleted.push(workspace.id);
        }
        let kept = owner.create_workspace("Kept").await?;
        let first = owner.get("/v1/workspaces?deleted=true&limit=2").await?.ok()?;
        assert_eq!(ids(&first), deleted[..2]);
        let cursor = first["nextCursor"].as_str().context("no second page")?;
        let second = owner.get(&format!("/v1/workspaces?deleted=true&limit=2&cursor={cursor}")).await?.ok()?;
        assert_eq!((ids(&second), &second["nextCursor"]), (vec![deleted[2].as_str()], &Value::Null));
        assert_eq!(ids(&owner.get("/v1/workspaces").await?.ok()?), [kept.id.as_str()]);
        Ok(())
    }

    async fn a_deleted_project_is_gone_until_it_is_restored(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let ws = owner.create_workspace("Tulpar").await?.id;
        let builder = owner.add_member(&ws, "builder").await?;
        let project = BackendProject::create(&owner, &ws).await?;
        let key = project.create_key("secret").await?;
        let rows = async || project.rest_request(&owner, (&key, None), Method::GET, "notes")?.send().await;
        owner.post(&project.console_path("/tables/notes/rows"), &json!({"id": "1", "title": "Kept"})).await?.ok()?;
        rows().await?.assert_status(200);
        let path = project.console_path("");
        let list = format!("/v1/workspaces/{ws}/backend/projects");

        delete(&builder, &path, "Shop").await?.assert_error(403, "forbidden");
        delete(&owner, &path, "shop").await?.assert_error(400, "invalid_request");
        let token = owner.with_bearer(&owner.create_token(&ws, &["read", "write"]).await?);
        delete(&token, &path, "Shop").await?.assert_error(403, "console_only");
        let (one, two) = tokio::join!(delete(&owner, &path, "Shop"), delete(&owner, &path, "Shop"));
        let mut statuses = [one?.status.as_u16(), two?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404]);

        rows().await?.assert_error(401, "unauthorized");
        owner.get(&path).await?.assert_error(404, "project_not_found");
        owner.get(&project.console_path("/keys")).await?.assert_error(404, "project_not_found");
        assert!(!ids(&owner.get(&list).await?.ok()?).contains(&project.id.as_str()));
        let deleted = owner.get(&format!("{list}?deleted=true")).await?.ok()?;
        assert_eq!(ids(&deleted), [project.id.as_str()]);
        assert!(deleted["items"][0]["restorableUntil"].is_string(), "{deleted}");
        assert_eq!(ids(&builder.get(&format!("{list}?deleted=true")).await?.ok()?), [""; 0]);
        restore(&builder, &path).await?.assert_error(404, "project_not_found");
        restore(&server.sign_in("stranger@example.test").await?, &path).await?.assert_error(404, "project_not_found");

        let restored = restore(&owner, &path).await?.ok()?;
        assert_eq!((&restored["rowCount"], &restored["keyCount"]), (&json!(1), &json!(1)), "{restored}");
        restore(&owner, &path).await?.assert_error(409, "project_not_deleted");
        restore(&builder, &path).await?.assert_error(403, "forbidden");
        assert_eq!(rows().await?.ok()?[0]["title"], "Kept");
        Ok(())
    }

    async fn apps_do_not_reach_a_deleted_project(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let projects = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let path = format!("/v1/backend/projects/{}", projects.string_at("/items/0/id")?);
        let page = owner.get(&format!("/v1/apps/{}", workspace.sample_app)).await?.string_at("/slug")?;
        let page = format!("/a/{page}/");
        server.client().get(&page).await?.assert_status(200);
        delete(&owner, &path, "Starter data").await?.assert_status(200);
        eventually_within(SOON, "the sample app has no rows", async || {
            let reply = server.client().get(&page).await?;
            ensure!(!reply.status.is_success(), "{reply}");
            Ok(())
        })
        .await?;
        restore(&owner, &path).await?.assert_status(200);
        eventually_within(SOON, "the sample app has its rows again", async || {
            server.client().get(&page).await?.ok().map(drop).or_else(|_| bail!("not yet"))
        })
        .await
    }

    async fn after_a_week_nothing_is_left(mut server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let (kept, purged) = (owner.create_workspace("Kept").await?, owner.create_workspace("Purged").await?);
        let project = BackendProject::create(&owner, &kept.id).await?;
        let rows_of = async |ws: &str| -> Result<Vec<String>> {
            let projects = owner.get(&format!("/v1/workspaces/{ws}/backend/projects")).await?.ok()?;
            Ok(ids(&projects).into_iter().map(str::to_owned).collect())
        };
        let of_purged = rows_of(&purged.id).await?;
        let of_kept = rows_of(&kept.id).await?;
        let run = owner.start_run(&purged.automation, json!({})).await?;
        owner.wait_for_run(&run).await?;
        let path = format!("/v1/workspaces/{}", purged.id);
        delete(&owner, &path, "Purged").await?.assert_status(200);
        delete(&owner, &project.console_path(""), "Shop").await?.assert_status(200);
        // Six days and 23 hours later they can be restored still.
        let age = |hours: u32| format!(
            "UPDATE workspaces SET deleted_at = deleted_at - {0} WHERE deleted_at IS NOT NULL", u64::from(hours) * 3_600_000
        );
        server.execute_sql(&age(167)).await?;
        server.restart().await?;
        assert_eq!(ids(&owner.get("/v1/workspaces?deleted=true").await?.ok()?), [purged.id.as_str()]);
        server.execute_sql(&age(1)).await?;
        let projects = format!("UPDATE backend_projects SET deleted_at = deleted_at - {} WHERE deleted_at IS NOT NULL", 168 * 3_600_000);
        server.execute_sql(&projects).await?;
        restore(&owner, &path).await?.assert_error(404, "workspace_not_found");
        assert_eq!(ids(&owner.get("/v1/workspaces?deleted=true").await?.ok()?), [""; 0]);

        // The purge is due at the start.
        server.restart().await?;
        eventually("the workspace is purged", async || {
            let log = server.log();
            let is_logged = |what: &str, id: &str| log.lines().any(|line| line.contains(what) && line.contains(id));
            ensure!(is_logged("purged a deleted workspace", &purged.id), "{log}");
            ensure!(is_logged("purged a deleted backend project", &project.id), "{log}");
            Ok(())
        })
        .await?;
        for id in of_purged.iter().chain([&project.id]) {
            assert!(!has_rows(&server, id).await?, "the rows of {id} are left");
        }
        for id in of_kept.iter().filter(|id| **id != project.id) {
            assert!(has_rows(&server, id).await?, "the rows of {id} are gone");
        }
        assert_eq!(ids(&owner.get("/v1/workspaces").await?.ok()?), [kept.id.as_str()]);
        let run = owner.start_run(&kept.automation, json!({})).await?;
        owner.wait_for_run(&run).await?;
        Ok(())
    }
}

/// True if the row store has storage of a project: a file, or a schema.
async fn has_rows(server: &Server, project: &str) -> Result<bool> {
    match server.database_url() {
        Some(url) => {
            let mut connection = sqlx::PgConnection::connect(url).await?;
            let sql = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE '%' || $1 || '%'";
            let count: i64 = sqlx::query_scalar(sql).bind(project).fetch_one(&mut connection).await?;
            Ok(count > 0)
        }
        None => Ok(find_file(server.data_dir(), project)?),
    }
}

fn find_file(folder: &std::path::Path, name: &str) -> Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_found = entry.file_name().to_string_lossy().contains(name);
        if is_found || (entry.path().is_dir() && find_file(&entry.path(), name)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[tokio::test]
async fn every_node_learns_of_a_deletion() -> Result<()> {
    let options = Server::with(Database::Postgres).args(["--no-rate-limits"]);
    tests::on_server(options, async |first| {
        let second = first.start_another_node().await?;
        let fixture = AutomationFixture::create(&first, SOURCE).await?;
        let (owner, path) = (&fixture.owner, format!("/v1/workspaces/{}", fixture.workspace.id));
        let there = owner.with_base_url(second.base_url());
        let webhook =
            owner.configure_webhook(&fixture.automation, "none").await?.with_base_url(second.base_url());
        let project = BackendProject::create(owner, &fixture.workspace.id).await?;
        let key = project.create_key("secret").await?;
        let rows = async || project.rest_request(&there, (&key, None), Method::GET, "notes")?.send().await;
        there.get(&path).await?.assert_status(200);
        rows().await?.assert_status(200);
        webhook.send(&json!({})).await?.assert_status(202);
        let mut stream = there.request(Method::GET, &format!("{path}/events")).open_event_stream().await?;

        delete(owner, &path, "Tulpar").await?.assert_status(200);
        eventually_within(Duration::from_secs(2), "the other node knows", async || {
            ensure!(read_status(&there, &path).await? == 404, "it is still there");
            ensure!(rows().await?.status == 401, "the key still works");
            ensure!(webhook.send(&json!({})).await?.status == 404, "the webhook still works");
            Ok(())
        })
        .await?;
        while stream.next_block().await?.is_some() {}
        restore(&there, &path).await?.assert_status(200);
        eventually_within(Duration::from_secs(2), "the first node knows", async || {
            ensure!(read_status(owner, &path).await? == 200, "it is not there");
            Ok(())
        })
        .await
    })
    .await
}
