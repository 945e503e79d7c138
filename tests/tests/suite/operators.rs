//! Operation of a server: master keys, locks, schemas of other versions, health, the first start, and invalid options.

use std::{fs, path::Path, process::Output, time::Duration};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};
use tests::{
    AutomationFixture, Database, Issuer, IssuerBehaviour, IssuerFailure, LoopbackListener, Pooler, Server,
    eventually, find_binary,
};
use tokio::{net::TcpListener, process::Command};

/// An app that does nothing.
const IDLE: &str = "export default { async scheduled() {} }";
/// A master key other than the harness's.
const OTHER_KEY: &str = "YW5vdGhlciBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE=";
/// The master key of the harness.
const HARNESS_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// Times that sealing anew is killed.
const KILLS: u64 = 3;

/// Runs the binary with no variable of this process except `PATH`, and with `environment`.
async fn run_qala(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> Result<Output> {
    let mut command = Command::new(find_binary()?);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QALA_")) {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).args(arguments).current_dir(folder).kill_on_drop(true);
    Ok(tokio::time::timeout(std::time::Duration::from_secs(60), command.output()).await??)
}

fn command_output(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Returns the options for a server's data.
fn data_options(server: &Server) -> Result<Vec<String>> {
    let folder = server.data_dir().to_str().context("no path")?;
    let mut options = vec!["--data-dir".to_owned(), folder.to_owned()];
    if let Some(url) = server.database_url() {
        options.extend(["--database-url".to_owned(), url.to_owned()]);
    }
    Ok(options)
}

async fn run_qala_on_data(
    server: &Server,
    command: &str,
    rest: &[&str],
    environment: &[(&str, &str)],
) -> Result<Output> {
    let data = data_options(server)?;
    let arguments: Vec<&str> =
        std::iter::once(command).chain(data.iter().map(String::as_str)).chain(rest.iter().copied()).collect();
    run_qala(&arguments, environment, server.data_dir()).await
}

/// Migrations, notifications and plans need a session that is the server's own.
#[tokio::test]
async fn a_control_plane_behind_a_transaction_pooler_does_not_start() -> Result<()> {
    tests::on_database(Database::Postgres, async |mut server| {
        let pooler = Pooler::start(server.database_url().context("no PostgreSQL")?).await?;
        server.stop().await?;
        let folder = server.data_dir().to_str().context("no path")?;
        let arguments =
            ["serve", "--data-dir", folder, "--database-url", pooler.url(), "--listen", "127.0.0.1:0"];
        let started = run_qala(&arguments, &[("QALA_MASTER_KEY", HARNESS_KEY)], server.data_dir()).await?;
        let text = command_output(&started);
        let says_what_to_do =
            text.contains("a transaction pooler") && text.contains("connect to PostgreSQL itself");
        assert!(!started.status.success() && says_what_to_do && !text.contains("is listening"), "{text}");
        Ok(())
    })
    .await
}

tests::on_both! {
    async fn a_server_with_another_master_key_does_not_start(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.stop().await?;
        let wrong = [("QALA_MASTER_KEY", OTHER_KEY)];
        let started = run_qala_on_data(&server, "serve", &["--listen", "127.0.0.1:0"], &wrong).await?;
        let text = command_output(&started);
        assert!(!started.status.success() && text.contains("--master-key: this is not the key of this database"), "{text}");
        assert!(!text.contains(OTHER_KEY) && !text.contains("is listening"), "{text}");
        let listen = ["--listen", "127.0.0.1:0"];
        let doctor = run_qala_on_data(&server, "doctor", &listen, &wrong).await?;
        assert!(!doctor.status.success() && command_output(&doctor).contains("FAIL  master key"), "{}", command_output(&doctor));
        let both = format!("{OTHER_KEY},{HARNESS_KEY}");
        let doctor = run_qala_on_data(&server, "doctor", &listen, &[("QALA_MASTER_KEY", &both)]).await?;
        assert!(command_output(&doctor).contains("ok    master key: 2 usable; the data can be opened"), "{}", command_output(&doctor));
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_master_key_is_rotated_and_the_old_one_removed(mut server: Server) -> Result<()> {
        let AutomationFixture { owner, automation, .. } = AutomationFixture::create(&server, IDLE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        webhook.signed_request("1")?.send().await?.assert_status(202);
        let both = format!("{OTHER_KEY},{HARNESS_KEY}");
        let rekey = async || run_qala_on_data(&server, "admin", &["rekey"], &[("QALA_MASTER_KEY", &both)]).await;
        let first = rekey().await?;
        assert!(first.status.success(), "{}", command_output(&first));
        assert!(command_output(&first).contains("can be removed") && !command_output(&first).contains("cannot be opened"), "{}", command_output(&first));
        let again = rekey().await?;
        assert!(command_output(&again).starts_with("Sealed 0 secrets"), "{}", command_output(&again));
        // A key that is not the database's cannot be used to seal anything.
        let stranger = [("QALA_MASTER_KEY", "c29tZWJvZHkgZWxzZSdzIGtleSwgb2YgMzIgYnl0ZXM=")];
        let refused = run_qala_on_data(&server, "admin", &["rekey"], &stranger).await?;
        assert!(!refused.status.success() && command_output(&refused).contains("not the key of this database"), "{}", command_output(&refused));

        server.set_env("QALA_MASTER_KEY", OTHER_KEY);
        server.restart().await?;
        owner.get("/v1/session").await?.assert_status(200);
        webhook.signed_request("2")?.send().await?.assert_status(202);
        Ok(())
    }

    async fn sealing_anew_goes_on_where_it_was_killed(mut server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let connectors = format!("/v1/workspaces/{workspace}/connectors/github");
        let mut connections = Vec::new();
        for number in 0..60 {
            let body = json!({"displayName": format!("GitHub {number}"), "secret": "a-secret-of-github"});
            connections.push(owner.post(&connectors, &body).await?.string_at("/id")?);
        }
        let both = format!("{OTHER_KEY},{HARNESS_KEY}");
        for round in 0..KILLS {
            // The process is killed when nobody waits for it any longer.
            let environment = [("QALA_MASTER_KEY", both.as_str())];
            let rekey = run_qala_on_data(&server, "admin", &["rekey"], &environment);
            let _killed = tokio::time::timeout(Duration::from_millis(20 + round * 61 % 300), rekey).await;
        }
        let end = run_qala_on_data(&server, "admin", &["rekey"], &[("QALA_MASTER_KEY", &both)]).await?;
        let text = command_output(&end);
        assert!(end.status.success() && text.contains("can be removed") && !text.contains("cannot be opened"), "{text}");

        // The secrets open with the new key alone: each one is sent, and rejected.
        let service = LoopbackListener::start("hello").await?;
        server.set_env("QALA_MASTER_KEY", OTHER_KEY);
        server.set_env("QALA_CONNECTOR_BASE", &format!("github={}", service.base_url()));
        server.restart().await?;
        let mut keys = std::collections::BTreeSet::new();
        for id in connections {
            let path = format!("/v1/workspaces/{workspace}/connections/{id}/test");
            let tested = owner.post(&path, &json!({})).await?.ok()?;
            assert_eq!(tested["reason"], Value::Null, "{tested}");
            assert_eq!((&tested["ok"], &tested["checked"]), (&json!(true), &json!("mock")), "{tested}");
            keys.insert(tested["connection"]["keyId"].to_string());
        }
        assert_eq!(keys.len(), 1, "{keys:?}");
        Ok(())
    }

    async fn an_older_binary_runs_on_a_schema_with_only_additions(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.execute_static_sql("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_future', 0)").await?;
        server.client().get("/readyz").await?.assert_status(200);
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        assert!(server.log().contains("m9999_future"), "the log must name the unknown migration");
        run_qala_on_data(&server, "migrate", &[], &[]).await.map(|output| assert!(output.status.success(), "{}", command_output(&output)))?;

        server.execute_static_sql("INSERT INTO breaking_migrations (version) VALUES ('m9999_future')").await?;
        let refused = server.restart().await.err().context("the server started on an unknown schema")?.to_string();
        assert!(refused.contains("a newer version of Qala") && refused.contains("m9999_future"), "{refused}");
        Ok(())
    }

    async fn a_server_that_cannot_write_is_not_ready(server: Server) -> Result<()> {
        server.client().get("/readyz").await?.assert_status(200);
        let health = ["--listen", server.base_url().strip_prefix("http://").context("no address")?];
        let arguments: Vec<&str> = std::iter::once("healthcheck").chain(health).collect();
        let ready = run_qala(&arguments, &[], server.data_dir()).await?;
        assert!(ready.status.success(), "{}", command_output(&ready));
        let (mut sqlite, mut postgres) = (None, None);
        match server.database_url() {
            Some(url) => {
                let connection = postgres.insert(PgConnection::connect(url).await?);
                connection.execute("BEGIN").await?;
                connection.execute("LOCK TABLE installation IN EXCLUSIVE MODE").await?;
            }
            None => {
                let url = format!("sqlite://{}", server.data_dir().join("qala.db").display());
                let connection = sqlite.insert(SqliteConnection::connect(&url).await?);
                connection.execute("BEGIN IMMEDIATE").await?;
            }
        }
        eventually("writes fail", async || {
            let reply = server.client().get("/readyz").await?;
            ensure!(reply.status == 503, "{reply}");
            Ok(())
        })
        .await?;
        server.client().get("/healthz").await?.assert_status(200);
        let ready = run_qala(&arguments, &[], server.data_dir()).await?;
        assert!(!ready.status.success() && command_output(&ready).contains("not ready"), "{}", command_output(&ready));
        drop((sqlite, postgres));
        eventually("writes succeed again", async || {
            let reply = server.client().get("/readyz").await?;
            ensure!(reply.status == 200, "{reply}");
            Ok(())
        })
        .await
    }

    async fn a_paused_server_accepts_calls_and_starts_no_runs(mut server: Server) -> Result<()> {
        let AutomationFixture { owner, automation, .. } = AutomationFixture::create(&server, IDLE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        server.set_env("QALA_PAUSED", "true");
        server.restart().await?;
        let run = webhook.signed_request("1")?.send().await?.string_at("/runId")?;
        let status = async || owner.get(&format!("/v1/runs/{run}")).await?.string_at("/status");
        // Neither another run by hand nor the next poll of the dispatcher starts it.
        let by_hand = owner.post(&format!("/v1/automations/{automation}/run"), &serde_json::json!({})).await?.string_at("/runId")?;
        assert_eq!(status().await?, "queued");
        assert!(server.log().contains("until `qala admin resume`"), "{}", server.log());
        server.run_admin(&["resume"]).await?;
        eventually("both runs continue", async || {
            ensure!(status().await? == "succeeded", "it is not running");
            let second = owner.get(&format!("/v1/runs/{by_hand}")).await?.string_at("/status")?;
            ensure!(second == "succeeded", "{second}");
            Ok(())
        })
        .await
    }
}

#[tokio::test]
async fn one_sqlite_directory_has_one_server() -> Result<()> {
    tests::on_database(Database::Sqlite, async |mut server| {
        let workspace = server.sign_in("aigerim@example.test").await?.create_workspace("Tulpar").await?;
        let second = async || {
            run_qala_on_data(
                &server,
                "serve",
                &["--listen", "127.0.0.1:0"],
                &[("QALA_MASTER_KEY", HARNESS_KEY)],
            )
            .await
        };
        let refused = second().await?;
        let process = server.process_id().context("the server is running")?;
        let expected = format!("another Qala (process {process}) serves");
        assert!(
            !refused.status.success() && command_output(&refused).contains(&expected),
            "{}",
            command_output(&refused)
        );
        // Commands that work beside a running server still do.
        server.run_admin(&["set-plan", &workspace.id, "team"]).await?;
        let doctor = run_qala_on_data(
            &server,
            "doctor",
            &["--listen", "127.0.0.1:0"],
            &[("QALA_MASTER_KEY", HARNESS_KEY)],
        )
        .await?;
        assert!(command_output(&doctor).contains("ok    database"), "{}", command_output(&doctor));
        // The kernel releases the lock however the process ends.
        server.kill()?;
        server.restart().await
    })
    .await
}

#[tokio::test]
async fn admin_tasks_create_no_database_in_a_mistyped_directory() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let absent = folder.path().join("mistyped");
    let path = absent.to_str().context("no path")?;
    let id = "ws_01h455vb4pex5vsknk084sn02q";
    let project = "proj_01h455vb4pex5vsknk084sn02q";
    for arguments in [
        vec!["admin", "--data-dir", path, "set-plan", id, "team"],
        vec!["admin", "--data-dir", path, "resume"],
        vec!["rows", "--data-dir", path, "export", project, "file"],
        vec!["backup", "--data-dir", path, "copy"],
    ] {
        let output = run_qala(&arguments, &[], folder.path()).await?;
        let text = command_output(&output);
        assert!(!output.status.success() && text.contains("--data-dir: there is no database at"), "{text}");
    }
    let free = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.to_string();
    let doctor = run_qala(&["doctor", "--data-dir", path, "--listen", &free], &[], folder.path()).await?;
    assert!(command_output(&doctor).contains("database: none yet"), "{}", command_output(&doctor));
    assert!(!absent.exists(), "a directory was created");
    assert_eq!(fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

#[tokio::test]
async fn the_doctor_reads_the_descriptions_of_issuers() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let issuer = Issuer::start().await?;
    let config = issuer.write_config(folder.path(), &[])?;
    let path = folder.path().join("data");
    let path = path.to_str().context("no path")?;
    let check = async |config: &str| -> Result<String> {
        let free = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.to_string();
        let arguments = ["doctor", "--data-dir", path, "--listen", &free, "--oidc-config", config];
        let text = command_output(&run_qala(&arguments, &[], folder.path()).await?);
        Ok(text.lines().find(|line| line.contains("issuers: ")).context(text.clone())?.to_owned())
    };
    assert_eq!(check(&config).await?, "ok    issuers: company can be used for sign-in");
    for (changes, says) in [
        (json!({"issuer": format!("{}/", issuer.base_url())}), "differ by the slash"),
        (json!({"token_endpoint": null}), "`token_endpoint` is missing"),
        (json!({"jwks_uri": "nonsense"}), "`jwks_uri` is not a URL"),
    ] {
        issuer.set_behaviour(IssuerBehaviour { metadata_overrides: changes, ..IssuerBehaviour::default() });
        let line = check(&config).await?;
        assert!(line.starts_with("FAIL  issuers: --oidc-config: company: ") && line.contains(says), "{line}");
    }
    issuer.set_behaviour(IssuerBehaviour::default());
    issuer.set_failure(Some(("/keys", IssuerFailure::WebPage)));
    let line = check(&config).await?;
    assert!(
        line.contains(&format!("the body is not JSON (key set at {}/keys)", issuer.base_url())),
        "{line}"
    );
    issuer.set_failure(None);
    let closed = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    let gone = fs::read_to_string(&config)?.replace(issuer.base_url(), &format!("http://{closed}"));
    fs::write(&config, gone)?;
    let line = check(&config).await?;
    assert!(line.starts_with("FAIL  issuers: --oidc-config: company: "), "{line}");
    Ok(())
}

#[tokio::test]
async fn invalid_options_are_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("empty");
    fs::write(&file, "\n")?;
    let file = file.to_str().context("no path")?;
    let provider =
        "[[provider]]\nname = \"company\"\nissuer = \"https://id.example.com\"\nclient_id = \"qala\"\n";
    let (mode, scopes) = (folder.path().join("mode.toml"), folder.path().join("scopes.toml"));
    fs::write(&mode, format!("{provider}response_mode = \"fragment\"\n"))?;
    fs::write(&scopes, format!("{provider}scopes = [\"openid email\"]\n"))?;
    let (mode, scopes) = (mode.to_str().context("no path")?, scopes.to_str().context("no path")?);
    for (arguments, environment, expected) in [
        (
            vec!["serve", "--oidc-config", mode],
            vec![],
            "--oidc-config: the response_mode of company must be query or form_post",
        ),
        (
            vec!["serve", "--oidc-config", scopes],
            vec![],
            "--oidc-config: the scopes of company must be a list",
        ),
        (
            vec!["serve"],
            vec![("QALA_WORKER", "4")],
            "QALA_WORKER: unknown variable; did you mean QALA_WORKERS?",
        ),
        (vec!["doctor"], vec![("QALA_METRICS_LISTEN", "x")], "QALA_METRICS_LISTEN: unknown variable"),
        (vec!["serve"], vec![("QALA_LOG", "nonsense=[")], "QALA_LOG: nonsense=["),
        (vec!["serve", "--public-url", "qala.example.com"], vec![], "must start with https://"),
        (vec!["serve", "--apps-domain", "*.apps.example.com"], vec![], "--apps-domain"),
        (vec!["serve", "--mail-from", "not an address"], vec![], "--mail-from"),
        (vec!["serve", "--master-key-file", file], vec![], "--master-key-file"),
        (vec!["serve", "--master-key", "x"], vec![("QALA_MASTER_KEY_FILE", file)], "cannot be used with"),
        (vec!["serve", "--database-url", "postgres://u:hunter2@127.0.0.1:1/d"], vec![], "127.0.0.1:1"),
        (vec!["serve", "--database-url", "sqlite:///no/such/folder/qala.db"], vec![], "/no/such/folder"),
    ] {
        let listen = ["--listen", "127.0.0.1:0"];
        let arguments: Vec<&str> = arguments.into_iter().chain(listen).collect();
        let output = run_qala(&arguments, &environment, folder.path()).await?;
        let text = command_output(&output);
        assert!(
            !output.status.success() && text.contains(expected),
            "{arguments:?} {environment:?}:\n{text}"
        );
        assert!(!text.contains("hunter2") && !text.contains("is listening"), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_first_start_is_quiet() -> Result<()> {
    // The harness sets a log level; this is the default.
    let options = Server::with(Database::Sqlite).without_schema().env("QALA_LOG", "");
    tests::on_server(options, async |server| {
        // Output and log are two streams, whose order is undefined.
        let log = eventually("everything is printed and logged", async || {
            let log = server.log();
            ensure!(
                log.contains("Start a run") && log.contains("\"message\":\"Qala is listening\""),
                "{log}"
            );
            Ok(log)
        })
        .await?;
        let migrated = log.lines().filter(|line| line.contains("migration")).count();
        assert_eq!(migrated, 1, "migrations must be summarised in one line:\n{log}");
        // When it is not on a terminal, it logs only that it listens.
        let logged = log.lines().filter(|line| line.starts_with('{')).count();
        assert_eq!(logged, 2, "{log}");
        let printed: Vec<&str> = log.lines().filter(|line| !line.starts_with('{')).collect();
        // A development build says so in a line of its own.
        let development =
            printed.iter().filter(|line| line.starts_with("This is a development build")).count();
        assert_eq!(printed.len() - development, 3, "{printed:?}");
        assert!(development <= 1, "{printed:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn secrets_are_read_from_files() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("key");
    fs::write(&path, format!("{HARNESS_KEY}\n"))?;
    let key_file = [("QALA_MASTER_KEY_FILE", path.to_str().context("no path")?)];
    let listen = ["doctor", "--listen", "127.0.0.1:0", "--public-url", "https://qala.example.com"];
    let output = run_qala(&listen, &key_file, folder.path()).await?;
    assert!(command_output(&output).contains("ok    master key: 1 usable"), "{}", command_output(&output));
    Ok(())
}

/// Runs the binary where no user namespace can be created: in one that allows none, or on a machine that does not.
async fn run_qala_without_user_namespaces(arguments: &[&str], folder: &Path) -> Result<Output> {
    const SCRIPT: &str = "if unshare --user --map-root-user true; then \
        exec unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"' sh \"$@\"; \
        else exec \"$@\"; fi";
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "sh"]).arg(find_binary()?).args(arguments);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QALA_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).kill_on_drop(true);
    Ok(tokio::time::timeout(std::time::Duration::from_secs(60), command.output()).await??)
}

#[tokio::test]
async fn a_required_sandbox_layer_that_is_missing_stops_the_start() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let options = ["--data-dir", "data", "--listen", "127.0.0.1:0"];
    let serve = [&["serve", "--require-sandbox"], &options[..]].concat();
    let refused = run_qala_without_user_namespaces(&serve, folder.path()).await?;
    assert!(!refused.status.success(), "{}", command_output(&refused));
    for part in ["--require-sandbox", "user namespace ("] {
        assert!(command_output(&refused).contains(part), "{part}: {}", command_output(&refused));
    }
    assert!(!command_output(&refused).contains("Qala is listening"), "{}", command_output(&refused));

    // By default the doctor only reports missing layers; with the option they are a failure.
    let compiled = "ok    sandbox: a worker process compiled an app; missing layers: user namespace (";
    for (required, expected) in [(false, compiled), (true, "FAIL  sandbox")] {
        let mut arguments = vec!["doctor"];
        arguments.extend(required.then_some("--require-sandbox"));
        arguments.extend(options);
        let doctor = run_qala_without_user_namespaces(&arguments, folder.path()).await?;
        assert!(command_output(&doctor).contains(expected), "{expected}: {}", command_output(&doctor));
        assert!(command_output(&doctor).contains("user namespace ("), "{}", command_output(&doctor));
    }
    Ok(())
}

tests::on_both! {
    args: ["--default-plan", "team"];

    async fn the_plan_of_a_workspace_decides_how_long_its_runs_are_kept(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let token = owner.create_token(&workspace, &["read"]).await?;
        for caller in [&owner, &owner.with_bearer(&token)] {
            let retention = caller.get(&format!("/v1/workspaces/{workspace}/retention")).await?.ok()?;
            assert_eq!(retention, serde_json::json!({"runs": 90}));
        }
        Ok(())
    }
}
