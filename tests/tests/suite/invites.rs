//! Invites: sending, accepting, and everything that must not admit anybody.

use std::{
    collections::BTreeSet,
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, Server, invite_token, unix_time};

struct WorkspaceFixture {
    id: String,
    owner: Client,
}

impl WorkspaceFixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        Ok(Self { id, owner })
    }

    fn invites_path(&self) -> String {
        format!("/v1/workspaces/{}/invites", self.id)
    }

    async fn invite_statuses(&self) -> Result<Vec<String>> {
        let listed = self.owner.get(&self.invites_path()).await?.ok()?;
        let items = listed["items"].as_array().context("no items")?;
        Ok(items.iter().map(|item| item["status"].as_str().unwrap_or_default().to_owned()).collect())
    }
}

fn timestamp_in(seconds: i64) -> String {
    let now = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(unix_time()));
    (now + TimeDelta::seconds(seconds)).to_rfc3339()
}

fn accept_path(token: &str) -> String {
    format!("/v1/invites/{token}/accept")
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_invite_is_accepted_once(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let body = json!({"emails": ["Bek@Example.test"], "role": "builder", "deliver": "link"});
        let sent = fixture.owner.post(&fixture.invites_path(), &body).await?.ok()?;
        let (item, link) = (&sent["items"][0], &sent["links"][0]);
        assert_eq!((&item["email"], &item["status"]), (&json!("bek@example.test"), &json!("pending")));
        assert_eq!((&item["role"], &item["accessEndsAt"]), (&json!("builder"), &Value::Null));
        assert_eq!(item["invitedBy"], fixture.owner.user_id().await?.as_str());
        assert_eq!((&sent["delivery"], &link["inviteId"]), (&Value::Null, &item["id"]));
        let days = |field: &str| item[field].as_str().context("no time")?.parse::<chrono::DateTime<Utc>>().context("no time");
        assert_eq!(days("expiresAt")? - days("createdAt")?, TimeDelta::days(7));
        let link = link["link"].as_str().context("no link")?;
        let preview = format!("/v1/invites/{}", link.rsplit_once('/').context("no token")?.1);
        let seen = server.client().get(&preview).await?.ok()?;
        assert_eq!((&seen["role"], &seen["accessEndsAt"]), (&json!("builder"), &Value::Null));
        assert_eq!(seen["expiresAt"], item["expiresAt"]);
        assert!(seen["workspaceName"].is_string() && seen["inviterName"].is_string(), "{seen}");
        assert!(!seen.to_string().contains("example.test"), "it names no address: {seen}");
        assert!(link.starts_with(&format!("{}/invite/qiv_", server.base_url())), "{link}");
        let token = invite_token(link)?;

        // The token is shown only once, and not stored in plain text.
        let listed = fixture.owner.get(&fixture.invites_path()).await?;
        assert!(!String::from_utf8_lossy(&listed.body).contains(&token), "{listed}");
        let bek = server.sign_in("bek@example.test").await?;
        assert_eq!(bek.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        let entered = bek.post(&accept_path(&token), &json!({})).await?;
        assert_eq!(entered.string_at("/session/workspaceId")?, fixture.id);
        assert_eq!(entered.string_at("/session/workspaceRole")?, "builder");
        assert_eq!(bek.get("/v1/session").await?.string_at("/workspaceId")?, fixture.id);
        assert_eq!(fixture.invite_statuses().await?, ["accepted"]);

        bek.post(&accept_path(&token), &json!({})).await?.assert_error(409, "invite_accepted");
        server.client().get(&preview).await?.assert_error(404, "invite_not_found");
        let item = item["id"].as_str().context("no id")?;
        let one = format!("{}/{item}", fixture.invites_path());
        fixture.owner.delete(&one).await?.assert_error(409, "invite_accepted");
        fixture.owner.post(&format!("{one}/resend"), &json!({})).await?.assert_error(409, "invite_settled");
        // An accepted invite does not readmit a removed member.
        let member = format!("/v1/workspaces/{}/members/{}", fixture.id, bek.user_id().await?);
        fixture.owner.delete(&member).await?.assert_status(200);
        bek.post(&accept_path(&token), &json!({})).await?.assert_error(409, "invite_accepted");
        bek.get(&fixture.invites_path()).await?.assert_error(404, "workspace_not_found");
        assert!(!server.log().contains(&token), "the log contains the token of an invite");
        Ok(())
    }

    /// Invites are void once their sender may no longer invite.
    async fn an_invite_is_valid_while_its_sender_may_invite(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let admin = server.sign_in("admin@example.test").await?;
        let id = admin.user_id().await?;
        let member = format!("/v1/workspaces/{}/members/{id}", fixture.id);
        let join = async || fixture.owner.invite_and_accept(&fixture.id, "admin@example.test", "admin", &admin).await;
        let second = server.sign_in("second@example.test").await?;
        let send = async || admin.create_invite(&fixture.id, "second@example.test", "admin").await;
        let revoked = async || -> Result<usize> {
            let log = fixture.owner.get(&format!("/v1/workspaces/{}/audit?action=invite.revoke", fixture.id)).await?.ok()?;
            let rows = log["items"].as_array().context("no items")?;
            Ok(rows.iter().filter(|row| row["detail"]["because"] == "inviter").count())
        };

        // The sender is removed.
        join().await?;
        let token = send().await?;
        fixture.owner.delete(&member).await?.assert_status(200);
        second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        assert_eq!(revoked().await?, 1);
        // After they have rejoined, their earlier invites stay void.
        join().await?;
        second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");

        // The sender is demoted to a role that may not invite.
        for role in ["builder", "member", "viewer"] {
            let token = send().await?;
            fixture.owner.patch(&member, &json!({"role": role})).await?.assert_status(200);
            second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
            fixture.owner.patch(&member, &json!({"role": "admin"})).await?.assert_status(200);
            second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        }
        assert_eq!(revoked().await?, 4);

        // The sender leaves.
        let token = send().await?;
        admin.delete(&member).await?.assert_status(200);
        second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        assert_eq!(revoked().await?, 5);

        // The sender's access expires: the first use of the link revokes it.
        join().await?;
        let token = send().await?;
        let bearer = admin.with_bearer(&admin.create_token(&fixture.id, &["read"]).await?);
        fixture.owner.patch(&member, &json!({"accessEndsAt": timestamp_in(2)})).await?.assert_status(200);
        tests::eventually("the access expires", async || {
            let reply = admin.get(&fixture.invites_path()).await?;
            anyhow::ensure!(reply.status == 404, "{reply}");
            Ok(())
        })
        .await?;
        bearer.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        second.post(&accept_path(&token), &json!({})).await?.assert_error(409, "invite_withdrawn");
        second.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        assert_eq!(revoked().await?, 6);
        // A time on a whole second is shown with milliseconds too.
        let change = json!({"accessEndsAt": "2099-01-01T00:00:00Z"});
        let other = server.sign_in("other@example.test").await?;
        fixture.owner.invite_and_accept(&fixture.id, "other@example.test", "member", &other).await?;
        let path = format!("/v1/workspaces/{}/members/{}", fixture.id, other.user_id().await?);
        let changed = fixture.owner.patch(&path, &change).await?;
        assert!(String::from_utf8_lossy(&changed.body).contains("\"2099-01-01T00:00:00.000Z\""), "{changed}");

        // An invite that another admin resends becomes theirs.
        join().await?;
        send().await?;
        let listed = fixture.owner.get(&fixture.invites_path()).await?.ok()?;
        let invite = listed["items"][0]["id"].as_str().context("no id")?;
        let again = format!("{}/{invite}/resend", fixture.invites_path());
        let sent = fixture.owner.post(&again, &json!({"deliver": "link"})).await?;
        fixture.owner.delete(&member).await?.assert_status(200);
        let token = invite_token(&sent.string_at("/links/0/link")?)?;
        second.post(&accept_path(&token), &json!({})).await?.assert_status(200);

        // An owner who transfers the workspace stays an admin, and their invites stay valid.
        let third = server.sign_in("third@example.test").await?;
        let token = fixture.owner.create_invite(&fixture.id, "third@example.test", "viewer").await?;
        let heir = second.user_id().await?;
        let transfer = format!("/v1/workspaces/{}/members/{heir}/transfer-ownership", fixture.id);
        fixture.owner.post(&transfer, &json!({"confirmName": "Tulpar"})).await?.assert_status(200);
        third.post(&accept_path(&token), &json!({})).await?.assert_status(200);
        Ok(())
    }

    async fn addresses_of_one_mailbox_are_one_address(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        for (invited, signs_in) in [
            ("user@почта.рф", "user@xn--80a1acny.xn--p1ai"),
            ("admin@xn--80a1acny.xn--p1ai", "Admin@ПОЧТА.рф"),
            ("jos\u{e9}@example.test", "jose\u{301}@example.test"),
            ("bek@EXAMPLE.test", "BEK@example.TEST"),
        ] {
            let token = fixture.owner.create_invite(&fixture.id, invited, "viewer").await?;
            let person = server.sign_in(signs_in).await?;
            let reply = person.post(&accept_path(&token), &json!({})).await?;
            anyhow::ensure!(reply.status == 200, "{invited} {signs_in}: {reply}");
            let same = server.sign_in(invited).await?;
            assert_eq!(same.user_id().await?, person.user_id().await?, "{invited}");
            let again = json!({"emails": [signs_in], "role": "viewer", "deliver": "link"});
            fixture.owner.post(&fixture.invites_path(), &again).await?.assert_error(409, "already_member");
        }
        let login = json!({"email": "\u{212a}im@example.test"});
        let visitor = server.client();
        let request = visitor.request(Method::POST, "/v1/auth/dev-login");
        let request = request.header(header::ORIGIN, server.base_url())?;
        request.json(&login)?.send().await?.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn an_invite_is_only_for_its_address(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let token = fixture.owner.create_invite(&fixture.id, "bek@example.test", "member").await?;
        let other = server.sign_in("other@example.test").await?;
        let refused = other.post(&accept_path(&token), &json!({})).await?;
        refused.assert_error(403, "wrong_address");
        for secret in ["bek@", "Tulpar", &fixture.id] {
            assert!(!String::from_utf8_lossy(&refused.body).contains(secret), "{refused}");
        }
        fixture.owner.post(&accept_path(&token), &json!({})).await?.assert_error(403, "wrong_address");
        server.client().post(&accept_path(&token), &json!({})).await?.assert_error(401, "unauthorized");
        let bearer = fixture.owner.with_bearer(&fixture.owner.create_token(&fixture.id, &["admin"]).await?);
        bearer.post(&accept_path(&token), &json!({})).await?.assert_error(403, "console_only");
        for wrong in [
            "",
            "x",
            "qiv_",
            "qiv_000000000000000000000000000000000000",
            &token[..token.len() - 1],
            &format!("{token}x"),
            &token.replace("qiv_", "qat_"),
        ] {
            let reply = other.post(&accept_path(wrong), &json!({})).await?;
            reply.check_error(404, None).with_context(|| wrong.to_owned())?;
        }
        let bek = server.sign_in("bek@example.test").await?;
        let foreign = bek.request(Method::POST, &accept_path(&token)).header(header::ORIGIN, "https://evil.test")?;
        foreign.json(&json!({}))?.send().await?.assert_error(403, "forbidden");
        bek.post(&accept_path(&token), &json!({"role": "owner"})).await?.assert_error(400, "invalid_request");
        assert_eq!(fixture.invite_statuses().await?, ["pending"]);
        bek.post(&accept_path(&token), &json!({})).await?.assert_status(200);
        // For other people an accepted invite does not exist.
        other.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        Ok(())
    }

    async fn revoked_and_replaced_links_are_invalid(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let bek = server.sign_in("bek@example.test").await?;
        let first = fixture.owner.create_invite(&fixture.id, "bek@example.test", "viewer").await?;
        let second = fixture.owner.create_invite(&fixture.id, "bek@example.test", "member").await?;
        assert_eq!(fixture.invite_statuses().await?, ["pending", "revoked"]);
        bek.post(&accept_path(&first), &json!({})).await?.assert_error(404, "invite_not_found");

        let listed = fixture.owner.get(&fixture.invites_path()).await?;
        let one = format!("{}/{}", fixture.invites_path(), listed.string_at("/items/0/id")?);
        let sent = fixture.owner.post(&format!("{one}/resend"), &json!({"deliver": "link"})).await?;
        let third = invite_token(&sent.string_at("/links/0/link")?)?;
        assert_eq!(sent.string_at("/items/0/id")?, listed.string_at("/items/0/id")?);
        assert_eq!(fixture.invite_statuses().await?, ["pending", "revoked"]);
        bek.post(&accept_path(&second), &json!({})).await?.assert_error(404, "invite_not_found");

        for _ in 0..2 {
            fixture.owner.delete(&one).await?.assert_status(200);
        }
        bek.post(&accept_path(&third), &json!({})).await?.assert_error(404, "invite_not_found");
        fixture.owner.post(&format!("{one}/resend"), &json!({})).await?.assert_error(409, "invite_settled");
        assert_eq!(fixture.invite_statuses().await?, ["revoked", "revoked"]);
        bek.get(&fixture.invites_path()).await?.assert_error(404, "workspace_not_found");
        Ok(())
    }

    async fn all_invalid_links_have_the_same_error(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let bek = server.sign_in("bek@example.test").await?;
        let stranger = server.sign_in("stranger@example.test").await?;
        let replaced = fixture.owner.create_invite(&fixture.id, "gul@example.test", "viewer").await?;
        let revoked = fixture.owner.create_invite(&fixture.id, "gul@example.test", "viewer").await?;
        let listed = fixture.owner.get(&fixture.invites_path()).await?.string_at("/items/0/id")?;
        fixture.owner.delete(&format!("{}/{listed}", fixture.invites_path())).await?.assert_status(200);
        let expired = fixture.owner.create_invite(&fixture.id, "old@example.test", "viewer").await?;
        server.execute_sql("UPDATE invites SET expires_at = 1 WHERE email = 'old@example.test'").await?;
        let accepted = fixture.owner.create_invite(&fixture.id, "bek@example.test", "viewer").await?;
        bek.post(&accept_path(&accepted), &json!({})).await?.assert_status(200);
        let mut responses = BTreeSet::new();
        let unknown = "qiv_000000000000000000000000000000000000";
        for link in [&*replaced, &revoked, &expired, &accepted, unknown, "qiv_x", "x"] {
            for (method, path) in [(Method::POST, accept_path(link)), (Method::GET, format!("/invite/{link}"))] {
                let reply = stranger.request(method, &path).send().await?;
                let id = reply.header("x-request-id").context("no request id")?.to_owned();
                let body = String::from_utf8_lossy(&reply.body).replace(&id, "");
                responses.insert((reply.status.as_u16(), path.starts_with("/v1"), body));
            }
        }
        assert_eq!(responses.len(), 2, "the responses must be equal, as JSON and as a page: {responses:?}");
        assert!(responses.iter().all(|(status, ..)| *status == 404), "{responses:?}");
        Ok(())
    }

    async fn inviting_does_not_reveal_who_has_an_account(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        server.sign_in("known@example.test").await?;
        let mut responses = BTreeSet::new();
        for email in ["known@example.test", "unkno@example.test"] {
            for deliver in ["email", "link"] {
                let body = json!({"emails": [email], "role": "viewer", "deliver": deliver});
                let reply = fixture.owner.post(&fixture.invites_path(), &body).await?;
                let mut body = reply.ok()?;
                for field in ["id", "createdAt", "expiresAt"] {
                    body["items"][0][field] = Value::Null;
                }
                if deliver == "link" {
                    body["links"][0]["link"] = Value::Null;
                    body["links"][0]["inviteId"] = Value::Null;
                }
                let names: BTreeSet<_> = reply.headers.keys().map(|name| name.as_str().to_owned()).collect();
                responses.insert((deliver, body.to_string().replace(email, ""), names));
            }
        }
        assert_eq!(responses.len(), 2, "the responses must be equal for each kind of delivery: {responses:?}");
        Ok(())
    }

    async fn at_most_five_hundred_invites_are_pending(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let invite = async |from: usize, count: usize| {
            let emails: Vec<_> = (from..from + count).map(|number| format!("p{number}@example.test")).collect();
            let body = json!({"emails": emails, "role": "viewer", "deliver": "link"});
            fixture.owner.post(&fixture.invites_path(), &body).await
        };
        for batch in 0..24 {
            invite(batch * 20, 20).await?.assert_status(200);
        }
        invite(480, 19).await?.assert_status(200);
        // All or none: the address that would fit is not invited either.
        invite(499, 2).await?.assert_error(409, "too_many_invites");
        invite(499, 1).await?.assert_status(200);
        invite(500, 1).await?.assert_error(409, "too_many_invites");
        // An address with a pending invite does not count again.
        invite(7, 1).await?.assert_status(200);
        let one = fixture.owner.get(&fixture.invites_path()).await?.string_at("/items/0/id")?;
        fixture.owner.delete(&format!("{}/{one}", fixture.invites_path())).await?.assert_status(200);
        invite(500, 1).await?.assert_status(200);
        Ok(())
    }

    async fn an_expired_invite_is_reported_to_its_person_and_can_be_resent(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let token = fixture.owner.create_invite(&fixture.id, "bek@example.test", "member").await?;
        server.execute_sql("UPDATE invites SET expires_at = created_at").await?;
        assert_eq!(fixture.invite_statuses().await?, ["expired"]);
        let bek = server.sign_in("bek@example.test").await?;
        bek.post(&accept_path(&token), &json!({})).await?.assert_error(409, "invite_expired");
        let other = server.sign_in("other@example.test").await?;
        other.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");

        let id = fixture.owner.get(&fixture.invites_path()).await?.string_at("/items/0/id")?;
        let again = format!("{}/{id}/resend", fixture.invites_path());
        let sent = fixture.owner.post(&again, &json!({"deliver": "link"})).await?;
        assert_eq!(sent.string_at("/items/0/status")?, "pending");
        bek.post(&accept_path(&token), &json!({})).await?.assert_error(404, "invite_not_found");
        let fresh = invite_token(&sent.string_at("/links/0/link")?)?;
        bek.post(&accept_path(&fresh), &json!({})).await?.assert_status(200);
        Ok(())
    }

    async fn an_invalid_request_invites_nobody(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let many: Vec<_> = (0..21).map(|number| format!("p{number}@example.test")).collect();
        let past = timestamp_in(-1);
        for bad in [
            json!({"emails": [], "role": "member"}),
            json!({"emails": many, "role": "member"}),
            json!({"emails": ["bek"], "role": "member"}),
            json!({"emails": ["bek@example.test", "a\r\nBcc: b@example.test"], "role": "member"}),
            json!({"emails": ["bek@example.test"], "role": "owner"}),
            json!({"emails": ["bek@example.test"]}),
            json!({"emails": "bek@example.test", "role": "member"}),
            json!({"emails": ["bek@example.test"], "role": "member", "expiresInDays": 0}),
            json!({"emails": ["bek@example.test"], "role": "member", "expiresInDays": 31}),
            json!({"emails": ["bek@example.test"], "role": "member", "accessEndsAt": past}),
            json!({"emails": ["bek@example.test"], "role": "member", "deliver": "pigeon"}),
            json!({"emails": ["bek@example.test"], "role": "member", "locale": "fr"}),
            json!({"emails": ["bek@example.test"], "role": "member", "message": "Hi"}),
        ] {
            let reply = fixture.owner.post(&fixture.invites_path(), &bad).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        let member = json!({"emails": ["new@example.test", "owner@example.test"], "role": "member"});
        let refused = fixture.owner.post(&fixture.invites_path(), &member).await?;
        refused.assert_error(409, "already_member");
        assert!(String::from_utf8_lossy(&refused.body).contains("owner@example.test"), "{refused}");
        assert_eq!(fixture.invite_statuses().await?, <[String; 0]>::default());

        for role in ["builder", "member", "viewer"] {
            let person = fixture.owner.add_member(&fixture.id, role).await?;
            person.get(&fixture.invites_path()).await?.assert_error(403, "admin_only");
            person.post(&fixture.invites_path(), &json!({})).await?.assert_error(403, "admin_only");
        }
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.post(&fixture.invites_path(), &json!({})).await?.assert_error(404, "workspace_not_found");
        let admin = fixture.owner.add_member(&fixture.id, "admin").await?;
        let foreign = outsider.create_workspace("Elsewhere").await?.id;
        outsider.create_invite(&foreign, "bek@example.test", "member").await?;
        let theirs = outsider.get(&format!("/v1/workspaces/{foreign}/invites")).await?.string_at("/items/0/id")?;
        let mine = format!("{}/{theirs}", fixture.invites_path());
        admin.delete(&mine).await?.assert_error(404, "invite_not_found");
        admin.post(&format!("{mine}/resend"), &json!({})).await?.assert_error(404, "invite_not_found");
        Ok(())
    }

    async fn a_duplicate_address_is_invited_once(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let body = json!({"emails": ["a@example.test", "A@example.test ", "b@example.test"], "role": "viewer", "deliver": "link"});
        let sent = fixture.owner.post(&fixture.invites_path(), &body).await?.ok()?;
        let emails: BTreeSet<_> = sent["links"].as_array().context("no links")?.iter().map(|link| link["email"].to_string()).collect();
        assert_eq!(emails.len(), 2, "{sent}");
        assert_eq!(sent["items"].as_array().map(Vec::len), Some(2));
        Ok(())
    }

    async fn concurrent_acceptances_make_one_membership(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let token = fixture.owner.create_invite(&fixture.id, "bek@example.test", "member").await?;
        let bek = server.sign_in("bek@example.test").await?;
        let mut acceptances = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (bek, path) = (bek.clone(), accept_path(&token));
            acceptances.spawn(async move { bek.post(&path, &json!({})).await });
        }
        let mut entered = 0;
        for reply in acceptances.join_all().await {
            let reply = reply?;
            if reply.status.is_success() {
                entered += 1;
            } else {
                reply.assert_error(409, "invite_accepted");
            }
        }
        assert_eq!(entered, 1);
        Ok(())
    }

    async fn temporary_access_ends_on_time(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let end = timestamp_in(3600);
        let body = json!({"emails": ["bek@example.test"], "role": "admin", "deliver": "link", "accessEndsAt": end, "expiresInDays": 30});
        let sent = fixture.owner.post(&fixture.invites_path(), &body).await?;
        let bek = server.sign_in("bek@example.test").await?;
        bek.post(&accept_path(&invite_token(&sent.string_at("/links/0/link")?)?), &json!({})).await?.assert_status(200);
        let listed = bek.get(&format!("/v1/workspaces/{}/members", fixture.id)).await?.ok()?;
        assert!(listed["items"][1]["accessEndsAt"].is_string(), "{listed}");
        Ok(())
    }

    async fn a_mailed_link_opens_a_page_with_a_button_that_accepts(server: Server) -> Result<()> {
        let fixture = WorkspaceFixture::create(&server).await?;
        let body = json!({"emails": ["bek@example.test"], "role": "builder", "locale": "ru"});
        let sent = fixture.owner.post(&fixture.invites_path(), &body).await?.ok()?;
        assert_eq!((&sent["delivery"], &sent["links"]), (&json!("dev-log"), &json!([])));
        let mail = server.wait_for_mail("bek@example.test", 1).await?;
        assert!(mail.subject.contains("Tulpar") && mail.text.contains("приглашает"), "{mail:?}");
        let token = invite_token(&mail.link()?)?;
        let page = format!("/invite/{token}");

        let visitor = server.client().get(&page).await?;
        visitor.assert_status(303);
        assert_eq!(visitor.header("location"), Some(&*format!("/sign-in?next=%2Finvite%2F{token}")));
        // The holder of the link sees the workspace and the sender, but not the invited address.
        let sign_in_page = server.client().get(&format!("/sign-in?next=%2Finvite%2F{token}")).await?;
        let html = String::from_utf8_lossy(&sign_in_page.assert_status(200).body);
        for part in ["Join Tulpar", "owner", "builder", "<strong>Tulpar</strong>"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("bek@"), "{html}");
        let unknown = server.client().get("/sign-in?next=%2Finvite%2Fqiv_000000000000000000000000000000000000").await?;
        assert!(!String::from_utf8_lossy(&unknown.assert_status(200).body).contains("Join"), "{unknown}");
        let invalid = server.client().get("/invite/qiv_x").await?;
        invalid.assert_status(404);
        assert!(invalid.header("location").is_none());

        let other = server.sign_in("other@example.test").await?;
        let refused = other.get(&page).await?;
        refused.assert_status(403);
        for secret in ["bek@", "Tulpar"] {
            assert!(!String::from_utf8_lossy(&refused.body).contains(secret), "{refused}");
        }
        // The page offers to use another account, and returns here.
        let html = String::from_utf8_lossy(&refused.body);
        assert!(html.contains("action=\"/sign-out\"") && html.contains(&format!("%2Finvite%2F{token}")), "{html}");
        let bek = server.sign_in("bek@example.test").await?;
        for _ in 0..3 {
            let shown = bek.get(&page).await?;
            shown.assert_status(200);
            let html = String::from_utf8_lossy(&shown.body);
            for part in ["Tulpar", "builder", "bek@example.test", "<form method=\"post\">"] {
                assert!(html.contains(part), "{part}: {html}");
            }
            assert!(shown.header("content-security-policy").is_some_and(|policy| policy.contains("frame-ancestors 'none'")));
            assert_eq!(shown.header("cache-control"), Some("no-store"));
        }
        // Following the link, as mail scanners do, changes nothing.
        assert_eq!(fixture.invite_statuses().await?, ["pending"]);
        let form = async |client: &Client, origin: Option<&str>| {
            let request = client.request(Method::POST, &page).body("application/x-www-form-urlencoded", "")?;
            let request = request.without_header(&header::ORIGIN);
            match origin {
                Some(origin) => request.header(header::ORIGIN, origin)?.send().await,
                None => request.send().await,
            }
        };
        let own_origin = server.base_url();
        form(&bek, None).await?.assert_error(403, "forbidden");
        form(&bek, Some("null")).await?.assert_error(403, "forbidden");
        form(&bek, Some("https://evil.test")).await?.assert_error(403, "forbidden");
        form(&other, Some(own_origin)).await?.assert_status(403);
        form(&server.client(), Some(own_origin)).await?.assert_status(303);
        assert_eq!(fixture.invite_statuses().await?, ["pending"]);

        for _ in 0..2 {
            let accepted = form(&bek, Some(own_origin)).await?;
            accepted.assert_status(303);
            assert_eq!(accepted.header("location"), Some(&*page));
        }
        assert_eq!(fixture.invite_statuses().await?, ["accepted"]);
        let shown = bek.get(&page).await?;
        shown.assert_status(200);
        assert!(String::from_utf8_lossy(&shown.body).contains("You have joined"), "{shown}");
        assert_eq!(bek.get("/v1/session").await?.string_at("/workspaceRole")?, "builder");
        Ok(())
    }
}

#[tokio::test]
async fn mailed_invites_are_limited_per_hour() -> Result<()> {
    tests::on_database(Database::Sqlite, async |server: Server| {
        let fixture = WorkspaceFixture::create(&server).await?;
        for batch in 0..3 {
            let emails: Vec<_> = (0..20).map(|number| format!("p{batch}-{number}@example.test")).collect();
            let body = json!({"emails": emails, "role": "viewer"});
            fixture.owner.post(&fixture.invites_path(), &body).await?.assert_status(200);
        }
        let one_more = json!({"emails": ["last@example.test"], "role": "viewer"});
        let refused = fixture.owner.post(&fixture.invites_path(), &one_more).await?;
        refused.assert_error(429, "rate_limited");
        assert!(refused.header("retry-after").is_some(), "{refused}");
        // Links that are shown instead of mailed do not count.
        fixture.owner.create_invite(&fixture.id, "last@example.test", "viewer").await?;
        Ok(())
    })
    .await
}
