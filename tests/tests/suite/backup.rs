//! Backups of a running server, and servers that run on a backup.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tests::{BackendProject, Client, Database, Server, Webhook, eventually};
use tokio::task::spawn_blocking;

fn command_output(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn path_str(path: &Path) -> Result<&str> {
    path.to_str().context("no path")
}

/// A workspace with an automation and a project, to which tests write.
struct Writers {
    owner: Client,
    webhook: Webhook,
    project: BackendProject,
    key: String,
}

impl Writers {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        project.create_table("orders", &[("title", "text")]).await?;
        let key = project.create_key("secret").await?;
        // The sample app adds a note for each run to the sample project.
        let automation = owner.create_automation(&workspace.id, &workspace.sample_app, "webhook", 0).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        Ok(Self { owner, webhook, project, key })
    }

    async fn call(&self, number: usize) -> Result<String> {
        self.webhook.send(&json!({"title": format!("call {number}")})).await?.string_at("/runId")
    }

    async fn insert(&self, number: usize) -> Result<String> {
        let id = format!("order-{number}");
        let row = json!({"id": id, "title": "x"});
        let client = self.owner.signed_out();
        let added = self
            .project
            .rest_request(&client, (&self.key, None), Method::POST, "orders")?
            .json(&row)?
            .send()
            .await?;
        added.ok().map(|_| id)
    }
}

/// Ids of the writes that were acknowledged so far.
type AcknowledgedIds = Arc<std::sync::Mutex<Vec<String>>>;

/// Writes sequentially until it is stopped. Fails if a write is rejected.
async fn write_until_stopped(
    writers: Arc<Writers>,
    calls: bool,
    answered: AcknowledgedIds,
    stop: Arc<AtomicBool>,
) -> Result<()> {
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = if calls { writers.call(number).await? } else { writers.insert(number).await? };
        answered.lock().map_err(|_| anyhow::anyhow!("poisoned"))?.push(id);
    }
    Ok(())
}

fn snapshot_ids(answered: &AcknowledgedIds) -> Result<Vec<String>> {
    Ok(answered.lock().map_err(|_| anyhow::anyhow!("poisoned"))?.clone())
}

/// Lists all files below a directory.
fn list_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(list_files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

async fn open_database(path: &Path) -> Result<SqliteConnection> {
    Ok(SqliteConnection::connect(&format!("sqlite://{}", path.display())).await?)
}

async fn check_database_file(path: &Path) -> Result<()> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o777;
    ensure!(mode == 0o600, "{} has the mode {mode:o}", path.display());
    let mut file = open_database(path).await?;
    let found: String = sqlx::query("PRAGMA integrity_check").fetch_one(&mut file).await?.try_get(0)?;
    ensure!(found == "ok", "{}: {found}", path.display());
    Ok(file.close().await?)
}

/// Counts the runs that succeeded and the notes of their app in a backup.
async fn count_runs_and_notes(backup: &Path) -> Result<(i64, i64)> {
    let count = async |path: &Path, statement: &'static str| -> Result<i64> {
        let mut file = open_database(path).await?;
        let count = sqlx::query(statement).fetch_one(&mut file).await?.try_get(0)?;
        file.close().await?;
        Ok(count)
    };
    let runs = count(&backup.join("qala.db"), "SELECT count(*) FROM runs WHERE status = 'succeeded'").await?;
    let mut notes = 0;
    for path in list_files(&backup.join("rows"))? {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'notes'";
        if count(&path, tables).await? > 0 {
            notes += count(&path, "SELECT count(*) FROM notes").await?;
        }
    }
    Ok((runs, notes))
}

