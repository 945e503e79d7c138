//! Connections that a person allows in a browser, with an authorization server of others.

use std::path::Path;

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{AuthorizationServer, Client, Database, OAUTH_APP_SECRET, Reply, Server, ServerOptions};

const BOTH_DATABASES: [Database; 2] = [Database::Sqlite, Database::Postgres];

/// Times that the server is killed.
const KILLS: u64 = 3;

/// Returns the options of a server that has an OAuth app for `gmail`, of which the service is a fake.
fn options(database: Database, provider: &AuthorizationServer, folder: &Path) -> Result<ServerOptions> {
    let config = provider.write_config(folder)?;
    let fake = format!("gmail={}", provider.service_url());
    let allowed = provider.allowed_hosts();
    let arguments = ["--connectors-config", &config, "--allowed-hosts", &allowed, "--connector-base", &fake];
    Ok(Server::with(database).args(arguments).arg("--no-rate-limits"))
}

/// Runs a test with a server that has an OAuth app for `gmail`.
async fn with_authorization_server(
    test: impl AsyncFn(&mut Server, &AuthorizationServer) -> Result<()>,
) -> Result<()> {
    for database in BOTH_DATABASES {
        let provider = AuthorizationServer::start(env!("CARGO_TARGET_TMPDIR")).await?;
        let folder = tempfile::tempdir()?;
        let options = options(database, &provider, folder.path())?;
        tests::on_server(options, async |mut server| test(&mut server, &provider).await).await?;
    }
    Ok(())
}

/// An authorization that was started: the cookie of the browser, and the URL at which the person allows access.
struct Started {
    cookie: String,
    url: String,
}

async fn start(admin: &Client, workspace: &str, body: &Value) -> Result<Started> {
    let reply = admin.post(&format!("/v1/workspaces/{workspace}/connectors/gmail/authorize"), body).await?;
    let cookie = reply.header("set-cookie").with_context(|| format!("no cookie: {reply}"))?;
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let cookie = cookie.split(';').next().context("no pair")?.to_owned();
    let url = reply.ok()?["redirectTo"].as_str().context("no URL")?.to_owned();
    Ok(Started { cookie, url })
}

/// Follows the redirect of the authorization server as a browser does.
async fn come_back(browser: &Client, cookie: Option<&str>, address: &str) -> Result<Reply> {
    let path = address.strip_prefix(browser.base_url()).with_context(|| format!("{address} is elsewhere"))?;
    let request = browser.request(Method::GET, path);
    match cookie {
        Some(cookie) => request.append_header(header::COOKIE, cookie)?.send().await,
        None => request.send().await,
    }
}

/// Connects `gmail` and returns the connection.
async fn connect(
    provider: &AuthorizationServer,
    admin: &Client,
    workspace: &str,
    body: &Value,
) -> Result<Value> {
    let started = start(admin, workspace, body).await?;
    let back = provider.allow(&started.url).await?;
    let reply = come_back(admin, Some(&started.cookie), &back).await?;
    assert_eq!(reply.status.as_u16(), 303, "{reply}");
    let location = reply.header("location").context("no location")?;
    let id = location.rsplit('/').next().context("no id")?;
    assert!(location.ends_with(&format!("/w/{workspace}/connections/{id}")), "{location}");
    admin.get(&format!("/v1/workspaces/{workspace}/connections/{id}")).await?.ok()
}

