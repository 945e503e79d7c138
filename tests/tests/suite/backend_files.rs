//! Large imports and exports of rows, export and import of whole projects, shards, and durability of rows after a
//! crash.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result, ensure};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Database, Server, identity_settings};

async fn create_shop_project(server: &Server) -> Result<(Client, String, BackendProject)> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?;
    let project = BackendProject::create(&owner, &workspace.id).await?;
    let columns =
        [("title", "text"), ("qty", "integer"), ("price", "real"), ("meta", "json"), ("due", "timestamp")];
    project.create_table("items", &columns).await?;
    Ok((owner, workspace.id, project))
}

async fn content_range(client: &Client, project: &BackendProject, key: &str, table: &str) -> Result<String> {
    let request = project.rest_request(client, (key, None), Method::GET, &format!("{table}?limit=0"))?;
    let reply = request.header(http::HeaderName::from_static("prefer"), "count=exact")?.send().await?;
    Ok(reply.header("content-range").context("no range")?.to_owned())
}

/// Returns the peak memory of the server, in KiB.
fn peak_memory_kib(server: &Server) -> Result<u64> {
    let status = format!("/proc/{}/status", server.process_id().context("no process")?);
    let status = std::fs::read_to_string(status)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_large_file_is_imported_completely_or_not_at_all(server: Server) -> Result<()> {
        const ROWS: usize = 10_000;
        let (owner, _, project) = create_shop_project(&server).await?;
        let title = "x".repeat(2_500);
        let mut file = String::from("id,title,qty\n");
        (0..ROWS).for_each(|n| file.push_str(&format!("r{n:06},{title},{n}\n")));
        assert!(file.len() > 23 << 20, "the file must be far larger than bodies of other routes");
        let before = peak_memory_kib(&server)?;
        let import = async |file: String, accept: &str| {
            let path = project.console_path("/tables/items/import");
            let request = owner.request(Method::POST, &path).header(header::ACCEPT, accept)?;
            request.body("text/csv", file)?.send().await
        };
        // The last row is invalid, so no earlier row remains.
        let refused = import(format!("{file}r,x,many\n"), "*/*").await?;
        refused.assert_error(400, "invalid_value");
        assert_eq!(refused.json::<Value>()?["error"]["hint"], format!("In line {}.", ROWS + 2));
        let secret = project.create_key("secret").await?;
        assert_eq!(content_range(&server.client(), &project, &secret, "items").await?, "*/0");

        let reply = import(file, "application/x-ndjson").await?;
        reply.assert_status(200);
        let grown = peak_memory_kib(&server)?.saturating_sub(before);
        assert!(grown < 20 << 10, "two files of 24 MiB took {grown} KiB of memory");
        let lines: Vec<Value> = String::from_utf8(reply.body.to_vec())?
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        assert_eq!(lines.last(), Some(&json!({"rows": ROWS, "imported": ROWS, "skippedLines": 0, "ignoredColumns": []})));
        assert!(lines.iter().filter(|line| line["checked"].is_u64()).count() >= 10, "{} lines", lines.len());
        assert!(lines.iter().filter(|line| line["written"].is_u64()).count() >= 10, "{} lines", lines.len());
        assert_eq!(content_range(&server.client(), &project, &secret, "items").await?, format!("*/{ROWS}"));
        // An error after the response has started is its last line.
        let again = "id,title\nnew,x\nr000000,x\n".to_owned();
        let lines = String::from_utf8(import(again, "application/x-ndjson").await?.body.to_vec())?;
        let last: Value = serde_json::from_str(lines.lines().last().context("no line")?)?;
        assert_eq!(last["error"]["code"], "row_exists");
        assert_eq!(last["error"]["hint"], "It is among the lines 2 to 3. No row was inserted.");
        assert_eq!(content_range(&server.client(), &project, &secret, "items").await?, format!("*/{ROWS}"));
        // No temporary file remains.
        let left = std::fs::read_dir(server.data_dir())?.filter_map(Result::ok);
        assert!(!left.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(".import")));
        Ok(())
    }

    async fn acknowledged_writes_survive_a_crash(mut server: Server) -> Result<()> {
        let (_, _, project) = create_shop_project(&server).await?;
        let key = project.create_key("secret").await?;
        let (outcomes, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let mut senders = tokio::task::JoinSet::new();
        for sender in 0..8 {
            let (client, project, key, outcomes) = (server.client(), project.clone(), key.clone(), outcomes.clone());
            senders.spawn(async move {
                // Until the server is killed.
                for number in 0.. {
                    // Every second request is a bulk of three, and one in four updates rows of an earlier one.
                    let title = format!("{sender}-{number}");
                    let row = |at: usize| json!({"id": format!("{title}-{at}"), "title": title, "qty": 0});
                    let rows: Vec<Value> = (0..if number % 2 == 0 { 3 } else { 1 }).map(row).collect();
                    let build = |method, rest: &str, body: &Value| {
                        project.rest_request(&client, (&key, None), method, rest).and_then(|request| request.json(body))
                    };
                    let Ok(request) = build(Method::POST, "items", &json!(rows)) else { return };
                    let Ok(reply) = request.send().await else { return };
                    let _sent = outcomes.send((title.clone(), reply.status.as_u16(), false));
                    if number % 4 == 0 {
                        let filter = format!("items?title=eq.{title}");
                        let Ok(request) = build(Method::PATCH, &filter, &json!({"qty": 1})) else { return };
                        let Ok(reply) = request.send().await else { return };
                        let _sent = outcomes.send((title, reply.status.as_u16(), true));
                    }
                }
            });
        }
        drop(outcomes);
        // Acknowledged titles, each with whether its update was acknowledged.
        let mut acknowledged: BTreeMap<String, bool> = BTreeMap::new();
        while let Some((title, status, updated)) = receiver.recv().await {
            assert_eq!(status, if updated { 200 } else { 201 });
            *acknowledged.entry(title).or_default() |= updated;
            if acknowledged.len() == 200 {
                server.kill()?;
            }
        }
        senders.join_all().await;
        assert!(acknowledged.len() >= 200);
        server.restart().await?;

        let client = server.client();
        let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let rest = format!("items?select=title,qty&cursor={cursor}");
            let reply = project.rest_request(&client, (&key, None), Method::GET, &rest)?.send().await?;
            for row in reply.ok()?.as_array().context("no rows")? {
                let title = row["title"].as_str().context("no title")?.to_owned();
                found.entry(title).or_default().push(row["qty"].as_i64().context("no number")?);
            }
            match reply.header("next-cursor") {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        for (title, updated) in &acknowledged {
            let rows = found.get(title).with_context(|| format!("{title} was acknowledged but is lost"))?;
            assert!(!updated || rows.iter().all(|qty| *qty == 1), "{title} was updated: {rows:?}");
        }
        // Requests without a response are applied completely or not at all.
        for (title, rows) in &found {
            let number: usize = title.split_once('-').context("no number")?.1.parse()?;
            assert_eq!(rows.len(), if number.is_multiple_of(2) { 3 } else { 1 }, "only a part of {title} was inserted");
            assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "only a part of {title} was updated");
        }
        // The project keeps working.
        let row = json!({"id": "after"});
        project.rest_request(&client, (&key, None), Method::POST, "items")?.json(&row)?.send().await?.assert_status(201);
        Ok(())
    }

    async fn rows_that_are_long_are_exported_whole(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("items", &[("title", "text")]).await?;
        // A page of as many rows as usual is longer than a response may be; one of these is longer than all others.
        let title = |row: usize| char::from(b'a' + (row % 26) as u8).to_string().repeat(if row == 30 { 3_000_000 } else { 400_000 });
        let rows: String = (0..60).map(|row| format!("row-{row:02},{}\n", title(row))).collect();
        let import = owner.request(Method::POST, &project.console_path("/tables/items/import"));
        import.body("text/csv", format!("id,title\n{rows}"))?.send().await?.assert_status(200);
        let exported = owner.get(&project.console_path("/tables/items/export?format=json")).await?;
        assert_eq!(exported.header("content-range"), Some("0-59/60"));
        let exported = exported.ok()?;
        let exported = exported.as_array().context("no rows")?;
        assert_eq!(exported.len(), 60);
        for (index, row) in exported.iter().enumerate() {
            assert_eq!(row["id"], format!("row-{index:02}"));
            assert!(row["title"] == title(index), "{index}");
        }
        let file = owner.request(Method::GET, &project.console_path("/tables/items/export")).send().await?;
        file.assert_status(200);
        let file = std::str::from_utf8(&file.body)?;
        assert_eq!(file.lines().count(), 61);
        for (line, row) in file.lines().skip(1).zip(0..) {
            let values: Vec<&str> = line.split(',').collect();
            assert!(values[0] == format!("row-{row:02}") && values.contains(&title(row).as_str()), "{row}");
        }
        Ok(())
    }
}

