//! Every kind of authentication, against a service that sends back all that it gets: no secret of a connection or of an
//! app is in an answer, a log, a trace, the audit log, the database or the memory of the app's process.

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use memchr::memmem;
use serde_json::{Value, json};
use tests::{
    Client, Database, ECHO_HOST, ECHO_TOKEN, EchoService, MemorySnapshot, Server, ServerOptions, eventually,
};

/// A private key that the tests of the gate have, too.
const RSA_KEY: &str = include_str!("../../../crates/adapter-gate/tests/outbound/keys/rsa_pkcs8.pem");

/// A text that the code puts together, so that it is in the memory of its process and nowhere else.
const MARK: &str = "mark-0123456789-in-memory";

/// Calls every connection, and the service itself with a secret in a header; then waits for the service.
const CODE: &str = r#"
export default { async scheduled(event, env) {
  const mark = ["mark", "0123456789", "in", "memory"].join("-");
  const forms = ["plain", "base64", "gzip", "headers"];
  const answers = [];
  const call = async (name, fetch) => {
    for (const form of forms) {
      const response = await fetch(`/x?form=${form}`);
      const text = await response.text();
      answers.push(text);
      console.log(name, form, response.status, JSON.stringify([...response.headers]), text);
    }
  };
  for (const name of Object.keys(env.connections)) {
    const method = name === "incoming_webhook" ? "POST" : "GET";
    await call(name, (path) => env.connections[name].fetch(path, { method }));
  }
  const { base } = event.data;
  const headers = { authorization: `Bearer ${env.secrets.HEADER}`, "x-api-key": String(env.secrets.HEADER) };
  await call("header", (path) => fetch(base + path, { headers }));
  await env.connections.plain.fetch("/hold");
  console.log(mark.length, answers.length, env.secrets.HEADER, env.secrets.UNUSED);
  throw new Error(`the end: ${answers.join("").slice(-1000)}`);
} };"#;

fn options(database: Database, echo: &EchoService) -> Result<ServerOptions> {
    let (telegram, webhook) = (
        format!("telegram={}/bot{{secret}}", echo.plain_url()),
        format!("incoming_webhook={}", echo.plain_url()),
    );
    let allowed = echo.allowed_hosts();
    let arguments = ["--allowed-hosts", &allowed, "--connector-base", &format!("{telegram},{webhook}")];
    let options = Server::with(database).args(arguments).arg("--no-rate-limits");
    Ok(options.env("SSL_CERT_FILE", echo.authority()?).env("QALA_LOG", "debug"))
}

/// Connections by their names in the code, with the secret of each.
fn connections(base: &str) -> Vec<(&'static str, Value, String)> {
    let own = |name: &str| format!("secret-{name}-~/+0123456789abcdef");
    let service_account = json!({
        "type": "service_account", "client_email": "robot@project.iam.example.com", "private_key": RSA_KEY,
        "token_uri": format!("{base}/token"),
    });
    let token_url = format!("{base}/token");
    vec![
        ("plain", json!({"type": "none"}), String::new()),
        ("bearer", json!({"type": "bearer"}), own("bearer")),
        ("basic", json!({"type": "basic", "username": "robot"}), own("basic")),
        ("header_key", json!({"type": "api_key", "in": "header", "name": "x-own-key"}), own("header-key")),
        ("query_key", json!({"type": "api_key", "in": "query", "name": "key"}), own("query-key")),
        (
            "headers",
            json!({"type": "headers", "names": ["x-a", "x-b"]}),
            json!({"x-a": own("headers-a"), "x-b": own("headers-b")}).to_string(),
        ),
        (
            "client",
            json!({"type": "oauth2_client_credentials", "tokenUrl": token_url, "clientId": "robot", "scopes": [], "style": "body"}),
            own("client"),
        ),
        (
            "account",
            json!({"type": "service_account", "tokenUrl": token_url, "scopes": ["read"]}),
            service_account.to_string(),
        ),
    ]
}

/// Creates the connections; returns their entries in a manifest, and every secret.
async fn connect(owner: &Client, workspace: &str, echo: &EchoService) -> Result<(Vec<Value>, Vec<String>)> {
    let connectors = format!("/v1/workspaces/{workspace}/connectors");
    let (mut entries, mut secrets) = (Vec::new(), vec![ECHO_TOKEN.to_owned()]);
    for (name, auth, secret) in connections(&echo.url()) {
        let mut body = json!({
            "displayName": name, "baseUrl": echo.url(), "auth": auth, "methods": ["GET"], "secret": secret,
        });
        if secret.is_empty() {
            body.as_object_mut().map(|members| members.remove("secret"));
        }
        let made = owner.post(&format!("{connectors}/http"), &body).await?.string_at("/id")?;
        entries.push(json!({"name": name, "connectionId": made}));
        match serde_json::from_str::<Value>(&secret) {
            Ok(parts) => {
                secrets
                    .extend(["x-a", "x-b"].iter().filter_map(|part| parts[part].as_str()).map(str::to_owned));
            }
            Err(_) if secret.is_empty() => {}
            Err(_) => secrets.push(secret),
        }
    }
    // A line of the key: all of it is never sent.
    secrets.push(RSA_KEY.lines().nth(3).context("no key")?.to_owned());
    let bot = "72010042:AAE-path_token-0123456789abcdef";
    let hook = "https://hooks.example.com/services/T0123456789abcdef/B0123456789abcdefghijk";
    for (connector, secret) in [("telegram", bot), ("incoming_webhook", hook)] {
        let body = json!({"displayName": connector, "secret": secret});
        let made = owner.post(&format!("{connectors}/{connector}"), &body).await?.string_at("/id")?;
        entries.push(json!({"name": connector, "connectionId": made}));
    }
    secrets.extend([bot.to_owned(), "B0123456789abcdefghijk".to_owned()]);
    Ok((entries, secrets))
}

