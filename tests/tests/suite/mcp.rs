//! The agent server, with both generations of its protocol, and requests that it must reject.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Reply, Workspace, eventually};

const ACCEPT_BOTH: &str = "application/json, text/event-stream";

/// Returns the result of a tool, and true if it is an error.
fn tool_result(reply: &Reply) -> Result<(bool, Value)> {
    let result = reply.ok()?["result"].clone();
    let failed = result["isError"].as_bool().unwrap_or_default();
    let text = result["content"][0]["text"].as_str().with_context(|| reply.to_string())?;
    if failed {
        return Ok((true, Value::String(text.to_owned())));
    }
    // Clients read either form, so both must be equal.
    assert_eq!(serde_json::from_str::<Value>(text)?, result["structuredContent"]);
    Ok((false, result["structuredContent"].clone()))
}

async fn sign_in_agent(person: &Client, workspace: &Workspace, access: &str) -> Result<Client> {
    let tokens = person.register_agent("Agent").await?.sign_in(person, &workspace.id, access).await?;
    Ok(person.with_bearer(&tokens.access))
}

/// Sends a request of protocol version 2026-07-28, which includes what a handshake negotiated before.
async fn stateless_request(
    client: &Client,
    method: &str,
    name: Option<&str>,
    mut params: Value,
) -> Result<Reply> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let mut request = client
        .request(Method::POST, "/mcp")
        .json(&body)?
        .header(header::ACCEPT, ACCEPT_BOTH)?
        .header(http::HeaderName::from_static("mcp-protocol-version"), "2026-07-28")?
        .header(http::HeaderName::from_static("mcp-method"), method)?;
    if let Some(name) = name {
        request = request.header(http::HeaderName::from_static("mcp-name"), name)?;
    }
    request.send().await
}