#[tokio::test]
async fn a_person_allows_access_in_a_browser() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let list = owner.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?;
        assert_eq!(list["oauthReady"], json!(["gmail"]));
        let catalogue = owner.get("/v1/connector-catalog").await?.ok()?;
        let status = |id: &str| {
            let mut entries = catalogue["entries"].as_array().into_iter().flatten();
            entries.find(|entry| entry["id"] == id).map(|entry| entry["status"].clone())
        };
        assert_eq!(status("gmail"), Some(json!("available")));
        assert_eq!(status("google_drive"), Some(json!("needs-oauth-app")));

        let made = connect(provider, &owner, &workspace, &json!({"displayName": "Team mail"})).await?;
        assert_eq!((&made["status"], &made["secret"]), (&json!("connected"), &json!("write-only")));
        assert_eq!((&made["connectorId"], &made["displayName"]), (&json!("gmail"), &json!("Team mail")));
        assert_eq!(made["http"]["auth"], json!({"type": "oauth2_code"}));
        let state = provider.state().await?;
        assert_eq!((&state["exchanges"], &state["refused"]), (&json!(1), &json!(0)), "{state}");

        // Disconnected, it has no tokens; allowed again, it is the same connection.
        let path =
            format!("/v1/workspaces/{workspace}/connections/{}", made["id"].as_str().context("no id")?);
        let gone = owner.delete(&path).await?.ok()?;
        assert_eq!(
            (&gone["tokensRevoked"], &provider.state().await?["revoked"]),
            (&json!(true), &json!(1)),
            "{gone}"
        );
        // Repeated, there is nothing to revoke.
        assert_eq!(owner.delete(&path).await?.ok()?["tokensRevoked"], Value::Null);
        owner.put(&path, &json!({"secret": "x"})).await?.assert_error(409, "needs_authorization");
        owner.put(&path, &json!({"displayName": "New"})).await?.assert_error(409, "needs_authorization");
        let body = json!({"displayName": "Mail", "connectionId": made["id"]});
        let again = connect(provider, &owner, &workspace, &body).await?;
        assert_eq!((&again["id"], &again["status"]), (&made["id"], &json!("connected")));
        assert_eq!(again["displayName"], "Mail");
        let renamed = owner.put(&path, &json!({"displayName": "New"})).await?.ok()?;
        assert_eq!(renamed["status"], "connected");

        // A service that cannot be asked keeps nobody from disconnecting.
        provider.change(&json!({"awayForRevocation": true})).await?;
        let gone = owner.delete(&path).await?.ok()?;
        assert_eq!(
            (&gone["tokensRevoked"], &gone["connection"]["status"]),
            (&json!(false), &json!("disconnected"))
        );
        assert_eq!(provider.state().await?["revoked"], 1);

        let mut seen = server.log();
        for read in ["connections", "gates", "audit"] {
            seen += &owner.get(&format!("/v1/workspaces/{workspace}/{read}")).await?.to_string();
        }
        assert!(seen.contains("connection.create") && !seen.contains(OAUTH_APP_SECRET), "{seen}");
        assert!(!seen.contains("eyJ"), "an access token is shown: {seen}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_authorization_is_finished_once_by_the_session_that_started_it() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let other = owner.add_member(&workspace.id, "admin").await?;
        let body = json!({"displayName": "Mail"});
        let over = |reply: &Reply| {
            assert_eq!(reply.status.as_u16(), 400, "{reply}");
            assert!(reply.to_string().contains("authorization has ended"), "{reply}");
        };

        let started = start(&owner, &workspace.id, &body).await?;
        let back = provider.allow(&started.url).await?;
        // Without the cookie, in another session, with another state.
        over(&come_back(&owner, None, &back).await?);
        over(&come_back(&other, Some(&started.cookie), &back).await?);
        let second = start(&owner, &workspace.id, &body).await?;
        over(&come_back(&owner, Some(&second.cookie), &back).await?);
        for forged in [
            "/v1/connectors/callback?code=x",
            "/v1/connectors/callback?state=&code=x",
            "/v1/connectors/callback",
        ] {
            let forged = format!("{}{forged}", server.base_url());
            over(&come_back(&owner, Some(&started.cookie), &forged).await?);
        }
        let signed_out = come_back(&owner.signed_out(), Some(&started.cookie), &back).await?;
        assert_eq!(signed_out.status.as_u16(), 401, "{signed_out}");
        let token = owner.with_bearer(&owner.create_token(&workspace.id, &["write"]).await?);
        let refused = come_back(&token, Some(&started.cookie), &back).await?;
        assert!(refused.status.is_client_error(), "{refused}");
        assert_eq!(provider.state().await?["exchanges"], 0);

        // The first use counts, also of two at once.
        let (one, two) = tokio::join!(
            come_back(&owner, Some(&started.cookie), &back),
            come_back(&owner, Some(&started.cookie), &back)
        );
        let mut statuses = [one?.status.as_u16(), two?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 400]);
        over(&come_back(&owner, Some(&started.cookie), &back).await?);
        assert_eq!(provider.state().await?["exchanges"], 1);

        // The person, or the service, says no.
        let state = |started: &Started| {
            let url = url::Url::parse(&started.url).ok()?;
            url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
        };
        for answer in ["error=access_denied", "code=made-up"] {
            let started = start(&owner, &workspace.id, &body).await?;
            let state = state(&started).context("no state")?;
            let back = format!("{}/v1/connectors/callback?state={state}&{answer}", server.base_url());
            let refused = come_back(&owner, Some(&started.cookie), &back).await?;
            assert_eq!(refused.status.as_u16(), 403, "{refused}");
            over(&come_back(&owner, Some(&started.cookie), &back).await?);
        }

        // Another authorization server answers (RFC 9207).
        let started = start(&owner, &workspace.id, &body).await?;
        let back = provider.allow(&started.url).await?;
        over(&come_back(&owner, Some(&started.cookie), &format!("{back}&iss=https://evil.example")).await?);
        assert_eq!(provider.state().await?["exchanges"], 1, "a code of another server was exchanged");

        // Whoever is no longer an admin connects nothing.
        let started = start(&other, &workspace.id, &body).await?;
        let back = provider.allow(&started.url).await?;
        let path = format!("/v1/workspaces/{}/members/{}", workspace.id, other.user_id().await?);
        owner.patch(&path, &json!({"role": "viewer"})).await?.ok()?;
        let refused = come_back(&other, Some(&started.cookie), &back).await?;
        assert_eq!(refused.status.as_u16(), 403, "{refused}");
        let list = owner.get(&format!("/v1/workspaces/{}/connections", workspace.id)).await?.ok()?;
        assert_eq!(list["connections"].as_array().map(Vec::len), Some(1), "{list}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn whoever_loses_the_right_while_the_code_is_exchanged_connects_nothing() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        for (loss, status) in [("demoted", 403), ("removed", 404), ("signed out", 403), ("deleted", 404)] {
            let workspace = owner.create_workspace("Tulpar").await?.id;
            let admin = owner.add_member(&workspace, "admin").await?;
            let member = format!("/v1/workspaces/{workspace}/members/{}", admin.user_id().await?);
            let started = start(&admin, &workspace, &json!({"displayName": "Mail"})).await?;
            let back = provider.allow(&started.url).await?;
            provider.change(&json!({"hold": true})).await?;
            let coming = tokio::spawn({
                let (admin, cookie) = (admin.clone(), started.cookie.clone());
                async move { come_back(&admin, Some(&cookie), &back).await }
            });
            tests::eventually("the code is exchanged", async || {
                let state = provider.state().await?;
                anyhow::ensure!(state["concurrent"] == 1, "{state}");
                Ok(())
            })
            .await?;
            match loss {
                "demoted" => owner.patch(&member, &json!({"role": "viewer"})).await?.ok()?,
                "removed" => owner.delete(&member).await?.ok()?,
                "signed out" => admin.delete("/v1/session").await?.ok()?,
                _ => {
                    let delete = owner.request(Method::DELETE, &format!("/v1/workspaces/{workspace}"));
                    delete.json(&json!({"confirmName": "Tulpar"}))?.send().await?.ok()?
                }
            };
            provider.change(&json!({"hold": false})).await?;
            let refused = coming.await??;
            assert_eq!(refused.status.as_u16(), status, "{loss}: {refused}");
            if loss == "deleted" {
                let restored = owner.post(&format!("/v1/workspaces/{workspace}/restore"), &json!({})).await?;
                restored.ok()?;
            }
            let list = owner.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?;
            assert_eq!(list["connections"], json!([]), "{loss}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn tests_of_a_connection_count_for_its_health() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let made = connect(provider, &owner, &workspace, &json!({"displayName": "Mail"})).await?;
        let id = made["id"].as_str().context("no id")?;
        assert_eq!((&made["health"]["calls24h"], &made["health"]["lastCallAt"]), (&json!(0), &Value::Null));
        for _ in 0..2 {
            assert_eq!(test(&owner, &workspace, id).await?, works());
        }
        tests::eventually("the tests are counted", async || {
            let read = owner.get(&format!("/v1/workspaces/{workspace}/connections/{id}")).await?.ok()?;
            let health = &read["health"];
            anyhow::ensure!(health["calls24h"] == 2 && health["lastCallAt"].is_string(), "{health}");
            assert_eq!((&health["errors24h"], &health["blocked24h"]), (&json!(0), &json!(0)), "{health}");
            Ok(())
        })
        .await
    })
    .await
}

