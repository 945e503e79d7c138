//! Imports: workflows of other tools become apps that do what the originals do.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{Client, Reply, Server, Workspace};

/// The steps of n8n that are exact, with what its documentation says that they give for the rows of [`rows`].
mod exact;

async fn sign_in(server: &Server) -> Result<(Client, Workspace)> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?;
    Ok((owner, workspace))
}

async fn analyze(client: &Client, workspace: &Workspace, source: &str) -> Result<Reply> {
    client.post(&format!("/v1/workspaces/{}/imports/analyze", workspace.id), &json!({"source": source})).await
}

async fn import(client: &Client, workspace: &Workspace, source: &Value) -> Result<Value> {
    let body = json!({"source": source.to_string(), "name": "A workflow"});
    client.post(&format!("/v1/workspaces/{}/imports", workspace.id), &body).await?.ok()
}

/// Starts the automation of an import by hand, and returns what its code returned.
async fn run(client: &Client, import: &Value, input: Value) -> Result<Value> {
    let automation = import["automationId"].as_str().context("no automation")?;
    let run = client.start_run(automation, input).await?;
    Ok(client.wait_for_success(&run).await?["result"].clone())
}

/// A node of n8n.
fn node(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    let kind = if kind.contains('.') { kind.to_owned() } else { format!("n8n-nodes-base.{kind}") };
    let mut node = json!({"id": format!("id-{name}"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0]});
    node["parameters"] = parameters;
    node
}

fn links(names: &[&str]) -> Value {
    json!({"main": [names.iter().map(|name| json!({"node": name, "type": "main", "index": 0})).collect::<Vec<_>>()]})
}

