//! Device login: signing a command line in from a browser, and attacks on it.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, bail};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, Reply, Server};

async fn post_device_login(visitor: &Client, body: &Value) -> Result<Reply> {
    visitor.post("/v1/cli/device", body).await
}

/// Starts a device login and returns its device code and user code.
async fn start_device_login(visitor: &Client, body: &Value) -> Result<(String, String)> {
    let reply = post_device_login(visitor, body).await?;
    Ok((reply.string_at("/deviceCode")?, reply.string_at("/userCode")?))
}

async fn poll(visitor: &Client, device_code: &str) -> Result<Value> {
    visitor.post("/v1/cli/device/poll", &json!({"deviceCode": device_code})).await?.ok()
}

fn device_login_path(code: &str) -> String {
    format!("/v1/cli/device/{code}")
}

async fn approve(person: &Client, code: &str, workspace: &str, scopes: &[&str]) -> Result<Reply> {
    let body = json!({"workspaceId": workspace, "scopes": scopes, "expiresInDays": 30});
    person.post(&format!("{}/approve", device_login_path(code)), &body).await
}

/// Returns a user code of the right form that does not exist.
fn wrong_user_code(code: &str, number: usize) -> String {
    let letters = "BCDFGHJKLMNPQRSTVWXZ".as_bytes();
    let mut code = code.as_bytes().to_vec();
    let at = letters.iter().position(|letter| *letter == code[0]).unwrap_or_default();
    code[0] = letters[(at + number + 1) % letters.len()];
    String::from_utf8_lossy(&code).into_owned()
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_command_line_is_signed_in(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let visitor = server.client();
        let body = json!({"client": "qala-cli", "host": "laptop", "scopes": ["read", "write"], "expiresInDays": 60});
        let reply = post_device_login(&visitor, &body).await?;
        let body = reply.ok()?;
        assert_eq!((&body["expiresIn"], &body["interval"]), (&json!(600), &json!(5)), "{body}");
        let (device, code) = (reply.string_at("/deviceCode")?, reply.string_at("/userCode")?);
        assert!(reply.string_at("/verificationUri")?.ends_with("/device"), "{body}");
        assert!(reply.string_at("/verificationUriComplete")?.ends_with(&format!("/device?user_code={code}")), "{body}");
        assert!(code.len() == 9 && code.as_bytes()[4] == b'-', "{code}");
        assert!(device.starts_with("qdc_"), "{device}");

        let pending = poll(&visitor, &device).await?;
        assert_eq!((&pending["status"], &pending["interval"]), (&json!("pending"), &json!(5)));
        let typed = code.to_lowercase().replace('-', "");
        let seen = person.get(&device_login_path(&typed)).await?.ok()?;
        for (field, value) in [
            ("userCode", json!(code)),
            ("client", json!("qala-cli")),
            ("purpose", json!("login")),
            ("name", json!("qala-cli on laptop")),
            ("scopes", json!(["read", "write"])),
            ("expiresInDays", json!(60)),
            ("host", json!("laptop")),
            ("address", json!("127.0.0.1")),
            ("status", json!("pending")),
        ] {
            assert_eq!(seen[field], value, "{seen}");
        }
        assert_eq!(seen["workspaces"][0]["id"], workspace.id.as_str());
        assert_eq!(seen["workspaces"][0]["role"], "owner");

        let approved = approve(&person, &code, &workspace.id, &["read"]).await?.ok()?;
        assert_eq!(approved, json!({"userCode": code, "status": "approved"}));
        let delivered = poll(&visitor, &device).await?;
        assert_eq!(delivered["status"], "approved", "{delivered}");
        let token = delivered["token"].as_str().context("no token")?.to_owned();
        let again = poll(&visitor, &device).await?;
        assert!(again["status"] == "expired" && again.get("token").is_none(), "{again}");
        assert_eq!(person.get(&device_login_path(&code)).await?.string_at("/status")?, "approved");

        let own = visitor.with_bearer(&token).get("/v1/tokens/self").await?.ok()?;
        assert_eq!(own["token"]["name"], "qala-cli on laptop");
        assert_eq!(own["token"]["scopes"], json!(["read"]), "the token must have fewer scopes than requested");
        assert_eq!(own["user"]["email"], "aigerim@example.test");
        assert_eq!(own["workspace"]["id"], workspace.id.as_str());
        let apps = format!("/v1/workspaces/{}/apps", workspace.id);
        visitor.with_bearer(&token).post(&apps, &json!({"name": "No"})).await?.assert_error(403, "insufficient_scope");
        let log = server.log();
        for secret in [&token, &device, &code] {
            assert!(!log.contains(secret.as_str()), "the log contains {secret}");
        }
        Ok(())
    }

    async fn a_login_can_be_denied_and_is_decided_once(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let visitor = server.client();
        let (device, code) = start_device_login(&visitor, &json!({"client": "qala-cli"})).await?;
        let denied = person.request(Method::POST, &format!("{}/deny", device_login_path(&code))).send().await?.ok()?;
        assert_eq!(denied, json!({"userCode": code, "status": "denied"}));
        assert_eq!(poll(&visitor, &device).await?["status"], "denied");
        approve(&person, &code, &workspace.id, &["read"]).await?.assert_error(409, "device_login_over");
        let deny = person.request(Method::POST, &format!("{}/deny", device_login_path(&code))).send().await?;
        deny.assert_error(409, "device_login_over");
        assert_eq!(poll(&visitor, "qdc_x").await?["status"], "expired");
        Ok(())
    }

    async fn an_approval_cannot_widen_the_request(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        let elsewhere = outsider.create_workspace("Elsewhere").await?;
        let visitor = server.client();
        for bad in [
            json!({"client": "x", "scopes": ["admin"]}),
            json!({"client": "x", "scopes": ["read", "write", "admin"]}),
            json!({"client": "x", "scopes": []}),
            json!({"client": "x", "scopes": ["read", "read"]}),
            json!({"client": "x", "expiresInDays": 0}),
            json!({"client": "x", "expiresInDays": 366}),
            json!({"client": "x", "purpose": "root"}),
            json!({"client": ""}),
            json!({"client": "evil\u{202e}alaq"}),
            json!({"client": "a\nb"}),
            json!({"client": "x", "host": "h".repeat(65)}),
            json!({"client": "x", "name": "n".repeat(61)}),
            json!({}),
        ] {
            let reply = post_device_login(&visitor, &bad).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        let (device, code) = start_device_login(&visitor, &json!({"client": "x", "scopes": ["read"]})).await?;
        for scopes in [&["write"][..], &["read", "write"], &["admin"], &["read", "admin"], &[]] {
            let reply = approve(&person, &code, &workspace.id, scopes).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| format!("{scopes:?}"))?;
        }
        approve(&person, &code, &elsewhere.id, &["read"]).await?.assert_error(404, "workspace_not_found");
        for days in [0, 366] {
            let body = json!({"workspaceId": workspace.id, "scopes": ["read"], "expiresInDays": days});
            let reply = person.post(&format!("{}/approve", device_login_path(&code)), &body).await?;
            reply.assert_error(400, "invalid_request");
        }
        assert_eq!(poll(&visitor, &device).await?["status"], "pending");
        Ok(())
    }

    async fn only_pages_of_the_console_can_approve(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let (device, code) = start_device_login(&server.client(), &json!({"client": "x"})).await?;
        let body = json!({"workspaceId": workspace.id, "scopes": ["read"], "expiresInDays": 1});
        for origin in [None, Some("null"), Some("https://evil.example.test")] {
            for path in ["approve", "deny"] {
                let request = person.request(Method::POST, &format!("{}/{path}", device_login_path(&code))).json(&body)?;
                let request = request.without_header(&header::ORIGIN);
                let request = match origin {
                    Some(origin) => request.header(header::ORIGIN, origin)?,
                    None => request,
                };
                request.send().await?.assert_error(403, "forbidden");
            }
        }
        let token = person.with_bearer(&person.create_token(&workspace.id, &["admin"]).await?);
        token.post(&format!("{}/approve", device_login_path(&code)), &body).await?.assert_error(403, "console_only");
        assert_eq!(poll(&server.client(), &device).await?["status"], "pending");
        Ok(())
    }

    async fn of_fifty_concurrent_polls_one_gets_the_token(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let visitor = server.client();
        let (device, code) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        approve(&person, &code, &workspace.id, &["read"]).await?.assert_status(200);
        let mut polls = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (visitor, device) = (visitor.clone(), device.clone());
            polls.spawn(async move { poll(&visitor, &device).await });
        }
        let mut tokens = BTreeSet::new();
        let mut delivered = 0;
        for response in polls.join_all().await {
            let response = response?;
            if let Some(token) = response["token"].as_str() {
                tokens.insert(token.to_owned());
                delivered += 1;
            } else {
                assert_eq!(response["status"], "expired", "{response}");
            }
        }
        assert_eq!((delivered, tokens.len()), (1, 1));
        let created = person.get(&format!("/v1/workspaces/{}/tokens", workspace.id)).await?.ok()?;
        assert_eq!(created.as_array().map(Vec::len), Some(1), "{created}");
        Ok(())
    }

    async fn of_many_concurrent_decisions_one_counts(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let (_, code) = start_device_login(&server.client(), &json!({"client": "x"})).await?;
        let mut decisions = tokio::task::JoinSet::new();
        for number in 0..20 {
            let (person, code, workspace) = (person.clone(), code.clone(), workspace.id.clone());
            decisions.spawn(async move {
                if number % 2 == 0 {
                    approve(&person, &code, &workspace, &["read"]).await
                } else {
                    person.request(Method::POST, &format!("{}/deny", device_login_path(&code))).send().await
                }
            });
        }
        let mut decided = 0;
        for reply in decisions.join_all().await {
            match reply?.status.as_u16() {
                200 => decided += 1,
                // A concurrent guess counts until it has turned out right, so some may have to wait.
                409 | 429 => {}
                other => bail!("{other}"),
            }
        }
        assert_eq!(decided, 1);
        Ok(())
    }

    async fn polling_too_often_increases_the_interval(server: Server) -> Result<()> {
        let visitor = server.client();
        let (device, _) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        let poll_once = async || -> Result<(String, i64)> {
            let response = poll(&visitor, &device).await?;
            let status = response["status"].as_str().context("no status")?.to_owned();
            Ok((status, response["interval"].as_i64().context("no interval")?))
        };
        assert_eq!(poll_once().await?, ("pending".to_owned(), 5));
        for interval in [10, 15, 20] {
            assert_eq!(poll_once().await?, ("slow_down".to_owned(), interval));
        }
        Ok(())
    }

    async fn guessing_codes_is_limited(server: Server) -> Result<()> {
        let guesser = server.sign_in("guesser@example.test").await?;
        let visitor = server.client();
        let (_, code) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        for number in 0..5 {
            guesser.get(&device_login_path(&wrong_user_code(&code, number))).await?.assert_error(404, "device_login_not_found");
            if number == 2 {
                guesser.get(&device_login_path(&code)).await?.assert_status(200);
            }
        }
        // A malformed code does not count as a guess, and gets the same response.
        guesser.get(&device_login_path("ABCD-1234")).await?.assert_error(404, "device_login_not_found");
        let refused = guesser.get(&device_login_path(&code)).await?;
        refused.assert_error(429, "rate_limited");
        let wait: u64 = refused.header("retry-after").context("no Retry-After")?.parse()?;
        assert!((500..=600).contains(&wait), "{wait}");
        approve(&guesser, &code, "ws_x", &["read"]).await?.assert_error(429, "rate_limited");

        // Another session at the same address has five of the ten guesses of the address left, and a right guess
        // restores none.
        let second = server.sign_in("second@example.test").await?;
        second.get(&device_login_path(&code)).await?.assert_status(200);
        for number in 0..5 {
            second.get(&device_login_path(&wrong_user_code(&code, number))).await?.assert_error(404, "device_login_not_found");
        }
        let third = server.sign_in("third@example.test").await?;
        third.get(&device_login_path(&code)).await?.assert_error(429, "rate_limited");
        Ok(())
    }

    async fn open_logins_are_limited_per_address(server: Server) -> Result<()> {
        let visitor = server.client();
        let mut opened = tokio::task::JoinSet::new();
        for _ in 0..30 {
            let visitor = visitor.clone();
            opened.spawn(async move { post_device_login(&visitor, &json!({"client": "x"})).await });
        }
        let mut statuses: Vec<u16> = Vec::new();
        for reply in opened.join_all().await {
            statuses.push(reply?.status.as_u16());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 20, "{statuses:?}");
        let refused = post_device_login(&visitor, &json!({"client": "x"})).await?;
        refused.assert_error(429, "rate_limited");
        assert!(refused.header("retry-after").is_some(), "{refused}");
        Ok(())
    }

    async fn the_parameters_of_rfc_8628_work_too(server: Server) -> Result<()> {
        let visitor = server.client();
        let send_form = async |form: &'static str| {
            let request = visitor.request(Method::POST, "/oauth/device_authorization");
            request.body("application/x-www-form-urlencoded", form)?.send().await
        };
        let reply = send_form("client_id=qala-cli&scope=read&unknown=1").await?;
        let body = reply.ok()?;
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!((&body["expires_in"], &body["interval"]), (&json!(600), &json!(5)));
        let code = reply.string_at("/user_code")?;
        assert!(reply.string_at("/verification_uri_complete")?.ends_with(&code), "{body}");
        assert_eq!(poll(&visitor, &reply.string_at("/device_code")?).await?["status"], "pending");
        let person = server.sign_in("aigerim@example.test").await?;
        let seen = person.get(&device_login_path(&code)).await?.ok()?;
        assert_eq!((&seen["client"], &seen["scopes"]), (&json!("qala-cli"), &json!(["read"])));
        for (form, error) in [
            ("", "invalid_request"),
            ("client_id=", "invalid_request"),
            ("client_id=a&client_id=b", "invalid_request"),
            ("client_id=a&scope=admin", "invalid_scope"),
            ("client_id=a&scope=everything", "invalid_scope"),
        ] {
            let refused = send_form(form).await?;
            refused.assert_status(400);
            assert_eq!(refused.json::<Value>()?["error"], error, "{form}");
        }
        let json = visitor.post("/oauth/device_authorization", &json!({"client_id": "a"})).await?;
        assert_eq!(json.assert_status(400).json::<Value>()?["error"], "invalid_request");
        Ok(())
    }

    async fn an_rfc_8628_client_gets_its_token(server: Server) -> Result<()> {
        let visitor = server.client();
        let send_form = async |path: &str, form: &[(&str, &str)]| {
            let request = visitor.request(Method::POST, path);
            request.body("application/x-www-form-urlencoded", form_urlencoded(form))?.send().await
        };
        let metadata = visitor.get("/.well-known/oauth-authorization-server").await?.ok()?;
        let grant_type = "urn:ietf:params:oauth:grant-type:device_code";
        assert!(metadata["grant_types_supported"].as_array().context("no types")?.contains(&json!(grant_type)));
        let endpoint = metadata["device_authorization_endpoint"].as_str().context("no endpoint")?;
        assert_eq!(endpoint, format!("{}/oauth/device_authorization", server.base_url()));

        let started = send_form("/oauth/device_authorization", &[("client_id", "gh"), ("scope", "read")]).await?;
        let (device, code) = (started.string_at("/device_code")?, started.string_at("/user_code")?);
        let form = [("grant_type", grant_type), ("device_code", &*device), ("client_id", "gh")];
        let refused = async |error: &str| {
            let reply = send_form("/oauth/token", &form).await?;
            assert_eq!(reply.assert_status(400).json::<Value>()?["error"], error, "{reply}");
            assert_eq!(reply.header("cache-control"), Some("no-store"));
            anyhow::Ok(())
        };
        refused("authorization_pending").await?;
        refused("slow_down").await?;
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        approve(&person, &code, &workspace.id, &["read"]).await?.assert_status(200);
        // The code of one program is not redeemed, nor used up, by another (RFC 6749, section 5.2).
        for (client_id, error) in [("glab", "invalid_grant"), ("GH", "invalid_grant"), ("", "invalid_request")] {
            let form = [("grant_type", grant_type), ("device_code", &*device), ("client_id", client_id)];
            let reply = send_form("/oauth/token", &form).await?;
            assert_eq!(reply.assert_status(400).json::<Value>()?["error"], error, "{client_id}: {reply}");
        }
        let anonymous = send_form("/oauth/token", &form[..2]).await?;
        assert_eq!(anonymous.assert_status(400).json::<Value>()?["error"], "invalid_request");
        let token = send_form("/oauth/token", &form).await?.ok()?;
        assert_eq!((&token["token_type"], &token["scope"]), (&json!("Bearer"), &json!("read")));
        assert_eq!(token["expires_in"], json!(30 * 24 * 3600));
        assert!(token.get("refresh_token").is_none(), "{token}");
        let client = person.with_bearer(token["access_token"].as_str().context("no token")?);
        client.get("/v1/tokens/self").await?.assert_status(200);
        refused("expired_token").await?;

        let denied = send_form("/oauth/device_authorization", &[("client_id", "gh")]).await?;
        let (device, code) = (denied.string_at("/device_code")?, denied.string_at("/user_code")?);
        person.post(&format!("{}/deny", device_login_path(&code)), &json!({})).await?.assert_status(200);
        let form = [("grant_type", grant_type), ("device_code", &*device), ("client_id", "gh")];
        let reply = send_form("/oauth/token", &form).await?;
        assert_eq!(reply.assert_status(400).json::<Value>()?["error"], "access_denied");
        Ok(())
    }

    async fn a_command_line_is_approved_on_the_page(server: Server) -> Result<()> {
        let visitor = server.client();
        let (device, code) = start_device_login(&visitor, &json!({"client": "<b>evil</b>", "host": "laptop"})).await?;
        let page = format!("/device?user_code={code}");
        let away = visitor.get(&page).await?;
        away.assert_status(303);
        let query = form_urlencoded(&[("next", &page)]);
        assert_eq!(away.header("location"), Some(format!("/sign-in?{query}").as_str()));

        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let shown = person.get(&page).await?;
        shown.assert_status(200);
        let html = String::from_utf8_lossy(&shown.body).into_owned();
        for part in [code.as_str(), "laptop", "127.0.0.1", "Tulpar", "&lt;b&gt;evil&lt;/b&gt;"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<b>"), "{html}");
        let policy = shown.header("content-security-policy").context("no policy")?;
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");

        let form = form_urlencoded(&[("user_code", &code), ("workspace_id", &workspace.id), ("access", "read")]);
        let post = |path: &str| {
            let request = person.request(Method::POST, path);
            request.body("application/x-www-form-urlencoded", form.clone())
        };
        for path in ["/device/approve", "/device/deny"] {
            post(path)?.without_header(&header::ORIGIN).send().await?.assert_error(403, "forbidden");
            let foreign = post(path)?.header(header::ORIGIN, "https://evil.example.test")?;
            foreign.send().await?.assert_error(403, "forbidden");
        }
        assert_eq!(poll(&visitor, &device).await?["status"], "pending");
        post("/device/approve")?.send().await?.assert_status(200);
        let delivered = poll(&visitor, &device).await?;
        assert_eq!(delivered["tokenRecord"]["scopes"], json!(["read"]), "{delivered}");
        assert_eq!(post("/device/approve")?.send().await?.status.as_u16(), 409);

        let (device, code) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        let deny = person.request(Method::POST, "/device/deny");
        let deny = deny.body("application/x-www-form-urlencoded", form_urlencoded(&[("user_code", &code)]))?;
        deny.send().await?.assert_status(200);
        assert_eq!(poll(&visitor, &device).await?["status"], "denied");
        assert_eq!(person.get("/device?user_code=BCDF-GHJK").await?.status.as_u16(), 404);
        person.get("/device").await?.assert_status(200);
        Ok(())
    }
}

