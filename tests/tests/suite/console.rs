//! The web console in Chromium: what people do in it, on both databases, as each role. The journeys are JavaScript, beside the
//! console's own (`crates/console/web/e2e`), because the library that drives the browser is.

use std::{path::Path, process::Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tests::{Database, Issuer, MailServer, Server, on_server};
use tokio::process::Command;

/// Journeys that run at the same time. Most of their time is the browser's, so more would only make each slower.
const AT_ONCE: &str = "2";

tests::on_both! {
    args: ["--no-rate-limits"];

    /// The server's own pages load the console too, and stay as they are without JavaScript.
    async fn documents_load_the_console_under_a_strict_policy(server: Server) -> Result<()> {
        let visitor = server.client();
        for path in ["/", "/welcome", "/account", "/account/sessions", "/w/ws_x", "/w/ws_x/runs/run_x", "/sign-in"] {
            let reply = visitor.get(path).await?;
            let document = String::from_utf8_lossy(&reply.assert_status(200).body).into_owned();
            let policy = reply.header("content-security-policy").unwrap_or_default();
            // The scripts of apps are at the same origin.
            let scripts = format!("script-src {}/console/;", visitor.origin());
            for part in ["default-src 'none'", &scripts, "require-trusted-types-for 'script'", "trusted-types 'none'"] {
                assert!(policy.contains(part), "{path}: {policy}");
            }
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            let script = document.split("<script type=\"module\" src=\"").nth(1).and_then(|rest| rest.split('"').next());
            let script = script.with_context(|| format!("{path} does not load the console"))?;
            let file = visitor.get(script).await?;
            assert_eq!(file.assert_status(200).header("content-type"), Some("text/javascript; charset=utf-8"));
            assert!(file.header("cache-control").is_some_and(|value| value.contains("immutable")), "{file}");
        }
        visitor.get("/console/nothing.js").await?.assert_status(404);
        Ok(())
    }

    async fn anybody_may_ask_how_to_sign_in(server: Server) -> Result<()> {
        let methods = server.client().get("/v1/auth/methods").await?.ok()?;
        assert_eq!(methods, json!({"email": true, "passkeys": false, "development": true, "oidc": []}));
        Ok(())
    }
}

#[tokio::test]
async fn journeys_work_on_sqlite_without_an_error_a_violation_or_a_request_elsewhere() -> Result<()> {
    run_journeys(Database::Sqlite, ["--skip", "accessibility: "]).await
}

#[tokio::test]
async fn journeys_work_on_postgres_without_an_error_a_violation_or_a_request_elsewhere() -> Result<()> {
    run_journeys(Database::Postgres, ["--skip", "accessibility: "]).await
}

/// The pages are the same on both databases.
#[tokio::test]
async fn every_page_is_accessible_in_both_themes_and_fits_a_phone() -> Result<()> {
    run_journeys(Database::Sqlite, ["--only", "accessibility: "]).await
}

/// Runs journeys against a server on which people can sign in in every way: by mail, with a passkey and with an issuer.
async fn run_journeys(database: Database, chosen: [&str; 2]) -> Result<()> {
    let (issuer, mail_server, folder) =
        (Issuer::start().await?, MailServer::start().await?, tempfile::tempdir()?);
    let config = issuer.write_config(folder.path(), &[])?;
    let smtp_url = mail_server.url();
    let options = Server::with(database).args(["--no-rate-limits", "--oidc-config", &config]);
    let options = options.args(["--smtp-url", &smtp_url, "--mail-from", "qala@mail.example"]);
    on_server(options, async |mut server| {
        // Passkeys need a host name, and the port is known only now.
        let base = server.base_url().replace("127.0.0.1", "localhost");
        server.set_arg("--public-url", &base);
        server.restart().await?;
        let maildir = mail_server.maildir();
        let mut journeys = Command::new("node");
        journeys.args([
            "e2e/run.mjs",
            "--base",
            &base,
            "--at-once",
            AT_ONCE,
            "--issuer",
            issuer.issuer_url(),
        ]);
        journeys.arg("--maildir").arg(maildir).args(chosen);
        expect_success(journeys).await
    })
    .await
}

async fn expect_success(mut journeys: Command) -> Result<()> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/console/web");
    journeys.current_dir(web).stdin(Stdio::null()).kill_on_drop(true);
    let output = journeys.output().await.context("the journeys need Node.js")?;
    if !output.status.success() {
        let (out, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("the journeys ended with {}:\n{out}{errors}", output.status);
    }
    Ok(())
}
