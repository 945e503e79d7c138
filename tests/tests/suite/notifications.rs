//! Notifications: who is told of alerts, by which channels, and what became of it.

use anyhow::{Context as _, Result, ensure};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{
    Client, Database, EchoService, MailServer, Server, ServerOptions, eventually, eventually_within,
};

/// Fails unless it is started with `{"works": true}`.
const FAILS: &str =
    "export default { async scheduled(event) { if (!event.data?.works) throw new Error('No.') } }";

/// Covers the first retry of an e-mail, and the time until a node looks again.
const MAIL_DEADLINE: std::time::Duration = std::time::Duration::from_secs(60);

fn with_mail(database: &Database, mail: &MailServer) -> ServerOptions {
    Server::with(database.clone()).args([
        "--smtp-url",
        &mail.url(),
        "--mail-from",
        "Qala <qala@mail.example>",
        "--no-rate-limits",
    ])
}

/// An app whose automation fails, and who made it.
struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server, owner: &str) -> Result<Self> {
        let owner = server.sign_in(owner).await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, FAILS).await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        Ok(Self { owner, workspace, app, automation })
    }

    /// Runs the automation until it has failed three times in a row; returns the last run.
    async fn fail(&self) -> Result<String> {
        let mut last = String::new();
        for _ in 0..3 {
            last = self.owner.start_run(&self.automation, Value::Null).await?;
            let run = self.owner.wait_for_run(&last).await?;
            ensure!(run["status"] == "failed", "{run}");
        }
        Ok(last)
    }

    async fn succeed(&self) -> Result<()> {
        let run = self.owner.start_run(&self.automation, json!({"works": true})).await?;
        self.owner.wait_for_success(&run).await.map(drop)
    }

    fn path(&self) -> String {
        notifications_of(&self.workspace)
    }

    async fn list(&self) -> Result<Value> {
        self.owner.get(&self.path()).await?.ok()
    }

    /// Waits until the newest notification's e-mail has ended so.
    async fn wait_for_email(&self, ok: bool, reason: Value, recipients: u32) -> Result<()> {
        eventually_within(MAIL_DEADLINE, "the e-mail has ended", async || {
            let delivery = self.list().await?["items"][0]["deliveries"][1].clone();
            let expected = json!({"channel": "email", "ok": ok, "reason": reason, "recipients": recipients});
            ensure!(delivery == expected, "{delivery}, not {expected}");
            Ok(())
        })
        .await
    }
}

fn notifications_of(workspace: &str) -> String {
    format!("/v1/workspaces/{workspace}/notifications")
}

/// An address that differs between the databases, which share a mail server.
fn address(name: &str, database: &Database) -> String {
    format!("{name}.{database:?}@example.test").to_lowercase()
}

