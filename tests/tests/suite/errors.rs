//! Errors that all routes share: invalid HTTP, unknown paths, invalid bodies and queries, size limits and rate limits.

use anyhow::{Context as _, Result};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{BackendProject, Reply, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn error_message(reply: &Reply) -> Result<String> {
    Ok(reply.json::<Value>()?["error"]["message"].as_str().unwrap_or_default().to_owned())
}

/// Sends a raw request head and reads the whole response.
async fn send_raw(server: &tests::Server, head: &str) -> Result<String> {
    let address = server.base_url().strip_prefix("http://").context("no address")?;
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream.write_all(head.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn unencoded_characters_in_a_url_are_accepted_as_curl_sends_them(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        project.create_table("things", &[("title", "text"), ("meta", "json")]).await?;
        let key = project.create_key("secret").await?;
        let row = json!({"id": "a", "title": "\"x\"", "meta": {"tags": [1]}});
        project.rest_request(&owner.signed_out(), (&key, None), Method::POST, "things")?.json(&row)?.send().await?.assert_status(201);
        for query in ["select=meta->tags", r#"title=eq."x"&select=id"#, "meta->>tags=eq.[1]&select=id", "select=m:meta->tags->0"] {
            let path = project.rest_path(&format!("things?{query}"));
            let head = format!("GET {path} HTTP/1.1\r\nHost: h\r\napikey: {key}\r\nConnection: close\r\n\r\n");
            let response = send_raw(&server, &head).await?;
            assert!(response.starts_with("HTTP/1.1 200"), "{query}: {response}");
        }
        // In every request of a connection, including pipelined ones and those after bodies of either framing.
        let (rows_path, fields) = (project.rest_path("things"), format!("Host: h\r\napikey: {key}\r\nContent-Type: application/json\r\n"));
        let body = r#"{"title":"GET /healthz?> HTTP/1.1"}"#;
        let last = format!("GET {rows_path}?select=title&title=eq.\"x\"&order=id HTTP/1.1\r\n{fields}Connection: close\r\n\r\n");
        let sent = format!(
            "GET {rows_path}?select=meta->tags HTTP/1.1\r\n{fields}\r\n\
             POST {rows_path}?select=title,meta->tags HTTP/1.1\r\n{fields}Content-Length: {length}\r\n\r\n{body}\
             POST {rows_path}?select=title,meta->tags HTTP/1.1\r\n{fields}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n\
             GET {rows_path}?select=meta->>tags,é&title=eq.<> HTTP/1.1\r\n{fields}\r\n{last}",
            length = body.len(),
        );
        let responses = send_raw(&server, &sent).await?;
        let statuses: Vec<&str> = responses.lines().filter_map(|line| line.split_once("HTTP/1.1 ")?.1.get(..3)).collect();
        assert_eq!(statuses, ["200", "201", "201", "400", "200"], "{responses}");
        Ok(())
    }

    async fn invalid_http_requests_get_the_error_envelope_too(server: Server) -> Result<()> {
        for head in ["GET / HTTP/9.9\r\n\r\n", "nonsense\r\n\r\n", "GET /a b c HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost h\r\n\r\n"] {
            let response = send_raw(&server, head).await?;
            let (status, body) = response.split_once("\r\n\r\n").context("no head")?;
            assert!(status.starts_with("HTTP/1.1 4"), "{head:?}: {response}");
            let body: Value = serde_json::from_str(body).with_context(|| format!("{head:?}: {response}"))?;
            assert_eq!(body["error"]["code"], "invalid_request", "{head:?}: {response}");
            assert!(body["requestId"].is_string(), "{response}");
        }
        Ok(())
    }

    async fn unknown_paths_and_methods_have_different_errors(server: Server) -> Result<()> {
        let visitor = server.client();
        for path in ["/nothing", "/v1", "/v1/", "/v1/nothing", "/v1/session/x", "/v1//session", "/V1/session"]
        {
            visitor.get(path).await?.check_error(404, Some("route_not_found")).context(path)?;
        }
        for (method, path) in [
            (Method::PUT, "/v1/session"),
            (Method::DELETE, "/readyz"),
            (Method::GET, "/v1/auth/dev-login"),
            (Method::PATCH, "/openapi.json"),
        ] {
            let reply = visitor.request(method, path).send().await?;
            reply.check_error(405, Some("method_not_allowed")).context(path)?;
            assert!(reply.header("allow").is_some_and(|allow| !allow.is_empty()), "no Allow: {reply}");
        }
        Ok(())
    }

    async fn errors_about_a_body_name_the_field(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let path = format!("/v1/workspaces/{}/automations", workspace.id);
        for (body, field) in [
            (json!({"appId": workspace.sample_app, "trigger": {"type": "manual"}}), "name"),
            (json!({"name": 1, "appId": workspace.sample_app, "trigger": {"type": "manual"}}), "name"),
            (json!({"name": "A", "appId": "x", "trigger": {"type": "manual"}}), "appId"),
            (
                json!({"name": "A", "appId": workspace.sample_app, "trigger": {"type": "moon"}}),
                "trigger.type",
            ),
            (
                json!({"name": "A", "appId": workspace.sample_app, "trigger": {"type": "schedule", "cron": "x"}}),
                "cron",
            ),
            (
                json!({"name": "A", "appId": workspace.sample_app, "trigger": {"type": "manual"}, "retries": 6}),
                "retries",
            ),
            (
                json!({"name": "A", "appId": workspace.sample_app, "trigger": {"type": "manual"}, "colour": "red"}),
                "colour",
            ),
            (json!({"name": "", "appId": workspace.sample_app, "trigger": {"type": "manual"}}), "name"),
        ] {
            let reply = person.post(&path, &body).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| body.to_string())?;
            assert!(error_message(&reply)?.contains(field), "{field} is not named: {reply}");
        }
        for text in [
            "",
            "{",
            "[]",
            "null",
            "{} {}",
            "\u{feff}{}",
            "{\"name\": \"a\", \"name\": \"b\"}",
            &"[".repeat(100_000),
        ] {
            let reply =
                person.request(Method::POST, &path).body("application/json", text.to_owned())?.send().await?;
            reply
                .check_error(400, Some("invalid_request"))
                .with_context(|| text.chars().take(30).collect::<String>())?;
        }
        let bytes = person.request(Method::POST, &path).body("application/json", vec![0xff, 0xfe])?;
        bytes.send().await?.assert_error(400, "invalid_request");
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
            let reply = person.request(Method::POST, &path).body(kind, "{}")?.send().await?;
            reply.check_error(415, Some("unsupported_media_type")).context(kind)?;
        }
        Ok(())
    }

    async fn errors_about_a_query_name_the_parameter(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("limit=many", "limit"),
            ("cursor=nonsense", "cursor"),
            ("colour=red", "colour"),
            ("status=lost", "status"),
        ] {
            let reply = person.get(&format!("/v1/workspaces/{}/runs?{query}", workspace.id)).await?;
            reply.check_error(400, Some("invalid_request")).context(query)?;
            assert!(error_message(&reply)?.contains(field), "{field} is not named: {reply}");
        }
        Ok(())
    }

    async fn the_nul_character_is_rejected_before_it_reaches_a_database(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let (ws, app, automation) = (&workspace.id, &workspace.sample_app, &workspace.automation);
        let nul = "a\0b";
        let event = json!({"name": "A", "appId": app, "trigger": {"type": "event", "event": nul}});
        let files = json!({"main.js": "export default {}"});
        for (method, path, body) in [
            (
                Method::POST,
                "/v1/workspaces".to_owned(),
                json!({"name": nul, "profile": "global", "teamSize": "solo", "intents": []}),
            ),
            (Method::POST, format!("/v1/workspaces/{ws}/apps"), json!({"name": nul})),
            (Method::POST, format!("/v1/workspaces/{ws}/apps"), json!({"name": "App", "archetype": nul})),
            (Method::PATCH, format!("/v1/apps/{app}"), json!({"description": nul})),
            (Method::POST, format!("/v1/apps/{app}/versions"), json!({"files": files, "summary": nul})),
            (Method::POST, format!("/v1/workspaces/{ws}/automations"), event),
            (Method::PATCH, format!("/v1/automations/{automation}"), json!({"name": nul})),
            (Method::POST, format!("/v1/workspaces/{ws}/tokens"), json!({"name": nul, "scopes": ["read"]})),
        ] {
            let reply = person.request(method, &path).json(&body)?.send().await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| format!("{path} {body}"))?;
        }
        person.get(&format!("/v1/apps/{app}/logs?q=%00")).await?.assert_error(400, "invalid_request");
        for path in [format!("/v1/apps/{app}%00"), "/v1/runs/%00".to_owned(), "/a/%00/".to_owned()] {
            person.get(&path).await?.check_error(404, None).with_context(|| path.clone())?;
        }
        // Fields without a restriction accept it.
        let source = "export default { async scheduled(event) { console.log(event.data); throw new Error(event.data) } }";
        let app = person.create_app(ws, source).await?;
        let automation = person.create_automation(ws, &app, "manual", 0).await?;
        let run = person.wait_for_run(&person.start_run(&automation, json!("a\0b")).await?).await?;
        assert_eq!((&run["status"], &run["errorCode"]), (&json!("failed"), &json!("app_error")), "{run}");
        Ok(())
    }

    async fn bodies_are_limited_in_size(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let path = format!("/v1/workspaces/{}/apps", workspace.id);
        let body = |size: usize| {
            let frame = json!({"name": "An app", "description": ""}).to_string().len();
            json!({"name": "An app", "description": "x".repeat(size - frame)}).to_string()
        };
        let largest =
            person.request(Method::POST, &path).body("application/json", body(1 << 20))?.send().await?;
        largest.assert_error(400, "invalid_request");
        let larger =
            person.request(Method::POST, &path).body("application/json", body((1 << 20) + 1))?.send().await?;
        larger.assert_error(413, "too_large");
        // Authorization is checked before the body.
        let visitor = server.client();
        let refused = visitor
            .request(Method::POST, &path)
            .body("application/json", body((1 << 20) + 1))?
            .send()
            .await?;
        refused.assert_error(401, "unauthorized");
        Ok(())
    }

    async fn heads_are_limited_in_size(server: Server) -> Result<()> {
        let visitor = server.client();
        let name = HeaderName::from_static("x-filler");
        let huge = visitor
            .request(Method::GET, "/readyz")
            .header(name.clone(), &"x".repeat(400 << 10))?
            .send()
            .await;
        // The server responds 431, or closes the connection.
        if let Ok(reply) = huge {
            reply.assert_status(431);
        }
        // 64 KiB are accepted and no more, even in one piece.
        for (filler, status) in [(60_000, 200), (65_000, 200), (65_536, 431), (70_000, 431), (100_000, 431)] {
            let request = visitor.request(Method::GET, "/readyz").header(name.clone(), &"x".repeat(filler))?;
            match request.send().await {
                Ok(reply) => assert_eq!(reply.status.as_u16(), status, "{filler}"),
                Err(error) => anyhow::ensure!(status == 431, "{filler}: {error:#}"),
            }
        }
        let mut many = visitor.request(Method::GET, "/readyz");
        for _ in 0..200 {
            many = many.append_header(name.clone(), "x")?;
        }
        if let Ok(reply) = many.send().await {
            reply.assert_status(431);
        }
        visitor.get("/readyz").await?.assert_status(200);
        Ok(())
    }
}

