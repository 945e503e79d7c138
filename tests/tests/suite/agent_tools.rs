//! Tools of agents: publishing an automation, what makes it live, and calls over the API and the agent server.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply, Server, eventually};

/// Returns what it is given; fails, waits or asks a person if it is told to.
const CODE: &str = "export default { async scheduled(event, env, ctx) {
  const { fail, wait, ask, size } = event.data;
  if (fail) throw new Error('told to fail');
  if (wait) await new Promise((done) => setTimeout(done, wait));
  if (ask) return ctx.approval({ title: 'Go on?' });
  if (size) return 'x'.repeat(size);
  return { got: event.data, trigger: event.trigger };
} };";

struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    automation: String,
    /// A personal access token that may write.
    agent: Client,
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 20},
            "fail": {"type": "boolean"},
            "wait": {"type": "integer", "maximum": 60000},
            "ask": {"type": "boolean"},
            "size": {"type": "integer"},
        },
        "required": ["title"],
        "additionalProperties": false,
    })
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app =
            owner.post(&format!("/v1/workspaces/{workspace}/apps"), &json!({"name": "Order desk"})).await?;
        let app = app.string_at("/id")?;
        let agent = owner.with_bearer(&owner.create_token(&workspace, &["read", "write"]).await?);
        let mut fixture = Self { owner, workspace, app, automation: String::new(), agent };
        fixture.share("workspace").await?;
        fixture.create_version(&json!([])).await?;
        fixture.automation = fixture.create_automation("New order", &json!({"type": "manual"})).await?;
        Ok(fixture)
    }

    async fn share(&self, sharing: &str) -> Result<()> {
        let access = json!({"sharing": sharing, "people": []});
        self.owner.put(&format!("/v1/apps/{}/access", self.app), &access).await?.ok().map(drop)
    }

    async fn create_version(&self, egress: &Value) -> Result<String> {
        let version = json!({"files": {"main.js": CODE}, "manifest": {
            "name": "Order desk", "description": "Takes orders.", "archetype": "workshop", "category": "data",
            "triggers": [{"type": "manual"}], "permissions": {"egress": egress},
        }});
        self.owner.post(&format!("/v1/apps/{}/versions", self.app), &version).await?.string_at("/id")
    }

    async fn create_automation(&self, name: &str, trigger: &Value) -> Result<String> {
        let body = json!({"name": name, "appId": self.app, "trigger": trigger});
        let path = format!("/v1/workspaces/{}/automations", self.workspace);
        self.owner.post(&path, &body).await?.string_at("/id")
    }

    fn path(&self) -> String {
        format!("/v1/automations/{}/agent-tool", self.automation)
    }

    async fn review(&self) -> Result<Value> {
        self.owner.get(&self.path()).await?.ok()
    }

    async fn body(&self, changes: Value) -> Result<Value> {
        let hash = self.review().await?["hash"].clone();
        let mut body = json!({"name": "new_order", "title": "New order", "description": "Adds an order.",
            "inputSchema": schema(), "reviewedHash": hash});
        let Value::Object(changes) = changes else { anyhow::bail!("no object") };
        body.as_object_mut().context("no object")?.extend(changes);
        Ok(body)
    }

    async fn publish(&self, changes: Value) -> Result<Reply> {
        self.owner.put(&self.path(), &self.body(changes).await?).await
    }

    async fn list(&self, client: &Client) -> Result<Vec<(String, String)>> {
        let list = client.get(&format!("/v1/workspaces/{}/agent-tools", self.workspace)).await?.ok()?;
        let text = |tool: &Value, member: &str| tool[member].as_str().unwrap_or_default().to_owned();
        let tools = list["items"].as_array().context("no items")?;
        Ok(tools.iter().map(|tool| (text(tool, "name"), text(tool, "state"))).collect())
    }

    async fn state(&self) -> Result<String> {
        Ok(self.list(&self.owner).await?.pop().context("no tool")?.1)
    }

    async fn start(&self, client: &Client, input: &Value) -> Result<Reply> {
        client.post(&format!("{}/runs", self.path()), &json!({"input": input})).await
    }
}

/// Waits for the success of a run, and returns it.
async fn ended(client: &Client, run: &str) -> Result<Value> {
    eventually("the run succeeds", async || {
        let run = client.get(run).await?.ok()?;
        ensure!(run["status"] == "succeeded", "{run}");
        Ok(run)
    })
    .await
}

