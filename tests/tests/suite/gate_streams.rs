//! Bodies that pass the gate in pieces, between a visitor, an app and a service.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::json;
use tests::{Client, Database, ECHO_HOST, EchoService, Server, eventually};

const SECRET: &str = "secret-bearer-~/+0123456789abcdef";

/// Hands the feed of the service on, with the body of the visitor's request as it is written.
const CODE: &str = r#"
export default { async fetch(request, env) {
  const url = new URL(request.url);
  if (url.pathname.endsWith("/feed")) return env.connections.crm.fetch("/events");
  if (url.pathname.endsWith("/part")) {
    const response = await env.connections.crm.fetch("/events");
    const reader = response.body.getReader();
    await reader.read();
    await reader.cancel();
    return new Response(`${response.status}`);
  }
  const words = ["one ", "two ", "three"].map((word) => new TextEncoder().encode(word));
  const body = new ReadableStream({ async pull(c) {
    await new Promise((done) => setTimeout(done, 5));
    const word = words.shift();
    word ? c.enqueue(word) : c.close();
  } });
  const headers = { "content-type": "text/plain" };
  const response = await fetch(`${url.searchParams.get("base")}/echo`, { method: "POST", body, duplex: "half", headers });
  return new Response(await response.text());
} };"#;

struct Fixture {
    owner: Client,
    visitor: Client,
    app: String,
    path: String,
    connection: String,
}

impl Fixture {
    async fn create(server: &Server, echo: &EchoService) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let connection = json!({
            "displayName": "CRM", "baseUrl": echo.url(), "auth": {"type": "bearer"}, "methods": ["GET"], "secret": SECRET,
        });
        let connectors = format!("/v1/workspaces/{workspace}/connectors/http");
        let connection = owner.post(&connectors, &connection).await?.string_at("/id")?;
        let gate = json!({"host": ECHO_HOST, "methods": ["POST"]});
        owner.post(&format!("/v1/workspaces/{workspace}/gates"), &gate).await?.ok()?;
        let app = owner.create_app(&workspace, "export default { async fetch() {} }").await?;
        let manifest = json!({
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}],
            "permissions": {
                "connectors": [{"name": "crm", "connectionId": connection}],
                "egress": [{"host": ECHO_HOST, "methods": ["POST"]}],
            },
        });
        let version = json!({"files": {"main.js": CODE}, "manifest": manifest});
        owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { owner, visitor: server.client(), app, path: format!("/a/{slug}"), connection })
    }

    /// Waits until the log of the app has a line with this text, and returns how many it has.
    async fn count_lines(&self, text: &str) -> Result<usize> {
        eventually("the log has the line", async || {
            let log = self.owner.app_log(&self.app, None).await?;
            let count = log.iter().filter(|line| line.message.contains(text)).count();
            ensure!(count > 0, "no {text:?} in {log:?}");
            Ok(count)
        })
        .await
    }
}

#[tokio::test]
async fn bodies_pass_the_gate_as_they_come() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let options = Server::with(database)
            .args(["--allowed-hosts", &echo.allowed_hosts(), "--no-rate-limits"])
            .env("SSL_CERT_FILE", echo.authority()?);
        tests::on_server(options, async |server| check(&server, &echo).await).await?;
    }
    Ok(())
}

async fn check(server: &Server, echo: &EchoService) -> Result<()> {
    let fixture = Fixture::create(server, echo).await?;

    // The first event is with the visitor while the service has not sent the second, and has no secret.
    let mut feed =
        fixture.visitor.request(Method::GET, &format!("{}/feed", fixture.path)).open_stream().await?;
    let mut seen = String::new();
    // The end of what has come is held back, whatever it is.
    while seen.is_empty() {
        seen += &feed.next_chunk().await?.context("the feed ended early")?;
    }
    let begins = "data: GET /events";
    assert!(seen.starts_with(begins) || begins.starts_with(&seen), "{seen}");
    assert!(!seen.contains("data: end"), "{seen}");
    echo.release();
    while let Some(chunk) = feed.next_chunk().await? {
        seen += &chunk;
    }
    assert!(seen.contains("[redacted]") && seen.ends_with("data: end\n\n"), "{seen}");
    assert!(!seen.contains(SECRET), "{seen}");
    assert!(echo.take_received().concat().contains(&format!("authorization: Bearer {SECRET}\n")));
    let through = format!("GET through crm ({}) at", fixture.connection);
    assert_eq!(fixture.count_lines(&through).await?, 1);

    // Code that stops reading leaves the service.
    let part = fixture.visitor.get(&format!("{}/part", fixture.path)).await?;
    assert_eq!(&part.body[..], b"200");

    // A request that is written piece by piece arrives whole.
    let base: String = url::form_urlencoded::byte_serialize(echo.url().as_bytes()).collect();
    let sent = fixture.visitor.get(&format!("{}/send?base={base}", fixture.path)).await?;
    let text = String::from_utf8_lossy(&sent.body);
    assert!(text.contains("transfer-encoding: chunked") && text.ends_with("\n\none two three"), "{text}");
    fixture.count_lines("POST ").await?;
    Ok(())
}