async fn with_mail_server(check: impl AsyncFn(&Server, &MailServer, &Database) -> Result<()>) -> Result<()> {
    let mail = MailServer::start().await?;
    for database in &[Database::Sqlite, Database::Postgres] {
        tests::on_server(with_mail(database, &mail), async |server| check(&server, &mail, database).await)
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_automation_that_keeps_failing_is_told_in_the_console_and_by_e_mail() -> Result<()> {
    with_mail_server(async |server, mail, database| {
        let owner = address("owner", database);
        let fixture = Fixture::create(server, &owner).await?;
        let empty = fixture.list().await?;
        assert_eq!(empty, json!({"items": [], "unread": 0, "nextCursor": null}));
        let run = fixture.fail().await?;

        let told = fixture.list().await?;
        assert_eq!((&told["unread"], &told["items"].as_array().map(Vec::len)), (&json!(1), &Some(1)));
        let item = &told["items"][0];
        let expected = json!({
            "kind": "automation_failing", "appId": fixture.app, "appName": "An app of a test",
            "roadId": fixture.automation, "roadName": "An automation", "connectionId": null,
            "connectionName": null, "runId": run, "code": "app_error", "repeats": 0,
        });
        for (name, value) in expected.as_object().context("an object")? {
            assert_eq!(&item[name], value, "{name} of {item}");
        }
        assert_eq!(
            item["deliveries"][0],
            json!({"channel": "in_app", "ok": true, "reason": null, "recipients": null})
        );
        fixture.wait_for_email(true, Value::Null, 1).await?;
        let messenger = &fixture.list().await?["items"][0]["deliveries"][2];
        assert_eq!(messenger["reason"], "not_configured");

        let email = mail.wait_for_mail(&owner).await?;
        assert_eq!(email.subject(), Some("The automation “An automation” keeps failing"));
        let (text, html) = (email.body_text(0).context("no text")?, email.body_html(0).context("no html")?);
        let link = format!("/w/{}/runs/{run}", fixture.workspace);
        assert!(text.contains(&link) && html.contains(&link) && text.contains("app_error"), "{text}");
        assert!(email.message_id().is_some_and(|id| id.ends_with("@mail.example")), "{email:?}");

        // The number is that of the event.
        let feed = format!("/v1/workspaces/{}/agent-events?since=0", fixture.workspace);
        let events = fixture.owner.get(&feed).await?.ok()?;
        let alert =
            events["items"].as_array().into_iter().flatten().find(|event| event["seq"] == item["seq"]);
        assert_eq!(alert.context("no such event")?["alert"], "automation_failing");

        // Once more within the hour: counted, and not sent again.
        fixture.succeed().await?;
        fixture.fail().await?;
        let again = fixture.list().await?;
        let seen = (&again["items"][0]["repeats"], again["items"].as_array().map(Vec::len));
        // The hour of the clock may have ended in between: then it is another notification, which is not sent either.
        if seen == (&json!(0), Some(2)) {
            fixture.wait_for_email(false, json!("repeated"), 0).await?;
        } else {
            assert_eq!(seen, (&json!(1), Some(1)));
        }
        assert_eq!(mail.mails_to(&owner)?.len(), 1);

        let up_to = json!({"upTo": again["items"][0]["seq"]});
        let read = fixture.owner.post(&format!("{}/read", fixture.path()), &up_to).await?.ok()?;
        assert_eq!(read, json!({"unread": 0}));
        assert_eq!(fixture.list().await?["unread"], 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_rejected_credential_is_told_to_admins_in_the_language_of_the_workspace() -> Result<()> {
    let mail = MailServer::start().await?;
    for database in &[Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let options = with_mail(database, &mail)
            .arg("--allowed-hosts")
            .arg(echo.allowed_hosts())
            .env("SSL_CERT_FILE", echo.authority()?);
        tests::on_server(options, async |server| {
            let (owner, admin) = (address("boss", database), address("admin", database));
            let (boss, second) = (server.sign_in(&owner).await?, server.sign_in(&admin).await?);
            let workspace = boss.create_workspace("Tulpar").await?.id;
            boss.patch(&format!("/v1/workspaces/{workspace}"), &json!({"locale": "ru"})).await?.ok()?;
            boss.invite_and_accept(&workspace, &admin, "admin", &second).await?;
            let builder = boss.add_member(&workspace, "builder").await?;
            let connection = json!({
                "displayName": "CRM", "baseUrl": echo.url(), "auth": {"type": "bearer"}, "methods": ["GET"],
                "testPath": "/me", "secret": "s3cret-of-the-crm",
            });
            let connectors = format!("/v1/workspaces/{workspace}/connectors/http");
            let id = boss.post(&connectors, &connection).await?.string_at("/id")?;
            echo.respond_with("/me", StatusCode::UNAUTHORIZED, "s3cret-of-the-crm is not known");
            let path = format!("/v1/workspaces/{workspace}/connections/{id}");
            for _ in 0..4 {
                boss.post(&format!("{path}/test"), &json!({})).await?.ok()?;
            }
            assert_eq!(boss.get(&path).await?.ok()?["status"], "error");

            // Everyone sees it in the console, and admins get e-mail.
            for client in [&boss, &second, &builder] {
                let told = client.get(&notifications_of(&workspace)).await?.ok()?;
                let item = &told["items"][0];
                assert_eq!((&item["kind"], &item["connectionId"]), (&json!("connector_down"), &json!(id)));
                assert_eq!(
                    (&item["connectionName"], &item["code"]),
                    (&json!("CRM"), &json!("auth_rejected"))
                );
                assert_eq!(told["unread"], 1);
            }
            for to in [&owner, &admin] {
                let email = mail.wait_for_mail(to).await?;
                assert_eq!(email.subject(), Some("Подключение «CRM» перестало работать"));
                let text = email.body_text(0).context("no text")?;
                assert!(text.contains(&format!("/w/{workspace}/connections/{id}")), "{text}");
                assert!(!text.contains("s3cret"), "{text}");
            }
            assert_eq!(mail.mails_to(&format!("builder.{workspace}@people.test"))?.len(), 0);
            assert!(!server.log().contains(&owner), "the log names a recipient");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn whoever_turned_e_mail_off_gets_none_and_others_do_not_see_private_apps() -> Result<()> {
    with_mail_server(async |server, mail, database| {
        let owner = address("quiet", database);
        let fixture = Fixture::create(server, &owner).await?;
        let settings = format!("{}/settings", fixture.path());
        let stored = fixture.owner.get(&settings).await?;
        assert_eq!(stored.ok()?, json!({"email": true, "emailAvailable": true}));
        let off = fixture.owner.patch(&settings, &json!({"email": false})).await?.ok()?;
        assert_eq!(off, json!({"email": false, "emailAvailable": true}));
        assert_eq!(fixture.owner.patch(&settings, &json!({})).await?.ok()?, off, "nothing changes");
        fixture.owner.patch(&settings, &json!({"email": null})).await?.ok()?;
        fixture.owner.patch(&settings, &json!({"email": "no"})).await?.assert_error(400, "invalid_request");
        fixture.owner.patch(&settings, &json!({"mail": true})).await?.assert_error(400, "invalid_request");
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit", fixture.workspace)).await?.ok()?;
        let actions = audit["items"].as_array().into_iter().flatten();
        assert_eq!(actions.filter(|entry| entry["action"] == "notification.configure").count(), 1, "{audit}");

        fixture.fail().await?;
        fixture.wait_for_email(false, json!("no_recipients"), 0).await?;
        assert_eq!(mail.mails_to(&owner)?.len(), 0);

        // The app is private: a viewer is not told of it, and does not count it.
        let viewer = fixture.owner.add_member(&fixture.workspace, "viewer").await?;
        let seen = viewer.get(&fixture.path()).await?.ok()?;
        assert_eq!(seen, json!({"items": [], "unread": 0, "nextCursor": null}));
        // A view as a role sees no more than that role.
        let request = fixture
            .owner
            .request(Method::GET, &fixture.path())
            .header(http::HeaderName::from_static("qala-view-as"), "viewer")?;
        assert_eq!(request.send().await?.ok()?["items"], json!([]));
        // Settings are one's own.
        let own = viewer.get(&settings).await?.ok()?;
        assert_eq!(own["email"], true);
        let token = fixture.owner.create_token(&fixture.workspace, &["read", "write"]).await?;
        let token = fixture.owner.with_bearer(&token);
        assert_eq!(token.get(&fixture.path()).await?.ok()?["items"].as_array().map(Vec::len), Some(1));
        token.get(&settings).await?.assert_status(403);
        token.post(&format!("{}/read", fixture.path()), &json!({"upTo": 1})).await?.assert_status(403);
        for bad in
            [json!({}), json!({"upTo": 0}), json!({"upTo": -1}), json!({"upTo": 1.5}), json!({"upTo": "1"})]
        {
            let reply = fixture.owner.post(&format!("{}/read", fixture.path()), &bad).await?;
            reply.assert_error(400, "invalid_request");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_notification_survives_a_kill_and_is_sent_once() -> Result<()> {
    let mail = MailServer::start().await?;
    for database in &[Database::Sqlite, Database::Postgres] {
        let owner = address("survivor", database);
        let away = ["--smtp-url", "smtp://127.0.0.1:1", "--mail-from", "qala@mail.example"];
        let mut server = Server::with(database.clone()).args(away).arg("--no-rate-limits").start().await?;
        let fixture = Fixture::create(&server, &owner).await?;
        fixture.fail().await?;
        // An attempt has ended, so that none is leased.
        eventually("the e-mail is to be retried", async || {
            ensure!(server.log().contains("e-mail about an alert not accepted; will retry"), "not yet");
            Ok(())
        })
        .await?;
        server.kill()?;
        server.set_arg("--smtp-url", &mail.url());
        server.restart().await?;
        fixture.wait_for_email(true, Value::Null, 1).await?;
        assert_eq!(mail.mails_to(&owner)?.len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn two_nodes_send_each_e_mail_once() -> Result<()> {
    let mail = MailServer::start().await?;
    tests::on_server(with_mail(&Database::Postgres, &mail), async |server| {
        let node = server.start_another_node().await?;
        let owner = address("pair", &Database::Postgres);
        let fixture = Fixture::create(&server, &owner).await?;
        let mut sent = 0;
        for _ in 0..4 {
            let automation =
                fixture.owner.create_automation(&fixture.workspace, &fixture.app, "manual", 0).await?;
            let fixture = Fixture {
                owner: fixture.owner.clone(),
                workspace: fixture.workspace.clone(),
                app: fixture.app.clone(),
                automation,
            };
            fixture.fail().await?;
            fixture.wait_for_email(true, Value::Null, 1).await?;
            sent += 1;
        }
        assert_eq!(mail.mails_to(&owner)?.len(), sent);
        let lines = |server: &Server| server.log().matches("e-mail about an alert sent").count();
        assert_eq!(lines(&server) + lines(&node), sent);
        Ok(())
    })
    .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn without_a_mail_server_the_list_says_so(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, "owner@example.test").await?;
        fixture.fail().await?;
        fixture.wait_for_email(false, json!("not_configured"), 0).await?;
        let settings = fixture.owner.get(&format!("{}/settings", fixture.path())).await?.ok()?;
        assert_eq!(settings, json!({"email": true, "emailAvailable": false}));
        assert!(!server.log().contains("mail to owner@example.test: The automation"), "it is not printed");
        Ok(())
    }

    async fn what_is_read_at_once_and_too_far_ends_at_the_newest(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, "owner@example.test").await?;
        fixture.fail().await?;
        let seq = fixture.list().await?["items"][0]["seq"].as_u64().context("no number")?;
        let read = format!("{}/read", fixture.path());
        let all = futures::future::join_all((0..8).map(|step| {
            let up_to = if step % 2 == 0 { seq } else { 9_007_199_254_740_991 };
            let (client, read) = (fixture.owner.clone(), read.clone());
            async move { client.post(&read, &json!({"upTo": up_to})).await?.ok() }
        }))
        .await;
        for reply in all {
            assert_eq!(reply?, json!({"unread": 0}));
        }
        // A number beyond the newest event does not hide what comes.
        let other = Fixture {
            automation: fixture.owner.create_automation(&fixture.workspace, &fixture.app, "manual", 0).await?,
            owner: fixture.owner.clone(),
            workspace: fixture.workspace.clone(),
            app: fixture.app.clone(),
        };
        other.fail().await?;
        assert_eq!(other.list().await?["unread"], 1);
        // A view as a role marks nothing: what it shows is not what the person sees.
        let view = http::HeaderName::from_static("qala-view-as");
        let as_viewer = other.owner.request(Method::POST, &read).header(view, "viewer")?;
        let reply = as_viewer.json(&json!({"upTo": 9_007_199_254_740_991_u64}))?.send().await?;
        reply.assert_error(403, "view_is_read_only");
        assert_eq!(other.list().await?["unread"], 1);
        // Who joins now has nothing to catch up on, but sees it.
        let late = other.owner.add_member(&other.workspace, "admin").await?;
        let seen = late.get(&other.path()).await?.ok()?;
        assert_eq!((&seen["unread"], seen["items"].as_array().map(Vec::len)), (&json!(0), Some(2)));
        Ok(())
    }
}
