//! Gains of an app by every way to publish and each caller; and rights that end while a version is checked.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Reply, Server};

const SCHEDULED: &str = "export default { async scheduled() {} }";
const SERVING: &str = "export default { async scheduled() {}, async fetch() { return new Response('ok') } }";
/// Checking it takes longer than any other request.
const SLOW: &str =
    "const end = Date.now() + 1200; while (Date.now() < end); export default { async scheduled() {} }";

/// An app that may do something of everything, and those who publish it.
struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    /// Project that the app may read.
    project: String,
    /// Project that it may not use.
    other: String,
    /// Version that the app is at.
    base: String,
}

/// A person or program that publishes.
struct Publisher {
    name: &'static str,
    client: Client,
    /// Stays inside the safe band.
    is_confined: bool,
    /// May create apps.
    is_builder: bool,
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

fn manifest(permissions: &Value) -> Value {
    json!({
        "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
        "triggers": [{"type": "manual"}], "permissions": permissions,
    })
}

/// A workflow of n8n that calls a host.
fn workflow() -> Value {
    let node = |id: &str, name: &str, kind: &str, version: Value, parameters: Value| {
        json!({
            "id": id, "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": version,
            "position": [0, 0], "parameters": parameters,
        })
    };
    json!({
        "name": "Calls",
        "nodes": [
            node("1", "Start", "manualTrigger", json!(1), json!({})),
            node("2", "Call", "httpRequest", json!(4.2), json!({"url": "https://one.example.com/"})),
        ],
        "connections": {"Start": {"main": [[{"node": "Call", "type": "main", "index": 0}]]}},
    })
}

/// One way in which a version exceeds the base.
struct Gain {
    name: &'static str,
    permissions: Value,
    source: &'static str,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("orders", &[("title", "text")]).await?;
        let other = BackendProject::create(&owner, &workspace).await?.id;
        let project = project.id;
        let app = owner.post(&format!("/v1/workspaces/{workspace}/apps"), &json!({"name": "An app"})).await?;
        let app = app.string_at("/id")?;
        let mut fixture = Self { owner, workspace, app, project, other, base: String::new() };
        fixture.base =
            fixture.publish(&fixture.owner, &fixture.permissions(), SCHEDULED).await?.string_at("/id")?;
        Ok(fixture)
    }

    /// The permissions of the base.
    fn permissions(&self) -> Value {
        json!({
            "data": [{"name": "main", "projectId": self.project, "access": "read", "tables": ["orders"]}],
            "secrets": [{"name": "KEY", "uses": ["sign", "verify"]}],
            "egress": [{"host": "one.example.com", "methods": ["GET"]}],
            "ai": {"profile": "private", "monthlyBudgetUsd": 5, "models": ["small"]},
        })
    }

    fn gains(&self) -> Vec<Gain> {
        let gain = |name, pointer: &str, value: Value| {
            let mut permissions = self.permissions();
            if let Some(place) = permissions.pointer_mut(pointer) {
                *place = value;
            }
            Gain { name, permissions, source: SCHEDULED }
        };
        vec![
            gain("a host", "/egress/0/host", json!("two.example.com")),
            gain("a method", "/egress/0/methods", json!(["DELETE"])),
            gain("all methods", "/egress/0", json!({"host": "one.example.com"})),
            gain("another project under the same name", "/data/0/projectId", json!(self.other)),
            gain("all tables", "/data/0/tables", Value::Null),
            gain("another table", "/data/0/tables", json!(["notes"])),
            gain("writing", "/data/0/access", json!("write")),
            gain("a secret", "/secrets/0/name", json!("OTHER")),
            gain("a use of a secret", "/secrets/0/uses", json!(["header"])),
            gain("all uses of a secret", "/secrets/0/uses", Value::Null),
            gain(
                "a secret in clear",
                "/secrets/0",
                json!({"name": "KEY", "uses": ["sign", "verify"], "clear": true}),
            ),
            gain("a budget", "/ai/monthlyBudgetUsd", json!(9_000)),
            gain("shared models", "/ai/profile", json!("standard")),
            gain("a model", "/ai/models", json!(["large"])),
            Gain { name: "visitors", permissions: self.permissions(), source: SERVING },
            Gain {
                name: "code that is less trusted",
                permissions: self.permissions(),
                source: "export default { async scheduled() { eval('1'); Function('1'); import('x'); } }",
            },
        ]
    }