/// Returns everything that a project shows to its owner and its users, except its keys.
async fn project_snapshot(owner: &Client, project: &BackendProject) -> Result<Value> {
    let mut shown = owner.get(&project.console_path("")).await?.ok()?;
    for table in shown["tables"].as_array_mut().context("no tables")? {
        // A copy is made at another time, which its tag says, too.
        (table["createdAt"], table["etag"]) = (Value::Null, Value::Null);
        let name = table["name"].as_str().context("no name")?.to_owned();
        let rows =
            owner.get(&project.console_path(&format!("/tables/{name}/export?format=json"))).await?.ok()?;
        table["rows"] = rows;
    }
    Ok(json!({"tables": shown["tables"], "settings": shown["settings"], "description": shown["description"]}))
}

async fn check_export_and_import(from: Database, to: Database) -> Result<()> {
    tests::on_server(Server::with(from).args(["--no-rate-limits"]), async |old: Server| {
        let (owner, _, project) = create_shop_project(&old).await?;
        let policy = json!({"sentences": ["Anyone may read id, title of every row.",
            "Signed-in people may insert and update rows where title is the signed-in person."]});
        project.set_policy("items", &policy).await?.assert_status(200);
        let public = json!({"kty": "EC", "crv": "P-256", "kid": "p", "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
            "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"});
        let mut both = identity_settings();
        let symmetric = both["keys"][0]["k"].as_str().context("no key")?.to_owned();
        both["keys"].as_array_mut().context("no keys")?.push(public);
        owner.patch(&project.console_path("/settings"), &json!({"identity": both, "maxBodyKb": 77})).await?.ok()?;
        // Members that only files of a newer version have.
        let code = json!({"name": "code", "type": "text", "default": "none"});
        owner.post(&project.console_path("/tables/items/columns"), &code).await?.ok()?;
        let unique = json!({"columns": ["due"], "unique": true});
        owner.post(&project.console_path("/tables/items/indexes"), &unique).await?.ok()?;
        let together = json!({"columns": ["title", "qty"], "unique": true});
        owner.post(&project.console_path("/tables/items/indexes"), &together).await?.ok()?;
        let rows: Vec<Value> = (0..1_200)
            .map(|n| match n % 3 {
                0 => json!({"id": format!("r{n:04}"), "title": format!("жол \"{n}\"\n"), "qty": i64::MAX - n, "price": 0.1 + f64::from(i32::try_from(n).unwrap_or(0)),
                    "meta": {"k": [n, null, "x"]}, "due": format!("2026-01-02T03:04:05.{n:06}Z")}),
                _ => json!({"id": format!("r{n:04}"), "title": null, "qty": null, "price": null, "meta": null, "due": null}),
            })
            .collect();
        let key = project.create_key("secret").await?;
        let client = old.client();
        for rows in rows.chunks(500) {
            let add = project.rest_request(&client, (&key, None), Method::POST, "items")?.json(&json!(rows))?;
            add.send().await?.assert_status(201);
        }
        let file = old.data_dir().join("shop.qala-rows");
        let path = file.to_str().context("no path")?;
        let printed = old.run_command("rows", &["export", &project.id, path]).await?;
        assert!(printed.contains("1200 rows") && printed.contains("keys are not"), "{printed}");
        assert!(printed.contains("Symmetric keys"), "{printed}");
        let text = std::fs::read_to_string(&file)?;
        assert!(!text.contains(&symmetric) && !text.contains("oct") && !text.contains("sealed"), "the file must have no symmetric key");
        assert!(!text.contains("qk_") && !text.contains(&project.id), "the file must have neither keys nor the id");
        // The file contains the rows, so only its owner may read it.
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file)?.permissions());
        assert_eq!(mode & 0o777, 0o600);
        ensure!(old.run_command("rows", &["export", &project.id, path]).await.is_err(), "an existing file must not be overwritten");

        tests::on_server(Server::with(to).args(["--no-rate-limits"]), async |new: Server| {
            let keeper = new.sign_in("keeper@example.test").await?;
            let workspace = keeper.create_workspace("Elsewhere").await?;
            let printed = new.run_command("rows", &["import", &workspace.id, "keeper@example.test", path]).await?;
            let id = printed.split_whitespace().next().context("no id")?.to_owned();
            assert!(id.starts_with("proj_") && id != project.id, "{printed}");
            let restored = BackendProject::from_id(&keeper, &id);
            let mut before = project_snapshot(&owner, &project).await?;
            let keys = before["settings"]["identity"]["keys"].as_array_mut().context("no keys")?;
            keys.retain(|key| key["kty"] != "oct");
            assert_eq!(project_snapshot(&keeper, &restored).await?, before);
            assert_eq!(keeper.get(&restored.console_path("/keys")).await?.ok()?, json!([]));
            // The restored project works like the old one.
            let path = restored.console_path("/tables/items/rows");
            let taken = keeper.post(&path, &json!({"due": "2026-01-02T03:04:05.000006Z"})).await?;
            taken.assert_error(409, "value_exists");
            let taken = keeper.post(&path, &json!({"title": "жол \"0\"\n", "qty": i64::MAX})).await?;
            taken.assert_error(409, "value_exists");
            let added = keeper.post(&path, &json!({"id": "zz"})).await?.ok()?;
            assert_eq!(added[0]["code"], "none");
            let visitor = restored.create_key("publishable").await?;
            let client = new.client();
            let list = restored.rest_request(&client, (&visitor, None), Method::GET, "items?limit=1&order=id")?;
            assert_eq!(list.send().await?.ok()?, json!([{"id": "r0000", "title": "жол \"0\"\n"}]));

            // A file that is incomplete or newer than the binary creates nothing.
            let projects = format!("/v1/workspaces/{}/backend/projects", workspace.id);
            let list = async || {
                let mut list = keeper.get(&projects).await?.ok()?;
                for project in list["items"].as_array_mut().context("no projects")? {
                    // A list has the last count where counting takes long.
                    project["rowCount"] = Value::Null;
                    project["rowCountAt"] = Value::Null;
                }
                anyhow::Ok(list)
            };
            let before = list().await?;
            let half: String = text.lines().take(700).map(|line| format!("{line}\n")).collect();
            let newer = text.replacen("\"version\":3", "\"version\":4", 1);
            let broken = text.replacen("\"qty\":null", "\"qty\":\"many\"", 1);
            for (bad, why) in [(half, "cut off"), (newer, "version 4"), (broken, "integer")] {
                let bad_file = new.data_dir().join("bad");
                std::fs::write(&bad_file, bad)?;
                let task = ["import", &workspace.id, "keeper@example.test", path_str(&bad_file)?];
                let refused = new.run_command("rows", &task).await.err().context("no refusal")?.to_string();
                assert!(refused.contains(why), "{refused}");
            }
            assert_eq!(list().await?, before);
            Ok(())
        })
        .await
    })
    .await
}

