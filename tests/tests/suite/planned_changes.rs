//! Planned changes: a sentence becomes a plan, and an approved plan changes the app.

use anyhow::{Context as _, Result};
use http::{Method, header::ACCEPT_LANGUAGE};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Reply, Server, Workspace};

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = json!({
            "name": "An app",
            "files": {"main.js": "export default { async scheduled() { return 'done'; } };"},
            "manifest": {
                "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "triggers": [{"type": "manual"}, {"type": "schedule", "cron": "0 8 * * *"}],
                "permissions": {
                    "egress": [{"host": "one.example.com", "methods": ["GET", "POST"]}],
                    "ai": {"profile": "standard", "monthlyBudgetUsd": 5.0},
                },
            },
        });
        let apps = format!("/v1/workspaces/{}/apps", workspace.id);
        let app = owner.post(&apps, &app).await?.string_at("/id")?;
        let shared = json!({"sharing": "workspace", "people": []});
        owner.put(&format!("/v1/apps/{app}/access"), &shared).await?.ok()?;
        Ok(Self { owner, workspace, app })
    }

    async fn plan(&self, client: &Client, instruction: &str) -> Result<Reply> {
        client.post(&format!("/v1/apps/{}/changes", self.app), &json!({"instruction": instruction})).await
    }

    async fn current_version(&self) -> Result<String> {
        self.owner.get(&format!("/v1/apps/{}", self.app)).await?.string_at("/currentVersionId")
    }

    /// Returns the manifest of the current version.
    async fn manifest(&self) -> Result<Value> {
        let path = format!("/v1/apps/{}/versions/{}", self.app, self.current_version().await?);
        Ok(self.owner.get(&path).await?.ok()?["manifest"].clone())
    }

    async fn automations(&self) -> Result<Vec<Value>> {
        let list =
            self.owner.get(&format!("/v1/workspaces/{}/automations", self.workspace.id)).await?.ok()?;
        let automations = list["items"].as_array().context("no automations")?;
        Ok(automations.iter().filter(|it| it["appId"] == json!(self.app)).cloned().collect())
    }

    /// Returns the owner with a token that may write.
    async fn writer(&self) -> Result<Client> {
        let token = self.owner.create_token(&self.workspace.id, &["read", "write"]).await?;
        Ok(self.owner.with_bearer(&token))
    }
}

async fn approve(client: &Client, plan: &Value) -> Result<Reply> {
    let change = plan["changeId"].as_str().context("no change")?;
    client.post(&format!("/v1/changes/{change}/approve"), &json!({"manifest": plan["manifest"]})).await
}

