//! Drafts: code that a person tries before it is a version.

use anyhow::{Context as _, Result, ensure};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Reply, Server, Workspace, eventually};

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
}

impl Fixture {
    /// Creates an app that may write the table `notes` of the first project and read from one host.
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let projects = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let project = projects.string_at("/items/0/id")?;
        let app = json!({
            "name": "An app",
            "files": {"main.js": "export default { async scheduled() { return 'of the version'; } };"},
            "manifest": {
                "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "triggers": [{"type": "manual"}], "sharing": {"default": "workspace"},
                "permissions": {
                    "data": [{"name": "main", "projectId": project, "access": "write", "tables": ["notes"]}],
                    "egress": [{"host": "api.example.com", "methods": ["GET"]}],
                },
            },
        });
        let app =
            owner.post(&format!("/v1/workspaces/{}/apps", workspace.id), &app).await?.string_at("/id")?;
        Ok(Self { owner, workspace, app })
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/apps/{}/draft{rest}", self.app)
    }

    async fn save(&self, client: &Client, source: &str) -> Result<Reply> {
        client.put(&self.path(""), &json!({"files": {"main.js": source}})).await
    }

    async fn invoke(&self, source: &str, call: &Value) -> Result<Value> {
        self.save(&self.owner, source).await?.ok()?;
        self.owner.post(&self.path("/invoke"), call).await?.ok()
    }

    /// Runs `scheduled` with this body and input.
    async fn run(&self, body: &str, data: Value) -> Result<Value> {
        let source = format!("export default {{ async scheduled(event, env, ctx) {{ {body} }} }};");
        self.invoke(&source, &json!({"handler": "scheduled", "event": {"data": data}})).await
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_draft_is_its_owners_alone(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        owner.get(&fixture.path("")).await?.assert_error(404, "draft_not_found");
        owner.delete(&fixture.path("")).await?.assert_error(404, "draft_not_found");
        owner.post(&fixture.path("/invoke"), &json!({"handler": "fetch"})).await?.assert_error(404, "draft_not_found");

        let saved = fixture.save(owner, "let half =").await?;
        let (body, tag) = (saved.ok()?, saved.header("etag").context("no tag")?.to_owned());
        ensure!(body["files"]["main.js"] == "let half =" && body["baseVersionId"].is_null(), "{body}");
        ensure!(owner.get(&fixture.path("")).await?.ok()? == body, "the draft is not what was saved");
        let known = owner.request(Method::GET, &fixture.path("")).header(header::IF_NONE_MATCH, &tag)?;
        ensure!(known.send().await?.status == 304, "the tag is not that of the read");

        // Another editor has a draft of their own; who may not edit has none.
        let builder = owner.add_member(&fixture.workspace.id, "builder").await?;
        builder.get(&fixture.path("")).await?.assert_error(404, "draft_not_found");
        fixture.save(&builder, "let other;").await?.ok()?;
        ensure!(owner.get(&fixture.path("")).await?.ok()? == body, "the drafts of two people are one");
        let viewer = owner.add_member(&fixture.workspace.id, "viewer").await?;
        fixture.save(&viewer, "").await?.assert_error(403, "forbidden");
        viewer.post(&fixture.path("/invoke"), &json!({"handler": "fetch"})).await?.assert_error(403, "forbidden");
        let stranger = server.sign_in("stranger@example.test").await?;
        fixture.save(&stranger, "").await?.assert_status(404);
        stranger.get(&fixture.path("")).await?.assert_status(404);
        let reader = owner.with_bearer(&owner.create_token(&fixture.workspace.id, &["read"]).await?);
        reader.get(&fixture.path("")).await?.assert_error(403, "insufficient_scope");

        // Of two writers who know the same state, one wins.
        let writer = owner.with_bearer(&owner.create_token(&fixture.workspace.id, &["write"]).await?);
        let put = |source: &str| {
            let request = writer.request(Method::PUT, &fixture.path("")).header(header::IF_MATCH, &tag)?;
            anyhow::Ok(request.json(&json!({"files": {"main.js": source}}))?.send())
        };
        put("let a;")?.await?.ok()?;
        put("let b;")?.await?.assert_error(412, "changed_meanwhile");
        owner.delete(&fixture.path("")).await?.ok()?;
        owner.get(&fixture.path("")).await?.assert_error(404, "draft_not_found");
        ensure!(builder.get(&fixture.path("")).await?.status == 200, "the draft of another person is gone");
        Ok(())
    }

    async fn a_draft_runs_beside_the_version(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        let body = "console.log('got', event.data, event.trigger);
            const [note] = await env.data.main.insert('notes', [{ title: 'one' }, { title: 'two' }]);
            await env.data.main.update('notes', { id: `eq.${note.id}` }, { title: 'three' });
            return { sum: event.data.a + event.data.b, rows: (await env.data.main.select('notes')).length };";
        let ran = fixture.run(body, json!({"a": 2, "b": 3})).await?;
        ensure!(ran["status"] == 200 && ran["error"].is_null(), "{ran}");
        let returned: Value = serde_json::from_str(ran["body"].as_str().context("no body")?)?;
        ensure!(returned == json!({"sum": 5, "rows": 2}), "{ran}");
        ensure!(ran["rowsWritten"] == 3 && ran["missing"] == json!([]), "{ran}");
        ensure!(ran["logs"][0]["message"].as_str().is_some_and(|line| line.contains("got")), "{ran}");
        let labels: Vec<&str> = ran["gate"].as_array().into_iter().flatten().filter_map(|it| it["label"].as_str()).collect();
        ensure!(labels == ["Insert into notes", "Update notes", "Select from notes"], "{ran}");

        // The version is what it was, and the app's log has nothing of the draft.
        ensure!(owner.app_log(&fixture.app, None).await?.is_empty(), "a draft is in the log");
        let automation = owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let run = owner.start_run(&automation, Value::Null).await?;
        ensure!(owner.wait_for_success(&run).await?["result"] == "of the version", "the version changed");

        let failed = fixture.run("null.x;", json!(null)).await?;
        ensure!(failed["status"] == 500 && failed["error"]["code"] == "app_error", "{failed}");
        let broken = fixture.invoke("export default {", &json!({"handler": "scheduled"})).await?;
        ensure!(broken["error"]["code"] == "invalid_bundle", "{broken}");
        let none = fixture.invoke("export default { fetch() {} };", &json!({"handler": "scheduled"})).await?;
        ensure!(none["error"]["code"] == "handler_missing", "{none}");
        let asked = fixture.run("await ctx.approval({ title: 'Go on?' });", json!(null)).await?;
        ensure!(asked["error"]["message"].as_str().is_some_and(|told| told.contains("only a run can ask a person")), "{asked}");
        let large = fixture.run("return 'x'.repeat(100_000);", json!(null)).await?;
        ensure!(large["body"].is_null() && large["isCut"] == true, "{large}");

        let audit = owner.get(&format!("/v1/workspaces/{}/audit?action=draft.invoke", fixture.workspace.id)).await?.ok()?;
        ensure!(audit["items"].as_array().is_some_and(|entries| entries.len() == 6), "{audit}");
        Ok(())
    }

    async fn a_draft_responds_to_requests(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let source = "export default { async fetch(request) {
            const url = new URL(request.url);
            if (url.pathname === '/bytes') return new Response(new Uint8Array([255, 0]));
            if (url.pathname === '/long') return new Response('ж'.repeat(40_000));
            if (url.pathname === '/stream') return new Response(new ReadableStream({ async start(to) {
                to.enqueue(new TextEncoder().encode('one ')); await new Promise((go) => setTimeout(go, 5));
                to.enqueue(new TextEncoder().encode('two')); to.close(); } }));
            if (url.pathname === '/endless') return new Response(new ReadableStream({ pull(to) { to.enqueue(new Uint8Array(9_000).fill(97)); } }));
            return new Response(await request.text() + url.search + request.headers.get('x-a'), { status: 201, headers: { 'x-b': 'c' } });
        } };";
        let call = |request: Value| json!({"handler": "fetch", "request": request});
        let echo = json!({"method": "POST", "path": "/echo?a=1", "headers": {"x-a": "b"}, "body": "text "});
        let echoed = fixture.invoke(source, &call(echo)).await?;
        ensure!(echoed["status"] == 201 && echoed["body"] == "text ?a=1b", "{echoed}");
        ensure!(echoed["headers"].as_array().is_some_and(|all| all.contains(&json!({"name": "x-b", "value": "c"}))), "{echoed}");
        let bytes = fixture.invoke(source, &call(json!({"path": "/bytes"}))).await?;
        ensure!(bytes["isBase64"] == true && bytes["body"] == "/wA=", "{bytes}");
        let long = fixture.invoke(source, &call(json!({"path": "/long"}))).await?;
        ensure!(long["isCut"] == true && long["body"].as_str().is_some_and(|body| body.len() == 65_536), "{long}");
        let streamed = fixture.invoke(source, &call(json!({"path": "/stream"}))).await?;
        ensure!(streamed["body"] == "one two" && streamed["isCut"] == false, "{streamed}");
        let endless = fixture.invoke(source, &call(json!({"path": "/endless"}))).await?;
        ensure!(endless["isCut"] == true && endless["body"].as_str().is_some_and(|body| body.len() == 65_536), "{endless}");
        Ok(())
    }

    async fn what_a_draft_may_not_do_is_named_as_a_change(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        let body = "for (const [url, method] of event.data) await fetch(url, { method }).catch((error) => console.log(error.code));";
        let calls = json!([["https://other.example.net/a", "GET"], ["https://api.example.com/a", "POST"]]);
        let refused = fixture.run(body, calls).await?;
        ensure!(refused["missing"] == json!([
            {"request": "GET other.example.net", "code": "egress_denied", "instruction": "Allow GET to other.example.net."},
            {"request": "POST api.example.com", "code": "method_denied", "instruction": "Allow POST to api.example.com."},
        ]), "{refused}");
        for (missing, host) in [(0, "other.example.net"), (1, "api.example.com")] {
            let instruction = json!({"instruction": refused["missing"][missing]["instruction"]});
            let plan = owner.post(&format!("/v1/apps/{}/changes", fixture.app), &instruction).await?.ok()?;
            ensure!(plan["diff"]["gains"][0]["name"] == host, "{plan}");
        }
        let gates = owner.get(&format!("/v1/workspaces/{}/gates", fixture.workspace.id)).await?;
        ensure!(!gates.to_string().contains("other.example.net"), "a draft made a gate: {gates}");
        Ok(())
    }

    async fn bad_calls_are_refused(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        fixture.save(owner, "export default { fetch() {} };").await?.ok()?;
        let many: serde_json::Map<String, Value> = (0..51).map(|n| (format!("x-{n}"), json!("a"))).collect();
        for (call, member) in [
            (json!({}), "handler"),
            (json!({"handler": "queue"}), "handler"),
            (json!({"handler": "fetch", "event": {}}), "event"),
            (json!({"handler": "scheduled", "request": {}}), "request"),
            (json!({"handler": "fetch", "request": {"method": "get"}}), "request.method"),
            (json!({"handler": "fetch", "request": {"method": "G ET"}}), "request.method"),
            (json!({"handler": "fetch", "request": {"path": "//evil\\x"}}), "request.path"),
            (json!({"handler": "fetch", "request": {"path": "https://evil.example/"}}), "request.path"),
            (json!({"handler": "fetch", "request": {"path": "/a b"}}), "request.path"),
            (json!({"handler": "fetch", "request": {"headers": {"a b": "c"}}}), "request.headers"),
            (json!({"handler": "fetch", "request": {"headers": {"a": "b\r\nc: d"}}}), "request.headers"),
            (json!({"handler": "fetch", "request": {"headers": many}}), "request.headers"),
            (json!({"handler": "scheduled", "event": {"data": "x".repeat(256 << 10)}}), "input"),
            (json!({"handler": "scheduled", "event": {"trigger": "telepathy"}}), "trigger"),
        ] {
            let refused = owner.post(&fixture.path("/invoke"), &call).await?;
            ensure!(refused.status == 400 && refused.to_string().contains(member), "{call}: {refused}");
        }
        for files in [json!({}), json!({"a.js": ""}), json!({"../main.js": "", "main.js": ""}), json!({"main.js": "x".repeat(2 << 20)})] {
            let refused = owner.put(&fixture.path(""), &json!({"files": files})).await?;
            ensure!(refused.status.is_client_error(), "{refused}");
        }
        let unknown = json!({"files": {"main.js": ""}, "baseVersionId": "ver_01h455vb4pex5vsknk084sn02q"});
        owner.put(&fixture.path(""), &unknown).await?.assert_error(404, "version_not_found");

        // An app without a version has no permissions that a draft could have.
        let empty = json!({"name": "Empty"});
        let empty = owner.post(&format!("/v1/workspaces/{}/apps", fixture.workspace.id), &empty).await?.string_at("/id")?;
        owner.put(&format!("/v1/apps/{empty}/draft"), &json!({"files": {"main.js": ""}})).await?.ok()?;
        owner.post(&format!("/v1/apps/{empty}/draft/invoke"), &json!({"handler": "fetch"})).await?.assert_error(409, "no_version");
        // Neither runs a draft of a paused app.
        owner.patch(&format!("/v1/apps/{}", fixture.app), &json!({"paused": true})).await?.ok()?;
        owner.post(&fixture.path("/invoke"), &json!({"handler": "fetch"})).await?.assert_error(409, "not_runnable");
        Ok(())
    }

    async fn calls_count_as_runs_of_the_month(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        server.run_admin(&["set-plan", &fixture.workspace.id, "free"]).await?;
        fixture.run("return 1;", json!(null)).await?;
        server.execute_static_sql("UPDATE workspace_usage SET runs = 1100").await?;
        // The plan is cached for a moment.
        eventually("the runs are used up", async || {
            let refused = fixture.owner.post(&fixture.path("/invoke"), &json!({"handler": "scheduled"})).await?;
            ensure!(refused.status == 409 && refused.to_string().contains("quota_reached"), "{refused}");
            Ok(())
        })
        .await
    }
}
