//! Places where no secret may ever appear: the log, the audit log, URLs that browsers are redirected to, and the disk.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{
    BackendProject, CODE_VERIFIER, Client, Database, MailServer, REDIRECT_URI, Reply, Server, TokenPair,
    encode_form, eventually, identity_settings, invite_token, person_token, query_parameter,
};

const FORM: &str = "application/x-www-form-urlencoded";

/// Secrets by kind, and the URLs that browsers were redirected to.
#[derive(Default)]
struct CollectedSecrets {
    secrets: BTreeMap<String, String>,
    addresses: Vec<String>,
}

impl CollectedSecrets {
    fn add_secret(&mut self, what: &str, value: &str) -> Result<String> {
        ensure!(value.len() >= 16, "{what} is too short to be looked for: {value}");
        self.secrets.insert(what.to_owned(), value.to_owned());
        Ok(value.to_owned())
    }

    fn add_session(&mut self, what: &str, person: &Client) -> Result<()> {
        let (_, secret) = person.cookie().and_then(|cookie| cookie.split_once('=')).context("no session")?;
        self.add_secret(what, secret).map(drop)
    }

    fn add_redirect(&mut self, reply: &Reply) -> Result<String> {
        let address = reply.header("location").with_context(|| format!("no location: {reply}"))?;
        self.addresses.push(address.to_owned());
        Ok(address.to_owned())
    }

    /// Asserts that neither a secret nor a useful part of one is in `text`, except those of the kinds in `exceptions`.
    fn assert_absent_from(&self, location: &str, text: &[u8], exceptions: &[&str]) {
        for (what, secret) in self.secrets.iter().filter(|(what, _)| !exceptions.contains(&what.as_str())) {
            // The middle, because the prefix and the last four characters are shown on purpose.
            let part = &secret.as_bytes()[secret.len() / 3..secret.len() - 4];
            for needle in [part.to_vec(), hex(part)] {
                assert!(!contains(text, &needle), "{location} contains {what}");
            }
        }
    }
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

async fn send_form(client: &Client, path: &str, pairs: &[(&str, &str)]) -> Result<Reply> {
    let request = client.request(Method::POST, path).header(header::ORIGIN, client.base_url())?;
    request.body(FORM, encode_form(pairs))?.send().await
}

async fn read_audit_log(person: &Client, workspace: &str) -> Result<String> {
    let (mut all, mut cursor) = (String::new(), String::new());
    loop {
        let path = format!("/v1/workspaces/{workspace}/audit?limit=200{cursor}");
        let page = person.get(&path).await?.ok()?;
        all.push_str(&page.to_string());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(all),
        }
    }
}

/// Signs in by e-mail, once with the code on the page and once with the link.
async fn sign_in_by_mail(
    server: &Server,
    mail: &MailServer,
    secrets: &mut CollectedSecrets,
    name: &str,
) -> Result<()> {
    let visitor = server.client();
    for method in ["code", "link"] {
        let email = format!("{method}.{name}@example.test");
        send_form(&visitor, "/sign-in/start", &[("email", &email)]).await?.assert_status(200);
        let mail_message = mail.wait_for_mail(&email).await?;
        let text = mail_message.body_text(0).context("no text")?.into_owned();
        let code = text.lines().map(str::trim).find(|line| line.len() == 6).context("no code")?.to_owned();
        let link = text.lines().find(|line| line.starts_with("http")).context("no link")?;
        let token = secrets.add_secret(
            &format!("the token of a mailed link ({method})"),
            link.split_once("token=").context("no token")?.1,
        )?;
        visitor.get(&format!("/sign-in/email?token={token}")).await?.assert_status(200);
        send_form(&visitor, "/sign-in/email", &[("email", &email), ("code", "000000")])
            .await?
            .assert_status(401);
        let entry = [("email", &*email), ("code", &*code)];
        let entry = if method == "code" { &entry[..] } else { &[("token", &*token)][..] };
        let reply = send_form(&visitor, "/sign-in/email", entry).await?;
        secrets.add_redirect(&reply)?;
        let cookie = reply.header("set-cookie").context("no session")?;
        let secret = cookie.split([';', '=']).nth(1).context("no value")?;
        secrets.add_secret(&format!("a session started by {method}"), secret)?;
        let log = server.log();
        let alone = log.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == code);
        assert!(!alone, "the log contains a mailed code");
    }
    Ok(())
}