/// Returns the forms in which a secret is searched for: as it is, in hexadecimal, and in base64 at each offset.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = (0..3).map(|offset| {
        let padded = STANDARD.encode(format!("{}{secret}", &"xxx"[..offset]));
        // The characters at both ends depend on what stands beside the secret.
        padded.as_bytes()[4..padded.len() - 4].to_vec()
    });
    [secret.as_bytes().to_vec(), hex.into_bytes()].into_iter().chain(base64).collect()
}

fn assert_absent(place: &str, bytes: &[u8], secrets: &[String]) {
    for secret in secrets {
        for form in forms(secret) {
            let is_there = memmem::find(bytes, &form).is_some();
            assert!(!is_there, "{place} has {secret} as {}", String::from_utf8_lossy(&form));
        }
    }
}

#[tokio::test]
async fn no_secret_comes_back_from_a_service_that_echoes() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        tests::on_server(options(database, &echo)?, async |server| check(&server, &echo).await).await?;
    }
    Ok(())
}

async fn check(server: &Server, echo: &EchoService) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let (entries, mut secrets) = connect(&owner, &workspace, echo).await?;
    let app = owner.create_app(&workspace, "export default { async scheduled() {} }").await?;
    let permissions = json!({
        "connectors": entries,
        "secrets": [{"name": "HEADER", "uses": ["header"]}, {"name": "UNUSED"}],
        "egress": [{"host": ECHO_HOST}],
    });
    let manifest = json!({
        "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
        "triggers": [{"type": "manual"}], "permissions": permissions,
    });
    let version = json!({"files": {"main.js": CODE}, "manifest": manifest});
    owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
    for name in ["HEADER", "UNUSED"] {
        let value = format!("app-secret-{name}-~/+0123456789abcdef");
        let body = json!({"value": value, "hosts": [ECHO_HOST]});
        owner.put(&format!("/v1/apps/{app}/secrets/{name}"), &body).await?.ok()?;
        secrets.push(value);
    }
    let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
    let run = owner.start_run(&automation, json!({"base": echo.url()})).await?;

    // While the code waits, its process is searched; its own text is found, so the search can find something.
    tokio::select! {
        () = echo.wait_for_hold() => {}
        ended = owner.wait_for_run(&run) => anyhow::bail!("the run ended: {}", ended?),
    }
    let texts: Vec<Vec<u8>> = secrets.iter().flat_map(|secret| forms(secret)).chain([MARK.into()]).collect();
    let memory = MemorySnapshot::of_children(server.process_id().context("no process")?)?;
    // The service is on this thread, so the run ends before the search, which takes long.
    echo.release();
    let ended = owner.wait_for_run(&run).await?;
    for text in &texts {
        let is_mark = text == MARK.as_bytes();
        let found = memory.contains(text);
        assert_eq!(found, is_mark, "{} in the memory of the app's process", String::from_utf8_lossy(text));
    }
    assert!(ended["errorMessage"].to_string().contains("the end"), "{ended}");

    // The service got every secret that is sent as it is.
    let received = echo.take_received().join("\n");
    let basic = STANDARD.encode(format!("robot:{}", secrets[2]));
    for sent in secrets.iter().filter(|secret| !secret.contains("-basic-") && !secret.contains("UNUSED")) {
        let in_query = sent.replace('/', "%2F").replace('+', "%2B");
        let in_form = in_query.replace('~', "%7E");
        let is_key = RSA_KEY.contains(sent.as_str());
        assert!(
            is_key || received.contains(sent) || received.contains(&in_query) || received.contains(&in_form),
            "the service never got {sent}"
        );
    }
    assert!(received.contains(&basic), "the service never got the password");

    let mut seen = ended.to_string();
    for line in owner.app_log(&app, None).await? {
        seen += &line.message;
        seen.push('\n');
    }
    assert!(seen.matches("[redacted]").count() > 30, "{seen}");
    for read in [
        format!("/v1/runs/{run}/trace"),
        format!("/v1/apps/{app}"),
        format!("/v1/apps/{app}/secrets"),
        format!("/v1/workspaces/{workspace}/connections"),
        format!("/v1/workspaces/{workspace}/audit"),
        format!("/v1/workspaces/{workspace}/events"),
    ] {
        seen += &owner.get(&read).await?.to_string();
    }
    assert_absent("an answer", seen.as_bytes(), &secrets);
    assert_absent("the log of the server", server.log().as_bytes(), &secrets);
    eventually("the log is stored", async || {
        let stored = server.dump_data_at_rest().await?;
        anyhow::ensure!(memmem::find(&stored, b"[redacted]").is_some(), "no line yet");
        Ok(())
    })
    .await?;
    assert_absent("the database", &server.dump_data_at_rest().await?, &secrets);
    Ok(())
}
