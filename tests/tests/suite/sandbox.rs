//! The sandbox: limits, egress, errors and retries of runs, and the requests that apps see and responses that they
//! send.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{HeaderName, Method, header};
use serde_json::{Value, json};
use tests::eventually;

/// Covers a wall-clock limit of 30 seconds on a loaded machine.
const RUN_DEADLINE: Duration = Duration::from_secs(100);

const LOOPS_FOREVER: &str = "export default { async scheduled() { for (;;) {} } }";
const EXHAUSTS_MEMORY: &str = "export default { async scheduled() { const all = []; \
    for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }";
/// A regular expression that nearly matches at each of 150,000 positions, so that the engine stays in native code,
/// where scripts cannot be interrupted.
const STAYS_IN_NATIVE_CODE: &str = "export default { async scheduled() { \
    const text = 'a'.repeat(3e5), near = 'a'.repeat(1.5e5) + 'c'; \
    for (let i = 0; i < 1e6; i++) text.indexOf(near) } }";
const SUCCEEDS: &str = "export default { async scheduled(event) { console.log('fine') } }";

tests::on_both! {
    async fn an_app_that_exceeds_its_limits_does_not_affect_others(server: Server) -> Result<()> {
        let bad = server.sign_in("bad@example.test").await?;
        let good = server.sign_in("good@example.test").await?;
        let bad_workspace = bad.create_workspace("Bad").await?;
        let good_workspace = good.create_workspace("Good").await?;
        let mut runs = Vec::new();
        for (source, codes) in [
            (LOOPS_FOREVER, ["cpu_exceeded", "timeout"].as_slice()),
            (EXHAUSTS_MEMORY, &["memory_exceeded"]),
            (STAYS_IN_NATIVE_CODE, &["timeout", "cpu_exceeded"]),
        ] {
            runs.push((bad.create_and_run_app(&bad_workspace.id, source).await?, codes));
        }
        // The run that exhausts memory may have ended before its status is read.
        for number in [0, 2] {
            let path = format!("/v1/runs/{}", runs[number].0.1);
            let is_running = async || {
                let run = bad.get(&path).await?.ok()?;
                (run["status"] == "running").then_some(()).with_context(|| run.to_string())
            };
            eventually("the run is running", is_running).await?;
            let (_, good_run) = good.create_and_run_app(&good_workspace.id, SUCCEEDS).await?;
            good.wait_for_success(&good_run).await?;
            is_running().await.context("the run of one workspace waited for that of the other")?;
        }

        for ((_, run), codes) in &runs {
            let run = bad.wait_for_run_within(RUN_DEADLINE, run).await?;
            let code = run["errorCode"].as_str().unwrap_or_default();
            assert!(run["status"] == "failed" && codes.contains(&code), "not {codes:?}: {run}");
            assert!(run["explanation"]["what"].is_string(), "{run}");
        }
        Ok(())
    }

    async fn an_error_is_reported_and_explained(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default {\n  async scheduled() { throw new Error('the cow is away') }\n}";
        let (_, run) = person.create_and_run_app(&workspace.id, source).await?;
        let run = person.wait_for_run(&run).await?;
        assert_eq!((&run["status"], &run["errorCode"]), (&json!("failed"), &json!("app_error")), "{run}");
        let message = run["errorMessage"].as_str().unwrap_or_default();
        assert!(message.contains("the cow is away") && message.contains("main.js:2"), "{message}");
        assert!(run["explanation"]["why"].as_str().is_some_and(|why| why.contains("threw")), "{run}");

        let missing = "export default { async fetch() { return new Response('x') } }";
        let (_, run) = person.create_and_run_app(&workspace.id, missing).await?;
        assert_eq!(person.wait_for_run(&run).await?["errorCode"], "handler_missing");
        let silent = "export default { scheduled() { return new Promise(() => {}) } }";
        let (_, run) = person.create_and_run_app(&workspace.id, silent).await?;
        assert_eq!(person.wait_for_run(&run).await?["errorCode"], "never_settled");
        Ok(())
    }

    async fn a_failed_run_is_retried(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default { async scheduled(event) { \
            console.log(`attempt ${event.attempt}`); if (event.attempt < event.data) throw new Error('not yet') } }";
        let app = person.create_app(&workspace.id, source).await?;
        let automation = person.create_automation(&workspace.id, &app, "manual", 1).await?;
        for (succeeds_at, expected) in [(1, vec![1]), (2, vec![1, 2]), (3, vec![1, 2])] {
            let run = person.start_run(&automation, json!(succeeds_at)).await?;
            let ended = person.wait_for_run(&run).await?;
            assert_eq!(ended["status"], if succeeds_at <= 2 { "succeeded" } else { "failed" }, "{ended}");
            assert_eq!(ended["attempt"], json!(expected.len()), "{ended}");
            let log = person.app_log(&app, Some(&run)).await?;
            let messages: Vec<_> =
                log.iter().filter(|line| line.source == "app").map(|line| line.message.clone()).collect();
            let expected: Vec<_> = expected.iter().map(|number| format!("attempt {number}")).collect();
            assert_eq!(messages, expected);
        }
        Ok(())
    }

    async fn only_hosts_in_the_manifest_are_reachable(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let port = server.base_url().rsplit(':').next().context("no port")?.to_owned();
        for (url, code) in [
            ("https://example.com/secret?token=1".to_owned(), "egress_denied"),
            // There is an open gate to it, but not for this app.
            ("https://api.github.com/secret?token=1".to_owned(), "egress_denied"),
            (format!("http://127.0.0.1:{port}/readyz"), "private_address"),
            ("http://169.254.169.254/latest/meta-data/".to_owned(), "private_address"),
            ("http://[::ffff:10.0.0.1]/".to_owned(), "private_address"),
        ] {
            let source = format!("export default {{ async scheduled() {{ await fetch({url:?}) }} }}");
            let (app, run) = person.create_and_run_app(&workspace.id, &source).await?;
            let run = person.wait_for_run(&run).await?;
            assert_eq!((&run["status"], &run["errorCode"]), (&json!("blocked"), &json!(code)), "{run}");
            let log = person.app_log(&app, None).await?;
            let gate = log.iter().find(|line| line.source == "gate").with_context(|| format!("{log:?}"))?;
            assert!(gate.message.contains(&format!("refused {code}")), "{}", gate.message);
            assert!(!gate.message.contains("token"), "{}", gate.message);
        }
        // The manifest names the host, which created a gate, but the gate is closed.
        let named = json!({
            "name": "An app of a test",
            "files": {"main.js": "export default { async scheduled() { await fetch('https://example.com/') } }"},
            "manifest": {
                "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "permissions": {"egress": [{"host": "example.com"}]}, "triggers": [{"type": "manual"}],
            },
        });
        let app =
            person.post(&format!("/v1/workspaces/{}/apps", workspace.id), &named).await?.string_at("/id")?;
        let gates: Value = person.get(&format!("/v1/workspaces/{}/gates", workspace.id)).await?.json()?;
        let gate = gates["items"].as_array().and_then(|gates| gates.iter().find(|gate| gate["host"] == "example.com"));
        let gate = gate.with_context(|| format!("no gate to example.com in {gates}"))?;
        assert_eq!((&gate["status"], &gate["appIds"]), (&json!("open"), &json!([app])), "{gate}");
        let gate = format!("/v1/gates/{}", gate["id"].as_str().unwrap_or_default());
        person.patch(&gate, &json!({"status": "closed"})).await?.ok()?;
        let automation = person.create_automation(&workspace.id, &app, "manual", 0).await?;
        let run = person.wait_for_run(&person.start_run(&automation, Value::Null).await?).await?;
        assert_eq!((&run["status"], &run["errorCode"]), (&json!("blocked"), &json!("host_denied")), "{run}");
        // If the app catches the error, the run is not blocked.
        let source = "export default { async scheduled() { \
            try { await fetch('https://example.com/') } catch (error) { console.log(error.code) } } }";
        let (app, run) = person.create_and_run_app(&workspace.id, source).await?;
        person.wait_for_success(&run).await?;
        let log = person.app_log(&app, Some(&run)).await?;
        assert!(log.iter().any(|line| line.source == "app" && line.message == "egress_denied"), "{log:?}");
        Ok(())
    }

    async fn code_that_does_not_parse_is_rejected(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let app = person.create_app(&workspace.id, SUCCEEDS).await?;
        let before = person.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        for files in [
            json!({"main.js": "export default {"}),
            json!({"main.js": "import x from './gone.js'; export default {}"}),
            json!({"other.js": SUCCEEDS}),
            json!({}),
            json!({"main.js": SUCCEEDS, "../up.js": ""}),
        ] {
            let reply = person.post(&format!("/v1/apps/{app}/versions"), &json!({"files": files})).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| files.to_string())?;
            let message = reply.json::<Value>()?["error"]["message"].to_string();
            assert!(message.contains("files"), "{message}");
        }
        assert_eq!(person.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?, before);
        let body = json!({"name": "Broken", "files": {"main.js": "export default {"}});
        let reply = person.post(&format!("/v1/workspaces/{}/apps", workspace.id), &body).await?;
        reply.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn the_sample_app_stores_and_shows_notes(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let webhook = person.rotate_webhook_secret(&workspace.automation).await?;
        let accepted = webhook.send(&json!({"title": "Two litres of қымыз"})).await?;
        person.wait_for_success(&accepted.string_at("/runId")?).await?;

        let slug = person.get(&format!("/v1/apps/{}", workspace.sample_app)).await?.string_at("/slug")?;
        let page = server.client().get(&format!("/a/{slug}/")).await?;
        let shown = page.ok()?;
        assert_eq!(shown["notes"][0]["title"], "Two litres of қымыз", "{page}");
        assert_eq!(shown["notes"][0]["source"], "webhook");
        server.client().get(&format!("/a/{slug}/attic")).await?.assert_status(404);
        server.client().get("/a/nobody/").await?.assert_error(404, "app_not_found");
        Ok(())
    }

    async fn an_app_sees_no_credentials_and_sets_no_cookies(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default { async fetch(request) { \
            const body = request.method === 'POST' ? await request.text() : null; \
            return Response.json({ method: request.method, url: request.url, body, headers: [...request.headers] }, { \
                status: 201, headers: { 'set-cookie': 'qala_session=stolen; Path=/', 'x-mine': 'yes', \
                'strict-transport-security': 'max-age=1', 'clear-site-data': '\"*\"', 'connection': 'upgrade', \
                'keep-alive': 'timeout=1', 'transfer-encoding': 'gzip', 'content-length': '9999', \
                'content-security-policy': 'default-src *', \
                'x-request-id': 'mine' } }) } }";
        let app = person.create_app(&workspace.id, source).await?;
        let slug = person.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        let call = person.request(Method::POST, &format!("/a/{slug}/deep/er?q=1&r=%20"));
        let call = call.header(header::AUTHORIZATION, "Bearer qat_secret")?.header(header::ACCEPT, "a/b")?;
        let reply = call.body("text/plain", "сәлем")?.send().await?;
        reply.assert_status(201);
        let seen = reply.ok()?;
        assert_eq!((&seen["method"], &seen["body"]), (&json!("POST"), &json!("сәлем")));
        let url = seen["url"].as_str().unwrap_or_default();
        assert!(url.ends_with("/deep/er?q=1&r=%20") && url.contains(&slug) && !url.contains("/a/"), "{url}");
        let headers = seen["headers"].to_string();
        assert!(!headers.contains("cookie") && !headers.contains("qala_session"), "{headers}");
        assert!(!headers.contains("qat_secret") && headers.contains("a/b"), "{headers}");

        assert_eq!(reply.header("x-mine"), Some("yes"));
        let withheld =
            "set-cookie strict-transport-security clear-site-data connection keep-alive transfer-encoding";
        for withheld in withheld.split(' ') {
            assert_eq!(reply.header(withheld), None, "{withheld}");
        }
        assert!(reply.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{:?}", reply.headers);
        assert_eq!(reply.headers.get_all("x-request-id").iter().count(), 1);
        let policies = reply.headers.get_all(header::CONTENT_SECURITY_POLICY);
        assert!(
            policies.iter().any(|policy| policy.as_bytes().starts_with(b"sandbox")),
            "{:?}",
            reply.headers
        );
        assert!(
            !policies
                .iter()
                .any(|policy| String::from_utf8_lossy(policy.as_bytes()).contains("allow-same-origin"))
        );
        Ok(())
    }

    async fn responses_have_no_more_headers_than_clients_accept(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default { async fetch(request) { \
            const parameters = new URL(request.url).searchParams, headers = new Headers(); \
            if (parameters.has('control')) headers.set('x-a', 'a' + String.fromCharCode(1)); \
            for (let i = 0; i < parameters.get('count'); i++) headers.append(`x-${i}`, 'v'.repeat(parameters.get('size'))); \
            return new Response(null, { headers }) } }";
        let app = person.create_app(&workspace.id, source).await?;
        let slug = person.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        let visit = async |count: usize, size: usize| {
            server.client().get(&format!("/a/{slug}/?count={count}&size={size}")).await
        };
        visit(60, 200).await?.assert_status(200);
        visit(65, 1).await?.assert_error(500, "app_failed");
        visit(1, 16 << 10).await?.assert_error(500, "app_failed");
        server.client().get(&format!("/a/{slug}/?control")).await?.assert_error(500, "app_failed");
        eventually("the log has the reasons", async || {
            let log = person.app_log(&app, None).await?;
            let reasons = ["more than 64 headers", "longer than 16 KiB", "a control character"];
            let is_told = |reason: &&str| log.iter().any(|line| line.message.contains(*reason));
            reasons.iter().all(is_told).then_some(()).with_context(|| format!("{log:?}"))
        })
        .await
    }

    async fn header_values_are_bytes_in_both_directions(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default { async fetch(request) { \
            const sent = request.headers.get('x-sent'); \
            return new Response([...sent].map((c) => c.charCodeAt(0)).join(), { headers: { 'x-back': sent } }) } }";
        let app = person.create_app(&workspace.id, source).await?;
        let slug = person.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        let visitor = server.client();
        for sent in [&b"caf\xe9"[..], "Ж".as_bytes()] {
            let request = visitor.request(Method::GET, &format!("/a/{slug}/"));
            let reply = request.byte_header(HeaderName::from_static("x-sent"), sent)?.send().await?;
            assert_eq!(reply.headers["x-back"].as_bytes(), sent);
            let bytes: Vec<_> = sent.iter().map(u8::to_string).collect();
            assert_eq!(reply.body, bytes.join(","));
        }
        Ok(())
    }

    async fn errors_of_a_visit_are_shown_only_to_the_owner(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let source = "export default { async fetch() { throw new Error('password is hunter2') } }";
        let app = person.create_app(&workspace.id, source).await?;
        let slug = person.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        let reply = server.client().get(&format!("/a/{slug}/")).await?;
        reply.assert_error(500, "app_failed");
        assert!(!String::from_utf8_lossy(&reply.body).contains("hunter2"), "{reply}");
        eventually("the log has the reason", async || {
            let log = person.app_log(&app, None).await?;
            log.iter()
                .any(|line| line.message.contains("hunter2"))
                .then_some(())
                .with_context(|| format!("{log:?}"))
        })
        .await?;
        person.patch(&format!("/v1/apps/{app}"), &json!({"paused": true})).await?.ok()?;
        server.client().get(&format!("/a/{slug}/")).await?.assert_error(503, "app_paused");
        Ok(())
    }
}