#[tokio::test]
async fn what_cannot_be_authorized_says_why() -> Result<()> {
    with_authorization_server(async |server, _| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let connectors = format!("/v1/workspaces/{workspace}/connectors");
        let body = json!({"displayName": "X"});
        for (connector, status, code) in [
            ("nothing", 404, "connector_not_found"),
            ("http", 404, "connector_not_found"),
            ("kaspi", 404, "connector_not_found"),
            ("github", 409, "needs_secret"),
            ("google_drive", 409, "oauth_app_missing"),
        ] {
            owner.post(&format!("{connectors}/{connector}/authorize"), &body).await?.assert_error(status, code);
        }
        let start = format!("{connectors}/gmail/authorize");
        let missing = json!({"displayName": "X", "connectionId": "conn_01h455vb4pex5vsknk084sn02q"});
        owner.post(&start, &missing).await?.assert_error(404, "connection_not_found");
        for body in [
            json!({"displayName": ""}),
            json!({"displayName": "x".repeat(61)}),
            json!({"displayName": "X", "values": {"a": "b"}}),
            json!({"displayName": "X", "secret": "x"}),
            json!({"displayName": "X", "connectionId": "x"}),
        ] {
            owner.post(&start, &body).await?.assert_error(400, "invalid_request");
        }
        let strict = json!({
            "name": "Strict", "profile": "kz-strict", "teamSize": "solo", "intents": ["automations"], "timezone": "Asia/Almaty",
        });
        let strict = owner.post("/v1/workspaces", &strict).await?.ok()?;
        let strict = strict["workspace"]["id"].as_str().context("no id")?;
        let refused = owner.post(&format!("/v1/workspaces/{strict}/connectors/gmail/authorize"), &body).await?;
        refused.assert_error(403, "connector_not_allowed");
        Ok(())
    })
    .await
}