    async fn publishers(&self) -> Result<Vec<Publisher>> {
        let builder = self.owner.add_member(&self.workspace, "builder").await?;
        let member = self.owner.add_member(&self.workspace, "member").await?;
        let rights = json!(["can_view", "can_run", "can_edit"]);
        let people = json!([
            {"userId": builder.user_id().await?, "rights": rights}, {"userId": member.user_id().await?, "rights": rights},
        ]);
        let access = json!({"sharing": "private", "people": people});
        self.owner.put(&format!("/v1/apps/{}/access", self.app), &access).await?.ok()?;
        let token = async |scopes: &[&str]| -> Result<Client> {
            Ok(self.owner.with_bearer(&self.owner.create_token(&self.workspace, scopes).await?))
        };
        let agent =
            self.owner.register_agent("Agent").await?.sign_in(&self.owner, &self.workspace, "write").await?;
        let publisher =
            |name, client, is_confined, is_builder| Publisher { name, client, is_confined, is_builder };
        Ok(vec![
            publisher("owner", self.owner.clone(), false, true),
            publisher("token with admin", token(&["read", "write", "admin"]).await?, false, true),
            publisher("token", token(&["read", "write"]).await?, true, true),
            publisher("agent", self.owner.with_bearer(&agent.access), true, true),
            publisher("builder", builder, false, true),
            publisher("member", member, true, false),
        ])
    }

    async fn publish(&self, client: &Client, permissions: &Value, source: &str) -> Result<Reply> {
        let version = json!({"files": {"main.js": source}, "manifest": manifest(permissions)});
        client.post(&format!("/v1/apps/{}/versions", self.app), &version).await
    }

    async fn roll_back(&self, client: &Client, to: &str, expected: &str) -> Result<Reply> {
        let path = format!("/v1/apps/{}/versions/{to}/rollback", self.app);
        client.post(&path, &json!({"expectCurrentVersionId": expected})).await
    }

    /// Creates a connection and returns its id.
    async fn connect(&self) -> Result<String> {
        let connection = json!({
            "displayName": "Orders", "baseUrl": "https://api.example.com", "auth": {"type": "bearer"}, "methods": ["GET"],
            "pathPrefix": "/", "testPath": "/", "secret": "a-secret-of-a-test",
        });
        let path = format!("/v1/workspaces/{}/connectors/http", self.workspace);
        self.owner.post(&path, &connection).await?.string_at("/id")
    }

    async fn current(&self) -> Result<String> {
        self.owner.get(&format!("/v1/apps/{}", self.app)).await?.string_at("/currentVersionId")
    }

    /// Brings the app back to its base.
    async fn reset(&self) -> Result<()> {
        let current = self.current().await?;
        if current != self.base {
            self.roll_back(&self.owner, &self.base, &current).await?.ok()?;
        }
        Ok(())
    }
}