/// A workflow that a schedule starts, with a message that needs a connection.
fn standup() -> Value {
    let mut slack = node(
        "Tell the team",
        "slack",
        2.1,
        json!({
            "select": "channel", "channelId": {"__rl": true, "mode": "id", "value": "C1"}, "text": "=Hi {{ $json.who }}",
        }),
    );
    slack["credentials"] = json!({"slackApi": {"id": "7", "name": "Team chat"}});
    json!({
        "name": "Standup", "settings": {"timezone": "Asia/Almaty"},
        "nodes": [
            node("Every day", "scheduleTrigger", 1.2, json!({"rule": {"interval": [{"triggerAtHour": 9}]}})),
            node("Text", "set", 3.4, json!({"assignments": {"assignments": [{"id": "a", "name": "who", "type": "string", "value": "all"}]}})),
            slack,
            node("Log", "noOp", 1.0, json!({})),
        ],
        "connections": {"Every day": links(&["Text"]), "Text": links(&["Tell the team"]), "Tell the team": links(&["Log"])},
    })
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_workflow_is_reported_created_and_turned_on(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let source = standup();
        let analyzed = analyze(&owner, &workspace, &source.to_string()).await?.ok()?;
        let report = &analyzed["report"];
        ensure!(report["format"] == "workflow_a" && report["canCreate"] == true, "{report}");
        ensure!(report["trigger"] == json!({"type": "schedule", "cron": "0 9 * * *", "timezone": "Asia/Almaty", "itemId": "id-Every day"}), "{report}");
        ensure!(report["totals"] == json!({"steps": 4, "exact": 2, "partial": 1, "unsupported": 0, "ignored": 1, "needsConnection": 1}), "{report}");
        ensure!(report["connections"] == json!([{"key": "slack", "connectorId": "slack", "name": "Team chat", "baseUrl": null, "steps": ["id-Tell the team"]}]), "{report}");
        ensure!(analyzed["context"]["matches"] == json!([{"key": "slack", "connectionIds": []}]), "{analyzed}");
        let list = format!("/v1/workspaces/{}/imports", workspace.id);
        ensure!(owner.get(&list).await?.ok()?["items"] == json!([]), "analysing kept something");

        let made = import(&owner, &workspace, &source).await?;
        let (id, app) = (made["id"].as_str().context("no id")?, made["appId"].as_str().context("no app")?);
        ensure!(made["status"] == "review" && made["report"] == *report, "{made}");
        let read = owner.get(&format!("/v1/imports/{id}")).await?.ok()?;
        ensure!(read == made, "{read}");
        let automation = format!("/v1/automations/{}", made["automationId"].as_str().context("no automation")?);
        ensure!(owner.get(&automation).await?.ok()?["status"] == "paused", "the automation is not paused");
        let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let version = owner.get(&format!("/v1/apps/{app}/versions/{current}")).await?.ok()?;
        let main = version["files"]["main.js"].as_str().context("no main.js")?;
        ensure!(main.contains("function tellTheTeam(") && main.contains("Tell the team (n8n-nodes-base.slack)"), "{main}");
        ensure!(version["manifest"]["permissions"]["connectors"] == json!([]), "{version}");

        let enable = format!("/v1/imports/{id}/enable");
        let missing = owner.post(&enable, &json!({})).await?;
        missing.assert_error(409, "binding_missing");
        ensure!(missing.to_string().contains("slack"), "the message does not name the key");
        for (body, status, code) in [
            (json!({"bindings": {"telegram": "conn_01h455vb4pex5vsknk084sn02q"}}), 400, "invalid_request"),
            (json!({"bindings": {"slack": "conn_01h455vb4pex5vsknk084sn02q"}}), 404, "connection_not_found"),
            (json!({"skip": ["nothing"]}), 400, "invalid_request"),
            (json!({"skip": vec!["id-Log"; 41]}), 400, "invalid_request"),
            (json!({"other": 1}), 400, "invalid_request"),
        ] {
            owner.post(&enable, &body).await?.assert_error(status, code);
        }
        let http = json!({"displayName": "Another", "baseUrl": "https://api.example.test", "auth": {"type": "bearer"}, "methods": ["POST"], "secret": "example-secret"});
        let other = owner.post(&format!("/v1/workspaces/{}/connectors/http", workspace.id), &http).await?.string_at("/id")?;
        owner.post(&enable, &json!({"bindings": {"slack": other}})).await?.assert_error(400, "invalid_request");
        let slack = json!({"displayName": "Team chat", "secret": format!("xoxb-{}", "1".repeat(20))});
        let slack = owner.post(&format!("/v1/workspaces/{}/connectors/slack", workspace.id), &slack).await?.string_at("/id")?;
        let matches = owner.get(&format!("/v1/imports/{id}")).await?.ok()?["context"]["matches"].clone();
        ensure!(matches == json!([{"key": "slack", "connectionIds": [slack]}]), "{matches}");

        let enabled = owner.post(&enable, &json!({"bindings": {"slack": slack}})).await?.ok()?;
        ensure!(enabled["status"] == "enabled" && enabled["needsConsole"] == json!([]), "{enabled}");
        ensure!(owner.get(&automation).await?.ok()?["status"] == "active", "the automation is not active");
        let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let version = owner.get(&format!("/v1/apps/{app}/versions/{current}")).await?.ok()?;
        let connectors = &version["manifest"]["permissions"]["connectors"];
        ensure!(*connectors == json!([{"name": "slack", "connectionId": slack, "methods": ["POST"], "paths": null}]), "{connectors}");
        owner.post(&enable, &json!({"bindings": {"slack": slack}})).await?.assert_error(409, "import_settled");
        owner.post(&format!("/v1/imports/{id}/discard"), &json!({})).await?.assert_error(409, "import_settled");
        ensure!(owner.get(&list).await?.ok()?["items"][0]["status"] == "enabled", "the list is old");
        Ok(())
    }

    async fn a_skipped_step_is_left_out_with_what_only_it_leads_to(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let made = import(&owner, &workspace, &standup()).await?;
        let id = made["id"].as_str().context("no id")?;
        let enabled = owner.post(&format!("/v1/imports/{id}/enable"), &json!({"skip": ["id-Tell the team"]})).await?.ok()?;
        let warnings = enabled["report"]["warnings"].to_string();
        ensure!(warnings.contains("Tell the team") && warnings.contains("Log"), "{warnings}");
        ensure!(run(&owner, &enabled, Value::Null).await? == json!([{"who": "all"}]), "the step before it did not run");
        Ok(())
    }

    async fn an_import_is_its_makers_and_the_admins(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let member = owner.add_member(&workspace.id, "member").await?;
        let builder = owner.add_member(&workspace.id, "builder").await?;
        let viewer = owner.add_member(&workspace.id, "viewer").await?;
        let list = format!("/v1/workspaces/{}/imports", workspace.id);
        let body = json!({"source": standup().to_string()});
        for path in [list.clone(), format!("{list}/analyze")] {
            viewer.post(&path, &body).await?.assert_error(403, "forbidden");
        }
        let made = member.post(&list, &body).await?.ok()?;
        let id = made["id"].as_str().context("no id")?;
        for path in ["", "/enable", "/discard"] {
            let path = format!("/v1/imports/{id}{path}");
            for other in [&builder, &viewer] {
                let refused = if path.ends_with(id) { other.get(&path).await? } else { other.post(&path, &json!({})).await? };
                refused.assert_error(404, "import_not_found");
            }
        }
        ensure!(builder.get(&list).await?.ok()?["items"] == json!([]), "a builder sees another's import");
        ensure!(owner.get(&list).await?.ok()?["items"][0]["id"] == id, "an admin does not see it");
        owner.get(&format!("/v1/imports/{id}")).await?.ok()?;

        // Only an admin lets an app use a connection.
        let slack = json!({"displayName": "Team chat", "secret": format!("xoxb-{}", "1".repeat(20))});
        let slack = owner.post(&format!("/v1/workspaces/{}/connectors/slack", workspace.id), &slack).await?.string_at("/id")?;
        let bound = json!({"bindings": {"slack": slack}});
        member.post(&format!("/v1/imports/{id}/enable"), &bound).await?.assert_error(403, "admin_approval_required");
        ensure!(member.get(&format!("/v1/imports/{id}")).await?.ok()?["status"] == "review", "the import was turned on");
        owner.post(&format!("/v1/imports/{id}/enable"), &bound).await?.ok()?;

        // A token of the person may import, and not turn on.
        let token = member.with_bearer(&member.create_token(&workspace.id, &["read", "write"]).await?);
        let made = token.post(&list, &body).await?.ok()?;
        let path = format!("/v1/imports/{}", made["id"].as_str().context("no id")?);
        token.get(&path).await?.assert_error(403, "console_only");
        token.post(&format!("{path}/enable"), &json!({})).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn a_discarded_import_is_gone_with_its_app(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let made = import(&owner, &workspace, &standup()).await?;
        let (id, app) = (made["id"].as_str().context("no id")?, made["appId"].as_str().context("no app")?);
        let (discard, enable) = (format!("/v1/imports/{id}/discard"), format!("/v1/imports/{id}/enable"));
        let (nothing, skip) = (json!({}), json!({"skip": ["id-Tell the team"]}));
        let (discarded, enabled) = tokio::try_join!(owner.post(&discard, &nothing), owner.post(&enable, &skip))?;
        let (first, second) = if discarded.status == 200 { (discarded, enabled) } else { (enabled, discarded) };
        ensure!(first.status == 200 && second.status != 200, "both won: {first} {second}");
        let state = owner.get(&format!("/v1/imports/{id}")).await?.ok()?;
        if state["status"] == "discarded" {
            ensure!(state["appId"].is_null() && state["automationId"].is_null(), "{state}");
            owner.get(&format!("/v1/apps/{app}")).await?.assert_error(404, "app_not_found");
        }

        // Deleting the app discards the import.
        let made = import(&owner, &workspace, &standup()).await?;
        let (id, app) = (made["id"].as_str().context("no id")?, made["appId"].as_str().context("no app")?);
        owner.delete(&format!("/v1/apps/{app}")).await?.ok()?;
        let state = owner.get(&format!("/v1/imports/{id}")).await?.ok()?;
        ensure!(state["status"] == "discarded" && state["appId"].is_null(), "{state}");
        owner.post(&format!("/v1/imports/{id}/enable"), &json!({})).await?.assert_error(409, "import_settled");
        Ok(())
    }

    async fn exact_steps_of_n8n_give_what_n8n_gives(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let cases = exact::cases();
        let mut nodes = vec![node("Hook", "webhook", 2.0, json!({"path": "x", "httpMethod": "POST"})), node("Rows", "splitOut", 1.0, json!({"fieldToSplitOut": "body.rows"}))];
        let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
        let mut connections = json!({"Hook": links(&["Rows"]), "Rows": links(&names)});
        let mut collect = String::from("const all = {};\n");
        for case in &cases {
            nodes.push(node(case.name, case.kind, case.version, case.parameters.clone()));
            let to = || json!([{"node": "Collect", "type": "main", "index": 0}]);
            connections[case.name] = json!({"main": vec![to(); 4]});
            writeln!(collect, "all[{0:?}] = $({0:?}).all().map((item) => item.json);", case.name)?;
        }
        collect.push_str("return [{ json: all }];");
        nodes.push(node("Collect", "code", 2.0, json!({"jsCode": collect})));
        let made = import(&owner, &workspace, &json!({"name": "Cases", "nodes": nodes, "connections": connections})).await?;
        let items = made["report"]["items"].as_array().context("no items")?;
        for case in &cases {
            let item = items.iter().find(|item| item["name"] == case.name).context("no item")?;
            ensure!(item["grade"] == "exact", "{item}");
        }
        let result = run(&owner, &made, json!({"rows": exact::rows()})).await?;
        let differing: Vec<String> = cases
            .iter()
            .filter(|case| result[0][case.name] != case.gives)
            .map(|case| format!("{}: {} instead of {}", case.name, result[0][case.name], case.gives))
            .collect();
        ensure!(differing.is_empty(), "{}", differing.join("\n"));
        Ok(())
    }

    async fn markup_is_read_by_selectors(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let value = |key: &str, selector: &str, gives: &str, list: bool| json!({"key": key, "cssSelector": selector, "returnValue": gives, "attribute": "href", "returnArray": list});
        let values = json!([
            value("title", "head > title", "text", false), value("links", "ul.menu li a[href^='/']", "attribute", true), value("second", "li:nth-child(2)", "text", false),
            value("html", "#note", "html", false), value("none", ".nothing", "text", false), value("both", "h1, h2 + p", "text", true),
        ]);
        let source = json!({"name": "Page", "connections": {"Hook": links(&["Page"]), "Page": links(&["Read"])}, "nodes": [
            node("Hook", "webhook", 2.0, json!({"httpMethod": "POST"})), node("Page", "set", 3.4, json!({"mode": "raw", "jsonOutput": "={{ $json.body }}"})),
            node("Read", "html", 1.2, json!({"operation": "extractHtmlContent", "extractionValues": {"values": values}})),
        ]});
        let made = import(&owner, &workspace, &source).await?;
        let page = "<!doctype html><head><title>A &amp; B</title><script>if (a < b) document.write('<h1>no</h1>')</script></head>\
            <body><h1>Head</h1><ul class='big menu'><li><a href=/a>One<li><a href='/b'>Two</a> more</li><li><a href=https://example.com>Three</a></ul>\
            <h2>Sub</h2><p>First</p><p>Other</p><div id=note>x <b title='q\"'>y</b><br></div>";
        let result = run(&owner, &made, json!({"data": page})).await?;
        let expected = json!([{
            "title": "A & B", "links": ["/a", "/b"], "second": "Two more", "html": "x <b title=\"q&quot;\">y</b><br>", "both": ["Head", "First"],
        }]);
        ensure!(result == expected, "{result}");
        Ok(())
    }

    async fn a_scenario_of_make_runs(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let module = |id: u32, kind: &str, mapper: Value| json!({"id": id, "module": kind, "version": 1, "parameters": {}, "mapper": mapper, "metadata": {"designer": {"x": 0, "y": 0}}});
        let mut sum = module(5, "builtin:BasicAggregator", json!({"line": "{{4.value}}"}));
        sum["parameters"] = json!({"feeder": 2});
        let mut dear = module(4, "util:ComposeTransformer", json!({"value": "{{upper(2.name)}} × {{2.qty * 2}}"}));
        dear["filter"] = json!({"name": "Some", "conditions": [[{"a": "{{2.qty}}", "o": "number:greater", "b": "1"}]]});
        let source = json!({
            "name": "Orders",
            "flow": [
                module(1, "gateway:CustomWebHook", json!({})), module(2, "builtin:BasicFeeder", json!({"array": "{{1.order.items}}"})), dear, sum,
                module(6, "util:SetVariables", json!({"variables": [
                    {"name": "lines", "value": "{{join(map(5.array; \"line\"); \", \")}}"},
                    {"name": "day", "value": "{{formatDate(parseDate(1.at; \"YYYY-MM-DD\"); \"DD.MM.YYYY\")}}"},
                    {"name": "first", "value": "{{1.order.items[1].`name`}}"},
                    {"name": "note", "value": "{{ifempty(1.note; \"none\")}}"},
                ]})),
            ],
            "metadata": {"version": 1},
        });
        let made = import(&owner, &workspace, &source).await?;
        ensure!(made["report"]["totals"]["exact"] == 5, "{made}");
        let order = json!({"at": "2026-03-01", "order": {"items": [{"name": "tea", "qty": 1}, {"name": "jam", "qty": 3}, {"name": "bun", "qty": 2}]}});
        let result = run(&owner, &made, order).await?;
        ensure!(result == json!([{"lines": "JAM × 6, BUN × 4", "day": "01.03.2026", "first": "tea", "note": "none"}]), "{result}");
        Ok(())
    }

    async fn flows_of_node_red_run(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let node = |id: &str, kind: &str, to: Value, more: Value| {
            let mut node = json!({"id": id, "type": kind, "z": "t", "x": 1, "y": 1, "wires": to});
            for (name, value) in more.as_object().into_iter().flatten() {
                node[name] = value.clone();
            }
            node
        };
        let source = json!([
            {"id": "t", "type": "tab", "label": "Greeting"},
            node("a", "inject", json!([["b"]]), json!({"props": [{"p": "payload"}, {"p": "topic", "vt": "str"}], "payload": "[\"ann\",\"bob\",\"\"]", "payloadType": "json", "topic": "names", "repeat": "", "crontab": ""})),
            node("b", "split", json!([["c"]]), json!({"splt": "\\n", "spltType": "str", "arraySplt": 1, "arraySpltType": "len"})),
            node("c", "switch", json!([["d"], ["e"]]), json!({"property": "payload", "propertyType": "msg", "rules": [{"t": "nempty"}, {"t": "else"}], "checkall": "true", "outputs": 2})),
            node("d", "function", json!([["f"]]), json!({"func": "msg.payload = msg.payload.toUpperCase();\nreturn msg;", "outputs": 1})),
            node("e", "change", json!([["f"]]), json!({"rules": [{"t": "set", "p": "payload", "pt": "msg", "to": "nobody", "tot": "str"}]})),
            node("f", "join", json!([["g"]]), json!({"mode": "auto"})),
            node("g", "template", json!([[]]), json!({"field": "payload", "fieldType": "msg", "syntax": "mustache", "output": "str", "template": "{{topic}}: {{#payload}}<{{.}}>{{/payload}}"})),
        ]);
        let made = import(&owner, &workspace, &source).await?;
        ensure!(made["report"]["format"] == "workflow_c" && made["report"]["name"] == "Greeting", "{made}");
        let result = run(&owner, &made, Value::Null).await?;
        ensure!(result[0]["payload"] == "names: <ANN><BOB><nobody>" && result[0]["topic"] == "names", "{result}");
        Ok(())
    }

    async fn bad_exports_are_refused_with_the_reason(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let long = |length: usize| {
            let empty = json!({"nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger"}], "connections": {}, "meta": ""}).to_string();
            empty.replace("\"meta\":\"\"", &format!("\"meta\":\"{}\"", "x".repeat(length - empty.len())))
        };
        for (source, says) in [
            (String::new(), "exported workflow"), (" ".to_owned(), "exported workflow"), ("{".to_owned(), "line 1"),
            ("[]".to_owned(), "n8n"), ("{\"zaps\":[]}".to_owned(), "n8n"), (long(400_001), "minify"),
            (format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), "recursion"),
        ] {
            let refused = analyze(&owner, &workspace, &source).await?;
            refused.assert_error(400, "invalid_request");
            ensure!(refused.to_string().contains(says), "{refused}");
        }
        ensure!(analyze(&owner, &workspace, &long(400_000)).await?.ok()?["report"]["canCreate"] == true, "the longest export");
        // Characters are counted, however many bytes they take.
        let wide = long(400_000).replace('x', "😀");
        ensure!(analyze(&owner, &workspace, &wide).await?.ok()?["report"]["canCreate"] == true, "the longest export of wide characters");

        // Code that does not compile, names that are no names, a cycle, missing and repeated nodes, and a secret.
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        let nodes = json!([
            node("Start", "manualTrigger", 1.0, json!({})),
            node("Bad", "code", 2.0, json!({"jsCode": "const half ="})),
            node("Bad", "code", 2.0, json!({"jsCode": "return items; } evil(); {"})),
            node("*/ evil() /*", "set", 3.4, json!({"mode": "raw", "jsonOutput": "={{ $json.__proto__.x }}"})),
            node("'\n`${x}`", "set", 3.4, json!({"assignments": {"assignments": [{"name": "__proto__", "type": "string", "value": "x"}]}})),
            node("Deep", "set", 3.4, json!({"assignments": {"assignments": [{"name": "a", "type": "number", "value": format!("={{{{ {}1{} }}}}", "(".repeat(100), ")".repeat(100))}]}})),
            node("Key", "httpRequest", 4.2, json!({"url": "https://api.github.com/user", "sendHeaders": true, "headerParameters": {"parameters": [{"name": "Authorization", "value": format!("Bearer {token}")}]}})),
        ]);
        let connections = json!({"Start": links(&["Bad", "Nowhere"]), "Bad": links(&["Deep"]), "Deep": links(&["Bad", "Key"])});
        let source = json!({"nodes": nodes, "connections": connections}).to_string();
        let analyzed = analyze(&owner, &workspace, &source).await?.ok()?;
        ensure!(!analyzed.to_string().contains("a1B2c3"), "the secret is in the report");
        let items = analyzed["report"]["items"].as_array().context("no items")?;
        let grade = |name: &str| items.iter().find(|item| item["name"] == name).map(|item| (item["grade"].as_str().unwrap_or_default(), item["needsConnection"] == true));
        ensure!(grade("* / evil() /*") == Some(("partial", false)), "{analyzed}");
        ensure!(grade("Bad") == Some(("unsupported", false)) && grade("Bad (2)") == Some(("unsupported", false)), "{analyzed}");
        ensure!(grade("Deep") == Some(("exact", false)) && grade("Key") == Some(("partial", true)), "{analyzed}");
        ensure!(analyzed["report"]["secrets"][0]["kind"] == "bearer", "{analyzed}");
        let made = owner.post(&format!("/v1/workspaces/{}/imports", workspace.id), &json!({"source": source})).await?.ok()?;
        let app = made["appId"].as_str().context("no app")?;
        let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let version = owner.get(&format!("/v1/apps/{app}/versions/{current}")).await?.ok()?;
        ensure!(!version.to_string().contains("a1B2c3"), "the secret is in the code");
        Ok(())
    }

    async fn an_agent_reads_a_report_and_creates_an_import_that_a_person_turns_on(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let agent = async |person: &Client, access: &str| -> Result<Client> {
            let tokens = person.register_agent("Agent").await?.sign_in(person, &workspace.id, access).await?;
            Ok(person.with_bearer(&tokens.access))
        };
        let (reader, writer) = (agent(&owner, "read").await?, agent(&owner, "write").await?);
        let arguments = json!({"source": standup().to_string(), "name": "A workflow"});
        let analysis = json!({"source": standup().to_string()});
        for (tool, arguments) in [("analyze_import", &analysis), ("create_import", &arguments)] {
            reader.call_tool(tool, arguments).await?.assert_status(403);
        }
        let result = async |client: &Client, tool: &str, arguments: &Value| -> Result<(bool, Value)> {
            let result = client.call_tool(tool, arguments).await?.ok()?["result"].clone();
            Ok((result["isError"] == true, if result["structuredContent"].is_null() { result["content"].clone() } else { result["structuredContent"].clone() }))
        };
        let (failed, report) = result(&writer, "analyze_import", &analysis).await?;
        ensure!(!failed && report["canCreate"] == true && report["connections"][0]["key"] == "slack", "{report}");
        ensure!(report["items"].as_array().is_some_and(|items| items.iter().all(|item| item["grade"] != "ignored")), "{report}");
        for bad in [json!({"source": "{"}), json!({"source": 1}), json!({}), json!({"source": "[]", "other": 1})] {
            let (failed, error) = result(&writer, "create_import", &bad).await?;
            ensure!(failed && error.to_string().contains("invalid_request"), "{error}");
        }
        let list = format!("/v1/workspaces/{}/imports", workspace.id);
        ensure!(owner.get(&list).await?.ok()?["items"] == json!([]), "something was kept");
        let (failed, created) = result(&writer, "create_import", &arguments).await?;
        ensure!(!failed && created["status"] == "review" && created["name"] == "A workflow", "{created}");
        let path = format!("/v1/imports/{}", created["importId"].as_str().context("no id")?);
        writer.post(&format!("{path}/enable"), &json!({})).await?.assert_error(403, "console_only");
        owner.post(&format!("{path}/enable"), &json!({"skip": ["id-Tell the team"]})).await?.ok()?;

        // A viewer's agent may not, either.
        let viewer = agent(&owner.add_member(&workspace.id, "viewer").await?, "write").await?;
        let (failed, refused) = result(&viewer, "create_import", &arguments).await?;
        ensure!(failed && refused.to_string().contains("forbidden"), "{refused}");
        Ok(())
    }

    async fn of_two_who_turn_an_import_on_one_does(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let made = import(&owner, &workspace, &standup()).await?;
        let path = format!("/v1/imports/{}/enable", made["id"].as_str().context("no id")?);
        let body = json!({"skip": ["id-Tell the team"]});
        let (first, second) = tokio::try_join!(owner.post(&path, &body), owner.post(&path, &body))?;
        let (done, refused) = if first.status == 200 { (first, second) } else { (second, first) };
        done.ok()?;
        ensure!(refused.status == 409, "{refused}");
        let versions = owner.get(&format!("/v1/apps/{}/versions", made["appId"].as_str().context("no app")?)).await?.ok()?;
        ensure!(versions["versions"].as_array().map(Vec::len) == Some(2), "{versions}");
        Ok(())
    }

    async fn every_step_whose_code_does_not_compile_is_told_and_no_other(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let code = |name: &str, source: &str| node(name, "code", 2.0, json!({"jsCode": source}));
        let with_broken = |count: u32| {
            let mut nodes = vec![node("Start", "manualTrigger", 1.0, json!({})), code("Whole", "return [{ json: { whole: true } }];")];
            nodes.extend((0..count).map(|number| code(&format!("Half {number}"), "const half =")));
            json!({"nodes": nodes, "connections": {"Start": links(&["Whole"]), "Whole": links(&["Half 0"])}})
        };
        let made = import(&owner, &workspace, &with_broken(12)).await?;
        ensure!(made["report"]["totals"] == json!({"steps": 14, "exact": 1, "partial": 1, "unsupported": 12, "ignored": 0, "needsConnection": 0}), "{made}");
        let run = owner.start_run(made["automationId"].as_str().context("no automation")?, Value::Null).await?;
        let run = owner.wait_for_run(&run).await?;
        ensure!(run["errorMessage"].to_string().contains("Half 0"), "{run}");
        let refused = analyze(&owner, &workspace, &with_broken(41).to_string()).await?;
        refused.assert_error(400, "invalid_request");
        ensure!(refused.to_string().contains("does not compile"), "{refused}");
        Ok(())
    }

    async fn names_that_no_app_may_have_are_told_before_anything_is_created(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let path = format!("/v1/workspaces/{}/imports", workspace.id);
        for name in ["x", "", " ", "a\u{7}b", &"x".repeat(61)] {
            let refused = owner.post(&path, &json!({"source": standup().to_string(), "name": name})).await?;
            refused.assert_error(400, "invalid_request");
            ensure!(refused.to_string().contains("`name`"), "{refused}");
        }
        ensure!(owner.get(&path).await?.ok()?["items"] == json!([]), "an import was created");
        // Names in exports are free text.
        for name in ["", "x", "\u{200b}\u{202e}", "\u{1f469}\u{200d}\u{1f680} rocket", "Ежедневный отчёт", &"long ".repeat(100), "a\u{0}b\u{7}"] {
            let mut source = standup();
            source["name"] = json!(name);
            let made = owner.post(&path, &json!({"source": source.to_string()})).await?;
            ensure!(made.status == 200, "{name:?}: {made}");
        }
        Ok(())
    }

    async fn a_workflow_that_is_too_large_is_reported_and_not_created(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let nodes: Vec<Value> = (0..261).map(|number| node(&format!("Step {number}"), "noOp", 1.0, json!({}))).collect();
        let source = json!({"nodes": nodes, "connections": {}});
        let report = analyze(&owner, &workspace, &source.to_string()).await?.ok()?["report"].clone();
        ensure!(report["canCreate"] == false && report["warnings"].to_string().contains("261"), "{report}");
        let body = json!({"source": source.to_string()});
        let refused = owner.post(&format!("/v1/workspaces/{}/imports", workspace.id), &body).await?;
        refused.assert_error(409, "import_not_possible");
        Ok(())
    }

    async fn sentences_are_in_the_language_of_the_workspace(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        owner.patch(&format!("/v1/workspaces/{}", workspace.id), &json!({"locale": "ru"})).await?.ok()?;
        let report = analyze(&owner, &workspace, &standup().to_string()).await?.ok()?["report"].clone();
        ensure!(report["items"][1]["sentence"] == "Сохраняется как есть.", "{report}");
        Ok(())
    }

    async fn an_import_whose_automation_is_gone_starts_another_or_nothing(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let source = json!({
            "name": "Hello", "connections": {"Start": links(&["Say"])},
            "nodes": [
                node("Start", "manualTrigger", 1.0, json!({})),
                node("Say", "code", 2.0, json!({"jsCode": "return [{json: {hello: 1}}]"})),
            ],
        });
        let made = import(&owner, &workspace, &source).await?;
        let (id, app) = (made["id"].as_str().context("no id")?, made["appId"].as_str().context("no app")?);
        let automation = made["automationId"].as_str().context("no automation")?;
        let path = format!("/v1/imports/{id}");
        owner.delete(&format!("/v1/automations/{automation}")).await?.ok()?;
        assert_eq!(owner.get(&path).await?.ok()?["automationId"], Value::Null);
        let app_status = async || owner.get(&format!("/v1/apps/{app}")).await?.string_at("/status");
        assert_eq!(app_status().await?, "draft");
        let refused = owner.post(&format!("{path}/enable"), &json!({})).await?;
        refused.assert_error(409, "automation_missing");
        assert_eq!(owner.get(&path).await?.ok()?["status"], "review");
        // The way out.
        let other = owner.create_automation(&workspace.id, app, "manual", 0).await?;
        let enabled = owner.post(&format!("{path}/enable"), &json!({})).await?.ok()?;
        assert_eq!((&enabled["status"], &enabled["automationId"]), (&json!("enabled"), &json!(other)), "{enabled}");
        assert_eq!(app_status().await?, "healthy");
        // Deleted later, it is null in reads.
        owner.delete(&format!("/v1/automations/{other}")).await?.ok()?;
        assert_eq!(owner.get(&path).await?.ok()?["automationId"], Value::Null);
        Ok(())
    }

    async fn a_discarded_import_is_settled_and_not_unknown(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let made = import(&owner, &workspace, &standup()).await?;
        let path = format!("/v1/imports/{}", made["id"].as_str().context("no id")?);
        owner.post(&format!("{path}/discard"), &json!({})).await?.ok()?;
        assert_eq!(owner.get(&path).await?.ok()?["status"], "discarded");
        for action in ["discard", "enable"] {
            owner.post(&format!("{path}/{action}"), &json!({})).await?.assert_error(409, "import_settled");
            // Nobody else learns that it was there.
            let builder = server.sign_in("builder@example.test").await?;
            builder.post(&format!("{path}/{action}"), &json!({})).await?.assert_error(404, "import_not_found");
        }
        Ok(())
    }

    async fn a_report_names_at_most_what_an_import_may_have(server: Server) -> Result<()> {
        let (owner, workspace) = sign_in(&server).await?;
        let mut nodes = vec![node("Start", "manualTrigger", 1.0, json!({}))];
        for index in 0..15 {
            let mut slack = node(&format!("Say {index}"), "slack", 2.1, json!({"text": "Hi"}));
            slack["credentials"] = json!({"slackApi": {"id": index.to_string(), "name": format!("Chat {index}")}});
            nodes.push(slack);
        }
        let source = json!({"name": "Much", "nodes": nodes, "connections": {}});
        let analyzed = analyze(&owner, &workspace, &source.to_string()).await?.ok()?;
        let report = &analyzed["report"];
        assert_eq!(report["canCreate"], false, "{report}");
        let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
        assert!(count("connections") <= 12 && count("connectors") <= 6, "{report}");
        assert!(report["warnings"].to_string().contains("15"), "{report}");
        Ok(())
    }
}