async fn read(client: &Client, plan: &Value) -> Result<Reply> {
    client.get(&format!("/v1/changes/{}", plan["changeId"].as_str().context("no change")?)).await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn open_plans_are_listed_to_those_who_made_them(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (owner, path) = (&fixture.owner, format!("/v1/workspaces/{}/changes", fixture.workspace.id));
        assert_eq!(owner.get(&path).await?.ok()?, json!({"items": []}));
        let first = fixture.plan(owner, r#"Rename it to "Orders"."#).await?.ok()?;
        let writer = fixture.writer().await?;
        let second = fixture.plan(&writer, "Run it every weekday at 9:00.").await?.ok()?;
        let list = owner.get(&path).await?.ok()?;
        assert_eq!(list["items"][0]["changeId"], second["changeId"], "what a token of theirs planned is theirs");
        assert_eq!(list["items"][1]["changeId"], first["changeId"]);
        assert_eq!(list["items"][1]["instruction"], r#"Rename it to "Orders"."#);
        assert_eq!((&list["items"][1]["appName"], &list["items"][1]["runId"]), (&json!("An app"), &Value::Null));
        assert_eq!(writer.get(&path).await?.ok()?, list);
        let admin = owner.add_member(&fixture.workspace.id, "admin").await?;
        assert_eq!(admin.get(&path).await?.ok()?, json!({"items": []}), "nobody else sees them");
        approve(owner, &first).await?.ok()?;
        let list = owner.get(&path).await?.ok()?;
        assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
        owner.delete(&format!("/v1/apps/{}", fixture.app)).await?.ok()?;
        assert_eq!(owner.get(&path).await?.ok()?, json!({"items": []}));
        Ok(())
    }

    async fn a_sentence_becomes_a_plan_and_a_version(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (owner, before) = (&fixture.owner, fixture.current_version().await?);
        let instruction =
            "Let the app read from issues.example.com. Rename the app to \"Issues\". Run it every weekday at 9:00. Make coffee.";
        let plan = fixture.plan(owner, instruction).await?.ok()?;
        assert_eq!((&plan["baseVersionId"], &plan["instruction"]), (&json!(before), &json!(instruction)));
        assert_eq!((&plan["builder"], &plan["rebuildsCode"]), (&json!("offline"), &json!(false)));
        assert_eq!(plan["diff"]["gains"][0]["name"], "issues.example.com", "{plan}");
        assert_eq!(plan["adminApproval"], json!({"required": false, "connectors": []}));
        assert!(plan["notes"][0].as_str().is_some_and(|note| note.contains("Make coffee")), "{plan}");
        assert_eq!(fixture.current_version().await?, before, "nothing is built before approval");

        let open = read(owner, &plan).await?.ok()?;
        assert_eq!((&open["state"], &open["versionId"]), (&json!("planned"), &Value::Null));
        assert_eq!(open["plan"]["needsConsole"].as_array().map(Vec::len), Some(2), "{open}");
        assert!(open["plan"]["expiresAt"].is_string() && open["trustScore"].is_u64(), "{open}");

        let live = approve(owner, &plan).await?.ok()?;
        let version = fixture.current_version().await?;
        assert_eq!((&live["state"], &live["versionId"]), (&json!("live"), &json!(version)), "{live}");
        assert_eq!(read(owner, &plan).await?.ok()?, live);
        assert_eq!(fixture.manifest().await?, plan["manifest"]);
        let made = owner.get(&format!("/v1/apps/{}/versions/{version}", fixture.app)).await?.ok()?;
        assert_eq!((&made["kind"], &made["builder"]), (&json!("build"), &json!("offline")));
        assert_eq!((&made["instruction"], &made["trustScore"]), (&json!(instruction), &live["trustScore"]));
        assert_eq!(owner.get(&format!("/v1/apps/{}", fixture.app)).await?.ok()?["name"], "Issues");
        let [automation] = &fixture.automations().await?[..] else { anyhow::bail!("not one automation") };
        assert_eq!(automation["trigger"]["cron"], "0 9 * * 1-5", "{automation}");
        let gates = owner.get(&format!("/v1/workspaces/{}/gates", fixture.workspace.id)).await?.ok()?;
        let gate = gates["items"].as_array().and_then(|gates| gates.iter().find(|it| it["host"] == "issues.example.com"));
        assert_eq!(gate.context("no gate")?["status"], "open", "the owner approved it in the console");
        let audit = owner.get(&format!("/v1/workspaces/{}/audit", fixture.workspace.id)).await?.ok()?;
        let actions: Vec<_> =
            audit["items"].as_array().context("no audit")?.iter().filter_map(|it| it["action"].as_str()).collect();
        for action in ["change.plan", "change.approve", "version.create", "automation.create", "gate.create"] {
            assert!(actions.contains(&action), "{action}: {actions:?}");
        }
        Ok(())
    }

    async fn plans_are_written_in_the_language_of_the_sentence(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for (instruction, summary, note) in [
            ("Разреши приложению вызывать api.github.com. Свари кофе.", "Разрешить", "Свари кофе"),
            ("Қолданба api.github.com хостын шақырсын. Кофе қайнат.", "рұқсат", "Кофе қайнат"),
        ] {
            let plan = fixture.plan(&fixture.owner, instruction).await?.ok()?;
            assert_eq!(plan["diff"]["gains"][0]["name"], "api.github.com", "{plan}");
            assert!(plan["summary"].as_str().is_some_and(|it| it.contains(summary)), "{plan}");
            assert!(plan["notes"][0].as_str().is_some_and(|it| it.contains(note)), "{plan}");
        }
        Ok(())
    }

    async fn a_comma_is_a_decimal_sign_in_russian_and_kazakh(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for instruction in ["Экономит 1,5 часа.", "1,5 сағат үнемдейді."] {
            let plan = fixture.plan(&fixture.owner, instruction).await?.ok()?;
            assert_eq!(plan["notes"], json!([]), "{instruction}: {plan}");
            assert!(plan["summary"].as_str().is_some_and(|it| it.contains("90")), "{instruction}: {plan}");
        }
        let plan = fixture.plan(&fixture.owner, "Each run saves 1,500 minutes.").await?.ok()?;
        assert!(plan["notes"][0].as_str().is_some_and(|it| it.contains("1,500")), "{plan}");
        Ok(())
    }

    async fn automations_move_with_their_app(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let writer = fixture.writer().await?;
        for (instruction, expected) in [
            ("Run the app daily at 7:30.", json!({"cron": "30 7 * * *", "status": "active", "retries": 0})),
            ("Retry failed runs 4 times.", json!({"cron": "30 7 * * *", "status": "active", "retries": 4})),
            ("Run the app every 15 minutes.", json!({"cron": "*/15 * * * *", "status": "active", "retries": 4})),
            ("Stop the schedule.", json!({"cron": "*/15 * * * *", "status": "paused", "retries": 4})),
            ("Run the app daily at 7:30.", json!({"cron": "30 7 * * *", "status": "active", "retries": 4})),
        ] {
            let plan = fixture.plan(&writer, instruction).await?.ok()?;
            let live = approve(&writer, &plan).await?.ok()?;
            assert_eq!(live["state"], "live", "{instruction}: {live}");
            let [automation] = &fixture.automations().await?[..] else { anyhow::bail!("not one automation") };
            let found = json!({
                "cron": automation["trigger"]["cron"],
                "status": automation["status"],
                "retries": automation["retries"],
            });
            assert_eq!(found, expected, "{instruction}: {plan}");
        }
        Ok(())
    }

    async fn a_token_approves_what_gives_the_app_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let writer = fixture.writer().await?;
        BackendProject::create(&fixture.owner, &fixture.workspace.id).await?.create_table("orders", &[("title", "text")]).await?;
        for instruction in [
            "Stop the app from posting to one.example.com.",
            "Set the AI budget to 4 dollars.",
            "Each run saves 5 minutes.",
            "Describe the app as \"Counts orders.\".",
            "Make the app private.",
        ] {
            let plan = fixture.plan(&writer, instruction).await?.ok()?;
            assert_eq!(plan["notes"], json!([]), "{instruction}: {plan}");
            assert_eq!(read(&writer, &plan).await?.ok()?["plan"]["needsConsole"], json!([]), "{instruction}");
            approve(&writer, &plan).await?.ok()?;
        }
        let before = fixture.current_version().await?;
        for instruction in [
            "Let the app call two.example.com.",
            "Let the app send DELETE to one.example.com.",
            "Let the app read the table orders.",
            "Set the AI budget to 6 dollars.",
            "Share the app with the whole workspace.",
            "Stop the app from reading from one.example.com. Let the app call two.example.com.",
        ] {
            let plan = fixture.plan(&writer, instruction).await?.ok()?;
            assert_eq!(plan["notes"], json!([]), "{instruction}: {plan}");
            let refused = approve(&writer, &plan).await?;
            refused.assert_error(403, "approval_needs_console");
            let why = read(&writer, &plan).await?.ok()?["plan"]["needsConsole"][0].clone();
            let hint = refused.json::<Value>()?["error"]["hint"].clone();
            assert!(hint.as_str().zip(why.as_str()).is_some_and(|(hint, why)| hint.contains(why)), "{hint} {why}");
            // The plan stays open for a person.
            assert_eq!(read(&writer, &plan).await?.ok()?["state"], "planned");
        }
        assert_eq!(fixture.current_version().await?, before);
        Ok(())
    }

    async fn a_change_is_approved_once_as_it_was_shown(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        let plan = fixture.plan(owner, "Let the app call two.example.com.").await?.ok()?;
        let mut edited = plan.clone();
        edited["manifest"]["permissions"]["egress"][1]["host"] = json!("three.example.com");
        approve(owner, &edited).await?.assert_error(409, "manifest_changed");
        let path = format!("/v1/changes/{}/approve", plan["changeId"].as_str().context("no change")?);
        for body in [json!({}), json!({"manifest": null}), json!({"manifest": {}}), json!({"manifest": plan["manifest"], "force": true}), json!([])] {
            owner.post(&path, &body).await?.assert_error(400, "invalid_request");
        }
        let replies = futures::future::try_join_all([approve(owner, &plan), approve(owner, &plan)]).await?;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 1));
        lost[0].assert_error(409, "change_settled");
        let versions = owner.get(&format!("/v1/apps/{}/versions", fixture.app)).await?.ok()?;
        assert_eq!(versions["versions"].as_array().map(Vec::len), Some(2), "{versions}");

        let empty = fixture.plan(owner, "Make me a coffee, please.").await?.ok()?;
        assert_eq!(empty["manifest"], fixture.manifest().await?);
        approve(owner, &empty).await?.assert_error(409, "nothing_to_change");

        let stale = fixture.plan(owner, "Let the app call four.example.com.").await?.ok()?;
        approve(owner, &fixture.plan(owner, "Each run saves 5 minutes.").await?.ok()?).await?.ok()?;
        approve(owner, &stale).await?.assert_error(409, "stale_version");
        Ok(())
    }

    async fn a_plan_is_its_owners(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (owner, workspace) = (&fixture.owner, &fixture.workspace.id);
        let plan = fixture.plan(owner, "Each run saves 5 minutes.").await?.ok()?;
        let builder = owner.add_member(workspace, "builder").await?;
        let grant = json!({
            "sharing": "workspace",
            "people": [{"userId": builder.user_id().await?, "rights": ["can_view", "can_run", "can_edit"]}],
        });
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &grant).await?.ok()?;
        let viewer = owner.add_member(workspace, "viewer").await?;
        let stranger = server.sign_in("stranger@example.test").await?;
        let other = stranger.create_workspace("Elsewhere").await?;
        let foreign = stranger.with_bearer(&stranger.create_token(&other.id, &["read", "write"]).await?);
        for client in [&builder, &viewer, &stranger, &foreign] {
            read(client, &plan).await?.assert_error(404, "change_not_found");
            approve(client, &plan).await?.assert_error(404, "change_not_found");
        }
        fixture.plan(&viewer, "Each run saves 5 minutes.").await?.assert_error(403, "forbidden");
        fixture.plan(&stranger, "Each run saves 5 minutes.").await?.assert_error(404, "app_not_found");
        let reader = owner.with_bearer(&owner.create_token(workspace, &["read"]).await?);
        fixture.plan(&reader, "Each run saves 5 minutes.").await?.assert_error(403, "insufficient_scope");
        approve(&reader, &plan).await?.assert_error(403, "insufficient_scope");
        read(&reader, &plan).await?.ok()?;

        // Whoever loses the right to edit keeps the plan, and cannot approve it.
        let of_builder = fixture.plan(&builder, "Each run saves 6 minutes.").await?.ok()?;
        let view = json!({
            "sharing": "private",
            "people": [{"userId": builder.user_id().await?, "rights": ["can_view"]}],
        });
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &view).await?.ok()?;
        approve(&builder, &of_builder).await?.assert_error(403, "forbidden");
        read(&builder, &of_builder).await?.ok()?;
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &json!({"sharing": "private", "people": []})).await?.ok()?;
        read(&builder, &of_builder).await?.assert_error(404, "change_not_found");
        Ok(())
    }

    async fn a_change_whose_project_is_gone_fails(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        let project = BackendProject::create(owner, &fixture.workspace.id).await?;
        project.create_table("orders", &[("title", "text")]).await?;
        let plan = fixture.plan(owner, "Let the app read the table orders.").await?.ok()?;
        assert_eq!(plan["manifest"]["permissions"]["data"][0]["tables"], json!(["orders"]), "{plan}");
        let name = owner.get(&format!("/v1/backend/projects/{}", project.id)).await?.string_at("/name")?;
        let delete = owner.request(Method::DELETE, &format!("/v1/backend/projects/{}", project.id));
        delete.json(&json!({"confirmName": name}))?.send().await?.ok()?;
        let failed = approve(owner, &plan).await?.ok()?;
        assert_eq!((&failed["state"], &failed["versionId"]), (&json!("failed"), &Value::Null), "{failed}");
        assert!(failed["message"].as_str().is_some_and(|message| message.contains("project")), "{failed}");
        assert_eq!(read(owner, &plan).await?.ok()?, failed);
        let again = approve(owner, &plan).await?;
        again.assert_error(409, "change_settled");
        assert!(again.to_string().contains("The change has failed.") && !again.to_string().contains("approved before"), "{again}");
        Ok(())
    }

    async fn a_builder_adds_hosts_whose_gates_an_admin_opens(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let builder = fixture.owner.add_member(&fixture.workspace.id, "builder").await?;
        let grant = json!({
            "sharing": "workspace",
            "people": [{"userId": builder.user_id().await?, "rights": ["can_view", "can_run", "can_edit"]}],
        });
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &grant).await?.ok()?;
        let plan = fixture.plan(&builder, "Let the app call two.example.com.").await?.ok()?;
        assert_eq!(plan["adminApproval"], json!({"required": true, "connectors": []}));
        approve(&builder, &plan).await?.ok()?;
        let gates = fixture.owner.get(&format!("/v1/workspaces/{}/gates", fixture.workspace.id)).await?.ok()?;
        let gate = gates["items"].as_array().and_then(|gates| gates.iter().find(|it| it["host"] == "two.example.com"));
        assert_eq!(gate.context("no gate")?["status"], "closed");
        let share = fixture.plan(&builder, "Make the app private.").await?.ok()?;
        assert_eq!((&share["diff"]["details"], share["notes"].as_array().map(Vec::len)), (&json!([]), Some(1)));
        Ok(())
    }

    async fn a_connection_needs_an_admin(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (owner, workspace) = (&fixture.owner, &fixture.workspace.id);
        let connect = json!({"displayName": "Team Slack", "secret": "xoxb-of-a-test"});
        owner.post(&format!("/v1/workspaces/{workspace}/connectors/slack"), &connect).await?.ok()?;
        let builder = owner.add_member(workspace, "builder").await?;
        let grant = json!({
            "sharing": "workspace",
            "people": [{"userId": builder.user_id().await?, "rights": ["can_view", "can_run", "can_edit"]}],
        });
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &grant).await?.ok()?;
        let instruction = "Let the app use the connection \"Team Slack\".";
        let plan = fixture.plan(&builder, instruction).await?.ok()?;
        assert_eq!(plan["adminApproval"], json!({"required": true, "connectors": ["slack"]}), "{plan}");
        approve(&builder, &plan).await?.assert_error(403, "admin_approval_required");
        assert_eq!(read(&builder, &plan).await?.ok()?["state"], "planned");
        let plan = fixture.plan(owner, instruction).await?.ok()?;
        assert_eq!(plan["adminApproval"], json!({"required": false, "connectors": ["slack"]}));
        approve(&fixture.writer().await?, &plan).await?.assert_error(403, "approval_needs_console");
        approve(owner, &plan).await?.ok()?;
        assert_eq!(fixture.manifest().await?["permissions"]["connectors"][0]["name"], "slack");
        Ok(())
    }

    async fn instructions_are_bounded(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        for text in [String::new(), "abc".to_owned(), "а".repeat(2_001), "Let the app\u{0} call two.example.com.".to_owned(), "\u{202e}Let the app call\u{202c} two.example.com.".to_owned(), "  \n ab ".to_owned()] {
            fixture.plan(owner, &text).await?.assert_error(400, "invalid_request");
        }
        let path = format!("/v1/apps/{}/changes", fixture.app);
        for body in [json!({}), json!({"instruction": 5}), json!({"instruction": "Stop it.", "manifest": {}}), json!([])] {
            owner.post(&path, &body).await?.assert_error(400, "invalid_request");
        }
        for text in ["Stop".to_owned(), "ж".repeat(2_000)] {
            let plan = fixture.plan(owner, &text).await?.ok()?;
            assert_eq!(plan["diff"]["details"], json!([]), "{plan}");
        }
        let draft = owner.post(&format!("/v1/workspaces/{}/apps", fixture.workspace.id), &json!({"name": "A draft"})).await?.string_at("/id")?;
        let refused = owner.post(&format!("/v1/apps/{draft}/changes"), &json!({"instruction": "Rename the app to \"Foo\"."})).await?;
        refused.assert_error(409, "no_version");

        for _ in 0..60 {
            let reply = fixture.plan(owner, "Each run saves 5 minutes.").await?;
            if reply.status != 200 {
                reply.assert_error(409, "too_many_changes");
                return Ok(());
            }
        }
        anyhow::bail!("plans of one person have no bound")
    }

    async fn sentences_of_a_reader_of_another_language_do_not_change(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let plan = fixture.plan(&fixture.owner, "Let the app call two.example.com.").await?.ok()?;
        let path = format!("/v1/changes/{}", plan["changeId"].as_str().context("no change")?);
        let request = fixture.owner.request(Method::GET, &path).header(ACCEPT_LANGUAGE, "ru")?;
        assert_eq!(request.send().await?.ok()?["plan"]["diff"], plan["diff"]);
        Ok(())
    }

    async fn a_plan_that_a_run_suggests_is_approved_alike(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let owner = &fixture.owner;
        let code = "export default { async scheduled() { await fetch('https://two.example.com/'); } };";
        owner.post(&format!("/v1/apps/{}/versions", fixture.app), &json!({"files": {"main.js": code}})).await?.ok()?;
        let automation = owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let run = owner.start_run(&automation, Value::Null).await?;
        owner.wait_for_run(&run).await?;
        let plan = owner.post(&format!("/v1/runs/{run}/change"), &json!({})).await?.ok()?;
        approve(&fixture.writer().await?, &plan).await?.assert_error(403, "approval_needs_console");
        let live = approve(owner, &plan).await?.ok()?;
        assert_eq!(live["state"], "live", "{live}");
        assert_eq!(fixture.manifest().await?["permissions"]["egress"][1]["host"], "two.example.com");
        Ok(())
    }
}
