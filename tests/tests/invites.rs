//! Invites: sending, following, and everything that must not let anybody in.

use std::{
    collections::BTreeSet,
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, Server, token_of, unix_time};

struct Home {
    id: String,
    owner: Client,
}

impl Home {
    async fn make(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.make_workspace("Tulpar").await?.id;
        Ok(Self { id, owner })
    }

    fn invites(&self) -> String {
        format!("/v1/workspaces/{}/invites", self.id)
    }

    async fn statuses(&self) -> Result<Vec<String>> {
        let listed = self.owner.get(&self.invites()).await?.ok()?;
        let items = listed["items"].as_array().context("items")?;
        Ok(items.iter().map(|item| item["status"].as_str().unwrap_or_default().to_owned()).collect())
    }
}

fn in_seconds(seconds: i64) -> String {
    let now = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(unix_time()));
    (now + TimeDelta::seconds(seconds)).to_rfc3339()
}

fn accept(token: &str) -> String {
    format!("/v1/invites/{token}/accept")
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_invited_person_comes_in_once(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let body = json!({"emails": ["Bek@Example.test"], "role": "builder", "deliver": "link"});
        let sent = home.owner.post(&home.invites(), &body).await?.ok()?;
        let (item, link) = (&sent["items"][0], &sent["links"][0]);
        assert_eq!((&item["email"], &item["status"]), (&json!("bek@example.test"), &json!("pending")));
        assert_eq!((&item["role"], &item["accessEndsAt"]), (&json!("builder"), &Value::Null));
        assert_eq!(item["invitedBy"], home.owner.user_id().await?.as_str());
        assert_eq!((&sent["delivery"], &link["inviteId"]), (&Value::Null, &item["id"]));
        let days = |field: &str| item[field].as_str().context("a time")?.parse::<chrono::DateTime<Utc>>().context("a time");
        assert_eq!(days("expiresAt")? - days("createdAt")?, TimeDelta::days(7));
        let link = link["link"].as_str().context("a link")?;
        assert!(link.starts_with(&format!("{}/invite/qiv_", server.base_url())), "{link}");
        let token = token_of(link)?;

        // It is shown only once, and kept nowhere in the open.
        let listed = home.owner.get(&home.invites()).await?;
        assert!(!String::from_utf8_lossy(&listed.body).contains(&token), "{listed}");
        let bek = server.sign_in("bek@example.test").await?;
        assert_eq!(bek.get("/v1/session").await?.ok()?["workspaceId"], Value::Null);
        let entered = bek.post(&accept(&token), &json!({})).await?;
        assert_eq!(entered.string("/session/workspaceId")?, home.id);
        assert_eq!(entered.string("/session/workspaceRole")?, "builder");
        assert_eq!(bek.get("/v1/session").await?.string("/workspaceId")?, home.id);
        assert_eq!(home.statuses().await?, ["accepted"]);

        bek.post(&accept(&token), &json!({})).await?.assert_problem(409, "invite_accepted");
        let item = item["id"].as_str().context("id")?;
        let one = format!("{}/{item}", home.invites());
        home.owner.delete(&one).await?.assert_problem(409, "invite_accepted");
        home.owner.post(&format!("{one}/resend"), &json!({})).await?.assert_problem(409, "invite_settled");
        // Once removed, an accepted invite brings nobody back.
        let member = format!("/v1/workspaces/{}/members/{}", home.id, bek.user_id().await?);
        home.owner.delete(&member).await?.assert_status(200);
        bek.post(&accept(&token), &json!({})).await?.assert_problem(409, "invite_accepted");
        bek.get(&home.invites()).await?.assert_problem(404, "workspace_not_found");
        assert!(!server.log().contains(&token), "the log holds an invite's token");
        Ok(())
    }

    /// Nobody comes in, or back, on the word of somebody who may invite nobody any more.
    async fn an_invite_is_worth_what_its_sender_may_do(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let admin = server.sign_in("admin@example.test").await?;
        let id = admin.user_id().await?;
        let member = format!("/v1/workspaces/{}/members/{id}", home.id);
        let join = async || home.owner.invite_and_accept(&home.id, "admin@example.test", "admin", &admin).await;
        let second = server.sign_in("second@example.test").await?;
        let send = async || admin.invite(&home.id, "second@example.test", "admin").await;
        let revoked = async || -> Result<usize> {
            let log = home.owner.get(&format!("/v1/workspaces/{}/audit?action=invite.revoke", home.id)).await?.ok()?;
            let rows = log["items"].as_array().context("items")?;
            Ok(rows.iter().filter(|row| row["detail"]["because"] == "inviter").count())
        };

        // Removed.
        join().await?;
        let token = send().await?;
        home.owner.delete(&member).await?.assert_status(200);
        second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        assert_eq!(revoked().await?, 1);
        // Once they are back, what they sent before stays void.
        join().await?;
        second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");

        // Demoted, to any role that does not invite.
        for role in ["builder", "member", "viewer"] {
            let token = send().await?;
            home.owner.patch(&member, &json!({"role": role})).await?.assert_status(200);
            second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
            home.owner.patch(&member, &json!({"role": "admin"})).await?.assert_status(200);
            second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        }
        assert_eq!(revoked().await?, 4);

        // Gone on their own.
        let token = send().await?;
        admin.delete(&member).await?.assert_status(200);
        second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        assert_eq!(revoked().await?, 5);

        // Their access has ended by the clock: the first to follow the link revokes it.
        join().await?;
        let token = send().await?;
        let bearer = admin.with_bearer(&admin.make_token(&home.id, &["read"]).await?);
        home.owner.patch(&member, &json!({"accessEndsAt": in_seconds(2)})).await?.assert_status(200);
        tests::eventually("the access ends", async || {
            let reply = admin.get(&home.invites()).await?;
            anyhow::ensure!(reply.status == 404, "{reply}");
            Ok(())
        })
        .await?;
        bearer.get("/v1/tokens/self").await?.assert_problem(401, "unauthorized");
        second.post(&accept(&token), &json!({})).await?.assert_problem(409, "invite_withdrawn");
        second.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        assert_eq!(revoked().await?, 6);
        // A moment of a whole second has milliseconds as well.
        let change = json!({"accessEndsAt": "2099-01-01T00:00:00Z"});
        let other = server.sign_in("other@example.test").await?;
        home.owner.invite_and_accept(&home.id, "other@example.test", "member", &other).await?;
        let path = format!("/v1/workspaces/{}/members/{}", home.id, other.user_id().await?);
        let changed = home.owner.patch(&path, &change).await?;
        assert!(String::from_utf8_lossy(&changed.body).contains("\"2099-01-01T00:00:00.000Z\""), "{changed}");

        // An invite that another admin sends again is theirs.
        join().await?;
        send().await?;
        let listed = home.owner.get(&home.invites()).await?.ok()?;
        let invite = listed["items"][0]["id"].as_str().context("an id")?;
        let again = format!("{}/{invite}/resend", home.invites());
        let sent = home.owner.post(&again, &json!({"deliver": "link"})).await?;
        home.owner.delete(&member).await?.assert_status(200);
        let token = token_of(&sent.string("/links/0/link")?)?;
        second.post(&accept(&token), &json!({})).await?.assert_status(200);

        // An owner who hands the workspace over stays an admin, and what they sent stays good.
        let third = server.sign_in("third@example.test").await?;
        let token = home.owner.invite(&home.id, "third@example.test", "viewer").await?;
        let heir = second.user_id().await?;
        let transfer = format!("/v1/workspaces/{}/members/{heir}/transfer-ownership", home.id);
        home.owner.post(&transfer, &json!({"confirmName": "Tulpar"})).await?.assert_status(200);
        third.post(&accept(&token), &json!({})).await?.assert_status(200);
        Ok(())
    }

    async fn one_mailbox_is_one_address(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        for (invited, signs_in) in [
            ("user@почта.рф", "user@xn--80a1acny.xn--p1ai"),
            ("admin@xn--80a1acny.xn--p1ai", "Admin@ПОЧТА.рф"),
            ("jos\u{e9}@example.test", "jose\u{301}@example.test"),
            ("bek@EXAMPLE.test", "BEK@example.TEST"),
        ] {
            let token = home.owner.invite(&home.id, invited, "viewer").await?;
            let person = server.sign_in(signs_in).await?;
            let reply = person.post(&accept(&token), &json!({})).await?;
            anyhow::ensure!(reply.status == 200, "{invited} {signs_in}: {reply}");
            let same = server.sign_in(invited).await?;
            assert_eq!(same.user_id().await?, person.user_id().await?, "{invited}");
            let again = json!({"emails": [signs_in], "role": "viewer", "deliver": "link"});
            home.owner.post(&home.invites(), &again).await?.assert_problem(409, "already_member");
        }
        let login = json!({"email": "\u{212a}im@example.test"});
        let visitor = server.client();
        let request = visitor.request(Method::POST, "/v1/auth/dev-login");
        let request = request.header(header::ORIGIN, server.base_url())?;
        request.json(&login)?.send().await?.assert_problem(400, "invalid_request");
        Ok(())
    }

    async fn an_invite_is_for_its_address_alone(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let token = home.owner.invite(&home.id, "bek@example.test", "member").await?;
        let other = server.sign_in("other@example.test").await?;
        let refused = other.post(&accept(&token), &json!({})).await?;
        refused.assert_problem(403, "wrong_address");
        for secret in ["bek", "Tulpar", &home.id] {
            assert!(!String::from_utf8_lossy(&refused.body).contains(secret), "{refused}");
        }
        home.owner.post(&accept(&token), &json!({})).await?.assert_problem(403, "wrong_address");
        server.client().post(&accept(&token), &json!({})).await?.assert_problem(401, "unauthorized");
        let bearer = home.owner.with_bearer(&home.owner.make_token(&home.id, &["admin"]).await?);
        bearer.post(&accept(&token), &json!({})).await?.assert_problem(403, "console_only");
        for wrong in [
            "",
            "x",
            "qiv_",
            "qiv_000000000000000000000000000000000000",
            &token[..token.len() - 1],
            &format!("{token}x"),
            &token.replace("qiv_", "qat_"),
        ] {
            let reply = other.post(&accept(wrong), &json!({})).await?;
            reply.check_problem(404, None).with_context(|| wrong.to_owned())?;
        }
        let bek = server.sign_in("bek@example.test").await?;
        let foreign = bek.request(Method::POST, &accept(&token)).header(header::ORIGIN, "https://evil.test")?;
        foreign.json(&json!({}))?.send().await?.assert_problem(403, "forbidden");
        bek.post(&accept(&token), &json!({"role": "owner"})).await?.assert_problem(400, "invalid_request");
        assert_eq!(home.statuses().await?, ["pending"]);
        bek.post(&accept(&token), &json!({})).await?.assert_status(200);
        // To a stranger an accepted invite is not there.
        other.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        Ok(())
    }

    async fn a_revoked_and_a_replaced_link_lead_nowhere(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let bek = server.sign_in("bek@example.test").await?;
        let first = home.owner.invite(&home.id, "bek@example.test", "viewer").await?;
        let second = home.owner.invite(&home.id, "bek@example.test", "member").await?;
        assert_eq!(home.statuses().await?, ["pending", "revoked"]);
        bek.post(&accept(&first), &json!({})).await?.assert_problem(404, "invite_not_found");

        let listed = home.owner.get(&home.invites()).await?;
        let one = format!("{}/{}", home.invites(), listed.string("/items/0/id")?);
        let sent = home.owner.post(&format!("{one}/resend"), &json!({"deliver": "link"})).await?;
        let third = token_of(&sent.string("/links/0/link")?)?;
        assert_eq!(sent.string("/items/0/id")?, listed.string("/items/0/id")?);
        assert_eq!(home.statuses().await?, ["pending", "revoked"]);
        bek.post(&accept(&second), &json!({})).await?.assert_problem(404, "invite_not_found");

        for _ in 0..2 {
            home.owner.delete(&one).await?.assert_status(200);
        }
        bek.post(&accept(&third), &json!({})).await?.assert_problem(404, "invite_not_found");
        home.owner.post(&format!("{one}/resend"), &json!({})).await?.assert_problem(409, "invite_settled");
        assert_eq!(home.statuses().await?, ["revoked", "revoked"]);
        bek.get(&home.invites()).await?.assert_problem(404, "workspace_not_found");
        Ok(())
    }

    async fn a_link_that_leads_nowhere_says_one_thing(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let bek = server.sign_in("bek@example.test").await?;
        let stranger = server.sign_in("stranger@example.test").await?;
        let replaced = home.owner.invite(&home.id, "gul@example.test", "viewer").await?;
        let revoked = home.owner.invite(&home.id, "gul@example.test", "viewer").await?;
        let listed = home.owner.get(&home.invites()).await?.string("/items/0/id")?;
        home.owner.delete(&format!("{}/{listed}", home.invites())).await?.assert_status(200);
        let expired = home.owner.invite(&home.id, "old@example.test", "viewer").await?;
        server.execute("UPDATE invites SET expires_at = 1 WHERE email = 'old@example.test'").await?;
        let accepted = home.owner.invite(&home.id, "bek@example.test", "viewer").await?;
        bek.post(&accept(&accepted), &json!({})).await?.assert_status(200);
        let mut answers = BTreeSet::new();
        let unknown = "qiv_000000000000000000000000000000000000";
        for link in [&*replaced, &revoked, &expired, &accepted, unknown, "qiv_x", "x"] {
            for (method, path) in [(Method::POST, accept(link)), (Method::GET, format!("/invite/{link}"))] {
                let reply = stranger.request(method, &path).send().await?;
                let id = reply.header("x-request-id").context("a request id")?.to_owned();
                let body = String::from_utf8_lossy(&reply.body).replace(&id, "");
                answers.insert((reply.status.as_u16(), path.starts_with("/v1"), body));
            }
        }
        assert_eq!(answers.len(), 2, "one answer, as JSON and as a page: {answers:?}");
        assert!(answers.iter().all(|(status, ..)| *status == 404), "{answers:?}");
        Ok(())
    }

    async fn inviting_does_not_tell_who_is_known(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        server.sign_in("known@example.test").await?;
        let mut answers = BTreeSet::new();
        for email in ["known@example.test", "unkno@example.test"] {
            for deliver in ["email", "link"] {
                let body = json!({"emails": [email], "role": "viewer", "deliver": deliver});
                let reply = home.owner.post(&home.invites(), &body).await?;
                let mut answer = reply.ok()?;
                for field in ["id", "createdAt", "expiresAt"] {
                    answer["items"][0][field] = Value::Null;
                }
                if deliver == "link" {
                    answer["links"][0]["link"] = Value::Null;
                    answer["links"][0]["inviteId"] = Value::Null;
                }
                let names: BTreeSet<_> = reply.headers.keys().map(|name| name.as_str().to_owned()).collect();
                answers.insert((deliver, answer.to_string().replace(email, ""), names));
            }
        }
        assert_eq!(answers.len(), 2, "one answer for each way of delivery: {answers:?}");
        Ok(())
    }

    async fn at_most_five_hundred_invites_wait(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let invite = async |from: usize, count: usize| {
            let emails: Vec<_> = (from..from + count).map(|number| format!("p{number}@example.test")).collect();
            let body = json!({"emails": emails, "role": "viewer", "deliver": "link"});
            home.owner.post(&home.invites(), &body).await
        };
        for batch in 0..24 {
            invite(batch * 20, 20).await?.assert_status(200);
        }
        invite(480, 19).await?.assert_status(200);
        // All or nobody: the one that would fit is not taken either.
        invite(499, 2).await?.assert_problem(409, "too_many_invites");
        invite(499, 1).await?.assert_status(200);
        invite(500, 1).await?.assert_problem(409, "too_many_invites");
        // An address that waits already takes no further place.
        invite(7, 1).await?.assert_status(200);
        let one = home.owner.get(&home.invites()).await?.string("/items/0/id")?;
        home.owner.delete(&format!("{}/{one}", home.invites())).await?.assert_status(200);
        invite(500, 1).await?.assert_status(200);
        Ok(())
    }

    async fn an_expired_invite_is_told_to_its_person_and_can_be_sent_again(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let token = home.owner.invite(&home.id, "bek@example.test", "member").await?;
        server.execute("UPDATE invites SET expires_at = created_at").await?;
        assert_eq!(home.statuses().await?, ["expired"]);
        let bek = server.sign_in("bek@example.test").await?;
        bek.post(&accept(&token), &json!({})).await?.assert_problem(409, "invite_expired");
        let other = server.sign_in("other@example.test").await?;
        other.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");

        let id = home.owner.get(&home.invites()).await?.string("/items/0/id")?;
        let again = format!("{}/{id}/resend", home.invites());
        let sent = home.owner.post(&again, &json!({"deliver": "link"})).await?;
        assert_eq!(sent.string("/items/0/status")?, "pending");
        bek.post(&accept(&token), &json!({})).await?.assert_problem(404, "invite_not_found");
        let fresh = token_of(&sent.string("/links/0/link")?)?;
        bek.post(&accept(&fresh), &json!({})).await?.assert_status(200);
        Ok(())
    }

    async fn what_is_wrong_with_a_request_invites_nobody(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let many: Vec<_> = (0..21).map(|number| format!("p{number}@example.test")).collect();
        let past = in_seconds(-1);
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
            let reply = home.owner.post(&home.invites(), &bad).await?;
            reply.check_problem(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        let member = json!({"emails": ["new@example.test", "owner@example.test"], "role": "member"});
        let refused = home.owner.post(&home.invites(), &member).await?;
        refused.assert_problem(409, "already_member");
        assert!(String::from_utf8_lossy(&refused.body).contains("owner@example.test"), "{refused}");
        assert_eq!(home.statuses().await?, <[String; 0]>::default());

        for role in ["builder", "member", "viewer"] {
            let person = home.owner.bring(&home.id, role).await?;
            person.get(&home.invites()).await?.assert_problem(403, "admin_only");
            person.post(&home.invites(), &json!({})).await?.assert_problem(403, "admin_only");
        }
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.post(&home.invites(), &json!({})).await?.assert_problem(404, "workspace_not_found");
        let admin = home.owner.bring(&home.id, "admin").await?;
        let foreign = outsider.make_workspace("Elsewhere").await?.id;
        outsider.invite(&foreign, "bek@example.test", "member").await?;
        let theirs = outsider.get(&format!("/v1/workspaces/{foreign}/invites")).await?.string("/items/0/id")?;
        let mine = format!("{}/{theirs}", home.invites());
        admin.delete(&mine).await?.assert_problem(404, "invite_not_found");
        admin.post(&format!("{mine}/resend"), &json!({})).await?.assert_problem(404, "invite_not_found");
        Ok(())
    }

    async fn an_address_that_stands_there_twice_is_invited_once(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let body = json!({"emails": ["a@example.test", "A@example.test ", "b@example.test"], "role": "viewer", "deliver": "link"});
        let sent = home.owner.post(&home.invites(), &body).await?.ok()?;
        let emails: BTreeSet<_> = sent["links"].as_array().context("links")?.iter().map(|link| link["email"].to_string()).collect();
        assert_eq!(emails.len(), 2, "{sent}");
        assert_eq!(sent["items"].as_array().map(Vec::len), Some(2));
        Ok(())
    }

    async fn many_who_accept_at_once_come_in_once(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let token = home.owner.invite(&home.id, "bek@example.test", "member").await?;
        let bek = server.sign_in("bek@example.test").await?;
        let mut tries = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (bek, path) = (bek.clone(), accept(&token));
            tries.spawn(async move { bek.post(&path, &json!({})).await });
        }
        let mut entered = 0;
        for reply in tries.join_all().await {
            let reply = reply?;
            if reply.status.is_success() {
                entered += 1;
            } else {
                reply.assert_problem(409, "invite_accepted");
            }
        }
        assert_eq!(entered, 1);
        Ok(())
    }

    async fn access_given_until_a_moment_ends_then(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let end = in_seconds(3600);
        let body = json!({"emails": ["bek@example.test"], "role": "admin", "deliver": "link", "accessEndsAt": end, "expiresInDays": 30});
        let sent = home.owner.post(&home.invites(), &body).await?;
        let bek = server.sign_in("bek@example.test").await?;
        bek.post(&accept(&token_of(&sent.string("/links/0/link")?)?), &json!({})).await?.assert_status(200);
        let listed = bek.get(&format!("/v1/workspaces/{}/members", home.id)).await?.ok()?;
        assert!(listed["items"][1]["accessEndsAt"].is_string(), "{listed}");
        Ok(())
    }

    async fn a_mailed_link_opens_a_page_that_accepts_by_its_button(server: Server) -> Result<()> {
        let home = Home::make(&server).await?;
        let body = json!({"emails": ["bek@example.test"], "role": "builder", "locale": "ru"});
        let sent = home.owner.post(&home.invites(), &body).await?.ok()?;
        assert_eq!((&sent["delivery"], &sent["links"]), (&json!("dev-log"), &json!([])));
        let mail = server.mail_to("bek@example.test", 1).await?;
        assert!(mail.subject.contains("Tulpar") && mail.text.contains("приглашает"), "{mail:?}");
        let token = token_of(&mail.link()?)?;
        let page = format!("/invite/{token}");

        let visitor = server.client().get(&page).await?;
        visitor.assert_status(303);
        assert_eq!(visitor.header("location"), Some(&*format!("/sign-in?next=%2Finvite%2F{token}")));
        // Whoever has the link is shown who invites into what, and not whom.
        let asked = server.client().get(&format!("/sign-in?next=%2Finvite%2F{token}")).await?;
        let html = String::from_utf8_lossy(&asked.assert_status(200).body);
        for part in ["Join Tulpar", "owner", "builder", "<strong>Tulpar</strong>"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("bek@"), "{html}");
        let made_up = server.client().get("/sign-in?next=%2Finvite%2Fqiv_000000000000000000000000000000000000").await?;
        assert!(!String::from_utf8_lossy(&made_up.assert_status(200).body).contains("Join"), "{made_up}");
        let nowhere = server.client().get("/invite/qiv_x").await?;
        nowhere.assert_status(404);
        assert!(nowhere.header("location").is_none());

        let other = server.sign_in("other@example.test").await?;
        let refused = other.get(&page).await?;
        refused.assert_status(403);
        for secret in ["bek@", "Tulpar"] {
            assert!(!String::from_utf8_lossy(&refused.body).contains(secret), "{refused}");
        }
        // It is no dead end: another account can be used, and comes back here.
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
        // Scanners that follow links have changed nothing.
        assert_eq!(home.statuses().await?, ["pending"]);
        let form = async |client: &Client, origin: Option<&str>| {
            let request = client.request(Method::POST, &page).body("application/x-www-form-urlencoded", "")?;
            let request = request.without(&header::ORIGIN);
            match origin {
                Some(origin) => request.header(header::ORIGIN, origin)?.send().await,
                None => request.send().await,
            }
        };
        let ours = server.base_url();
        form(&bek, None).await?.assert_problem(403, "forbidden");
        form(&bek, Some("null")).await?.assert_problem(403, "forbidden");
        form(&bek, Some("https://evil.test")).await?.assert_problem(403, "forbidden");
        form(&other, Some(ours)).await?.assert_status(403);
        form(&server.client(), Some(ours)).await?.assert_status(303);
        assert_eq!(home.statuses().await?, ["pending"]);

        for _ in 0..2 {
            let accepted = form(&bek, Some(ours)).await?;
            accepted.assert_status(303);
            assert_eq!(accepted.header("location"), Some(&*page));
        }
        assert_eq!(home.statuses().await?, ["accepted"]);
        let shown = bek.get(&page).await?;
        shown.assert_status(200);
        assert!(String::from_utf8_lossy(&shown.body).contains("You are in"), "{shown}");
        assert_eq!(bek.get("/v1/session").await?.string("/workspaceRole")?, "builder");
        Ok(())
    }
}

#[tokio::test]
async fn mailed_invites_are_limited_by_the_hour() -> Result<()> {
    tests::on(Database::Sqlite, async |server: Server| {
        let home = Home::make(&server).await?;
        for batch in 0..3 {
            let emails: Vec<_> = (0..20).map(|number| format!("p{batch}-{number}@example.test")).collect();
            let body = json!({"emails": emails, "role": "viewer"});
            home.owner.post(&home.invites(), &body).await?.assert_status(200);
        }
        let one_more = json!({"emails": ["last@example.test"], "role": "viewer"});
        let refused = home.owner.post(&home.invites(), &one_more).await?;
        refused.assert_problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some(), "{refused}");
        // Links that are shown are no mail.
        home.owner.invite(&home.id, "last@example.test", "viewer").await?;
        Ok(())
    })
    .await
}
