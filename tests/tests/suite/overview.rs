//! The overview of a workspace: states of apps from what happened to them, and the search for its objects.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Database, Server, encode_form, eventually, eventually_within};

/// Fails, is blocked, asks or works, as its input says.
const OBEYS: &str = "export default {
  async scheduled(event, env, ctx) {
    if (event.data?.fail) throw new Error('No.');
    if (event.data?.block) await fetch('https://blocked.example.test/');
    if (event.data?.ask) await ctx.approval({ title: 'Pay?' });
  },
  async fetch() { return new Response('ok') },
}";

struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, OBEYS).await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        Ok(Self { owner, workspace, app, automation })
    }

    async fn run(&self, input: Value) -> Result<Value> {
        let run = self.owner.start_run(&self.automation, input).await?;
        self.owner.wait_for_run(&run).await
    }

    async fn app(&self) -> Result<Value> {
        self.owner.get(&format!("/v1/apps/{}", self.app)).await?.ok()
    }

    async fn overview(&self, client: &Client) -> Result<Value> {
        client.get(&format!("/v1/workspaces/{}/overview", self.workspace)).await?.ok()
    }

    /// The app's item of the overview.
    async fn item(&self) -> Result<Value> {
        let overview = self.overview(&self.owner).await?;
        let items = overview["items"].as_array().context("no items")?;
        Ok(items.iter().find(|item| item["id"] == json!(self.app)).context("the app is missing")?.clone())
    }

    async fn search(&self, client: &Client, text: &str) -> Result<Vec<Value>> {
        let query = encode_form(&[("q", text)]);
        let found = client.get(&format!("/v1/workspaces/{}/search?{query}", self.workspace)).await?.ok()?;
        Ok(found["items"].as_array().context("no items")?.clone())
    }
}