fn form_urlencoded(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// The limit over all addresses, which a trusted proxy forwards here.
#[tokio::test]
async fn open_logins_are_limited_to_two_thousand() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let options = Server::with(database).args(["--no-rate-limits", "--trusted-proxies", "127.0.0.0/8"]);
        tests::on_server(options, async |server| {
            let visitor = server.client();
            let from = async |number: usize| {
                let request =
                    visitor.request(Method::POST, "/v1/cli/device").json(&json!({"client": "x"}))?;
                let address = format!("198.51.{}.{}", number / 250, number % 250);
                request.header(header::HeaderName::from_static("x-forwarded-for"), &address)?.send().await
            };
            for number in 0..2_000 {
                from(number).await?.assert_status(200);
            }
            from(2_001).await?.assert_error(429, "rate_limited");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// An open login expires after ten minutes. The test shifts times in the database, because it cannot change the clock.
#[tokio::test]
async fn a_login_expires() -> Result<()> {
    tests::on_server(Server::with(Database::Postgres).args(["--no-rate-limits"]), async |server| {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let visitor = server.client();
        let (pending, code) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        let (approved, other) = start_device_login(&visitor, &json!({"client": "x"})).await?;
        approve(&person, &other, &workspace.id, &["read"]).await?.assert_status(200);
        let pool = sqlx::PgPool::connect(server.database_url().context("no database")?).await?;
        let age = i64::try_from(Duration::from_secs(600).as_millis())?;
        let moved = sqlx::query(
            "UPDATE device_logins SET created_at = created_at - $1, expires_at = expires_at - $1",
        );
        moved.bind(age).execute(&pool).await?;
        pool.close().await;
        for device in [&pending, &approved] {
            assert_eq!(poll(&visitor, device).await?["status"], "expired");
        }
        assert_eq!(person.get(&device_login_path(&code)).await?.string_at("/status")?, "expired");
        approve(&person, &code, &workspace.id, &["read"]).await?.assert_error(409, "device_login_over");
        Ok(())
    })
    .await
}
