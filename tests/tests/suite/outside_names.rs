//! Names of outside hosts, as a DNS server of an attacker answers for them.

use std::net::IpAddr;

use anyhow::{Context as _, Result};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Database, DnsServer, ECHO_HOST, EchoService, Server};

/// A name whose addresses in 127.0.0.0/30 the operator allows.
const ALLOWED: &str = ECHO_HOST;
/// Names that nobody allowed more than a gate does.
const OUTSIDE: [&str; 6] = [
    "attacker.example.com",
    "alias.example.com",
    "chain.example.com",
    "nowhere.example.com",
    "loop.example.com",
    "elsewhere.example.org",
];

/// Fetches the URL that it is asked for, and tells the status or the refusal.
const CODE: &str = r#"
export default { async fetch(request, env) {
  const to = new URL(request.url).searchParams.get("to");
  try {
    const response = to === "connection" ? await env.connections.crm.fetch("/orders") : await fetch(to);
    return Response.json({ status: response.status });
  } catch (error) {
    return Response.json({ code: error.code, message: error.message });
  }
} };"#;

struct Fixture {
    visitor: Client,
    path: String,
    port: u16,
}

impl Fixture {
    async fn create(server: &Server, port: u16) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let connection = json!({
            "displayName": "CRM", "baseUrl": format!("https://{ALLOWED}:{port}"), "auth": {"type": "bearer"},
            "methods": ["GET"], "secret": "a-secret-of-the-service",
        });
        let connectors = format!("/v1/workspaces/{workspace}/connectors/http");
        let connection = owner.post(&connectors, &connection).await?.string_at("/id")?;
        let hosts = OUTSIDE.iter().chain([&ALLOWED]);
        let egress: Vec<Value> = hosts.map(|host| json!({"host": host, "methods": ["GET"]})).collect();
        for gate in &egress {
            owner.post(&format!("/v1/workspaces/{workspace}/gates"), gate).await?.ok()?;
        }
        let app = owner.create_app(&workspace, "export default { async fetch() {} }").await?;
        let manifest = json!({
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}],
            "permissions": {"connectors": [{"name": "crm", "connectionId": connection}], "egress": egress},
        });
        let version = json!({"files": {"main.js": CODE}, "manifest": manifest});
        owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { visitor: server.client(), path: format!("/a/{slug}"), port })
    }

    async fn fetch(&self, to: &str) -> Result<Value> {
        let to: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
        self.visitor.request(Method::GET, &format!("{}/?to={to}", self.path)).send().await?.ok()
    }

    async fn fetch_allowed(&self) -> Result<Value> {
        self.fetch(&format!("https://{ALLOWED}:{}/", self.port)).await
    }

    /// Checks that a request to a host is refused with this code, and never sent.
    async fn assert_refused(&self, to: &str, code: &str) -> Result<()> {
        let refused = self.fetch(to).await?;
        assert_eq!(refused["code"], code, "{to}: {refused}");
        Ok(())
    }
}

fn addresses(texts: &[&str]) -> Result<Vec<IpAddr>> {
    texts.iter().map(|text| text.parse().with_context(|| (*text).to_owned())).collect()
}

/// Runs a check on both databases, with a DNS server and a service of its own.
async fn on_both(check: impl AsyncFn(&Fixture, &DnsServer, &EchoService) -> Result<()>) -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let (dns, echo) = (DnsServer::start("example.com.").await?, EchoService::start().await?);
        let allowed = format!("{ALLOWED}:{}=127.0.0.0/30", echo.port());
        let server = Server::with(database)
            .args([
                "--dns-server",
                &dns.address().to_string(),
                "--allowed-hosts",
                &allowed,
                "--no-rate-limits",
            ])
            .env("SSL_CERT_FILE", echo.authority()?);
        let port = echo.port();
        tests::on_server(server, async |server| {
            check(&Fixture::create(&server, port).await?, &dns, &echo).await
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_name_is_resolved_once_for_each_request() -> Result<()> {
    on_both(async |fixture, dns, echo| {
        dns.publish_addresses(ALLOWED, &addresses(&["127.0.0.1"])?).await?;
        for to in [format!("https://{ALLOWED}:{}/", fixture.port), "connection".to_owned()] {
            let _before = dns.take_questions();
            assert_eq!(fixture.fetch(&to).await?, json!({"status": 200}));
            let mut questions = dns.take_questions();
            questions.sort();
            assert_eq!(questions, [format!("A {ALLOWED}."), format!("AAAA {ALLOWED}.")]);
        }
        assert_eq!(echo.take_received().len(), 2);

        // The name moves to an address that is not allowed, while a connection to the first may still be open.
        for moved in [
            &["127.0.0.9"][..],
            &["127.0.0.1", "127.0.0.9"],
            &["127.0.0.1", "::1"],
            &["127.0.0.2", "169.254.169.254"],
        ] {
            dns.publish_addresses(ALLOWED, &addresses(moved)?).await?;
            let refused = [fixture.fetch_allowed().await?, fixture.fetch("connection").await?];
            assert!(
                refused.iter().all(|refused| refused["code"] == "private_address"),
                "{moved:?}: {refused:?}"
            );
        }
        assert_eq!(echo.take_received(), Vec::<String>::new());
        dns.publish_addresses(ALLOWED, &addresses(&["127.0.0.1"])?).await?;
        assert_eq!(fixture.fetch_allowed().await?["status"], 200);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_name_of_a_private_address_is_refused() -> Result<()> {
    on_both(async |fixture, dns, echo| {
        let [attacker, alias, chain, ..] = OUTSIDE;
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.168.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            dns.publish_addresses(attacker, &addresses(&[address])?).await?;
            fixture
                .assert_refused(&format!("https://{attacker}/"), "private_address")
                .await
                .context(address)?;
        }
        // A public address beside a private one is refused, whichever comes first.
        dns.publish_addresses(attacker, &addresses(&["1.1.1.1", "10.0.0.1"])?).await?;
        fixture.assert_refused(&format!("https://{attacker}/"), "private_address").await?;
        dns.publish_addresses(attacker, &addresses(&["1.1.1.1", "::1"])?).await?;
        fixture.assert_refused(&format!("https://{attacker}/"), "private_address").await?;
        // An alias has the addresses of its target, and the permission of its own name.
        dns.publish_addresses(ALLOWED, &addresses(&["127.0.0.1"])?).await?;
        dns.publish_alias(alias, ALLOWED).await?;
        dns.publish_alias(chain, alias).await?;
        for name in [alias, chain] {
            fixture.assert_refused(&format!("https://{name}/"), "private_address").await?;
        }
        assert_eq!(echo.take_received(), Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_told() -> Result<()> {
    on_both(async |fixture, dns, _| {
        let [.., nowhere, looped, elsewhere] = OUTSIDE;
        dns.publish_alias(looped, looped).await?;
        // No such name, a name without addresses, an alias of itself, and a zone that the server does not have.
        fixture.assert_refused(&format!("https://{nowhere}/"), "dns_failed").await?;
        dns.publish_txt(nowhere, "a text").await?;
        fixture.assert_refused(&format!("https://{nowhere}/"), "dns_failed").await?;
        fixture.assert_refused(&format!("https://{looped}/"), "dns_failed").await?;
        fixture.assert_refused(&format!("https://{elsewhere}/"), "dns_failed").await?;
        Ok(())
    })
    .await
}
