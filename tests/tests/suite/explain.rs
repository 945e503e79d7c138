//! Explanations of runs, changes since the last successful run, and planned changes.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Reply, Server, Workspace};

const CALLS_OUT: &str = "export default { async scheduled() { console.log('before'); await fetch('https://api.example.com/x?token=1') } }";
const THROWS: &str = "export default { async scheduled() { throw new Error('the cow is away') } }";
const SUCCEEDS: &str = "export default { async scheduled() { console.log('fine') } }";

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server, source: &str) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, source).await?;
        let automation = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        Ok(Self { owner, workspace, app, automation })
    }

    async fn run_to_end(&self) -> Result<String> {
        let run = self.owner.start_run(&self.automation, Value::Null).await?;
        self.owner.wait_for_run(&run).await?;
        Ok(run)
    }

    async fn publish_version(&self, body: Value) -> Result<()> {
        self.owner.post(&format!("/v1/apps/{}/versions", self.app), &body).await?.ok().map(drop)
    }

    async fn explain(&self, run: &str, query: &str) -> Result<Value> {
        self.owner.get(&format!("/v1/runs/{run}/ask{query}")).await?.ok()
    }

    async fn plan_change(&self, run: &str) -> Result<Reply> {
        self.owner.post(&format!("/v1/runs/{run}/change"), &json!({})).await
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_blocked_run_has_an_explanation_a_trace_and_a_planned_change(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, CALLS_OUT).await?;
        let run = fixture.run_to_end().await?;

        let summary = fixture.owner.get(&format!("/v1/runs/{run}/explain")).await?.ok()?;
        for field in ["what", "why", "next"] {
            assert!(summary[field].as_str().is_some_and(|text| !text.is_empty()), "{summary}");
        }
        assert!(summary["why"].as_str().is_some_and(|why| why.contains("api.example.com")), "{summary}");

        let explanation = fixture.explain(&run, "").await?;
        for (field, expected) in [
            ("runId", json!(run)), ("appId", json!(fixture.app)), ("locale", json!("en")), ("source", json!("rules")),
            ("model", Value::Null), ("cached", json!(false)), ("status", json!("blocked")),
            ("failureClass", json!("egress_denied")), ("confidence", json!("high")), ("answer", Value::Null),
            ("fix", json!({"kind": "allow_egress", "domain": "api.example.com"})),
            ("suggestion", json!({"kind": "allow_egress", "domain": "api.example.com"})),
            ("whatChanged", json!({"lastGood": null, "versionChanged": null, "codeChanged": null, "lines": []})),
        ] {
            assert_eq!(explanation[field], expected, "{field} of {explanation}");
        }
        let lines = fixture.owner.get(&format!("/v1/apps/{}/logs?runId={run}", fixture.app)).await?.ok()?;
        let lines = lines["lines"].as_array().context("no lines")?.clone();
        let evidence = explanation["evidence"].as_array().context("no evidence")?;
        assert!(!evidence.is_empty());
        for item in evidence {
            let text = item.as_str().unwrap_or_default();
            assert!(
                lines.iter().any(|line| {
                    text.starts_with(&format!("#{} ", line["id"]))
                        && text.contains(line["at"].as_str().unwrap_or("?"))
                        && text.ends_with(line["message"].as_str().unwrap_or("?"))
                }),
                "{text} is in no line of {lines:?}"
            );
        }
        assert!(!explanation.to_string().contains("token"), "{explanation}");

        let trace = fixture.owner.get(&format!("/v1/runs/{run}/trace")).await?.ok()?;
        assert_eq!(trace["runId"], json!(run));
        let decision = &trace["gate"][0];
        for (field, expected) in [
            ("host", json!("api.example.com")), ("method", json!("GET")), ("decision", json!("refused")),
            ("reason", json!("egress_denied")), ("status", Value::Null),
        ] {
            assert_eq!(decision[field], expected, "{field} of {trace}");
        }
        assert!(decision["at"].is_string() && decision["durationMs"].is_u64(), "{trace}");
        assert_eq!(trace["lines"][0]["message"], "before", "the oldest line must be first: {trace}");

        let plan = fixture.plan_change(&run).await?.ok()?;
        let base = fixture.owner.get(&format!("/v1/apps/{}", fixture.app)).await?.string_at("/currentVersionId")?;
        assert_eq!(plan["baseVersionId"], json!(base));
        assert_eq!(plan["manifest"]["permissions"]["egress"], json!([{"host": "api.example.com", "methods": ["GET"]}]));
        let diff = &plan["diff"];
        assert_eq!((&diff["gains"], diff["gains"].as_array().map(Vec::len)), (&diff["details"], Some(1)), "{plan}");
        assert_eq!((&diff["gains"][0]["subject"], &diff["gains"][0]["name"]), (&json!("egress"), &json!("api.example.com")));
        assert!(diff["losses"] == json!([]) && diff["triggersAdded"] == json!([]), "{diff}");
        assert_eq!((&plan["rebuildsCode"], &plan["builder"], &plan["model"]), (&json!(false), &json!("offline"), &Value::Null));
        assert_eq!(plan["adminApproval"], json!({"required": false, "connectors": []}), "no approval is needed, because the planner is an admin");
        let id = plan["changeId"].as_str().context("no id")?;
        let read = fixture.owner.get(&format!("/v1/changes/{id}")).await?.ok()?;
        assert_eq!((&read["state"], &read["appId"], &read["versionId"]), (&json!("planned"), &json!(fixture.app), &Value::Null));
        assert!(read["plan"]["expiresAt"].is_string() && read["plan"]["needsConsole"][0].is_string(), "{read}");
        assert_eq!(read["plan"]["manifest"], plan["manifest"]);
        let versions = fixture.owner.get(&format!("/v1/apps/{}/versions", fixture.app)).await?.ok()?;
        assert_eq!(versions["versions"].as_array().map(Vec::len), Some(1), "a planned change must not create a version");

        // Other editors of the app do not see a planned change.
        let admin = fixture.owner.add_member(&fixture.workspace.id, "admin").await?;
        admin.get(&format!("/v1/runs/{run}")).await?.assert_status(200);
        admin.get(&format!("/v1/changes/{id}")).await?.assert_error(404, "change_not_found");
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", fixture.workspace.id)).await?;
        assert!(String::from_utf8_lossy(&audit.body).contains("change.plan"));
        Ok(())
    }

    async fn a_host_that_the_manifest_names_is_not_suggested(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, CALLS_OUT).await?;
        let refused = fixture.run_to_end().await?;
        let manifest = fixture.plan_change(&refused).await?.ok()?["manifest"].clone();
        fixture.publish_version(json!({"manifest": manifest, "files": {"main.js": CALLS_OUT}})).await?;
        // An owner created the version, so its gate is open: the refused run only has to be run again.
        let explanation = fixture.explain(&refused, "").await?;
        assert_eq!((&explanation["fix"], &explanation["suggestion"]), (&json!({"kind": "retry"}), &Value::Null), "{explanation}");
        fixture.plan_change(&refused).await?.assert_error(409, "nothing_suggested");

        // If the gate is closed, an admin has to open it; a change of the manifest does not help.
        let gates = fixture.owner.get(&format!("/v1/workspaces/{}/gates", fixture.workspace.id)).await?.ok()?;
        let gates = gates["items"].as_array().context("no items")?.clone();
        let gate = gates.iter().find(|gate| gate["host"] == "api.example.com").context("no gate")?["id"].clone();
        let gate = format!("/v1/gates/{}", gate.as_str().unwrap_or_default());
        fixture.owner.patch(&gate, &json!({"status": "closed"})).await?.ok()?;
        let closed = fixture.run_to_end().await?;
        let explanation = fixture.explain(&closed, "").await?;
        assert_eq!(explanation["fix"], json!({"kind": "allow_egress", "domain": "api.example.com"}), "{explanation}");
        assert_eq!(explanation["suggestion"], Value::Null);
        let reply = fixture.plan_change(&closed).await?;
        assert!(String::from_utf8_lossy(&reply.body).contains("the gate to it is closed"), "{reply}");
        reply.assert_error(409, "nothing_suggested");
        Ok(())
    }

    async fn changes_since_the_last_successful_run_are_explained(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, SUCCEEDS).await?;
        let good = fixture.run_to_end().await?;
        let explanation = fixture.explain(&good, "").await?;
        assert_eq!((&explanation["failureClass"], &explanation["fix"]), (&Value::Null, &Value::Null), "{explanation}");
        let mut manifest = fixture.owner.get(&format!("/v1/apps/{}", fixture.app)).await?.string_at("/currentVersionId")?;
        manifest = format!("/v1/apps/{}/versions/{manifest}", fixture.app);
        let mut manifest = fixture.owner.get(&manifest).await?.ok()?["manifest"].clone();
        manifest["permissions"]["egress"] = json!([{"host": "api.github.com", "methods": ["GET"]}]);
        fixture.publish_version(json!({"manifest": manifest, "files": {"main.js": THROWS}})).await?;
        let bad = fixture.run_to_end().await?;
        for (locale, phrase) in [("en", "went back"), ("ru", "Запуск"), ("kk", "қолданбасын")] {
            let explanation = fixture.explain(&bad, &format!("?locale={locale}")).await?;
            assert_eq!(explanation["locale"], json!(locale));
            let changed = &explanation["whatChanged"];
            assert_eq!(changed["lastGood"]["runId"], json!(good), "{explanation}");
            assert_eq!((&changed["versionChanged"], &changed["codeChanged"]), (&json!(true), &json!(true)));
            assert!(changed["lines"][0].as_str().is_some_and(|line| line.contains("api.github.com")), "{explanation}");
            assert_eq!((&explanation["fix"]["kind"], &explanation["fix"]["versionNumber"]), (&json!("rollback"), &json!(1)), "{explanation}");
            assert!(explanation["why"].as_str().is_some_and(|why| why.contains("the cow is away")), "{explanation}");
            let headline = explanation["headline"].as_str().unwrap_or_default();
            assert!(locale == "en" || headline.contains(phrase), "{headline}");
        }
        // The version that succeeded before fails now, so there is no version to restore.
        fixture.publish_version(json!({"files": {"main.js":
            "export default { async scheduled(event) { if (event.data) throw new Error('no') } }"}})).await?;
        fixture.run_to_end().await?;
        let run = fixture.owner.start_run(&fixture.automation, json!(1)).await?;
        fixture.owner.wait_for_run(&run).await?;
        let explanation = fixture.explain(&run, "").await?;
        assert_eq!(explanation["fix"], json!({"kind": "edit_app"}), "{explanation}");
        assert_eq!(explanation["whatChanged"]["versionChanged"], json!(false));
        Ok(())
    }

    async fn a_question_is_checked_and_answered_by_rules(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, THROWS).await?;
        let run = fixture.run_to_end().await?;
        let path = format!("/v1/runs/{run}/ask");
        for body in [json!({"question": "x"}), json!({"question": "x".repeat(501)}), json!({"locale": "de"}),
            json!({"rulesOnly": "yes"}), json!({"more": 1})]
        {
            fixture.owner.post(&path, &body).await?.assert_error(400, "invalid_request");
        }
        fixture.owner.get(&format!("{path}?locale=de")).await?.assert_error(400, "invalid_request");
        let explanation = fixture.owner.post(&path, &json!({"question": "Что случилось?", "locale": "ru"})).await?.ok()?;
        assert_eq!((&explanation["source"], &explanation["model"]), (&json!("rules"), &Value::Null));
        assert!(explanation["answer"].as_str().is_some_and(|answer| answer.contains("правила")), "{explanation}");
        let token = fixture.owner.create_token(&fixture.workspace.id, &["read"]).await?;
        let reader = fixture.owner.with_bearer(&token);
        reader.post(&path, &json!({})).await?.assert_status(200);
        reader.post(&format!("/v1/runs/{run}/change"), &json!({})).await?.assert_error(403, "console_only");
        fixture.plan_change(&run).await?.assert_error(409, "nothing_suggested");
        Ok(())
    }

    async fn viewers_do_not_see_messages_of_the_code(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server, CALLS_OUT).await?;
        let share = json!({"sharing": "workspace", "people": []});
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &share).await?.ok()?;
        let run = fixture.run_to_end().await?;
        let viewer = fixture.owner.add_member(&fixture.workspace.id, "viewer").await?;
        let trace = viewer.get(&format!("/v1/runs/{run}/trace")).await?.ok()?;
        assert_eq!(trace["gate"].as_array().map(Vec::len), Some(1), "{trace}");
        assert!(!trace.to_string().contains("before"), "{trace}");
        let explanation = viewer.post(&format!("/v1/runs/{run}/ask"), &json!({"question": "Why?"})).await?.ok()?;
        assert!(!explanation["evidence"].to_string().contains("before"), "{explanation}");
        assert!(explanation["evidence"].to_string().contains("refused egress_denied"), "{explanation}");
        viewer.post(&format!("/v1/runs/{run}/change"), &json!({})).await?.assert_error(403, "forbidden");
        Ok(())
    }
}
