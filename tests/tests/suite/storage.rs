//! A project that has reached the storage limit of its plan.

use anyhow::{Result, ensure};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Reply};

const MIB: usize = 1 << 20;

/// Returns text that no database compresses much.
fn incompressible_text(length: usize) -> String {
    let mut state = 0x9e37_79b9_u64;
    let random_character = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_digit(u32::try_from((state >> 33) % 36).unwrap_or_default(), 36).unwrap_or('x')
    };
    (0..length).map(random_character).collect()
}

/// Fills a table with imports and then with single rows, until one is rejected.
async fn fill_table(owner: &Client, project: &BackendProject, table: &str) -> Result<Reply> {
    let text = incompressible_text(MIB * 9 / 10);
    let file = format!("title\n{}", format!("{text}\n").repeat(24));
    for _ in 0..4 {
        let path = project.console_path(&format!("/tables/{table}/import"));
        owner.request(Method::POST, &path).body("text/csv", file.clone())?.send().await?.assert_status(200);
    }
    for _ in 0..50 {
        let row = json!({ "title": text });
        let added = owner.post(&project.console_path(&format!("/tables/{table}/rows")), &row).await?;
        if added.status != 201 {
            return Ok(added);
        }
    }
    anyhow::bail!("120 MiB were accepted although the limit is 100 MiB")
}

fn check_storage_full(reply: &Reply) -> Result<()> {
    reply.assert_error(409, "storage_full");
    let body: Value = serde_json::from_slice(&reply.body)?;
    let hint = body["error"]["hint"].as_str().unwrap_or_default();
    ensure!(hint.contains("Delete rows"), "{reply}");
    ensure!(body["error"]["message"].as_str().is_some_and(|message| message.contains("100 MiB")), "{reply}");
    Ok(())
}

tests::on_both! {
    args: ["--no-rate-limits", "--default-plan", "free"];

    async fn a_full_project_can_be_read_and_emptied(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let listed = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?.ok()?;
        // The sample project, to which the sample app writes.
        let project = BackendProject::from_id(&owner, listed["items"][0]["id"].as_str().unwrap_or_default());
        let policy = json!({"sentences": ["Anyone may read, insert, update and delete every row."]});
        project.set_policy("notes", &policy).await?.assert_status(200);
        let stored = async || owner.get(&project.console_path("")).await?.ok();
        let limit = json!(100 * MIB);
        let empty = stored().await?;
        assert!(empty["maxStoredBytes"] == limit && empty["storedBytes"].as_u64() < Some(MIB as u64), "{empty}");
        check_storage_full(&fill_table(&owner, &project, "notes").await?)?;
        // On PostgreSQL the size is an estimate within a tenth. The last write may exceed the limit.
        let full = stored().await?["storedBytes"].as_u64().unwrap_or_default();
        ensure!((90 * MIB as u64..120 * MIB as u64).contains(&full), "{full}");
        let listed = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?.ok()?;
        assert_eq!(listed["items"][0]["storedBytes"], Value::Null);
        assert_eq!(listed["items"][0]["maxStoredBytes"], limit);

        let (secret, key) = (project.create_key("secret").await?, project.create_key("publishable").await?);
        let client = server.client();
        let row = json!({"title": "one more"});
        for key in [&secret, &key] {
            let request = |method, rest: &str| project.rest_request(&client, (key, None), method, rest);
            let refused = request(Method::POST, "notes")?.json(&row)?.send().await?;
            check_storage_full(&refused)?;
            assert_eq!(refused.json::<Value>()?["code"], "53100");
            let merge = request(Method::POST, "notes")?.json(&row)?;
            let merge = merge.header(HeaderName::from_static("prefer"), "resolution=merge-duplicates")?;
            check_storage_full(&merge.send().await?)?;
            check_storage_full(&request(Method::PATCH, "notes?title=eq.x")?.json(&row)?.send().await?)?;
            let operations = json!({"operations": [{"method": "POST", "table": "notes", "body": row}]});
            check_storage_full(&request(Method::POST, "_batch")?.json(&operations)?.send().await?)?;
            request(Method::GET, "notes?select=id&limit=1")?.send().await?.assert_status(200);
        }
        let index = json!({"columns": ["source"]});
        check_storage_full(&owner.post(&project.console_path("/tables/notes/indexes"), &index).await?)?;
        let file = owner.request(Method::POST, &project.console_path("/tables/notes/import"));
        file.body("text/csv", "title\nx\n")?.send().await?.assert_error(409, "storage_full");
        // The sample app adds a note when it runs.
        let automation = json!({"name": "By hand", "appId": workspace.sample_app, "trigger": {"type": "manual"}});
        let automation = owner.post(&format!("/v1/workspaces/{}/automations", workspace.id), &automation).await?.string_at("/id")?;
        let run = owner.start_run(&automation, json!({})).await?;
        let run = owner.wait_for_run(&run).await?;
        assert_eq!(run["status"], "failed", "{run}");
        assert!(run.to_string().contains("storage_full"), "{run}");

        // Deleting frees space at once.
        let all = project.rest_request(&client, (&key, None), Method::DELETE, "notes?id=not.is.null&select=id")?;
        all.send().await?.assert_status(200);
        let left = stored().await?["storedBytes"].as_u64().unwrap_or(u64::MAX);
        ensure!(left < full / 2, "{left} of {full}");
        let add = project.rest_request(&client, (&key, None), Method::POST, "notes")?.json(&row)?;
        add.send().await?.assert_status(201);
        let run = owner.start_run(&automation, json!({})).await?;
        owner.wait_for_success(&run).await?;
        Ok(())
    }
}