/// Authorizes an agent, including every error on the way.
async fn authorize_agent(owner: &Client, workspace: &str, secrets: &mut CollectedSecrets) -> Result<()> {
    let agent = owner.register_agent("Agent").await?;
    let id = agent.start_authorization(&[]).await?;
    let form = [("decision", "allow"), ("access", "write"), ("workspaceId", workspace)];
    let next = secrets.add_redirect(&send_form(owner, &format!("/oauth/consent/{id}"), &form).await?)?;
    ensure!(next.starts_with(REDIRECT_URI), "{next}");
    let code = secrets.add_secret("an agent's code", &query_parameter(&next, "code")?.context("no code")?)?;
    secrets.add_secret("an agent's verifier", CODE_VERIFIER)?;
    let first = TokenPair::from_reply(&agent.exchange(&code).await?)?;
    let second = TokenPair::from_reply(&agent.refresh(&first.refresh).await?)?;
    for (name, tokens) in [("first", &first), ("second", &second)] {
        secrets.add_secret(&format!("an agent's {name} access token"), &tokens.access)?;
        secrets.add_secret(&format!("an agent's {name} refresh token"), &tokens.refresh)?;
    }
    let bearer = owner.with_bearer(&second.access);
    bearer.call_tool("whoami", &json!({})).await?.assert_status(200);
    // A token in a query is rejected, and must not be logged either.
    let path = format!("/v1/tokens/self?access_token={}", second.access);
    owner.signed_out().get(&path).await?;
    owner.signed_out().request(Method::POST, &format!("/mcp?access_token={}", second.access)).send().await?;
    secrets.add_redirect(
        &owner
            .signed_out()
            .authorize(&agent.authorization_parameters(&[("state", "x"), ("scope", "root")]))
            .await?,
    )?;
    // Reuse, which revokes the grant, and a revocation.
    agent.refresh(&second.refresh).await?.assert_status(200);
    agent.refresh(&first.refresh).await?.assert_status(400);
    agent.exchange(&code).await?.assert_status(400);
    agent.post_form("/oauth/revoke", &[("client_id", &agent.id), ("token", &second.refresh)]).await?;
    Ok(())
}

/// Completes a device login.
async fn authorize_device(owner: &Client, workspace: &str, secrets: &mut CollectedSecrets) -> Result<()> {
    let visitor = owner.signed_out();
    let started = visitor.post("/v1/cli/device", &json!({"client": "cli"})).await?;
    let device = secrets.add_secret("a device code", &started.string_at("/deviceCode")?)?;
    let code = started.string_at("/userCode")?;
    let body = json!({"workspaceId": workspace, "scopes": ["read"], "expiresInDays": 1});
    owner.post(&format!("/v1/cli/device/{code}/approve"), &body).await?.assert_status(200);
    let polled = visitor.post("/v1/cli/device/poll", &json!({"deviceCode": device})).await?;
    secrets.add_secret("a command line's token", &polled.string_at("/token")?)?;
    Ok(())
}

/// Creates and uses the secrets of the workspace itself.
async fn use_workspace_secrets(
    owner: &Client,
    workspace: &tests::Workspace,
    secrets: &mut CollectedSecrets,
) -> Result<()> {
    let token =
        secrets.add_secret("a personal token", &owner.create_token(&workspace.id, &["write"]).await?)?;
    let bearer = owner.with_bearer(&token);
    bearer.get("/v1/tokens/self").await?.assert_status(200);
    // A credential in the wrong place must not be repeated anywhere.
    bearer.get(&format!("/v1/apps/{token}")).await?.assert_status(404);
    bearer
        .post(&format!("/v1/workspaces/{}/apps", workspace.id), &json!({ token.as_str(): token }))
        .await?
        .assert_status(400);
    bearer.delete("/v1/tokens/self").await?.assert_status(200);
    bearer.get("/v1/tokens/self").await?.assert_status(401);

    let webhook = owner.rotate_webhook_secret(&workspace.automation).await?;
    webhook.send(&json!({"title": "x"})).await?.assert_status(202);
    let setup =
        owner.post(&format!("/v1/automations/{}/webhook/rotate", workspace.automation), &json!({})).await?;
    secrets.add_secret("a webhook's secret", &setup.string_at("/secret")?)?;
    let token_automation =
        owner.create_automation(&workspace.id, &workspace.sample_app, "webhook", 0).await?;
    let setup =
        owner.put(&format!("/v1/automations/{token_automation}/webhook"), &json!({"mode": "token"})).await?;
    secrets.add_secret("a webhook's token", &setup.string_at("/secret")?)?;

    let backend = BackendProject::create(owner, &workspace.id).await?;
    let key = secrets.add_secret("a project's secret key", &backend.create_key("secret").await?)?;
    owner.with_bearer(&key).get(&backend.rest_path("notes")).await?;
    set_symmetric_key(owner, &workspace.id, &backend, secrets).await
}

