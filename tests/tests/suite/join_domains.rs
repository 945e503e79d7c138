//! Join domains, verified against a DNS server of the test.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Database, DnsServer, Server, on_server};

struct WorkspaceFixture {
    id: String,
    owner: Client,
}

impl WorkspaceFixture {
    async fn create(server: &Server, email: &str) -> Result<Self> {
        let owner = server.sign_in(email).await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        Ok(Self { id, owner })
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/workspaces/{}/{rest}", self.id)
    }

    /// Claims a domain and returns host and value of its DNS record.
    async fn claim_domain(&self, domain: &str) -> Result<(String, String)> {
        let claimed = self.owner.put(&self.path("join-domain"), &json!({"domain": domain})).await?;
        assert_eq!(claimed.string_at("/record/type")?, "TXT");
        Ok((claimed.string_at("/record/host")?, claimed.string_at("/record/value")?))
    }

    async fn verify_domain(&self) -> Result<tests::Reply> {
        self.owner.post(&self.path("join-domain/verify"), &json!({})).await
    }

    async fn claim_and_verify(&self, dns: &DnsServer, domain: &str) -> Result<()> {
        let (host, value) = self.claim_domain(domain).await?;
        dns.publish_txt(&host, &value).await?;
        assert_eq!(self.verify_domain().await?.string_at("/status")?, "verified");
        Ok(())
    }
}