/// Checks that a caller who stays inside is refused, and that others are not.
#[track_caller]
fn assert_band(reply: &Reply, publisher: &Publisher, what: &str) {
    let at = format!("{} gains {what}: {reply}", publisher.name);
    if publisher.is_confined {
        // A member may not write to the project either, which is said first.
        let code = text(reply);
        let is_refused = reply.status == 403 && code.contains("approval_needs_console");
        let has_no_project = publisher.name == "member" && reply.status == 400 && code.contains("projectId");
        let may_not_write =
            publisher.name == "member" && reply.status == 400 && code.contains("write access");
        assert!(is_refused || has_no_project || may_not_write, "{at}");
    } else {
        assert_eq!(reply.status, 200, "{at}");
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_version_outside_the_safe_band_needs_a_builder_in_the_console(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for publisher in fixture.publishers().await? {
            for gain in fixture.gains() {
                let reply = fixture.publish(&publisher.client, &gain.permissions, gain.source).await?;
                assert_band(&reply, &publisher, gain.name);
                if publisher.is_confined {
                    assert_eq!(fixture.current().await?, fixture.base);
                    let hint = text(&reply);
                    assert!(reply.status != 403 || hint.contains("POST /v1/apps/{id}/changes"), "{reply}");
                }
                fixture.reset().await?;
            }
            // Less than before, and what a visitor could read anyhow.
            fixture.publish(&publisher.client, &json!({"egress": fixture.permissions()["egress"]}), SERVING).await?.ok()?;
            fixture.reset().await?;
        }
        Ok(())
    }

    async fn a_rollback_outside_the_safe_band_needs_a_builder_in_the_console(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let publishers = fixture.publishers().await?;
        for gain in fixture.gains() {
            let wider = fixture.publish(&fixture.owner, &gain.permissions, gain.source).await?.string_at("/id")?;
            fixture.reset().await?;
            for publisher in &publishers {
                let reply = fixture.roll_back(&publisher.client, &wider, &fixture.base).await?;
                // What a member may not use is said so of the version.
                if publisher.name == "member" && reply.status == 409 {
                    reply.assert_error(409, "version_unusable");
                } else {
                    assert_band(&reply, publisher, gain.name);
                }
                assert_eq!(fixture.current().await? == fixture.base, publisher.is_confined, "{}", publisher.name);
                fixture.reset().await?;
            }
            let agent = publishers.iter().find(|it| it.name == "agent").context("no agent")?;
            let arguments = json!({"appId": fixture.app, "versionId": wider, "expectCurrentVersionId": fixture.base});
            let called = agent.client.call_tool("rollback_version", &arguments).await?;
            assert!(text(&called).contains("approval_needs_console"), "{called}");
        }
        Ok(())
    }

    async fn a_replay_of_a_version_outside_the_safe_band_needs_a_builder_in_the_console(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let publishers = fixture.publishers().await?;
        let automation = fixture.owner.create_automation(&fixture.workspace, &fixture.app, "manual", 0).await?;
        // A run answers no visitors.
        for gain in fixture.gains().into_iter().filter(|it| it.name != "visitors") {
            let failing = gain.source.replace("async scheduled() {", "async scheduled() { throw new Error('as requested');");
            fixture.publish(&fixture.owner, &gain.permissions, &failing).await?.ok()?;
            let run = fixture.owner.start_run(&automation, json!({})).await?;
            assert_eq!(fixture.owner.wait_for_run(&run).await?["status"], "failed", "{}", gain.name);
            let path = format!("/v1/runs/{run}/replay");
            let original = json!({"version": "original", "input": {}});
            // As long as the version is current, its permissions are the app's.
            for publisher in &publishers {
                publisher.client.post(&path, &original).await?.ok().with_context(|| format!("{}: {}", publisher.name, gain.name))?;
            }
            fixture.reset().await?;
            for publisher in &publishers {
                let reply = publisher.client.post(&path, &original).await?;
                if publisher.name == "member" && reply.status == 409 {
                    reply.assert_error(409, "version_unusable");
                } else {
                    assert_band(&reply, publisher, gain.name);
                }
                if publisher.is_confined {
                    assert!(text(&reply).contains("Replay with the current version"), "{reply}");
                }
                let current = publisher.client.post(&path, &json!({"version": "current"})).await?.ok()?;
                assert_eq!(current["version"]["id"], json!(fixture.base), "{}: {current}", publisher.name);
            }
        }
        Ok(())
    }

    async fn a_connection_that_was_taken_away_does_not_come_back_with_a_replay(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let Fixture { owner, workspace, app, base, .. } = &fixture;
        let connection = fixture.connect().await?;
        let mut connected = manifest(&json!({"connectors": [{"name": "orders", "connectionId": connection}]}));
        connected["triggers"] = json!([{"type": "manual"}, {"type": "webhook"}]);
        let failing = "export default { async scheduled() { throw new Error('as requested') } }";
        let version = json!({"files": {"main.js": failing}, "manifest": connected});
        let with = owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.string_at("/id")?;
        let automation = owner.create_automation(workspace, app, "webhook", 0).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        let run = webhook.send(&json!({"order": 1})).await?.string_at("/runId")?;
        assert_eq!(owner.wait_for_run(&run).await?["status"], "failed");
        let letters = owner.get(&format!("/v1/workspaces/{workspace}/dead-letters?state=open")).await?;
        let letter = letters.string_at("/items/0/id")?;
        fixture.reset().await?;

        let of_run = format!("/v1/runs/{run}/replay");
        let of_letter = format!("/v1/dead-letters/{letter}/replay");
        let publishers = fixture.publishers().await?;
        for publisher in publishers.iter().filter(|it| it.name != "owner") {
            let in_console = ["builder", "member"].contains(&publisher.name);
            let code = if in_console { "admin_approval_required" } else { "approval_needs_console" };
            fixture.roll_back(&publisher.client, &with, base).await?.assert_error(403, code);
            for (path, body) in [
                (&of_run, json!({"version": "original"})),
                (&of_run, json!({"version": "original", "input": {"order": 2}})),
                (&of_letter, json!({"version": "original"})),
                (&of_letter, json!({"version": "original", "payload": {"order": 2}})),
            ] {
                let refused = publisher.client.post(path, &body).await?;
                refused.assert_error(403, code);
                let hint = refused.json::<Value>()?["error"]["hint"].clone();
                assert!(hint.as_str().is_some_and(|hint| hint.contains("current version") && hint.contains("admin")), "{refused}");
            }
            if !in_console {
                let arguments = json!({"deadLetterId": letter, "version": "original", "payload": {"order": 2}});
                let called = publisher.client.call_tool("replay_dead_letter", &arguments).await?;
                assert!(text(&called).contains(code), "{}: {called}", publisher.name);
            }
        }
        let runs = owner.get(&format!("/v1/workspaces/{workspace}/runs?appId={app}")).await?.ok()?;
        assert_eq!(runs["items"].as_array().map(Vec::len), Some(1), "nothing was started: {runs}");
        let open = owner.get(&format!("/v1/dead-letters/{letter}")).await?.ok()?;
        assert_eq!(open["state"], "open", "{open}");

        // An admin in the console may give the connection back, so they may replay with it, too.
        let replayed = owner.post(&of_run, &json!({"version": "original"})).await?.ok()?;
        assert_eq!((&replayed["version"]["id"], &replayed["deadLetterId"]), (&json!(with), &json!(letter)), "{replayed}");
        let again = replayed["runId"].as_str().context("no run")?;
        assert_eq!(owner.wait_for_run(again).await?["status"], "failed");
        // Many at once run with the current version.
        let letters = owner.get(&format!("/v1/workspaces/{workspace}/dead-letters?state=open")).await?;
        let bulk = json!({"action": "replay", "ids": [letters.string_at("/items/0/id")?]});
        let token = publishers.iter().find(|it| it.name == "token").context("no token")?;
        let settled = token.client.post(&format!("/v1/workspaces/{workspace}/dead-letters/bulk"), &bulk).await?;
        let ran = owner.wait_for_success(&settled.string_at("/results/0/runId")?).await?;
        assert_eq!(ran["version"]["id"], json!(base), "{ran}");
        Ok(())
    }

    async fn a_new_app_outside_the_safe_band_needs_a_builder_in_the_console(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let apps = format!("/v1/workspaces/{}/apps", fixture.workspace);
        let every = |name: &str| fixture.permissions()[name].clone();
        for publisher in fixture.publishers().await? {
            let create = async |manifest: Value, source: &str| {
                let body = json!({"name": "Another app", "files": {"main.js": source}, "manifest": manifest});
                publisher.client.post(&apps, &body).await
            };
            let assert_new = |reply: &Reply, what: &str| {
                if publisher.is_builder { assert_band(reply, &publisher, what) } else { assert_eq!(reply.status, 403, "{reply}") }
            };
            for name in ["data", "secrets", "egress", "ai"] {
                assert_new(&create(manifest(&json!({name: every(name)})), SCHEDULED).await?, name);
            }
            let mut shared = manifest(&json!({}));
            shared["sharing"] = json!({"default": "workspace"});
            assert_new(&create(shared, SCHEDULED).await?, "sharing");
            let from_template = json!({"name": "Links", "templateId": "short-links", "projectId": fixture.other});
            assert_new(&publisher.client.post(&apps, &from_template).await?, "a template with rows");
            // Without permissions it may answer visitors; a template without permissions is no gain.
            let bare = [create(manifest(&json!({})), SERVING).await?, publisher.client.post(&apps, &json!({"name": "A draft"})).await?];
            for reply in &bare {
                assert_eq!(reply.status, if publisher.is_builder { 200 } else { 403 }, "{}: {reply}", publisher.name);
            }
            // The first version of a draft is measured against nothing.
            let Ok(draft) = bare[1].string_at("/id") else { continue };
            let first = json!({"files": {"main.js": SCHEDULED}, "manifest": manifest(&fixture.permissions())});
            let reply = publisher.client.post(&format!("/v1/apps/{draft}/versions"), &first).await?;
            assert_band(&reply, &publisher, "everything");
        }
        Ok(())
    }

    async fn an_import_is_no_way_around(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let source = workflow();
        let imports = format!("/v1/workspaces/{}/imports", fixture.workspace);
        for publisher in fixture.publishers().await? {
            let body = json!({"source": source.to_string(), "name": "A workflow"});
            let made = publisher.client.post(&imports, &body).await?.ok()?;
            let (id, app) = (made["id"].as_str().context("no id")?, made["appId"].as_str().context("no app")?);
            let path = format!("/v1/apps/{app}/versions");
            for gain in fixture.gains() {
                let version = json!({"files": {"main.js": gain.source}, "manifest": manifest(&gain.permissions)});
                assert_band(&publisher.client.post(&path, &version).await?, &publisher, gain.name);
                if !publisher.is_confined {
                    break;
                }
            }
            // Code that was written since is not what the report is about.
            let bare = json!({"files": {"main.js": SERVING}, "manifest": manifest(&json!({}))});
            publisher.client.post(&path, &bare).await?.ok()?;
            if publisher.name == "member" {
                let enabled = publisher.client.post(&format!("/v1/imports/{id}/enable"), &json!({})).await?;
                enabled.assert_error(403, "approval_needs_console");
            }
        }
        // What an import itself asks for is reviewed when it is turned on.
        let made = fixture.owner.post(&imports, &json!({"source": source.to_string(), "name": "A workflow"})).await?.ok()?;
        let id = made["id"].as_str().context("no id")?;
        fixture.owner.post(&format!("/v1/imports/{id}/enable"), &json!({})).await?.ok()?;
        Ok(())
    }

    async fn a_draft_runs_inside_the_safe_band(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = format!("/v1/apps/{}/draft", fixture.app);
        for publisher in fixture.publishers().await? {
            for (source, handler, is_gain) in [
                (SCHEDULED, "scheduled", false),
                (SERVING, "fetch", true),
                ("export default { async scheduled() { eval('1'); Function('1'); import('x'); } }", "scheduled", true),
            ] {
                publisher.client.put(&path, &json!({"files": {"main.js": source}, "baseVersionId": fixture.base})).await?.ok()?;
                let reply = publisher.client.post(&format!("{path}/invoke"), &json!({"handler": handler})).await?;
                if is_gain { assert_band(&reply, &publisher, source) } else { assert_eq!(reply.status, 200, "{}: {reply}", publisher.name) }
            }
        }
        Ok(())
    }

    async fn a_plan_says_that_visitors_see_what_the_app_gains(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let publishers = fixture.publishers().await?;
        let agent = publishers.iter().find(|it| it.name == "agent").context("no agent")?;
        let apps = format!("/v1/workspaces/{}/apps", fixture.workspace);
        for (source, is_told) in [(SERVING, true), (SCHEDULED, false)] {
            // An app without permissions may answer visitors.
            let body = json!({"name": "A board", "files": {"main.js": source}, "manifest": manifest(&json!({}))});
            let app = agent.client.post(&apps, &body).await?.string_at("/id")?;
            let instruction = json!({"instruction": "Let it read the table orders."});
            let plan = agent.client.post(&format!("/v1/apps/{app}/changes"), &instruction).await?.ok()?;
            assert_eq!(plan["notes"], json!([]), "{plan}");
            let change = plan["changeId"].as_str().context("no change")?;
            let read = fixture.owner.get(&format!("/v1/changes/{change}")).await?.ok()?;
            let reasons = read["plan"]["needsConsole"].as_array().context("no reasons")?;
            let says_so = |reason: &Value| reason.as_str().is_some_and(|it| it.contains("answers visitors"));
            assert_eq!((reasons.len(), reasons.iter().any(says_so)), (1 + usize::from(is_told), is_told), "{read}");
            let approval = json!({"manifest": plan["manifest"]});
            let path = format!("/v1/changes/{change}/approve");
            let refused = agent.client.post(&path, &approval).await?;
            refused.assert_error(403, "approval_needs_console");
            assert_eq!(text(&refused).contains("answers visitors"), is_told, "{refused}");
            fixture.owner.post(&path, &approval).await?.ok()?;
        }
        Ok(())
    }

    /// A plan is its owner's to approve in the console, whatever their role; a token of theirs stays inside.
    async fn a_member_approves_in_the_console_what_they_planned(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let Fixture { owner, workspace, project, .. } = &fixture;
        let member = owner.add_member(workspace, "member").await?;
        let token = member.with_bearer(&member.create_token(workspace, &["read", "write"]).await?);
        let body = json!({"source": workflow().to_string(), "name": "A workflow"});
        let app = member.post(&format!("/v1/workspaces/{workspace}/imports"), &body).await?.string_at("/appId")?;
        let versions = format!("/v1/apps/{app}/versions");
        let bare = json!({"files": {"main.js": SERVING}, "manifest": manifest(&json!({}))});
        member.post(&versions, &bare).await?.ok()?;
        let rows = json!({"data": [{"name": "orders", "projectId": project, "access": "read", "tables": ["orders"]}]});
        let with_rows = json!({"files": {"main.js": SERVING}, "manifest": manifest(&rows)});
        let refused = member.post(&versions, &with_rows).await?;
        refused.assert_error(403, "approval_needs_console");
        assert!(text(&refused).contains("approve the plan in the console"), "{refused}");

        let instruction = json!({"instruction": "Let it read the table orders."});
        let plan = member.post(&format!("/v1/apps/{app}/changes"), &instruction).await?.ok()?;
        let change = plan["changeId"].as_str().context("no change")?;
        let read = member.get(&format!("/v1/changes/{change}")).await?.ok()?;
        assert!(read["plan"]["needsConsole"].to_string().contains("answers visitors"), "{read}");
        let (path, approval) = (format!("/v1/changes/{change}/approve"), json!({"manifest": plan["manifest"]}));
        token.post(&path, &approval).await?.assert_error(403, "approval_needs_console");
        let live = member.post(&path, &approval).await?.ok()?;
        assert_eq!(live["state"], "live", "{live}");
        // What they may not use themselves, they cannot plan.
        let instruction = json!({"instruction": "Let it write to the table orders."});
        let plan = member.post(&format!("/v1/apps/{app}/changes"), &instruction).await?.ok()?;
        assert_eq!((&plan["diff"]["gains"], plan["notes"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{plan}");
        Ok(())
    }

    async fn who_loses_their_right_while_code_is_checked_publishes_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let Fixture { owner, workspace, app, .. } = &fixture;
        let access = |sharing: &str| json!({"sharing": sharing, "people": []});
        let member_path = |user: &str| format!("/v1/workspaces/{workspace}/members/{user}");
        for how in ["removed", "demoted", "private", "revoked", "signed out", "deleted"] {
            owner.put(&format!("/v1/apps/{app}/access"), &access("team")).await?.ok()?;
            let email = format!("{}@example.test", how.replace(' ', "."));
            let person = server.sign_in(&email).await?;
            owner.invite_and_accept(workspace, &email, "builder", &person).await?;
            let user = person.user_id().await?;
            let token = person.create_token(workspace, &["read", "write"]).await?;
            let tokens = person.get(&format!("/v1/workspaces/{workspace}/tokens")).await?.ok()?;
            let token_id = tokens.pointer("/items/0/id").or(tokens.pointer("/0/id")).and_then(Value::as_str).context("no token")?.to_owned();
            let publisher = if how == "revoked" { person.with_bearer(&token) } else { person.clone() };
            let new_app = json!({"name": "Another app", "files": {"main.js": SLOW}});
            let apps = format!("/v1/workspaces/{workspace}/apps");
            let publish = async {
                if how == "removed" {
                    publisher.post(&apps, &new_app).await
                } else {
                    fixture.publish(&publisher, &fixture.permissions(), SLOW).await
                }
            };
            let take_away = async {
                // The request above was sent before this one.
                person.get(&format!("/v1/apps/{app}")).await?.ok()?;
                match how {
                    "removed" => owner.delete(&member_path(&user)).await?,
                    "demoted" => owner.patch(&member_path(&user), &json!({"role": "viewer"})).await?,
                    "private" => owner.put(&format!("/v1/apps/{app}/access"), &access("private")).await?,
                    "revoked" => person.delete(&format!("/v1/workspaces/{workspace}/tokens/{token_id}")).await?,
                    "signed out" => person.delete("/v1/session").await?,
                    _ => owner.delete(&format!("/v1/apps/{app}")).await?,
                }
                .ok()
            };
            let (published, taken) = tokio::join!(publish, take_away);
            taken.with_context(|| how.to_owned())?;
            let published = published?;
            assert!([401, 403, 404].contains(&published.status.as_u16()), "{how}: {published}");
            if how != "deleted" {
                assert_eq!(fixture.current().await?, fixture.base, "{how}");
            }
            let listed = owner.get(&apps).await?.ok()?;
            assert!(!listed.to_string().contains("Another app"), "{how}: {listed}");
        }
        Ok(())
    }

    async fn a_permission_that_was_taken_away_does_not_come_back_with_a_waiting_version(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let Fixture { owner, workspace, .. } = &fixture;
        let connection = fixture.connect().await?;
        let connected = json!({"connectors": [{"name": "orders", "connectionId": connection}]});
        let publishers = fixture.publishers().await?;
        for publisher in publishers.iter().filter(|it| ["token", "builder", "owner"].contains(&it.name)) {
            let with = fixture.publish(owner, &connected, SCHEDULED).await?.string_at("/id")?;
            let publish = fixture.publish(&publisher.client, &connected, SLOW);
            let take_away = async {
                publisher.client.get(&format!("/v1/apps/{}", fixture.app)).await?.ok()?;
                fixture.roll_back(owner, &fixture.base, &with).await?.ok()
            };
            let (published, taken) = tokio::join!(publish, take_away);
            taken?;
            let published = published?;
            // The owner may give it anew, if the request arrived last.
            let is_refused = [403, 409].contains(&published.status.as_u16());
            assert!(is_refused, "{}: {published}", publisher.name);
            assert_eq!(fixture.current().await?, fixture.base);
            let used = owner.get(&format!("/v1/workspaces/{workspace}/connections/{connection}")).await?.ok()?;
            assert_eq!(used["usedBy"], json!([]), "{used}");
        }
        Ok(())
    }
}
