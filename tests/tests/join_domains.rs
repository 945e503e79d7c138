//! Join domains, proved by a DNS server of the test's own.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Database, DnsServer, Server, on_server};

struct Home {
    id: String,
    owner: Client,
}

impl Home {
    async fn make(server: &Server, email: &str) -> Result<Self> {
        let owner = server.sign_in(email).await?;
        let id = owner.make_workspace("Tulpar").await?.id;
        Ok(Self { id, owner })
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/workspaces/{}/{rest}", self.id)
    }

    /// Claims a domain; the host and value of its record.
    async fn claim(&self, domain: &str) -> Result<(String, String)> {
        let claimed = self.owner.put(&self.path("join-domain"), &json!({"domain": domain})).await?;
        assert_eq!(claimed.string("/record/type")?, "TXT");
        Ok((claimed.string("/record/host")?, claimed.string("/record/value")?))
    }

    async fn verify(&self) -> Result<tests::Reply> {
        self.owner.post(&self.path("join-domain/verify"), &json!({})).await
    }

    async fn prove(&self, dns: &DnsServer, domain: &str) -> Result<()> {
        let (host, value) = self.claim(domain).await?;
        dns.publish(&host, &value).await?;
        assert_eq!(self.verify().await?.string("/status")?, "verified");
        Ok(())
    }
}

/// Runs a test on both databases, against a server that asks the test's own DNS.
macro_rules! with_dns {
    ($(async fn $name:ident($server:ident, $dns:ident) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn check($server: Server, $dns: &DnsServer) -> Result<()> $body

            async fn run(database: Database) -> Result<()> {
                let dns = DnsServer::start("test.").await?;
                on_server(asking(database, dns.address()), async |server| check(server, &dns).await).await
            }

            #[tokio::test]
            async fn sqlite() -> Result<()> {
                run(Database::Sqlite).await
            }

            #[tokio::test]
            async fn postgres() -> Result<()> {
                run(Database::Postgres).await
            }
        }
    )+};
}

fn asking(database: Database, dns: SocketAddr) -> tests::ServerOptions {
    Server::with(database).args(["--no-rate-limits", "--dns-server", &dns.to_string()])
}