/// Runs a test on both databases, with a server that uses the DNS server of the test.
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
    async fn a_domain_is_claimed_verified_and_joined(server, dns) {
        let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
        let none = fixture.owner.get(&fixture.path("join-domain")).await?.ok()?;
        let expected = json!({
            "domain": null, "status": "none", "record": null, "autoJoin": false, "role": "member", "verifiedAt": null,
            "suggestion": "tulpar.test",
        });
        assert_eq!(none, expected);
        fixture.verify_domain().await?.assert_error(404, "join_domain_not_found");
        let change = json!({"autoJoin": true});
        fixture.owner.patch(&fixture.path("join-domain"), &change).await?.assert_error(409, "domain_not_verified");

        let (host, value) = fixture.claim_domain("Tulpar.TEST").await?;
        assert_eq!(host, "_qala-challenge.tulpar.test");
        assert_eq!(value.split_once('=').map(|(_, random)| random.len()), Some(32), "{value}");
        // A repeated claim keeps its record.
        assert_eq!(fixture.claim_domain("tulpar.test").await?, (host.clone(), value.clone()));
        fixture.owner.patch(&fixture.path("join-domain"), &change).await?.assert_error(409, "domain_not_verified");

        let colleague = server.sign_in("aru@tulpar.test").await?;
        let suggested = async |person: &Client| person.get("/v1/me/join-suggestions").await?.ok();
        let join = |person: &Client| {
            let (person, path) = (person.clone(), fixture.path("join"));
            async move { person.post(&path, &json!({})).await }
        };
        assert_eq!(suggested(&colleague).await?["items"], json!([]));
        join(&colleague).await?.assert_error(404, "workspace_not_found");
        let pending = fixture.verify_domain().await?.ok()?;
        assert_eq!((&pending["status"], &pending["verifiedAt"]), (&json!("pending"), &Value::Null));
        dns.publish_txt(&host, "qala-domain-verification=somethingelse").await?;
        assert_eq!(fixture.verify_domain().await?.string_at("/status")?, "pending");
        dns.publish_txt(&host, &value).await?;
        let verified = fixture.verify_domain().await?.ok()?;
        assert_eq!(verified["status"], "verified");
        assert!(verified["verifiedAt"].is_string() && verified["suggestion"].is_null(), "{verified}");

        let viewers = fixture.owner.patch(&fixture.path("join-domain"), &json!({"role": "viewer"})).await?;
        assert_eq!(viewers.string_at("/role")?, "viewer");
        let expected = json!([{"workspaceId": fixture.id, "name": "Tulpar", "memberCount": 1, "role": "viewer"}]);
        assert_eq!(suggested(&colleague).await?["items"], expected);
        let entered = join(&colleague).await?;
        assert_eq!(entered.string_at("/session/workspaceId")?, fixture.id);
        assert_eq!(entered.string_at("/session/workspaceRole")?, "viewer");
        assert_eq!(suggested(&colleague).await?["items"], json!([]));
        // Joining again changes nothing, and the owner keeps the higher role.
        assert_eq!(join(&colleague).await?.string_at("/session/workspaceRole")?, "viewer");
        assert_eq!(join(&fixture.owner).await?.string_at("/session/workspaceRole")?, "owner");

        for stranger in ["aru@eng.tulpar.test", "aru@tulpar.test.evil.test", "aru@xtulpar.test", "aru@gmail.com"] {
            let stranger = server.sign_in(stranger).await?;
            assert_eq!(suggested(&stranger).await?["items"], json!([]));
            join(&stranger).await?.assert_error(404, "workspace_not_found");
        }
        let late = server.sign_in("late@tulpar.test").await?;
        fixture.owner.delete(&fixture.path("join-domain")).await?.assert_status(200);
        join(&late).await?.assert_error(404, "workspace_not_found");
        assert_eq!(fixture.owner.get(&fixture.path("join-domain")).await?.string_at("/status")?, "none");
        // Members person joined by the domain stay.
        colleague.get(&fixture.path("members")).await?.assert_status(200);
        fixture.owner.delete(&fixture.path("join-domain")).await?.assert_status(200);
        Ok(())
    }

    async fn the_first_to_verify_a_domain_gets_it(server, dns) {
        let first = WorkspaceFixture::create(&server, "first@tulpar.test").await?;
        let second = WorkspaceFixture::create(&server, "second@tulpar.test").await?;
        let claimed = first.claim_domain("tulpar.test").await?;
        second.claim_and_verify(dns, "tulpar.test").await?;
        assert_eq!(first.verify_domain().await?.string_at("/status")?, "pending");
        dns.publish_txt(&claimed.0, &claimed.1).await?;
        first.verify_domain().await?.assert_error(409, "domain_taken");
        second.owner.delete(&second.path("join-domain")).await?.assert_status(200);
        assert_eq!(first.verify_domain().await?.string_at("/status")?, "verified");
        Ok(())
    }

    async fn whoever_loses_the_right_while_dns_is_asked_verifies_nothing(server, dns) {
        for (loss, status) in [("demoted", 403), ("removed", 404), ("signed out", 403)] {
            let fixture = WorkspaceFixture::create(&server, "owner@example.test").await?;
            let (host, value) = fixture.claim_domain("tulpar.test").await?;
            dns.publish_txt(&host, &value).await?;
            let admin = fixture.owner.add_member(&fixture.id, "admin").await?;
            let member = fixture.path(&format!("members/{}", admin.user_id().await?));
            let _earlier = dns.take_questions();
            dns.hold();
            let verifying = tokio::spawn({
                let (admin, path) = (admin.clone(), fixture.path("join-domain/verify"));
                async move { admin.post(&path, &json!({})).await }
            });
            tests::eventually("DNS is asked", async || {
                anyhow::ensure!(!dns.take_questions().is_empty(), "no question");
                Ok(())
            })
            .await?;
            match loss {
                "demoted" => fixture.owner.patch(&member, &json!({"role": "viewer"})).await?.ok()?,
                "removed" => fixture.owner.delete(&member).await?.ok()?,
                _ => admin.delete("/v1/session").await?.ok()?,
            };
            dns.release();
            let refused = verifying.await??;
            assert_eq!(refused.status.as_u16(), status, "{loss}: {refused}");
            let claimed = fixture.owner.get(&fixture.path("join-domain")).await?.ok()?;
            assert_eq!(claimed["status"], "pending", "{loss}: {claimed}");
        }
        Ok(())
    }

    async fn public_domains_are_rejected_and_lookalikes_are_distinguished(server, dns) {
        let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
        let path = fixture.path("join-domain");
        for bad in [
            "gmail.com", "mail.ru", "x.gmail.com", "co.uk", "com.kz", "github.io", "kz", "", "a", "tulpar test",
            "1.2.3.4", "tulpar.test.", "https://tulpar.test", "-a.test", "a@b.test", "*.tulpar.test",
        ] {
            let reply = fixture.owner.put(&path, &json!({"domain": bad})).await?;
            reply.check_error(400, Some("invalid_request")).context(bad)?;
        }
        fixture.owner.put(&path, &json!({"domain": 5})).await?.assert_error(400, "invalid_request");
        fixture.owner.put(&path, &json!({"domain": "a.test", "role": "viewer"})).await?.assert_error(400, "invalid_request");

        // The а is Cyrillic, so this is another domain with its own record.
        let claimed = fixture.owner.put(&path, &json!({"domain": "tulpаr.test"})).await?;
        assert!(claimed.string_at("/domain")?.starts_with("xn--"), "{claimed}");
        dns.publish_txt(&claimed.string_at("/record/host")?, &claimed.string_at("/record/value")?).await?;
        assert_eq!(fixture.verify_domain().await?.string_at("/status")?, "verified");
        let latin = server.sign_in("aru@tulpar.test").await?;
        latin.post(&fixture.path("join"), &json!({})).await?.assert_error(404, "workspace_not_found");
        let cyrillic = server.sign_in("aru@tulpаr.test").await?;
        cyrillic.post(&fixture.path("join"), &json!({})).await?.assert_status(200);

        for role in ["builder", "member", "viewer"] {
            let person = fixture.owner.add_member(&fixture.id, role).await?;
            person.get(&path).await?.assert_error(403, "admin_only");
            person.put(&path, &json!({"domain": "gmail.com"})).await?.assert_error(403, "admin_only");
            person.post(&fixture.path("join-domain/verify"), &json!({})).await?.assert_error(403, "admin_only");
            person.delete(&path).await?.assert_error(403, "admin_only");
        }
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.get(&path).await?.assert_error(404, "workspace_not_found");
        let token = fixture.owner.with_bearer(&fixture.owner.create_token(&fixture.id, &["admin"]).await?);
        token.get(&path).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn sign_in_joins_automatically_if_enabled(server, dns) {
        let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
        fixture.claim_and_verify(dns, "tulpar.test").await?;
        let before = server.sign_in("before@tulpar.test").await?;
        assert_eq!(before.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        fixture.owner.patch(&fixture.path("join-domain"), &json!({"autoJoin": true})).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        let session = aru.get("/v1/session").await?.ok()?;
        assert_eq!((&session["workspaceId"], &session["workspaceRole"]), (&json!(fixture.id), &json!("member")));
        let stranger = server.sign_in("aru@example.test").await?;
        assert_eq!(stranger.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);

        // A member person left does not rejoin automatically, but may rejoin.
        let member_path = async |person: &Client| anyhow::Ok(fixture.path(&format!("members/{}", person.user_id().await?)));
        aru.delete(&member_path(&aru).await?).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        assert_eq!(aru.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        aru.post(&fixture.path("join"), &json!({})).await?.assert_status(200);
        // A removed member can rejoin only by an invite, whatever their address.
        fixture.owner.delete(&member_path(&aru).await?).await?.assert_status(200);
        let aru = server.sign_in("aru@tulpar.test").await?;
        assert_eq!(aru.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        assert_eq!(aru.get("/v1/me/join-suggestions").await?.ok()?["items"], json!([]));
        aru.post(&fixture.path("join"), &json!({})).await?.assert_error(404, "workspace_not_found");
        fixture.owner.invite_and_accept(&fixture.id, "aru@tulpar.test", "builder", &aru).await?;
        assert_eq!(aru.get("/v1/session").await?.string_at("/workspaceRole")?, "builder");
        Ok(())
    }

    async fn a_pending_invite_ends_when_its_person_joins_otherwise(server, dns) {
        let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
        fixture.claim_and_verify(dns, "tulpar.test").await?;
        let token = fixture.owner.create_invite(&fixture.id, "aru@tulpar.test", "admin").await?;
        let aru = server.sign_in("aru@tulpar.test").await?;
        aru.post(&fixture.path("join"), &json!({})).await?.assert_status(200);
        let accept = format!("/v1/invites/{token}/accept");
        aru.post(&accept, &json!({})).await?.assert_error(404, "invite_not_found");
        Ok(())
    }

    async fn a_domain_whose_record_disappears_lapses(server, dns) {
        let mut server = server;
        let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
        let (host, value) = fixture.claim_domain("tulpar.test").await?;
        dns.publish_txt(&host, &value).await?;
        assert_eq!(fixture.verify_domain().await?.string_at("/status")?, "verified");
        let status = async || fixture.owner.get(&fixture.path("join-domain")).await?.string_at("/status");
        let lapses = async || {
            let found = fixture.owner.get(&fixture.path("audit?action=join_domain.lapse")).await?.ok()?;
            anyhow::Ok(found["items"].as_array().map_or(0, Vec::len))
        };
        let rechecks = async || {
            let found = fixture.owner.get(&fixture.path("audit?action=join_domain.recheck")).await?.ok()?;
            anyhow::Ok(found["items"].as_array().map_or(0, Vec::len))
        };
        // A check is due. The domain stays verified while the record is found, and lapses after repeated failures.
        for (published, expected) in [(true, "verified"), (false, "verified"), (false, "verified"), (false, "pending")] {
            if !published {
                dns.remove_txt(&host).await?;
            }
            let before = rechecks().await? + lapses().await?;
            server.execute_sql("UPDATE join_domains SET recheck_at = 0").await?;
            server.restart().await?;
            tests::eventually("the domain is checked", async || {
                anyhow::ensure!(rechecks().await? + lapses().await? == before + 1, "not yet");
                Ok(())
            })
            .await?;
            assert_eq!(status().await?, expected);
        }
        assert_eq!(lapses().await?, 1);
        let aru = server.sign_in("aru@tulpar.test").await?;
        aru.post(&fixture.path("join"), &json!({})).await?.assert_error(404, "workspace_not_found");
        Ok(())
    }
}

#[tokio::test]
async fn a_dns_failure_is_reported() -> Result<()> {
    // A server that never responds, and a zone that the server refuses.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let dns = DnsServer::start("other.").await?;
    for address in [silent.local_addr()?, dns.address()] {
        on_server(asking(Database::Sqlite, address), async |server| {
            let fixture = WorkspaceFixture::create(&server, "owner@tulpar.test").await?;
            fixture.claim_domain("tulpar.test").await?;
            fixture.verify_domain().await?.assert_error(503, "dns_unreachable");
            assert_eq!(
                fixture.owner.get(&fixture.path("join-domain")).await?.string_at("/status")?,
                "pending"
            );
            Ok(())
        })
        .await?;
    }
    Ok(())
}
