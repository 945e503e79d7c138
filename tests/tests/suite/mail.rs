//! Delivery of mail through an independent SMTP server.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tests::{Database, MailServer, Server, eventually};

#[tokio::test]
async fn an_email_is_delivered_in_text_and_html() -> Result<()> {
    let mail_server = MailServer::start().await?;
    for database in [Database::Sqlite, Database::Postgres] {
        let to = format!("aru.{database:?}@example.test").to_lowercase();
        let server = Server::with(database).args(["--smtp-url", &mail_server.url()]);
        let server = server.args(["--mail-from", "Qala <qala@mail.example>"]).start().await?;
        let visitor = server.client();
        let body = json!({"email": to, "locale": "kk"});
        visitor.post_from_console("/v1/auth/email/start", &body).await?.assert_status(200);

        let mail = mail_server.wait_for_mail(&to).await?;
        assert_eq!(mail.subject(), Some("Qala үшін кодыңыз"));
        let from = mail.from().and_then(|from| from.first()).context("no sender")?;
        assert_eq!((from.name(), from.address()), (Some("Qala"), Some("qala@mail.example")));
        let id = mail.message_id().context("no message id")?;
        assert!(id.starts_with("mail_") && id.ends_with("@mail.example"), "{id}");
        let (text, html) = (mail.body_text(0).context("no text")?, mail.body_html(0).context("no html")?);
        let code = text.lines().map(str::trim).find(|line| line.len() == 6).context("no code")?;
        assert!(html.contains(code) && html.contains("lang=\"kk\""), "{html}");

        let body = json!({"email": to, "code": code});
        visitor.post_from_console("/v1/auth/email/verify", &body).await?.assert_status(200);
        let log = server.log();
        assert!(log.contains("e-mail sent") && !log.contains(code) && !log.contains(&to), "{log}");
    }
    Ok(())
}

#[tokio::test]
async fn an_invite_is_delivered_and_accepted() -> Result<()> {
    let mail_server = MailServer::start().await?;
    for database in [Database::Sqlite, Database::Postgres] {
        let to = format!("bek.{database:?}@example.test").to_lowercase();
        let server = Server::with(database).args(["--smtp-url", &mail_server.url()]);
        let server = server.args(["--mail-from", "qala@mail.example"]).start().await?;
        let owner = server.sign_in("aigerim@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let invites = format!("/v1/workspaces/{}/invites", workspace.id);
        let body = json!({"emails": [to], "role": "builder", "locale": "ru"});
        let created = owner.post(&invites, &body).await?.ok()?;
        assert_eq!((&created["delivery"], &created["links"]), (&json!("email"), &json!([])));

        let mail = mail_server.wait_for_mail(&to).await?;
        assert_eq!(mail.subject(), Some("Вас приглашают в «Tulpar»"));
        let (text, html) = (mail.body_text(0).context("no text")?, mail.body_html(0).context("no html")?);
        let link = text.lines().find(|line| line.starts_with("http")).context("no link")?;
        assert!(html.contains(link), "{html}");
        let token = link.rsplit('/').next().context("no token")?;
        let accept = format!("/v1/invites/{token}/accept");
        owner.post(&accept, &json!({})).await?.assert_error(403, "wrong_address");
        let bek = server.sign_in(&to).await?;
        let session = bek.post(&accept, &json!({})).await?;
        assert_eq!(session.string_at("/session/workspaceRole")?, "builder");
        assert!(!server.log().contains(token), "the log contains an invite");
    }
    Ok(())
}

#[tokio::test]
async fn a_queued_email_survives_a_restart() -> Result<()> {
    let mail_server = MailServer::start().await?;
    // While the SMTP server is unreachable, the e-mail stays in the outbox.
    let away = ["--smtp-url", "smtp://127.0.0.1:1", "--mail-from", "qala@mail.example"];
    let mut server = Server::with(Database::Sqlite).args(away).start().await?;
    let visitor = server.client();
    let body = json!({"email": "bek@example.test"});
    visitor.post_from_console("/v1/auth/email/start", &body).await?.assert_status(200);
    // Waits until no attempt is in progress; otherwise the e-mail would be due only after its lease has expired.
    eventually("the e-mail is queued for a retry", async || {
        ensure!(server.log().contains("e-mail not accepted; will retry"), "it was not attempted yet");
        Ok(())
    })
    .await?;
    server.kill()?;
    server.set_arg("--smtp-url", &mail_server.url());
    server.restart().await?;
    let mail = mail_server.wait_for_mail("bek@example.test").await?;
    assert_eq!(mail.subject(), Some("Your code for Qala"));
    Ok(())
}

#[tokio::test]
async fn an_invalid_smtp_url_stops_the_start() -> Result<()> {
    for (url, expected) in
        [("mail.example.com", "--smtp-url"), ("smtp://u:hunter2@mail.example.com?tls=none", "unencrypted")]
    {
        let error = Server::with(Database::Sqlite).args(["--smtp-url", url]).start().await.err();
        let error = format!("{:#}", error.context("the server must not start")?);
        assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
    }
    Ok(())
}