fn codes(app: &Value) -> Vec<(String, u64)> {
    let reasons = app["statusReasons"].as_array().into_iter().flatten();
    reasons
        .map(|reason| {
            (
                reason["code"].as_str().unwrap_or_default().to_owned(),
                reason["count"].as_u64().unwrap_or_default(),
            )
        })
        .collect()
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_state_follows_from_what_happened(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let fresh = fixture.app().await?;
        assert_eq!((&fresh["status"], &fresh["observedAt"]), (&json!("healthy"), &Value::Null));
        let before = fixture.overview(&fixture.owner).await?;
        let unobserved = before["apps"]["unobserved"].as_u64().context("no number")?;
        assert!(unobserved >= 1, "a deployment is no observation: {before}");

        fixture.run(Value::Null).await?;
        let seen = fixture.app().await?;
        assert!(seen["observedAt"].is_string() && codes(&seen).is_empty(), "{seen}");
        let after = fixture.overview(&fixture.owner).await?;
        assert_eq!(after["apps"]["unobserved"], json!(unobserved - 1), "{after}");

        // A run by hand that is blocked leaves no dead letter, and warns all the same.
        fixture.run(json!({"block": true})).await?;
        let warned = fixture.app().await?;
        assert_eq!(warned["status"], "warning", "{warned}");
        assert_eq!(codes(&warned), [("blocked_runs".to_owned(), 1)]);
        for _ in 0..2 {
            fixture.run(json!({"block": true})).await?;
        }
        let failing = fixture.item().await?;
        assert_eq!(failing["status"], "failing", "{failing}");
        let expected =
            [("automation_failing".to_owned(), 1), ("app_failing".to_owned(), 3), ("blocked_runs".to_owned(), 3)];
        assert_eq!(codes(&failing), expected);
        let overview = fixture.overview(&fixture.owner).await?;
        assert_eq!(overview["items"][0]["id"], json!(fixture.app), "what fails comes first: {overview}");
        assert_eq!(overview["apps"]["failing"], 1);
        let listed = fixture.owner.get(&format!("/v1/workspaces/{}/apps", fixture.workspace)).await?.ok()?;
        let listed = listed["items"].as_array().into_iter().flatten().find(|app| app["id"] == json!(fixture.app));
        assert_eq!(listed.context("it is not listed")?["status"], "failing");

        fixture.run(Value::Null).await?;
        assert_eq!(fixture.app().await?["status"], "warning", "it works, and was blocked today");
        let paused = fixture.owner.patch(&format!("/v1/apps/{}", fixture.app), &json!({"paused": true})).await?;
        assert_eq!((&paused.ok()?["status"], &fixture.item().await?["status"]), (&json!("paused"), &json!("paused")));
        Ok(())
    }

    async fn a_tag_does_not_move_with_the_state(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = format!("/v1/apps/{}", fixture.app);
        let tag = |reply: &tests::Reply| reply.header("etag").map(str::to_owned);
        let before = tag(&fixture.owner.get(&path).await?);
        fixture.run(json!({"block": true})).await?;
        assert_eq!(tag(&fixture.owner.get(&path).await?), before, "a run is no change of the app");
        fixture.owner.patch(&path, &json!({"paused": true})).await?.ok()?;
        assert_ne!(tag(&fixture.owner.get(&path).await?), before, "a pause is one");
        Ok(())
    }

    async fn a_response_is_an_observation_and_a_missing_page_is_none(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let silent = fixture.owner.create_app(&fixture.workspace, "export default { async scheduled() {} }").await?;
        let slug = async |app: &str| -> Result<String> {
            let app = fixture.owner.get(&format!("/v1/apps/{app}")).await?.ok()?;
            Ok(app["slug"].as_str().context("no slug")?.to_owned())
        };
        let visitor = fixture.owner.signed_out();
        let missing = visitor.get(&format!("/a/{}/", slug(&silent).await?)).await?;
        missing.assert_status(404);
        visitor.get(&format!("/a/{}/", slug(&fixture.app).await?)).await?.assert_status(200);
        // Responses are written every ten seconds.
        eventually_within(Duration::from_secs(60), "the response is an observation", async || {
            let app = fixture.app().await?;
            anyhow::ensure!(app["observedAt"].is_string(), "{app}");
            Ok(())
        })
        .await?;
        let app = fixture.owner.get(&format!("/v1/apps/{silent}")).await?.ok()?;
        assert_eq!(app["observedAt"], Value::Null, "it has no page, so none was seen to work");
        Ok(())
    }

    async fn numbers_are_about_what_one_may_view(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let access = json!({"sharing": "private", "people": []});
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &access).await?.ok()?;
        for _ in 0..3 {
            fixture.run(json!({"fail": true})).await?;
        }
        let asked = fixture.owner.start_run(&fixture.automation, json!({"ask": true})).await?;
        eventually("the run asks", async || {
            let item = fixture.item().await?;
            anyhow::ensure!(item["waitingApprovals"] == 1, "{item}");
            Ok(())
        })
        .await?;
        let owner = fixture.overview(&fixture.owner).await?;
        assert_eq!((&owner["waitingApprovals"], &owner["apps"]["failing"]), (&json!(1), &json!(1)));
        let told = fixture.owner.get(&format!("/v1/workspaces/{}/notifications", fixture.workspace)).await?.ok()?;
        let question = &told["items"][0];
        assert_eq!((&question["kind"], &question["runId"]), (&json!("approval_needed"), &json!(asked)), "{told}");
        assert_eq!(question["deliveries"][1]["reason"], "in_app_only");

        let mut members = Vec::new();
        for role in ["builder", "member", "viewer"] {
            let member = fixture.owner.add_member(&fixture.workspace, role).await?;
            let seen = fixture.overview(&member).await?;
            assert_eq!(
                (&seen["waitingApprovals"], &seen["deadLetters"], &seen["apps"]["failing"]),
                (&json!(0), &json!(0), &json!(0)),
                "{role}: {seen}"
            );
            let total = seen["apps"]["total"].as_u64().context("no number")?;
            assert_eq!(Some(total + 1), owner["apps"]["total"].as_u64(), "{role}");
            assert_eq!(seen["items"].as_array().map(|items| items.len() as u64), Some(total), "{role}");
            members.push((role, member));
        }

        // A shared app's question is told to those who can answer it, and to nobody else.
        let access = json!({"sharing": "workspace", "people": []});
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &access).await?.ok()?;
        for ((role, member), is_told) in members.iter().zip([true, false, false]) {
            let told = member.get(&format!("/v1/workspaces/{}/notifications", fixture.workspace)).await?.ok()?;
            let questions = told["items"].as_array().into_iter().flatten();
            let count = questions.filter(|item| item["kind"] == "approval_needed").count();
            assert_eq!(count > 0, is_told, "{role}: {told}");
            assert_eq!(fixture.overview(member).await?["apps"]["failing"], 1, "{role} views the app");
        }
        Ok(())
    }

    async fn any_right_lets_one_view_and_no_grant_takes_a_list_away(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = |rest: &str| format!("/v1/workspaces/{}/{rest}", fixture.workspace);
        for role in ["member", "viewer"] {
            let member = fixture.owner.add_member(&fixture.workspace, role).await?;
            let user = member.user_id().await?;
            for right in ["can_run", "can_edit", "can_share"] {
                let access = json!({"sharing": "private", "people": [{"userId": user, "rights": [right]}]});
                let stored = fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &access).await?.ok()?;
                assert_eq!(stored["people"][0]["rights"], json!(["can_view", right]), "{role}");
                let apps = member.get(&path("apps")).await?.ok()?;
                let listed = apps["items"].as_array().into_iter().flatten();
                assert!(listed.into_iter().any(|app| app["id"] == json!(fixture.app)), "{role}, {right}: {apps}");
                member.get(&format!("/v1/apps/{}", fixture.app)).await?.ok()?;
                for list in ["automations", "runs", "dead-letters", "gates", "agent-tools", "notifications", "connections", "overview"] {
                    member.get(&path(list)).await?.ok()?;
                }
            }
        }
        Ok(())
    }

    async fn a_search_finds_by_part_of_a_name_and_by_id(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let named = json!({"name": "Курьер Тимур", "files": {"main.js": OBEYS}});
        let courier = fixture.owner.post(&format!("/v1/workspaces/{}/apps", fixture.workspace), &named).await?.ok()?;
        let courier = courier["id"].as_str().context("no id")?.to_owned();
        let backend = BackendProject::create(&fixture.owner, &fixture.workspace).await?;
        backend.create_table("couriers", &[("title", "text")]).await?;

        let found = fixture.search(&fixture.owner, "КУРЬЕР").await?;
        assert_eq!((&found[0]["kind"], &found[0]["id"]), (&json!("app"), &json!(courier)), "{found:?}");
        let found = fixture.search(&fixture.owner, "courier").await?;
        assert_eq!((&found[0]["kind"], &found[0]["name"]), (&json!("table"), &json!("couriers")), "{found:?}");
        let found = fixture.search(&fixture.owner, "automation").await?;
        assert!(found.iter().any(|item| item["id"] == json!(fixture.automation)), "{found:?}");
        let found = fixture.search(&fixture.owner, "owner@example").await?;
        assert_eq!(found[0]["kind"], "member", "{found:?}");
        assert_eq!(fixture.search(&fixture.owner, "no such thing").await?, Vec::<Value>::new());

        let run = fixture.owner.start_run(&fixture.automation, Value::Null).await?;
        fixture.owner.wait_for_success(&run).await?;
        for (id, kind) in [(&run, "run"), (&fixture.automation, "automation"), (&fixture.app, "app")] {
            let found = fixture.search(&fixture.owner, id).await?;
            assert_eq!((found.len(), &found[0]["kind"], &found[0]["id"]), (1, &json!(kind), &json!(id)));
        }

        // Another workspace's objects are found by nobody, by name or by id.
        let other = server.sign_in("other@example.test").await?;
        let elsewhere = other.create_workspace("Elsewhere").await?.id;
        for text in [run.as_str(), &fixture.automation, &fixture.app, &backend.id, "Курьер"] {
            let path = format!("/v1/workspaces/{elsewhere}/search?{}", encode_form(&[("q", text)]));
            assert_eq!(other.get(&path).await?.ok()?["items"], json!([]), "{text}");
        }
        // The owner of both finds an object in its own workspace only.
        let second = fixture.owner.create_workspace("Second").await?.id;
        for id in [&run, &fixture.automation, &fixture.app, &backend.id] {
            let found = fixture.owner.get(&format!("/v1/workspaces/{second}/search?q={id}")).await?.ok()?;
            assert_eq!(found["items"], json!([]), "{id}");
        }
        // A token finds what its lists show.
        let token = fixture.owner.create_token(&fixture.workspace, &["read"]).await?;
        let token = fixture.owner.with_bearer(&token);
        assert_eq!(fixture.search(&token, "Курьер").await?.len(), 1);
        assert_eq!(fixture.search(&token, "owner@example").await?, Vec::<Value>::new());
        let path = |query: &str| format!("/v1/workspaces/{}/search?q={query}", fixture.workspace);
        for query in ["", "%20%20", &"x".repeat(101)] {
            fixture.owner.get(&path(query)).await?.assert_error(400, "invalid_request");
        }
        Ok(())
    }
}

#[tokio::test]
async fn the_state_is_there_after_a_restart() -> Result<()> {
    let mut server = Server::start(Database::Sqlite).await?;
    let fixture = Fixture::create(&server).await?;
    for _ in 0..3 {
        fixture.run(json!({"fail": true})).await?;
    }
    server.restart().await?;
    assert_eq!(fixture.app().await?["status"], "failing");
    Ok(())
}