/// Sets a symmetric key for person tokens, which is never shown again.
async fn set_symmetric_key(
    owner: &Client,
    workspace: &str,
    backend: &BackendProject,
    secrets: &mut CollectedSecrets,
) -> Result<()> {
    let provider = identity_settings();
    let secret = provider["keys"][0]["k"].as_str().context("no symmetric key")?;
    let secret = secrets.add_secret("a project's symmetric key", secret)?;
    let settings = backend.console_path("/settings");
    let mut replies = vec![owner.patch(&settings, &json!({ "identity": provider })).await?];
    let read = owner.with_bearer(&owner.create_token(workspace, &["read"]).await?);
    replies.push(owner.get(&format!("/v1/workspaces/{workspace}/backend/projects")).await?);
    for person in [owner, &read] {
        replies.push(person.get(&backend.console_path("")).await?);
    }
    for reply in &replies {
        reply.assert_status(200);
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains(r#"{"kty":"oct","alg":"HS256"}"#), "{reply}");
        assert!(!text.contains(&secret) && !text.contains("sealed"), "{reply}");
    }
    // Settings that are sent back as shown keep the key; an unknown key id has none to keep.
    let shown = replies[0].ok()?["settings"]["identity"].clone();
    owner.patch(&settings, &json!({ "identity": shown })).await?.assert_status(200);
    let other = json!({"issuer": "https://id.example.test", "audience": "tests", "keys": [{"kty": "oct", "kid": "b"}]});
    owner.patch(&settings, &json!({ "identity": other })).await?.check_error(400, None)?;
    let (key, person) = (backend.create_key("publishable").await?, person_token("ann", json!({}))?);
    let list = backend
        .rest_request(&owner.signed_out(), (&key, Some(&person)), Method::GET, "notes")?
        .send()
        .await?;
    assert_ne!(list.status, 401, "{list}");
    Ok(())
}

#[tokio::test]
async fn no_secret_is_in_a_log_a_redirect_or_on_disk() -> Result<()> {
    let mail = MailServer::start().await?;
    for database in [Database::Sqlite, Database::Postgres] {
        let name = format!("{database:?}").to_lowercase();
        let options = Server::with(database).args(["--no-rate-limits", "--smtp-url", &mail.url()]);
        let options = options.args(["--mail-from", "qala@mail.example"]).env("QALA_LOG", "debug");
        tests::on_server(options, async |server| {
            let mut secrets = CollectedSecrets::default();
            let owner = server.sign_in(&format!("owner.{name}@example.test")).await?;
            secrets.add_session("a session of the development sign-in", &owner)?;
            let workspace = owner.create_workspace("Home").await?;
            sign_in_by_mail(&server, &mail, &mut secrets, &name).await?;
            authorize_agent(&owner, &workspace.id, &mut secrets).await?;
            authorize_device(&owner, &workspace.id, &mut secrets).await?;
            use_workspace_secrets(&owner, &workspace, &mut secrets).await?;

            // An invite whose link is shown, and one that is mailed.
            let guest = server.sign_in(&format!("guest.{name}@example.test")).await?;
            secrets.add_session("a guest's session", &guest)?;
            let email = guest.get("/v1/session").await?.string_at("/user/email")?;
            let shown = secrets.add_secret(
                "an invite's token",
                &owner.create_invite(&workspace.id, &email, "viewer").await?,
            )?;
            guest.get(&format!("/invite/{shown}")).await?.assert_status(200);
            guest.post(&format!("/v1/invites/{shown}/accept"), &json!({})).await?.assert_status(200);
            let to = format!("mailed.{name}@example.test");
            let body = json!({"emails": [to], "role": "viewer"});
            owner.post(&format!("/v1/workspaces/{}/invites", workspace.id), &body).await?.assert_status(200);
            let mail_message = mail.wait_for_mail(&to).await?;
            let text = mail_message.body_text(0).context("no text")?.into_owned();
            let link = text.lines().find(|line| line.contains("/invite/")).context("no link")?;
            let mailed = secrets.add_secret("a mailed invite's token", &invite_token(link.trim())?)?;
            // The redirect to the sign-in page is the only one whose URL may have the token of an invite, which is in a
            // URL anyway.
            let reply = server.client().get(&format!("/invite/{mailed}")).await?;
            assert_eq!(reply.header("location"), Some(&*format!("/sign-in?next=%2Finvite%2F{mailed}")));
            let path = format!("/v1/workspaces/{}/members/{}", workspace.id, guest.user_id().await?);
            owner.delete(&path).await?.assert_status(200);
            guest.delete("/v1/session").await?.assert_status(200);

            // Times of last use are written in batches.
            eventually("uses are recorded", async || {
                let tokens = owner.get(&format!("/v1/workspaces/{}/tokens", workspace.id)).await?.ok()?;
                let used = |token: &Value| token["lastUsedAt"].is_string();
                ensure!(tokens.as_array().is_some_and(|tokens| tokens.iter().any(used)), "{tokens}");
                Ok(())
            })
            .await?;
            assert!(secrets.secrets.len() >= 19, "{:?}", secrets.secrets.keys());
            let (log, audit, disk) = (
                server.log(),
                read_audit_log(&owner, &workspace.id).await?,
                server.dump_data_at_rest().await?,
            );
            secrets.assert_absent_from("the log", log.as_bytes(), &[]);
            secrets.assert_absent_from("the audit log", audit.as_bytes(), &[]);
            secrets.assert_absent_from(
                "an address",
                secrets.addresses.join("\n").as_bytes(),
                &["an agent's code"],
            );
            secrets.assert_absent_from("the disk", &disk, &[]);
            // Other texts are found in each, which proves that they were searched.
            assert!(log.contains("/oauth/token") && audit.contains("oauth_grant.refresh_reused"));
            assert!(secrets.addresses.iter().any(|address| address.starts_with(REDIRECT_URI)));
            assert!(contains(&disk, email.as_bytes()), "e-mail addresses must be on the disk");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