/// Sends the test request of a connection; returns `ok`, `checked` and the reason.
async fn test(admin: &Client, workspace: &str, id: &str) -> Result<(Value, Value, Value)> {
    let path = format!("/v1/workspaces/{workspace}/connections/{id}/test");
    let result = admin.post(&path, &json!({})).await?.ok()?;
    Ok((result["ok"].clone(), result["checked"].clone(), result["reason"].clone()))
}

fn works() -> (Value, Value, Value) {
    (json!(true), json!("mock"), Value::Null)
}

#[tokio::test]
async fn two_nodes_renew_a_token_one_at_a_time_and_a_disconnect_holds_on_both() -> Result<()> {
    let provider = AuthorizationServer::start(env!("CARGO_TARGET_TMPDIR")).await?;
    let folder = tempfile::tempdir()?;
    let options = options(Database::Postgres, &provider, folder.path())?;
    tests::on_server(options, async |server| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        // Tokens that end soon: a request after that renews them, unless another one does.
        provider.change(&json!({"lifetime": 2, "delay": 300})).await?;
        let made = connect(&provider, &owner, &workspace, &json!({"displayName": "Mail"})).await?;
        let id = made["id"].as_str().context("no id")?;
        let node = server.start_another_node().await?;
        let there = owner.with_base_url(node.base_url());
        assert_eq!(test(&owner, &workspace, id).await?, works());
        assert_eq!(test(&there, &workspace, id).await?, works());
        let before = provider.state().await?;
        // Every token has ended two seconds after it was given out.
        tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
        let call = |admin: &Client| {
            let (admin, workspace, id) = (admin.clone(), workspace.clone(), id.to_owned());
            tokio::spawn(async move { test(&admin, &workspace, &id).await })
        };
        let calls: Vec<_> = (0..8).map(|turn| call(if turn % 2 == 0 { &owner } else { &there })).collect();
        for result in calls {
            assert_eq!(result.await??, works());
        }
        let after = provider.state().await?;
        assert_eq!(after["mostConcurrent"], 1, "{after}");
        assert_eq!(after["refused"], 0, "{after}");
        let renewals = |state: &Value| state["refreshes"].as_u64().unwrap_or_default();
        assert!(renewals(&after) > renewals(&before), "{after}");

        owner.delete(&format!("/v1/workspaces/{workspace}/connections/{id}")).await?.ok()?;
        let (ok, _, reason) = test(&there, &workspace, id).await?;
        assert_eq!((ok, reason), (json!(false), json!("not_connected")));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_server_that_is_killed_while_it_renews_loses_no_grant() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        // Each request renews the token: it is over when it is given out.
        provider.change(&json!({"lifetime": 1, "delay": 50})).await?;
        let made = connect(provider, &owner, &workspace, &json!({"displayName": "Mail"})).await?;
        let id = made["id"].as_str().context("no id")?;
        for round in 0..KILLS {
            let delay = std::time::Duration::from_millis(5 + round * 37 % 120);
            let path = format!("/v1/workspaces/{workspace}/connections/{id}/test");
            let body = json!({});
            let request = owner.post(&path, &body);
            // The end of the server ends the request.
            let _ended = tokio::time::timeout(delay, request).await;
            server.kill()?;
            server.restart().await?;
            // A renewal that was reserved delays the next one by up to 20 seconds.
            tests::eventually_within(std::time::Duration::from_secs(60), "it works", async || {
                let result = test(&owner, &workspace, id).await?;
                anyhow::ensure!(result == works(), "{result:?}");
                Ok(())
            })
            .await?;
        }
        let state = provider.state().await?;
        assert_eq!(state["refused"], 0, "{state}");
        assert_eq!(
            owner.get(&format!("/v1/workspaces/{workspace}/connections/{id}")).await?.ok()?["status"],
            "connected"
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_grant_that_has_ended_expires_the_connection_and_a_new_one_restores_it() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        provider.change(&json!({"lifetime": 1})).await?;
        let made = connect(provider, &owner, &workspace, &json!({"displayName": "Mail"})).await?;
        let id = made["id"].as_str().context("no id")?;
        assert_eq!(test(&owner, &workspace, id).await?, works());
        provider.change(&json!({"ended": true})).await?;
        let feed = format!("/v1/workspaces/{workspace}/agent-events");
        let since = owner.get(&feed).await?.ok()?["cursor"].as_u64().context("no cursor")?;
        // The token is used until it ends, a second after it was given out.
        tests::eventually("the grant has ended", async || {
            let (ok, _, reason) = test(&owner, &workspace, id).await?;
            anyhow::ensure!((&ok, &reason) == (&json!(false), &json!("expired")), "{ok} {reason}");
            Ok(())
        })
        .await?;
        let path = format!("/v1/workspaces/{workspace}/connections/{id}");
        assert_eq!(owner.get(&path).await?.ok()?["status"], "expired");
        // It is told of once, to every member.
        test(&owner, &workspace, id).await?;
        let viewer = owner.add_member(&workspace, "viewer").await?;
        let events = viewer.get(&format!("{feed}?since={since}")).await?.ok()?;
        let alerts = events["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|event| event["alert"] == "connector_down");
        let alerts: Vec<_> = alerts.map(|alert| (&alert["connectionId"], &alert["code"])).collect();
        assert_eq!(alerts, [(&json!(id), &json!("expired"))], "{events}");
        provider.change(&json!({"ended": false})).await?;
        let body = json!({"displayName": "Mail", "connectionId": id});
        let again = connect(provider, &owner, &workspace, &body).await?;
        assert_eq!((&again["id"], &again["status"]), (&json!(id), &json!("connected")));
        assert_eq!(test(&owner, &workspace, id).await?, works());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_app_calls_the_service_and_never_sees_a_token() -> Result<()> {
    with_authorization_server(async |server, provider| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let made = connect(provider, &owner, &workspace, &json!({"displayName": "Mail"})).await?;
        let version = json!({
            "name": "Reader",
            "files": {"main.js": "export default { async fetch(request, env) {
                const response = await env.connections.mail.fetch('/gmail/v1/users/me/profile');
                const text = await response.text(); console.log(text);
                return new Response(text, { status: response.status }) } }"},
            "manifest": {
                "name": "Reader", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "triggers": [], "permissions": {"connectors": [{"name": "mail", "connectionId": made["id"]}]},
            },
        });
        let app = owner.post(&format!("/v1/workspaces/{workspace}/apps"), &version).await?.ok()?;
        let slug = app["app"]["slug"].as_str().or(app["slug"].as_str()).context("no slug")?;
        let echoed = owner.get(&format!("/a/{slug}/")).await?;
        assert_eq!(echoed.status.as_u16(), 200, "{echoed}");
        let text = echoed.to_string();
        assert!(text.contains("[redacted]") && !text.contains("eyJ"), "{text}");
        assert_eq!(provider.state().await?["calls"], 1);
        assert!(!server.log().contains("eyJ"));
        let logs = owner.get(&format!("/v1/apps/{}/logs", app["app"]["id"].as_str().or(app["id"].as_str()).context("no id")?)).await?;
        assert!(!logs.to_string().contains("eyJ"), "{logs}");
        Ok(())
    })
    .await
}