/// Returns the names of the published tools that an agent sees.
async fn published(agent: &Client) -> Result<Vec<String>> {
    let tools = agent.mcp("tools/list", &json!({})).await?.ok()?["result"]["tools"].clone();
    let names = tools.as_array().context("no tools")?.iter().filter_map(|tool| tool["name"].as_str());
    Ok(names.filter(|name| name.starts_with("run_")).map(str::to_owned).collect())
}

/// Calls a tool of the agent server; returns true if it is an error, the text and the structured content.
async fn call(agent: &Client, name: &str, arguments: &Value) -> Result<(bool, String, Value)> {
    let result = agent.call_tool(name, arguments).await?.ok()?["result"].clone();
    let text = result["content"][0]["text"].as_str().context("no text")?.to_owned();
    Ok((result["isError"] == json!(true), text, result["structuredContent"].clone()))
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_automation_is_published_called_and_withdrawn(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let before = fixture.review().await?;
        assert_eq!((&before["blocked"], &before["published"], &before["startsAs"]), (&Value::Null, &Value::Null, &json!("manual")));
        assert_eq!((&before["suggested"]["name"], &before["appName"]), (&json!("new_order"), &json!("Order desk")));
        assert_eq!(before["manifest"]["permissions"]["egress"], json!([]));
        assert_eq!(published(&fixture.agent).await?, Vec::<String>::new());

        let tool = fixture.publish(json!({"title": " New order "})).await?.ok()?;
        assert_eq!((&tool["state"], &tool["title"], &tool["callsWeek"]), (&json!("live"), &json!("New order"), &json!(0)));
        assert_eq!((&tool["inputSchema"], &tool["canRun"], &tool["lastCalledAt"]), (&schema(), &json!(true), &Value::Null));
        assert_eq!(fixture.review().await?["published"], tool);
        assert_eq!(fixture.list(&fixture.agent).await?, [("new_order".to_owned(), "live".to_owned())]);

        let started = fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.ok()?;
        assert_eq!((&started["toolName"], &started["automationId"]), (&json!("new_order"), &json!(fixture.automation)));
        let run = format!("/v1/runs/{}", started["runId"].as_str().context("no run")?);
        let ended = ended(&fixture.agent, &run).await?;
        assert_eq!(ended["result"], json!({"got": {"title": "Tea"}, "trigger": "manual"}));
        let tool = fixture.review().await?["published"].clone();
        assert_eq!(tool["callsWeek"], 1);
        assert!(tool["lastCalledAt"].is_string(), "{tool}");
        let events = format!("/v1/workspaces/{}/agent-events?since=0", fixture.workspace);
        let events = fixture.agent.get(&events).await?.ok()?;
        let finished = events["items"].as_array().context("no items")?.iter().find(|event| event["kind"] == "run_finished");
        assert_eq!(finished.context("no event")?["askedByAgent"], true, "{events}");

        fixture.owner.delete(&fixture.path()).await?.ok()?;
        assert_eq!(fixture.list(&fixture.owner).await?, []);
        fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.assert_error(404, "agent_tool_not_found");
        fixture.owner.delete(&fixture.path()).await?.assert_error(404, "agent_tool_not_found");
        fixture.owner.get(&format!("/v1/automations/{}", fixture.automation)).await?.ok()?;
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit", fixture.workspace)).await?.ok()?;
        let actions: Vec<&str> = audit["items"].as_array().context("no items")?.iter().filter_map(|item| item["action"].as_str()).collect();
        assert!(actions.contains(&"agent_tool.publish") && actions.contains(&"agent_tool.delete"), "{actions:?}");
        Ok(())
    }

    async fn a_tool_is_live_only_while_what_was_reviewed_holds(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let first = fixture.review().await?["hash"].clone();
        fixture.publish(json!({})).await?.ok()?;

        // Another version with the same permissions is no news.
        fixture.create_version(&json!([])).await?;
        assert_eq!(fixture.state().await?, "live");
        let two = fixture.create_version(&json!([{"host": "api.example.com"}])).await?;
        assert_eq!(fixture.state().await?, "needs_review");
        assert_eq!((fixture.list(&fixture.agent).await?, published(&fixture.agent).await?), (vec![], vec![]));
        fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.assert_error(409, "tool_not_live");
        let (failed, text, _) = call(&fixture.agent, "run_new_order", &json!({"title": "Tea"})).await?;
        assert!(failed && text.starts_with("tool_not_live: "), "{text}");
        let on = json!({"enabled": true});
        fixture.owner.patch(&fixture.path(), &on).await?.assert_error(409, "permissions_changed");
        fixture.publish(json!({"reviewedHash": first})).await?.assert_error(409, "permissions_changed");

        // Back where they were read.
        let versions = fixture.owner.get(&format!("/v1/apps/{}/versions", fixture.app)).await?.ok()?;
        let one = versions["versions"][1]["id"].as_str().context("no version")?.to_owned();
        let back = format!("/v1/apps/{}/versions/{one}/rollback", fixture.app);
        fixture.owner.post(&back, &json!({"expectCurrentVersionId": two})).await?.ok()?;
        assert_eq!(fixture.state().await?, "live");

        fixture.owner.patch(&fixture.path(), &json!({"enabled": false})).await?.ok()?;
        assert_eq!(fixture.state().await?, "off");
        fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.assert_error(409, "tool_not_live");
        fixture.owner.patch(&fixture.path(), &on).await?.ok()?;

        let (app, automation) = (format!("/v1/apps/{}", fixture.app), format!("/v1/automations/{}", fixture.automation));
        for (path, pause, resume) in [
            (&app, json!({"paused": true}), json!({"paused": false})),
            (&automation, json!({"status": "paused"}), json!({"status": "active"})),
            (&automation, json!({"status": "draft"}), json!({"status": "active"})),
        ] {
            fixture.owner.patch(path, &pause).await?.ok()?;
            assert_eq!(fixture.state().await?, "paused", "{path} {pause}");
            assert_eq!(fixture.review().await?["blocked"], "not_runnable");
            fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.assert_error(409, "tool_not_live");
            fixture.publish(json!({})).await?.assert_error(409, "tool_blocked");
            fixture.owner.patch(path, &resume).await?.ok()?;
            assert_eq!(fixture.state().await?, "live", "{path} {resume}");
        }
        // An automation that events start takes no arguments.
        let event = json!({"trigger": {"type": "event", "event": "run_failed"}});
        fixture.owner.patch(&automation, &event).await?.ok()?;
        let review = fixture.review().await?;
        assert_eq!((&review["blocked"], &review["startsAs"]), (&json!("no_input_path"), &Value::Null));
        assert_eq!(fixture.state().await?, "needs_review");
        fixture.publish(json!({})).await?.assert_error(409, "tool_blocked");
        // A deleted automation takes its tool with it, and the name is free again.
        fixture.owner.delete(&automation).await?.ok()?;
        assert_eq!(fixture.list(&fixture.owner).await?, []);
        Ok(())
    }

    async fn names_belong_to_one_tool_and_writes_have_preconditions(server: Server) -> Result<()> {
        let mut fixture = Fixture::create(&server).await?;
        let unpublished = fixture.owner.get(&fixture.path()).await?.header("etag").context("no tag")?.to_owned();
        let body = fixture.body(json!({})).await?;
        let publish = async || {
            let request = fixture.owner.request(Method::PUT, &fixture.path());
            request.header(http::header::IF_MATCH, &unpublished)?.json(&body)?.send().await
        };
        let first = publish().await?;
        first.ok()?;
        publish().await?.assert_error(412, "changed_meanwhile");
        let tag = first.header("etag").context("no tag")?.to_owned();
        assert_eq!(fixture.owner.get(&fixture.path()).await?.header("etag"), Some(&*tag));
        // A call changes what is counted, and no precondition.
        fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.ok()?;
        let put = async |tag: &str| {
            let body = fixture.body(json!({"title": "Renamed"})).await?;
            fixture.owner.request(Method::PUT, &fixture.path()).header(http::header::IF_MATCH, tag)?.json(&body)?.send().await
        };
        put(&tag).await?.ok()?;
        put(&tag).await?.assert_error(412, "changed_meanwhile");

        let first = fixture.automation.clone();
        fixture.automation = fixture.create_automation("Another", &json!({"type": "webhook"})).await?;
        fixture.publish(json!({})).await?.assert_error(409, "tool_name_taken");
        fixture.publish(json!({"name": "another"})).await?.ok()?;
        // Of two who take one name at once, one gets it.
        let third = fixture.create_automation("Third", &json!({"type": "form"})).await?;
        let both = [&first, &third].map(|automation| {
            let path = format!("/v1/automations/{automation}/agent-tool");
            let fixture = &fixture;
            async move { fixture.owner.put(&path, &fixture.body(json!({"name": "one_name"})).await?).await }
        });
        let replies = futures::future::try_join_all(both).await?;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 1));
        lost[0].assert_error(409, "tool_name_taken");
        // Another workspace has names of its own.
        let other = server.sign_in("other@example.test").await?;
        other.get(&fixture.path()).await?.assert_error(404, "automation_not_found");
        Ok(())
    }

    async fn what_a_schema_may_not_be_is_refused_by_its_path(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let of = |property: Value| json!({"type": "object", "properties": {"p": property}});
        let many: serde_json::Map<String, Value> = (0..10_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
        let deep = (0..100).fold(json!({"type": "string"}), |items, _| json!({"type": "array", "items": items}));
        for (schema, at) in [
            (json!({"type": "object", "properties": many}), "`inputSchema` must have at most 16 KiB"),
            (of(json!({"$ref": "#"})), "`inputSchema.properties.p.type` must be one of"),
            (of(json!({"type": "object", "$ref": "#/properties/p"})), "`inputSchema.properties.p.$ref` is not supported"),
            (json!({"type": "object", "properties": {}, "$defs": {"a": {"$ref": "#/$defs/a"}}}), "`inputSchema.$defs`"),
            (of(deep), "is deeper than 5 levels"),
            (of(json!({"type": "string", "pattern": "(a+)+$"})), "`inputSchema.properties.p.pattern`"),
            (of(json!({"type": ["string", "null"]})), "`inputSchema.properties.p.type`"),
            (json!({"type": "array", "items": {}}), "`inputSchema.type`"),
            (json!({"type": "object", "properties": {}, "required": ["__proto__"]}), "`inputSchema.required`"),
            (json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}), "`inputSchema.additionalProperties`"),
        ] {
            let refused = fixture.publish(json!({"inputSchema": schema})).await?;
            refused.assert_error(400, "invalid_request");
            let message = refused.json::<Value>()?["error"]["message"].clone();
            assert!(message.as_str().is_some_and(|message| message.contains(at)), "{at}: {message}");
        }
        for changes in [
            json!({"name": "New_order"}), json!({"name": "x"}), json!({"name": "order-desk"}), json!({"name": "қ".repeat(8)}),
            json!({"title": " "}), json!({"description": "short"}), json!({"description": "x".repeat(401)}), json!({"more": 1}),
        ] {
            fixture.publish(changes).await?.assert_error(400, "invalid_request");
        }
        assert_eq!(fixture.list(&fixture.owner).await?, []);

        fixture.publish(json!({})).await?.ok()?;
        for input in [
            json!({}), json!({"title": ""}), json!({"title": 1}), json!({"title": "x".repeat(21)}), json!({"title": "Tea", "more": 1}),
            json!({"title": "Tea", "wait": 1.5}), json!({"title": null}), json!({"__proto__": {"title": "Tea"}}), json!([]),
        ] {
            fixture.start(&fixture.agent, &input).await?.assert_error(400, "invalid_request");
        }
        fixture.publish(json!({"inputSchema": {"type": "object", "properties": {}}})).await?.ok()?;
        let long = json!({"text": "x".repeat(256 << 10)});
        fixture.start(&fixture.agent, &long).await?.assert_error(400, "invalid_request");
        fixture.start(&fixture.agent, &Value::Null).await?.ok()?;
        Ok(())
    }

    async fn an_agent_gets_the_result_of_its_call(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.publish(json!({})).await?.ok()?;
        let list = fixture.agent.mcp("tools/list", &json!({})).await?.ok()?["result"].clone();
        assert!(list["ttlMs"].as_u64().is_some_and(|ttl| ttl <= 5_000) && list["cacheScope"] == "private", "{list}");
        let tool = list["tools"].as_array().and_then(|tools| tools.last()).context("no tools")?;
        assert_eq!((&tool["name"], &tool["inputSchema"], &tool["title"]), (&json!("run_new_order"), &schema(), &json!("New order")));
        assert_eq!((&tool["annotations"]["readOnlyHint"], &tool["annotations"]["destructiveHint"]), (&json!(false), &json!(true)));

        let (failed, text, content) = call(&fixture.agent, "run_new_order", &json!({"title": "Tea"})).await?;
        assert_eq!((failed, serde_json::from_str::<Value>(&text)?), (false, content.clone()));
        assert_eq!((&content["status"], &content["result"]["got"]), (&json!("succeeded"), &json!({"title": "Tea"})));
        assert!(content["untrusted"]["result"].is_string(), "{content}");
        let read = call(&fixture.agent, "get_run", &json!({"runId": content["runId"]})).await?.2;
        assert_eq!(read["result"], content["result"]);

        let (failed, _, content) = call(&fixture.agent, "run_new_order", &json!({"title": "Tea", "fail": true})).await?;
        assert_eq!((failed, &content["status"], &content["errorCode"]), (true, &json!("failed"), &json!("app_error")));
        let (failed, _, content) = call(&fixture.agent, "run_new_order", &json!({"title": "Tea", "ask": true})).await?;
        assert_eq!((failed, &content["status"]), (false, &json!("waiting_approval")));
        let (failed, text, _) = call(&fixture.agent, "run_new_order", &json!({"title": ""})).await?;
        assert!(failed && text.contains("`input.title` must have 1 to 20 characters"), "{text}");
        // More than is kept: the run says so, and the result is none.
        let (failed, _, content) = call(&fixture.agent, "run_new_order", &json!({"title": "Tea", "size": 70_000})).await?;
        assert_eq!((failed, &content["status"], &content["result"]), (false, &json!("succeeded"), &Value::Null));
        let run = format!("/v1/runs/{}", content["runId"].as_str().context("no run")?);
        assert_eq!(fixture.owner.get(&run).await?.ok()?["steps"][0]["detail"], "result_too_large");

        for unknown in ["run_nothing", "run_", "run_New", "run_new_order; drop table"] {
            let (failed, text, _) = call(&fixture.agent, unknown, &json!({})).await?;
            assert!(failed && text.starts_with("tool_not_live: "), "{unknown}: {text}");
        }
        // Only published tools, all of them.
        let listed = fixture.agent.request(Method::POST, "/mcp?features=tools")
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}))?
            .header(http::header::ACCEPT, "application/json, text/event-stream")?.send().await?.ok()?;
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(1), "{listed}");
        Ok(())
    }

    async fn each_agent_has_the_tools_of_its_person(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.publish(json!({})).await?.ok()?;
        let reader = fixture.owner.with_bearer(&fixture.owner.create_token(&fixture.workspace, &["read"]).await?);
        assert_eq!(published(&reader).await?, Vec::<String>::new());
        let refused = reader.call_tool("run_new_order", &json!({"title": "Tea"})).await?;
        refused.assert_error(403, "insufficient_scope");
        reader.call_tool("run_nothing", &json!({})).await?.assert_error(403, "insufficient_scope");

        // A viewer sees the tool in the console, and their agent does not: they may not run the app.
        let viewer = fixture.owner.add_member(&fixture.workspace, "viewer").await?;
        assert_eq!(fixture.list(&viewer).await?, [("new_order".to_owned(), "live".to_owned())]);
        let started = fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.ok()?;
        let run = format!("/v1/runs/{}", started["runId"].as_str().context("no run")?);
        let seen = ended(&viewer, &run).await?;
        assert_eq!(seen["result"], Value::Null, "who may not run the app gets nothing of what it returns");
        fixture.start(&viewer, &json!({"title": "Tea"})).await?.assert_error(403, "forbidden");
        viewer.put(&fixture.path(), &fixture.body(json!({})).await?).await?.assert_error(403, "forbidden");

        let member = fixture.owner.add_member(&fixture.workspace, "member").await?;
        let agent = member.with_bearer(&member.create_token(&fixture.workspace, &["read", "write"]).await?);
        assert_eq!(published(&agent).await?, ["run_new_order"]);
        assert!(!call(&agent, "run_new_order", &json!({"title": "Tea"})).await?.0);
        // The app is private again: it is none of theirs any more.
        fixture.share("private").await?;
        assert_eq!((published(&agent).await?, fixture.list(&member).await?), (vec![], vec![]));
        let (failed, text, _) = call(&agent, "run_new_order", &json!({"title": "Tea"})).await?;
        assert!(failed && text.starts_with("tool_not_live: "), "{text}");
        member.get(&fixture.path()).await?.assert_error(404, "automation_not_found");
        // No token publishes.
        fixture.agent.put(&fixture.path(), &fixture.body(json!({})).await?).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn the_last_called_tools_are_listed(server: Server) -> Result<()> {
        let mut fixture = Fixture::create(&server).await?;
        let mut automations = Vec::new();
        for number in 0..32 {
            fixture.automation = fixture.create_automation(&format!("Tool {number}"), &json!({"type": "manual"})).await?;
            fixture.publish(json!({"name": format!("tool_{number:02}")})).await?.ok()?;
            automations.push(fixture.automation.clone());
        }
        let names = |range: std::ops::Range<u32>| range.map(|number| format!("run_tool_{number:02}")).collect::<Vec<_>>();
        assert_eq!(published(&fixture.agent).await?, names(0..30));
        // In this order also if both calls come in one millisecond.
        for number in [31, 30] {
            fixture.automation.clone_from(&automations[number]);
            fixture.start(&fixture.agent, &json!({"title": "Tea"})).await?.ok()?;
        }
        let expected: Vec<String> = ["run_tool_30".to_owned(), "run_tool_31".to_owned()].into_iter().chain(names(0..28)).collect();
        assert_eq!(published(&fixture.agent).await?, expected);
        Ok(())
    }
}