fn path_str(path: &Path) -> Result<&str> {
    path.to_str().context("no path")
}

#[tokio::test]
async fn a_project_moves_from_files_to_files() -> Result<()> {
    check_export_and_import(Database::Sqlite, Database::Sqlite).await
}

#[tokio::test]
async fn a_project_moves_from_files_to_postgresql() -> Result<()> {
    check_export_and_import(Database::Sqlite, Database::Postgres).await
}

#[tokio::test]
async fn a_project_moves_from_postgresql_to_files() -> Result<()> {
    check_export_and_import(Database::Postgres, Database::Sqlite).await
}

#[tokio::test]
async fn a_project_moves_from_postgresql_to_postgresql() -> Result<()> {
    check_export_and_import(Database::Postgres, Database::Postgres).await
}

/// Checks projects that are created before and after another shard was configured for new projects.
async fn check_new_projects_use_the_second_shard(mut server: Server, shard: &str) -> Result<()> {
    let (owner, workspace, old) = create_shop_project(&server).await?;
    server.set_arg("--rows-shards", &format!("1={shard}"));
    server.set_arg("--new-projects-shard", "1");
    assert!(server.stop().await?.success());
    server.restart().await?;
    let new = BackendProject::create(&owner, &workspace).await?;
    new.create_table("items", &[("title", "text")]).await?;
    for project in [&old, &new] {
        let key = project.create_key("secret").await?;
        let row = json!({"id": "a", "title": project.id});
        let client = server.client();
        let add = project.rest_request(&client, (&key, None), Method::POST, "items")?.json(&row)?;
        add.send().await?.assert_status(201);
        let list = project.rest_request(&client, (&key, None), Method::GET, "items?select=title")?;
        assert_eq!(list.send().await?.ok()?, json!([{"title": project.id}]));
    }
    // Without its shard a project is unavailable, but not deleted.
    server.set_arg("--rows-shards", &format!("2={shard}"));
    server.set_arg("--new-projects-shard", "0");
    assert!(server.stop().await?.success());
    server.restart().await?;
    let key = new.create_key("secret").await?;
    let list = new.rest_request(&server.client(), (&key, None), Method::GET, "items")?.send().await?;
    list.assert_error(503, "unavailable");
    server.set_arg("--rows-shards", &format!("1={shard}"));
    assert!(server.stop().await?.success());
    server.restart().await?;
    let list =
        new.rest_request(&server.client(), (&key, None), Method::GET, "items?select=id")?.send().await?;
    assert_eq!(list.ok()?, json!([{"id": "a"}]));
    Ok(())
}

#[tokio::test]
async fn new_projects_use_a_second_shard_of_files() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let options = Server::with(Database::Sqlite).args(["--no-rate-limits"]);
    tests::on_server(options, async |server: Server| {
        check_new_projects_use_the_second_shard(server, path_str(directory.path())?).await
    })
    .await?;
    let files = std::fs::read_dir(directory.path().join("1"))?.filter_map(Result::ok);
    assert!(files.map(|file| file.file_name()).any(|name| name.to_string_lossy().ends_with(".sqlite3")));
    Ok(())
}

#[tokio::test]
async fn new_projects_use_a_second_shard_on_another_database() -> Result<()> {
    tests::on_server(Server::with(Database::Postgres), async |other: Server| {
        let shard = other.database_url().context("no database")?.to_owned();
        let options = Server::with(Database::Postgres).args(["--no-rate-limits"]);
        tests::on_server(options, async |server: Server| {
            check_new_projects_use_the_second_shard(server, &shard).await
        })
        .await
    })
    .await
}