mod limits {
    use super::*;

    tests::on_both! {
        async fn visitors_and_people_have_separate_rate_limits(server: Server) -> Result<()> {
            let person = server.sign_in("aigerim@example.test").await?;
            let visitor = server.client();
            let first = visitor.get("/v1/session").await?;
            first.assert_error(401, "unauthorized");
            let mut request_count = 1;
            let refused = loop {
                let reply = visitor.get("/v1/session").await?;
                if reply.status != 401 {
                    break reply;
                }
                request_count += 1;
                assert!(request_count < 400, "no limit after {request_count} requests");
            };
            refused.assert_error(429, "rate_limited");
            // The sign-in used five units.
            assert!(request_count >= 110, "limited after {request_count} requests");
            let wait: u64 = refused.header("retry-after").with_context(|| refused.to_string())?.parse()?;
            assert!((1..=60).contains(&wait), "{wait}");
            // The headers show the state of the limit that was exceeded.
            for (name, value) in [("ratelimit-limit", "120"), ("ratelimit-remaining", "0")] {
                assert_eq!(refused.header(name), Some(value), "{refused}");
            }
            assert_eq!(refused.header("ratelimit-reset"), refused.header("retry-after"), "{refused}");

            // A browser gets a page in its language, any other client the error envelope.
            for (accept, language, kind, says) in [
                ("text/html,application/xhtml+xml,*/*;q=0.8", "ru", "text/html; charset=utf-8", "Слишком много попыток."),
                ("text/html", "kk-KZ", "text/html; charset=utf-8", "Әрекет тым көп."),
                ("application/json", "ru", "application/json", "rate_limited"),
                ("*/*", "ru", "application/json", "rate_limited"),
            ] {
                for path in ["/sign-in", "/device", "/invite/qiv_x", "/v1/auth/oidc/nobody/start"] {
                    // The limit refills by two a second: on a slow machine some requests pass.
                    let mut passed = 0;
                    let reply = loop {
                        let request = visitor.request(http::Method::GET, path).header(http::header::ACCEPT, accept)?;
                        let reply = request.header(http::header::ACCEPT_LANGUAGE, language)?.send().await?;
                        if reply.status == 429 || passed == 120 { break reply; }
                        passed += 1;
                    };
                    reply.assert_status(429);
                    assert_eq!(reply.header("content-type"), Some(kind), "{path}: {reply}");
                    assert!(String::from_utf8_lossy(&reply.body).contains(says), "{path}: {reply}");
                    assert!(reply.header("retry-after").is_some() && reply.header("ratelimit-limit").is_some(), "{reply}");
                }
            }

            let reply = person.get("/v1/session").await?;
            reply.assert_status(200);
            let number = |reply: &Reply, name: &str| {
                reply
                    .header(name)
                    .with_context(|| format!("no {name}: {:?}", reply.headers))?
                    .parse::<u64>()
                    .context("no number")
            };
            assert_eq!(number(&reply, "ratelimit-limit")?, 600);
            assert!(number(&reply, "ratelimit-remaining")? >= 590);
            assert!(number(&reply, "ratelimit-reset")? <= 60);
            // The limit recovers with time.
            eventually("a visitor may send requests again", async || {
                visitor.get("/v1/session").await?.check_error(401, None)
            })
            .await
        }

        async fn forwarded_addresses_are_ignored_without_a_trusted_proxy(server: Server) -> Result<()> {
            let visitor = server.client();
            let mut request_count = 0;
            let refused = loop {
                let request = visitor.request(Method::GET, "/v1/session");
                let request = request.header(
                    HeaderName::from_static("x-forwarded-for"),
                    &format!("192.0.2.{}", request_count % 256),
                )?;
                let request = request
                    .header(HeaderName::from_static("forwarded"), &format!("for=192.0.2.{}", request_count % 256))?;
                let reply = request.send().await?;
                if reply.status != 401 {
                    break reply;
                }
                request_count += 1;
                assert!(request_count < 400, "no limit after {request_count} requests");
            };
            refused.assert_error(429, "rate_limited");
            Ok(())
        }

        async fn sign_in_is_limited_to_ten_attempts_a_minute(server: Server) -> Result<()> {
            let visitor = server.client();
            let body = json!({"email": "aigerim@example.test", "code": "000000"});
            let mut attempts = 0;
            let refused = loop {
                let reply = visitor.post_from_console("/v1/auth/email/verify", &body).await?;
                if reply.status != 401 {
                    break reply;
                }
                attempts += 1;
                assert!(attempts <= 15, "no limit after {attempts} attempts");
            };
            assert!(attempts >= 10, "limited after {attempts} attempts: {refused}");
            refused.assert_error(429, "rate_limited");
            let start = visitor
                .post_from_console("/v1/auth/email/start", &json!({"email": "a@example.test"}))
                .await?;
            start.assert_error(429, "rate_limited");
            Ok(())
        }
    }

    #[tokio::test]
    async fn the_address_that_a_trusted_proxy_forwards_is_used() -> Result<()> {
        let options = tests::Server::with(tests::Database::Sqlite).args(["--trusted-proxies", "127.0.0.0/8"]);
        tests::on_server(options, async |server| {
            let visitor = server.client();
            let ask = async |forwarded: &str| {
                let ask = visitor.request(Method::GET, "/v1/session");
                ask.header(HeaderName::from_static("x-forwarded-for"), forwarded)?.send().await
            };
            let mut request_count = 0;
            // Addresses further left are claims of the sender.
            while ask(&format!("198.51.100.{}, 192.0.2.1", request_count % 256)).await?.status == 401 {
                request_count += 1;
                assert!(request_count < 400, "no limit after {request_count} requests");
            }
            ask("192.0.2.1").await?.assert_error(429, "rate_limited");
            ask("192.0.2.2").await?.assert_error(401, "unauthorized");
            Ok(())
        })
        .await
    }
}