#[tokio::test]
async fn a_backup_under_load_has_everything_acknowledged_before_it() -> Result<()> {
    let options = Server::with(Database::Sqlite).arg("--no-rate-limits");
    tests::on_server(options.clone(), async |server| {
        let writers = Arc::new(Writers::create(&server).await?);
        let (runs, orders) = (AcknowledgedIds::default(), AcknowledgedIds::default());
        let stop = Arc::new(AtomicBool::new(false));
        let spawn = |calls, answered: &AcknowledgedIds| {
            tokio::spawn(write_until_stopped(
                Arc::clone(&writers),
                calls,
                Arc::clone(answered),
                Arc::clone(&stop),
            ))
        };
        let writing = [spawn(true, &runs), spawn(false, &orders)];
        eventually("both writers write", async || {
            ensure!(snapshot_ids(&runs)?.len() > 30 && snapshot_ids(&orders)?.len() > 30, "not yet");
            Ok(())
        })
        .await?;

        let folder = tempfile::tempdir()?;
        let (runs_before, orders_before) = (snapshot_ids(&runs)?, snapshot_ids(&orders)?);
        // The directory exists and is empty.
        let done = server.run_command("backup", &[path_str(folder.path())?]).await?;
        stop.store(true, Ordering::Relaxed);
        for writer in writing {
            writer.await?.context("the server rejected a write during the backup")?;
        }
        assert!(done.contains("4 databases") && done.contains("The master key is not included"), "{done}");
        for secret in ["MDEyMzQ1", "qk_sec_"] {
            assert!(!done.contains(secret), "{done}");
        }

        // The control plane, the sample project of the development login, and two projects of this test.
        let copied = list_files(folder.path())?;
        assert_eq!(copied.len(), 4, "only the databases must be copied: {copied:?}");
        for path in &copied {
            check_database_file(path).await?;
        }
        let (ended, notes) = count_runs_and_notes(folder.path()).await?;
        assert!(notes >= ended, "{ended} runs ended, and {notes} notes are there");

        let copy = options.clone().arg("--paused").start_on_existing_data(folder).await?;
        copy.client().get("/readyz").await?.assert_status(200);
        let owner = copy.sign_in("owner@example.test").await?;
        for run in runs_before {
            owner.get(&format!("/v1/runs/{run}")).await?.assert_status(200);
        }
        let key = (writers.key.as_str(), None);
        let stranger = owner.signed_out();
        let listed = writers.project.rest_request(
            &stranger,
            key,
            Method::GET,
            "orders?select=id&limit=1000&order=created_at",
        )?;
        let listed = listed.send().await?.ok()?;
        let there: Vec<&str> =
            listed.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str()).collect();
        for order in orders_before.iter().take(1000) {
            assert!(there.contains(&order.as_str()), "{order} is not in the backup");
        }
        // It resumes where it was.
        copy.run_admin(&["resume"]).await?;
        writers
            .webhook
            .with_base_url(copy.base_url())
            .send(&json!({"title": "after"}))
            .await?
            .assert_status(202);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_backup_of_a_stopped_server_is_complete_too() -> Result<()> {
    tests::on_database(Database::Sqlite, async |mut server| {
        let writers = Writers::create(&server).await?;
        writers.insert(1).await?;
        // The last writes are in the WAL files beside the databases.
        server.kill()?;
        let folder = tempfile::tempdir()?;
        let backup = folder.path().join("new");
        server.run_command("backup", &[path_str(&backup)?]).await?;
        assert_eq!(fs::metadata(&backup)?.permissions().mode() & 0o777, 0o700);
        let mut orders = 0;
        for path in list_files(&backup.join("rows"))? {
            check_database_file(&path).await?;
            let mut file = open_database(&path).await?;
            let found = sqlx::query("SELECT id FROM orders").fetch_all(&mut file).await;
            orders += found.map_or(0, |rows| rows.len());
            file.close().await?;
        }
        assert_eq!(orders, 1);
        server.restart().await?;
        writers.insert(2).await.map(drop)
    })
    .await
}

#[tokio::test]
async fn a_backup_that_fails_leaves_nothing() -> Result<()> {
    tests::on_database(Database::Sqlite, async |server| {
        Writers::create(&server).await?;
        let folder = tempfile::tempdir()?;
        let named = |name: &str| folder.path().join(name);
        fs::write(named("file"), "mine")?;
        fs::create_dir(named("full"))?;
        fs::write(named("full/file"), "mine")?;
        fs::create_dir_all(named("unfinished/.partial"))?;
        fs::create_dir(named("empty"))?;
        for (name, expected) in [
            ("file", "is not a directory"),
            ("full", "is not empty: name a directory that is new or empty"),
            ("unfinished", "holds a backup that was never finished"),
            ("no/such/parent", "cannot be written: No such file or directory"),
        ] {
            let refused = server.try_run_command("backup", &[path_str(&named(name))?]).await?;
            let text = command_output(&refused);
            assert!(!refused.status.success() && text.contains(expected), "{name}: {text}");
        }
        assert_eq!(fs::read(named("file"))?, b"mine");
        assert_eq!(fs::read_dir(named("full"))?.count(), 1);

        // A full disk: the limit is half a megabyte, and the control plane's database is larger.
        for name in ["empty", "new"] {
            let full = run_backup_with_file_size_limit(&server, &named(name)).await?;
            let text = command_output(&full);
            assert!(!full.status.success() && text.contains("cannot be copied to"), "{text}");
        }
        assert_eq!(fs::read_dir(named("empty"))?.count(), 0, "nothing partial must remain");
        assert!(!named("new").exists());
        server.run_command("backup", &[path_str(&named("empty"))?]).await?;
        Ok(())
    })
    .await
}

/// Creates a backup with a process whose files may not grow beyond 512 KiB.
async fn run_backup_with_file_size_limit(server: &Server, directory: &Path) -> Result<Output> {
    let limited = "ulimit -f 512; trap '' XFSZ; exec \"$@\"";
    let mut command = std::process::Command::new("bash");
    command.args(["-c", limited, "bash"]).arg(server.binary()?).arg("backup");
    command.arg("--data-dir").arg(server.data_dir()).arg(directory);
    Ok(spawn_blocking(move || command.output()).await??)
}

#[tokio::test]
async fn on_postgresql_the_backup_command_refers_to_its_own_tools() -> Result<()> {
    tests::on_database(Database::Postgres, async |server| {
        let folder = tempfile::tempdir()?;
        let backup = folder.path().join("new");
        let refused = server.try_run_command("backup", &[path_str(&backup)?]).await?;
        assert_eq!(refused.status.code(), Some(2), "must be a usage error");
        assert!(command_output(&refused).contains("use pg_dump"), "{}", command_output(&refused));
        assert!(!backup.exists());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_version_is_printed_for_programs() -> Result<()> {
    tests::on_database(Database::Sqlite, async |server| {
        let run = async |arguments: &'static [&'static str]| -> Result<String> {
            let mut command = std::process::Command::new(server.binary()?);
            command.args(arguments);
            Ok(String::from_utf8(spawn_blocking(move || command.output()).await??.stdout)?)
        };
        let build: Value = serde_json::from_str(&run(&["version", "--json"]).await?)?;
        let version = build["version"].as_str().context("no version")?;
        assert_eq!(run(&["--version"]).await?, format!("qala {version}\n"));
        assert!(build["target"].as_str().is_some_and(|target| target.contains("linux")), "{build}");
        assert!(build.get("commit").is_some(), "`commit` must be present, and null if unknown: {build}");
        let mut database = open_database(&server.data_dir().join("qala.db")).await?;
        let newest = "SELECT max(version) FROM seaql_migrations";
        let schema: String = sqlx::query(newest).fetch_one(&mut database).await?.try_get(0)?;
        assert_eq!(build["schema"], schema);
        assert!(run(&["version"]).await?.starts_with(&format!("qala {version}, database schema {schema}")));
        Ok(())
    })
    .await
}