tests::on_both! {
    async fn a_request_without_a_token_learns_where_to_get_one(server: Server) -> Result<()> {
        let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", server.base_url());
        let visitor = server.client();
        let reply = visitor.mcp("tools/list", &json!({})).await?;
        reply.assert_error(401, "unauthorized");
        let challenge = reply.header("www-authenticate").unwrap_or_default();
        assert!(challenge.starts_with("Bearer ") && challenge.contains(&metadata), "{challenge}");
        assert!(challenge.contains("scope=\"read write\"") && !challenge.contains("error"), "{challenge}");

        for token in ["qao_000000000000000000000000000000000000", "nonsense"] {
            let reply = visitor.with_bearer(token).mcp("tools/list", &json!({})).await?;
            reply.assert_error(401, "unauthorized");
            let challenge = reply.header("www-authenticate").unwrap_or_default();
            assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains(&metadata), "{challenge}");
        }
        visitor.get("/mcp").await?.assert_error(401, "unauthorized");
        Ok(())
    }

    async fn tokens_are_accepted_only_in_the_header(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let token = aru.register_agent("Agent").await?.sign_in(&aru, &workspace.id, "read").await?.access;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        for who in [&server.client(), &aru] {
            let path = format!("/mcp?access_token={token}");
            who.request(Method::POST, &path).json(&body)?.header(header::ACCEPT, ACCEPT_BOTH)?.send().await?
                .assert_error(401, "unauthorized");
        }
        Ok(())
    }

    async fn a_call_of_a_tool_whose_grant_is_revoked_starts_nothing(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let app = aru.create_app(&workspace.id, "export default { scheduled() { return 'ran'; } };").await?;
        let automation = aru.create_automation(&workspace.id, &app, "manual", 0).await?;
        let agent = sign_in_agent(&aru, &workspace, "write").await?;
        let hold = async || {
            let params = json!({"name": "start_automation", "arguments": {"automationId": automation}});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let request = agent.request(Method::POST, "/mcp").json(&body)?;
            request.header(header::ACCEPT, ACCEPT_BOTH)?.send_unfinished().await
        };
        let count_runs = async || -> Result<usize> {
            let path = format!("/v1/workspaces/{}/runs?automationId={automation}", workspace.id);
            Ok(aru.get(&path).await?.ok()?["items"].as_array().context("no items")?.len())
        };
        hold().await?.finish().await?.assert_status(200);
        assert_eq!(count_runs().await?, 1, "a late body is no refusal");

        let held = hold().await?;
        let grants = format!("/v1/workspaces/{}/oauth/grants", workspace.id);
        let grant = aru.get(&grants).await?.string_at("/0/id")?;
        aru.delete(&format!("{grants}/{grant}")).await?.assert_status(200);
        let refused = held.finish().await?;
        refused.assert_error(401, "unauthorized");
        let challenge = refused.header("www-authenticate").unwrap_or_default();
        assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains("resource_metadata="), "{challenge}");
        assert_eq!(count_runs().await?, 1);
        Ok(())
    }

    async fn foreign_hosts_and_origins_are_rejected(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let send = async |name: http::HeaderName, value: &str| -> Result<Reply> {
            let request = agent.request(Method::POST, "/mcp").json(&body)?.header(header::ACCEPT, ACCEPT_BOTH)?;
            request.header(name, value)?.send().await
        };
        for host in ["evil.example", "localhost", "127.0.0.1", "evil.example:7420"] {
            send(header::HOST, host).await?.assert_error(403, "forbidden");
        }
        for origin in ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:7420"] {
            send(header::ORIGIN, origin).await?.assert_error(403, "forbidden");
        }
        send(header::ORIGIN, server.base_url()).await?.assert_status(200);
        Ok(())
    }

    async fn older_clients_start_with_a_handshake(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let reply = agent.mcp("initialize", &hello).await?;
        let result = reply.ok()?["result"].clone();
        assert_eq!(result["protocolVersion"], "2025-11-25");
        assert_eq!(result["serverInfo"]["name"], "qala");
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(reply.header("mcp-session-id"), None, "the server must not keep sessions");
        assert_eq!(reply.header("content-type"), Some("application/json"));

        let tools = agent.mcp("tools/list", &json!({})).await?.ok()?["result"]["tools"].clone();
        let names: Vec<&str> = tools.as_array().context("no tools")?.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, [
            "whoami", "list_apps", "list_automations", "list_runs", "get_run", "explain_run", "get_logs", "list_dead_letters",
            "get_dead_letter", "list_versions", "compare_versions", "get_change", "wait_for_events",
        ]);
        let unknown = agent.mcp("prompts/list", &json!({})).await?;
        assert_eq!(unknown.json::<Value>()?["error"]["code"], -32601, "{unknown}");
        agent.get("/mcp").await?.assert_status(405);
        Ok(())
    }

    async fn newer_clients_need_no_handshake(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let found = stateless_request(&agent, "server/discover", None, json!({})).await?.ok()?["result"].clone();
        assert!(found["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))), "{found}");
        assert_eq!(found["cacheScope"], "private");
        let tools = stateless_request(&agent, "tools/list", None, json!({})).await?.ok()?["result"].clone();
        assert!(tools["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0) && tools["cacheScope"] == "private", "{tools}");
        let call = stateless_request(&agent, "tools/call", Some("whoami"), json!({"name": "whoami", "arguments": {}})).await?;
        assert_eq!(tool_result(&call)?.1["workspace"]["id"], workspace.id);

        let other = stateless_request(&agent, "tools/call", Some("list_apps"), json!({"name": "whoami", "arguments": {}})).await?;
        assert_eq!(other.assert_status(400).json::<Value>()?["error"]["code"], -32020, "header and body differ");
        let unknown = stateless_request(&agent, "prompts/list", None, json!({})).await?;
        assert_eq!(unknown.assert_status(404).json::<Value>()?["error"]["code"], -32601);
        Ok(())
    }

    async fn a_message_that_is_refused_gets_an_error_that_says_what_to_do(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let send = async |kind: &str, body: &[u8], headers: &[(&'static str, &str)]| -> Result<Reply> {
            let mut request = agent.request(Method::POST, "/mcp").body(kind, body.to_vec())?;
            for (name, value) in headers {
                request = request.header(http::HeaderName::from_static(name), value)?;
            }
            request.send().await
        };
        let json = "application/json";
        let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        for (kind, body, headers, status, code, says) in [
            (json, &b""[..], &[][..], 400, -32700, "empty"),
            (json, b"{", &[], 400, -32700, "JSON"),
            (json, b"\xff\xfe{\0}\0", &[], 400, -32700, "UTF-8"),
            (json, b"jsonrpc=2.0", &[], 400, -32700, "JSON"),
            (json, b"[]", &[], 400, -32600, "Batches"),
            (json, br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &[("mcp-protocol-version", "2025-03-26")], 400, -32600, "Batches"),
            (json, br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &[], 400, -32600, "`id`"),
            (json, br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, &[], 400, -32600, "`id`"),
            (json, br#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, &[], 400, -32600, "`id`"),
            (json, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &[], 400, -32600, "responses"),
            (json, br#"{"id":1,"method":"ping"}"#, &[], 400, -32600, "`jsonrpc`"),
            (json, br#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, &[], 200, -32601, "`nothing`"),
            (json, br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}"#, &[], 200, -32601, "tools/list"),
            (json, br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#, &[], 200, -32602, "`params.name`"),
            (json, br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#, &[], 200, -32602, "no tool `x`"),
            (json, br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#, &[], 200, -32602, "`params`"),
            (json, list, &[("accept", "text/event-stream")], 406, -32600, "Accept"),
            (json, list, &[("accept", "application/json;q=0, */*")], 406, -32600, "Accept"),
            (json, list, &[("mcp-protocol-version", "2099-01-01")], 400, -32022, "2025-11-25"),
            (json, list, &[("content-encoding", "gzip")], 415, -32600, "Content-Encoding"),
            ("text/plain", list, &[], 415, -32600, "Content-Type"),
            ("application/x-www-form-urlencoded", b"a=1", &[], 415, -32600, "Content-Type"),
        ] {
            let reply = send(kind, body, headers).await?;
            let what = String::from_utf8_lossy(body).into_owned();
            assert_eq!(reply.status.as_u16(), status, "{what} {headers:?}: {reply}");
            assert_eq!(reply.header("content-type"), Some(json), "{what}: {reply}");
            let refused = reply.json::<Value>()?;
            assert_eq!((&refused["jsonrpc"], &refused["error"]["code"]), (&json!("2.0"), &json!(code)), "{what}: {reply}");
            assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains(says)), "{what}: {reply}");
        }
        for accept in ["application/json", "*/*", "application/*;q=0.1", "text/html, */*;q=0.5"] {
            send(json, list, &[("accept", accept)]).await?.assert_status(200);
        }
        // The client of these suites sends no Accept unless it is told to.
        send(json, list, &[]).await?.assert_status(200);
        send(json, b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", &[]).await?.assert_status(200);
        send(json, list, &[("mcp-session-id", "gone")]).await?.assert_status(200);
        // A token that may only read does not call a tool that writes by naming it second.
        let twice = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"whoami","name":"start_automation"}}"#;
        send(json, twice, &[]).await?.assert_error(403, "insufficient_scope");
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let reply = agent.request(method, "/mcp").send().await?;
            assert_eq!(reply.assert_status(405).json::<Value>()?["error"]["code"], -32600, "{reply}");
            assert_eq!(reply.header("allow"), Some("POST"));
        }
        Ok(())
    }

    async fn a_slash_at_the_end_of_the_address_changes_nothing(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let sent = agent.request(Method::POST, "/mcp/").json(&list)?.send().await?;
        assert_eq!(sent.ok()?, agent.mcp("tools/list", &json!({})).await?.ok()?);
        let visitor = server.client();
        let refused = visitor.request(Method::POST, "/mcp/").json(&list)?.send().await?;
        refused.assert_error(401, "unauthorized");
        assert!(refused.header("www-authenticate").is_some_and(|value| value.contains("resource_metadata=")));
        for path in [
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
        ] {
            let slashed = visitor.get(&format!("{path}/")).await?;
            assert_eq!(slashed.ok()?, visitor.get(path).await?.ok()?, "{path}");
            assert_eq!(slashed.header("access-control-allow-origin"), Some("*"));
        }
        Ok(())
    }

    async fn arguments_are_refused_in_the_words_of_published_tools(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        for (name, arguments, says) in [
            ("list_runs", json!({"limit": "5"}), "invalid_request: `limit` must be an integer"),
            ("list_runs", json!({"limit": 1000}), "`limit` must be 1 to 200"),
            ("list_runs", json!({"status": "done"}), "`status` must be one of"),
            ("list_runs", json!({"appId": "run_1"}), "`appId` is not valid: expected an id of the form `app_`"),
            ("list_apps", json!({"page": 2}), "There is no argument `page`"),
            ("get_run", json!({}), "`runId` is required"),
        ] {
            let (failed, text) = tool_result(&agent.call_tool(name, &arguments).await?)?;
            let text = text.as_str().context("no text")?;
            assert!(failed && text.contains(says) && !text.contains("invalid type"), "{name} {arguments}: {text}");
        }
        let (failed, _) = tool_result(&agent.call_tool("list_runs", &json!({"limit": 5.0, "cursor": null})).await?)?;
        assert!(!failed);
        Ok(())
    }

    async fn batches_and_oversized_requests_are_rejected(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let send = async |body: Value| -> Result<Reply> {
            agent.request(Method::POST, "/mcp").json(&body)?.header(header::ACCEPT, ACCEPT_BOTH)?.send().await
        };
        let one = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let batch = send(json!([one, one])).await?;
        assert!(batch.status.is_client_error(), "{batch}");
        let large = send(json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "a".repeat(1 << 20)})).await?;
        assert_eq!(large.assert_status(413).json::<Value>()?["error"]["code"], -32600, "{large}");
        Ok(())
    }

    async fn a_tool_that_writes_needs_the_scope_write(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let call = json!({"name": "replay_dead_letter", "arguments": {"id": "run_00000000000000000000000000"}});
        let reader = sign_in_agent(&aru, &workspace, "read").await?;
        let older = reader.mcp("tools/call", &call).await?;
        let newer = stateless_request(&reader, "tools/call", Some("replay_dead_letter"), call.clone()).await?;
        for refused in [older, newer] {
            refused.assert_error(403, "insufficient_scope");
            let challenge = refused.header("www-authenticate").unwrap_or_default();
            assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
            assert!(challenge.contains("scope=\"read write\""), "{challenge}");
            assert!(challenge.contains("resource_metadata="), "{challenge}");
        }
        // With the scope the call gets as far as the dead letter, which does not exist.
        let writer = sign_in_agent(&aru, &workspace, "write").await?;
        let (failed, why) = tool_result(&writer.mcp("tools/call", &call).await?)?;
        assert!(failed, "{why}");
        Ok(())
    }

    async fn an_agent_compares_versions_and_rolls_back(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let app = workspace.sample_app.clone();
        let first = aru.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let less = "export default { async scheduled() {}, async fetch() { return new Response('less') } }";
        let version = json!({"files": {"main.js": less}, "summary": "Less"});
        let second = aru.post(&format!("/v1/apps/{app}/versions"), &version).await?.string_at("/id")?;
        let reader = sign_in_agent(&aru, &workspace, "read").await?;
        let call = async |agent: &Client, name: &str, arguments: Value| -> Result<(bool, Value)> {
            tool_result(&agent.call_tool(name, &arguments).await?)
        };
        let (_, versions) = call(&reader, "list_versions", json!({"appId": app})).await?;
        assert_eq!(versions["currentVersionId"], json!(second));
        assert_eq!((&versions["items"][0]["summary"], &versions["items"][0]["isCurrent"]), (&json!("Less"), &json!(true)));
        let (_, compared) = call(&reader, "compare_versions", json!({"appId": app, "toVersionId": second})).await?;
        assert_eq!((&compared["from"]["id"], &compared["to"]["id"]), (&json!(first), &json!(second)));
        assert_eq!(compared["files"][0]["path"], "main.js", "{compared}");
        let back = json!({"appId": app, "versionId": first, "expectCurrentVersionId": second});
        reader.mcp("tools/call", &json!({"name": "rollback_version", "arguments": back})).await?.assert_status(403);

        let writer = sign_in_agent(&aru, &workspace, "write").await?;
        let (failed, moved) = call(&writer, "rollback_version", back.clone()).await?;
        assert!(!failed && moved["toVersionId"] == json!(first), "{moved}");
        assert_eq!(aru.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?, first);
        let (failed, again) = call(&writer, "rollback_version", back).await?;
        assert!(failed && again.as_str().is_some_and(|text| text.contains("stale_version")), "{again}");
        let elsewhere = aru.create_workspace("Other").await?;
        let (failed, refused) = call(&writer, "list_versions", json!({"appId": elsewhere.sample_app})).await?;
        assert!(failed && refused.as_str().is_some_and(|text| text.contains("app_not_found")), "{refused}");
        Ok(())
    }

    async fn an_agent_plans_a_change_and_approves_it_inside_the_safe_band(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let app = workspace.sample_app.clone();
        let reader = sign_in_agent(&aru, &workspace, "read").await?;
        let arguments = json!({"appId": app, "instruction": "Each run saves 5 minutes."});
        reader.mcp("tools/call", &json!({"name": "plan_change", "arguments": arguments})).await?.assert_status(403);

        let writer = sign_in_agent(&aru, &workspace, "write").await?;
        let call = async |name: &str, arguments: Value| -> Result<(bool, Value)> {
            tool_result(&writer.call_tool(name, &arguments).await?)
        };
        let (failed, plan) = call("plan_change", arguments).await?;
        assert!(!failed && plan["state"] == "planned" && plan["needsConsole"] == json!([]), "{plan}");
        let (_, known) = call("get_change", json!({"changeId": plan["changeId"]})).await?;
        assert_eq!(known, plan);
        let approval = json!({"changeId": plan["changeId"], "manifest": plan["manifest"]});
        let (failed, live) = call("approve_change", approval.clone()).await?;
        assert!(!failed && live["state"] == "live", "{live}");
        assert_eq!(aru.get(&format!("/v1/apps/{app}")).await?.ok()?["currentVersionId"], live["versionId"]);
        let (failed, again) = call("approve_change", approval).await?;
        assert!(failed && again.as_str().is_some_and(|text| text.starts_with("change_settled")), "{again}");

        let wider = json!({"appId": app, "instruction": "Let the app call new.example.com."});
        let (_, plan) = call("plan_change", wider).await?;
        let approval = json!({"changeId": plan["changeId"], "manifest": plan["manifest"]});
        let (failed, refused) = call("approve_change", approval).await?;
        let text = refused.as_str().context("not a text")?;
        assert!(failed && text.starts_with("approval_needs_console") && text.contains("console"), "{text}");
        let (failed, refused) = call("plan_change", json!({"appId": app, "instruction": "no"})).await?;
        assert!(failed && refused.as_str().is_some_and(|text| text.contains("`instruction`")), "{refused}");
        let (failed, refused) = call("get_change", json!({"changeId": "chg_x"})).await?;
        assert!(failed && refused.as_str().is_some_and(|text| text.starts_with("change_not_found")), "{refused}");
        Ok(())
    }

    async fn an_agent_starts_an_automation_and_waits_for_its_result(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = sign_in_agent(&aru, &workspace, "write").await?;
        let result = async |name: &str, arguments: Value| -> Result<Value> {
            Ok(agent.call_tool(name, &arguments).await?.ok()?["result"].clone())
        };
        let code = "export default { async scheduled({ data }, env, ctx) { if (data?.fail) throw new Error('no'); if (data?.ask) await ctx.approval({ title: 'Go on?' }); return { got: data }; } };";
        let app = json!({"name": "Echo", "files": {"main.js": code}});
        let app = aru.post(&format!("/v1/workspaces/{}/apps", workspace.id), &app).await?.string_at("/id")?;
        let automation = json!({"name": "Echo", "appId": app, "trigger": {"type": "schedule", "cron": "0 0 1 1 *"}});
        let automations = format!("/v1/workspaces/{}/automations", workspace.id);
        let automation = aru.post(&automations, &automation).await?.string_at("/id")?;

        let listed = result("list_automations", json!({"limit": 1})).await?["structuredContent"].clone();
        assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["trigger"]), (&json!(automation), &json!("schedule")));
        assert!(listed["nextCursor"].is_string(), "{listed}");
        let started = result("start_automation", json!({"automationId": automation, "input": {"n": 1}})).await?;
        let content = &started["structuredContent"];
        assert_eq!((&started["isError"], &content["status"]), (&json!(false), &json!("succeeded")), "{started}");
        assert_eq!((&content["result"], &content["automationId"]), (&json!({"got": {"n": 1}}), &json!(automation)));
        let empty = result("start_automation", json!({"automationId": automation})).await?;
        assert_eq!(empty["structuredContent"]["result"], json!({"got": null}));
        let failed = result("start_automation", json!({"automationId": automation, "input": {"fail": true}})).await?;
        assert_eq!((&failed["isError"], &failed["structuredContent"]["errorCode"]), (&json!(true), &json!("app_error")));

        let called = json!({"name": "Called", "appId": app, "trigger": {"type": "webhook"}});
        let called = aru.post(&automations, &called).await?.string_at("/id")?;
        let webhook = aru.configure_webhook(&called, "none").await?;
        webhook.send(&json!({"fail": true})).await?.ok()?;
        let letter = eventually("the call fails", async || {
            let letters = result("list_dead_letters", json!({})).await?["structuredContent"]["items"].clone();
            Ok(letters[0]["id"].as_str().context("no dead letter")?.to_owned())
        })
        .await?;
        let unknown = "run_00000000000000000000000000";
        let replayed = result("replay_dead_letters", json!({"deadLetterIds": [letter, unknown, letter]})).await?;
        let results = &replayed["structuredContent"]["results"];
        assert_eq!([&results[0]["ok"], &results[1]["ok"], &results[2]["ok"]], [&json!(true), &json!(false), &json!(false)]);
        assert_eq!((&results[1]["code"], &results[2]["code"]), (&json!("dead_letter_not_found"), &json!("dead_letter_settled")));
        for ids in [json!([]), json!(vec![unknown; 51])] {
            let refused = result("replay_dead_letters", json!({"deadLetterIds": ids})).await?;
            assert!(refused["isError"] == true && refused.to_string().contains("1 to 50"), "{refused}");
        }

        // A run that waits for a person is cancelled once.
        let waiting = result("start_automation", json!({"automationId": automation, "input": {"ask": true}})).await?;
        assert_eq!(waiting["structuredContent"]["status"], "waiting_approval", "{waiting}");
        let run = &waiting["structuredContent"]["runId"];
        let cancelled = result("cancel_run", json!({"runId": run})).await?["structuredContent"].clone();
        assert_eq!((&cancelled["status"], &cancelled["errorCode"]), (&json!("failed"), &json!("cancelled")), "{cancelled}");
        let again = result("cancel_run", json!({"runId": run})).await?;
        assert!(again["isError"] == true && again.to_string().contains("run_ended"), "{again}");

        let reader = sign_in_agent(&aru, &workspace, "read").await?;
        for name in ["start_automation", "replay_dead_letters", "cancel_run"] {
            reader.call_tool(name, &json!({})).await?.assert_error(403, "insufficient_scope");
        }
        // A viewer's agent may write, and its person may not run the app.
        aru.put(&format!("/v1/apps/{app}/access"), &json!({"sharing": "workspace", "people": []})).await?.ok()?;
        let viewer = aru.add_member(&workspace.id, "viewer").await?;
        let theirs = sign_in_agent(&viewer, &workspace, "write").await?;
        let (failed, text) = tool_result(&theirs.call_tool("start_automation", &json!({"automationId": automation})).await?)?;
        assert!(failed && text.as_str().is_some_and(|text| text.starts_with("forbidden: ")), "{text}");
        Ok(())
    }

    async fn tools_show_only_what_the_person_may_see(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let other = aru.create_workspace("Other").await?;
        let run = aru.post(&format!("/v1/automations/{}/run", workspace.automation), &json!({"input": {"title": "x"}})).await?;
        let run = run.string_at("/runId")?;
        eventually("the run ends", async || {
            let status = aru.get(&format!("/v1/runs/{run}")).await?.string_at("/status")?;
            anyhow::ensure!(status == "succeeded", "it is {status}");
            Ok(())
        })
        .await?;
        let agent = sign_in_agent(&aru, &workspace, "read").await?;
        let call = async |name: &str, arguments: Value| -> Result<(bool, Value)> {
            tool_result(&agent.call_tool(name, &arguments).await?)
        };

        let (_, me) = call("whoami", json!({})).await?;
        assert_eq!((&me["user"]["email"], &me["role"]), (&json!("aru@example.test"), &json!("owner")));
        assert_eq!(me["scopes"], json!(["read"]));
        let (_, apps) = call("list_apps", json!({"limit": 10})).await?;
        assert_eq!(apps["items"][0]["id"], workspace.sample_app);
        assert_eq!(apps["items"].as_array().map(Vec::len), Some(1), "only apps of its workspace");
        let (_, runs) = call("list_runs", json!({"appId": workspace.sample_app, "status": "succeeded"})).await?;
        assert_eq!(runs["items"][0]["id"], run);
        let (_, one) = call("get_run", json!({"runId": run})).await?;
        assert!(one["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{one}");
        let (_, logs) = call("get_logs", json!({"appId": workspace.sample_app, "runId": run})).await?;
        assert!(logs["lines"][0]["message"].is_string(), "{logs}");
        assert!(logs["untrusted"].as_str().is_some_and(|text| text.contains("data")), "{logs}");

        for (name, arguments, says) in [
            ("get_logs", json!({"appId": other.sample_app}), "app_not_found"),
            ("get_run", json!({"runId": "run_00000000000e00800000000000"}), "run_not_found"),
            ("get_run", json!({}), "runId"),
            ("list_apps", json!({"workspaceId": other.id}), "workspaceId"),
            ("list_runs", json!({"limit": 1000}), "limit"),
        ] {
            let (failed, text) = call(name, arguments).await?;
            assert!(failed && text.as_str().is_some_and(|text| text.contains(says)), "{name}: {text}");
        }
        let unknown = agent.call_tool("drop_everything", &json!({})).await?;
        assert_eq!(unknown.json::<Value>()?["error"]["code"], -32602, "{unknown}");

        // A personal access token works as well, within its own rights.
        let personal = aru.with_bearer(&aru.create_token(&other.id, &["read"]).await?);
        let (_, me) = tool_result(&personal.call_tool("whoami", &json!({})).await?)?;
        assert_eq!(me["workspace"]["id"], other.id);
        Ok(())
    }
}