with_dns! {
    async fn a_domain_is_claimed_proved_and_joined(server, dns) {
        let home = Home::make(&server, "owner@tulpar.test").await?;
        let none = home.owner.get(&home.path("join-domain")).await?.ok()?;
        let expected = json!({
            "domain": null, "status": "none", "record": null, "autoJoin": false, "role": "member", "verifiedAt": null,
            "suggestion": "tulpar.test",
        });
        assert_eq!(none, expected);
        home.verify().await?.assert_problem(404, "join_domain_not_found");
        let change = json!({"autoJoin": true});
        home.owner.patch(&home.path("join-domain"), &change).await?.assert_problem(409, "domain_not_verified");

        let (host, value) = home.claim("Tulpar.TEST").await?;
        assert_eq!(host, "_qala-challenge.tulpar.test");
        assert_eq!(value.split_once('=').map(|(_, random)| random.len()), Some(32), "{value}");
        // The same claim keeps its record.
        assert_eq!(home.claim("tulpar.test").await?, (host.clone(), value.clone()));
        home.owner.patch(&home.path("join-domain"), &change).await?.assert_problem(409, "domain_not_verified");

        let colleague = server.sign_in("aru@tulpar.test").await?;
        let suggested = async |who: &Client| who.get("/v1/me/join-suggestions").await?.ok();
        let join = |who: &Client| {
            let (who, path) = (who.clone(), home.path("join"));
            async move { who.post(&path, &json!({})).await }
        };
        assert_eq!(suggested(&colleague).await?["items"], json!([]));
        join(&colleague).await?.assert_problem(404, "workspace_not_found");
        let pending = home.verify().await?.ok()?;
        assert_eq!((&pending["status"], &pending["verifiedAt"]), (&json!("pending"), &Value::Null));
        dns.publish(&host, "qala-domain-verification=somethingelse").await?;
        assert_eq!(home.verify().await?.string("/status")?, "pending");
        dns.publish(&host, &value).await?;
        let verified = home.verify().await?.ok()?;
        assert_eq!(verified["status"], "verified");
        assert!(verified["verifiedAt"].is_string() && verified["suggestion"].is_null(), "{verified}");

        let viewers = home.owner.patch(&home.path("join-domain"), &json!({"role": "viewer"})).await?;
        assert_eq!(viewers.string("/role")?, "viewer");
        let expected = json!([{"workspaceId": home.id, "name": "Tulpar", "memberCount": 1, "role": "viewer"}]);
        assert_eq!(suggested(&colleague).await?["items"], expected);
        let entered = join(&colleague).await?;
        assert_eq!(entered.string("/session/workspaceId")?, home.id);
        assert_eq!(entered.string("/session/workspaceRole")?, "viewer");
        assert_eq!(suggested(&colleague).await?["items"], json!([]));
        // Once more changes nothing; the owner keeps the higher role.
        assert_eq!(join(&colleague).await?.string("/session/workspaceRole")?, "viewer");
        assert_eq!(join(&home.owner).await?.string("/session/workspaceRole")?, "owner");

        for stranger in ["aru@eng.tulpar.test", "aru@tulpar.test.evil.test", "aru@xtulpar.test", "aru@gmail.com"] {
            let stranger = server.sign_in(stranger).await?;
            assert_eq!(suggested(&stranger).await?["items"], json!([]));
            join(&stranger).await?.assert_problem(404, "workspace_not_found");
        }
        let late = server.sign_in("late@tulpar.test").await?;
        home.owner.delete(&home.path("join-domain")).await?.assert_status(200);
        join(&late).await?.assert_problem(404, "workspace_not_found");
        assert_eq!(home.owner.get(&home.path("join-domain")).await?.string("/status")?, "none");
        // Whoever came by it stays.
        colleague.get(&home.path("members")).await?.assert_status(200);
        home.owner.delete(&home.path("join-domain")).await?.assert_status(200);
        Ok(())
    }

    async fn the_first_to_prove_a_domain_has_it(server, dns) {
        let first = Home::make(&server, "first@tulpar.test").await?;
        let second = Home::make(&server, "second@tulpar.test").await?;
        let claimed = first.claim("tulpar.test").await?;
        second.prove(dns, "tulpar.test").await?;
        assert_eq!(first.verify().await?.string("/status")?, "pending");
        dns.publish(&claimed.0, &claimed.1).await?;
        first.verify().await?.assert_problem(409, "domain_taken");
        second.owner.delete(&second.path("join-domain")).await?.assert_status(200);
        assert_eq!(first.verify().await?.string("/status")?, "verified");
        Ok(())
    }

    async fn lookalikes_and_shared_names_are_told_apart(server, dns) {
        let home = Home::make(&server, "owner@tulpar.test").await?;
        let path = home.path("join-domain");
        for bad in [
            "gmail.com", "mail.ru", "x.gmail.com", "co.uk", "com.kz", "github.io", "kz", "", "a", "tulpar test",
            "1.2.3.4", "tulpar.test.", "https://tulpar.test", "-a.test", "a@b.test", "*.tulpar.test",
        ] {
            let reply = home.owner.put(&path, &json!({"domain": bad})).await?;
            reply.check_problem(400, Some("invalid_request")).context(bad)?;
        }
        home.owner.put(&path, &json!({"domain": 5})).await?.assert_problem(400, "invalid_request");
        home.owner.put(&path, &json!({"domain": "a.test", "role": "viewer"})).await?.assert_problem(400, "invalid_request");

        // The а is Cyrillic: another name, with a record of its own.
        let claimed = home.owner.put(&path, &json!({"domain": "tulpаr.test"})).await?;
        assert!(claimed.string("/domain")?.starts_with("xn--"), "{claimed}");
        dns.publish(&claimed.string("/record/host")?, &claimed.string("/record/value")?).await?;
        assert_eq!(home.verify().await?.string("/status")?, "verified");
        let latin = server.sign_in("aru@tulpar.test").await?;
        latin.post(&home.path("join"), &json!({})).await?.assert_problem(404, "workspace_not_found");
        let cyrillic = server.sign_in("aru@tulpаr.test").await?;
        cyrillic.post(&home.path("join"), &json!({})).await?.assert_status(200);

        for role in ["builder", "member", "viewer"] {
            let person = home.owner.bring(&home.id, role).await?;
            person.get(&path).await?.assert_problem(403, "admin_only");
            person.put(&path, &json!({"domain": "gmail.com"})).await?.assert_problem(403, "admin_only");
            person.post(&home.path("join-domain/verify"), &json!({})).await?.assert_problem(403, "admin_only");
            person.delete(&path).await?.assert_problem(403, "admin_only");
        }
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.get(&path).await?.assert_problem(404, "workspace_not_found");
        let token = home.owner.with_bearer(&home.owner.make_token(&home.id, &["admin"]).await?);
        token.get(&path).await?.assert_problem(403, "console_only");
        Ok(())
    }

    async fn signing_in_joins_where_that_is_wanted(server, dns) {
        let home = Home::make(&server, "owner@tulpar.test").await?;
        home.prove(dns, "tulpar.test").await?;
        let before = server.sign_in("before@tulpar.test").await?;
        assert_eq!(before.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        home.owner.patch(&home.path("join-domain"), &json!({"autoJoin": true})).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        let session = aru.get("/v1/session").await?.ok()?;
        assert_eq!((&session["workspaceId"], &session["workspaceRole"]), (&json!(home.id), &json!("member")));
        let stranger = server.sign_in("aru@example.test").await?;
        assert_eq!(stranger.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);

        // Whoever left is not dragged back, and may come back.
        let place = async |who: &Client| anyhow::Ok(home.path(&format!("members/{}", who.user_id().await?)));
        aru.delete(&place(&aru).await?).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        assert_eq!(aru.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        aru.post(&home.path("join"), &json!({})).await?.assert_status(200);
        // Whoever was removed is out, whatever their address, until somebody invites them.
        home.owner.delete(&place(&aru).await?).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        assert_eq!(aru.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        assert_eq!(aru.get("/v1/me/join-suggestions").await?.ok()?["items"], json!([]));
        aru.post(&home.path("join"), &json!({})).await?.assert_problem(404, "workspace_not_found");
        home.owner.invite_and_accept(&home.id, "aru@tulpar.test", "builder", &aru).await?;
        assert_eq!(aru.get("/v1/session").await?.string("/workspaceRole")?, "builder");
        Ok(())
    }

    async fn a_waiting_invite_does_not_outlive_another_way_in(server, dns) {
        let home = Home::make(&server, "owner@tulpar.test").await?;
        home.prove(dns, "tulpar.test").await?;
        let token = home.owner.invite(&home.id, "aru@tulpar.test", "admin").await?;
        let aru = server.sign_in("aru@tulpar.test").await?;
        aru.post(&home.path("join"), &json!({})).await?.assert_status(200);
        let accept = format!("/v1/invites/{token}/accept");
        aru.post(&accept, &json!({})).await?.assert_problem(404, "invite_not_found");
        Ok(())
    }

    async fn a_proof_that_stays_away_lapses(server, dns) {
        let mut server = server;
        let home = Home::make(&server, "owner@tulpar.test").await?;
        let (host, value) = home.claim("tulpar.test").await?;
        dns.publish(&host, &value).await?;
        assert_eq!(home.verify().await?.string("/status")?, "verified");
        let status = async || home.owner.get(&home.path("join-domain")).await?.string("/status");
        let lapses = async || {
            let found = home.owner.get(&home.path("audit?action=join_domain.lapse")).await?.ok()?;
            anyhow::Ok(found["items"].as_array().map_or(0, Vec::len))
        };
        let looks = async || {
            let found = home.owner.get(&home.path("audit?action=join_domain.recheck")).await?.ok()?;
            anyhow::Ok(found["items"].as_array().map_or(0, Vec::len))
        };
        // Due, and still there: it is believed on.
        for (published, expected) in [(true, "verified"), (false, "verified"), (false, "verified"), (false, "pending")] {
            if !published {
                dns.retract(&host).await?;
            }
            let before = looks().await? + lapses().await?;
            server.execute("UPDATE join_domains SET recheck_at = 0").await?;
            server.restart().await?;
            tests::eventually("the domain is looked at", async || {
                anyhow::ensure!(looks().await? + lapses().await? == before + 1, "not yet");
                Ok(())
            })
            .await?;
            assert_eq!(status().await?, expected);
        }
        assert_eq!(lapses().await?, 1);
        let aru = server.sign_in("aru@tulpar.test").await?;
        aru.post(&home.path("join"), &json!({})).await?.assert_problem(404, "workspace_not_found");
        Ok(())
    }
}

#[tokio::test]
async fn dns_that_does_not_answer_is_told() -> Result<()> {
    // A port that nobody listens on, and a zone that the server refuses.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let dns = DnsServer::start("other.").await?;
    for address in [silent.local_addr()?, dns.address()] {
        on_server(asking(Database::Sqlite, address), async |server| {
            let home = Home::make(&server, "owner@tulpar.test").await?;
            home.claim("tulpar.test").await?;
            home.verify().await?.assert_problem(503, "dns_unreachable");
            assert_eq!(home.owner.get(&home.path("join-domain")).await?.string("/status")?, "pending");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
