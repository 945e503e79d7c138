//! Versions of an app: comparing two of them, and going back.

use anyhow::{Context as _, Result};
use http::{Method, header::ACCEPT_LANGUAGE};
use serde_json::{Value, json};
use tests::{Client, Reply, Server};

struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    /// Versions 1 and 2, of which the second is current.
    versions: [String; 2],
}

fn version(word: &str, egress: &Value) -> Value {
    json!({
        "files": {
            "main.js": format!("export default {{\n  async fetch() {{\n    return new Response('{word}');\n  }},\n}};\n"),
            format!("{word}.txt"): word,
        },
        "manifest": {
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}], "permissions": {"egress": egress},
        },
        "summary": format!("Say {word}"),
    })
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let apps = format!("/v1/workspaces/{workspace}/apps");
        let app = owner.post(&apps, &json!({"name": "An app"})).await?.string_at("/id")?;
        let shared = json!({"sharing": "workspace", "people": []});
        owner.put(&format!("/v1/apps/{app}/access"), &shared).await?.ok()?;
        let mut versions = Vec::new();
        for (word, egress) in [
            ("one", json!([{"host": "one.example.com"}])),
            ("two", json!([{"host": "two.example.com", "methods": ["GET"]}])),
        ] {
            let path = format!("/v1/apps/{app}/versions");
            versions.push(owner.post(&path, &version(word, &egress)).await?.string_at("/id")?);
        }
        let versions = versions.try_into().map_err(|_| anyhow::anyhow!("not two versions"))?;
        Ok(Self { owner, workspace, app, versions })
    }

    async fn roll_back(&self, client: &Client, to: &str, expected: &str) -> Result<Reply> {
        let path = format!("/v1/apps/{}/versions/{to}/rollback", self.app);
        client.post(&path, &json!({"expectCurrentVersionId": expected})).await
    }

    async fn list(&self) -> Result<Value> {
        self.owner.get(&format!("/v1/apps/{}/versions", self.app)).await?.ok()
    }

    /// Returns what the app says to a visitor.
    async fn said(&self) -> Result<String> {
        let slug = self.owner.get(&format!("/v1/apps/{}", self.app)).await?.string_at("/slug")?;
        let response = self.owner.get(&format!("/a/{slug}/")).await?;
        Ok(String::from_utf8_lossy(&response.body).into_owned())
    }

    async fn compare(&self, query: &str, language: &str) -> Result<Reply> {
        let path = format!("/v1/apps/{}/versions/compare?{query}", self.app);
        self.owner.request(Method::GET, &path).header(ACCEPT_LANGUAGE, language)?.send().await
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_app_goes_back_and_forth(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let [one, two] = &fixture.versions;
        assert_eq!(fixture.said().await?, "two");
        let moved = fixture.roll_back(&fixture.owner, one, two).await?.ok()?;
        assert_eq!((&moved["fromVersionId"], &moved["toVersionId"]), (&json!(two), &json!(one)));
        assert_eq!((&moved["appId"], &moved["needsConsole"]), (&json!(fixture.app), &json!([])));
        assert_eq!(moved["diff"]["gains"][0]["name"], "one.example.com", "{moved}");
        assert_eq!(moved["diff"]["losses"][0]["name"], "two.example.com", "{moved}");
        assert_eq!(fixture.said().await?, "one");

        let list = fixture.list().await?;
        assert_eq!(list["currentVersionId"], json!(one));
        assert_eq!(list["versions"].as_array().context("no versions")?.len(), 2, "nothing was built");
        let rollback = &list["rollbacks"][0];
        assert_eq!((&rollback["fromVersionId"], &rollback["toVersionId"]), (&json!(two), &json!(one)));
        assert!(rollback["byName"].is_string() && rollback["at"].is_string(), "{rollback}");
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit", fixture.workspace)).await?.ok()?;
        assert_eq!(audit["items"][0]["action"], "version.rollback", "{audit}");

        fixture.roll_back(&fixture.owner, two, one).await?.ok()?;
        assert_eq!(fixture.said().await?, "two");
        assert_eq!(fixture.list().await?["rollbacks"].as_array().context("no rollbacks")?.len(), 2);
        // A version that is made now comes after both.
        let path = format!("/v1/apps/{}/versions", fixture.app);
        let third = fixture.owner.post(&path, &version("three", &json!([]))).await?.ok()?;
        assert_eq!((&third["number"], &third["baseVersionId"]), (&json!(3), &json!(two)));
        Ok(())
    }

    async fn a_score_says_what_took_points_off(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = format!("/v1/apps/{}/versions/{}", fixture.app, fixture.versions[0]);
        for (language, sentence) in [
            ("en", "It can call 1 external host."),
            ("ru", "Внешних хостов, к которым может обращаться: 1."),
            ("kk", "1 сыртқы хостқа сұрау жібере алады."),
        ] {
            let request = fixture.owner.request(Method::GET, &path).header(ACCEPT_LANGUAGE, language)?;
            let version = request.send().await?.ok()?;
            let reasons = version["trustReasons"].as_array().context("no reasons")?;
            assert_eq!((&reasons[0]["rule"], &reasons[0]["sentence"]), (&json!("hosts"), &json!(sentence)));
            let points: u64 = reasons.iter().filter_map(|reason| reason["points"].as_u64()).sum();
            assert_eq!(version["trustScore"], 100 - points, "{version}");
        }
        let hidden = json!({"files": {"main.js": "export default { async scheduled() { eval('https://a.example/'); } };"}});
        let hidden = fixture.owner.post(&format!("/v1/apps/{}/versions", fixture.app), &hidden).await?.string_at("/id")?;
        let version = fixture.owner.get(&format!("/v1/apps/{}/versions/{hidden}", fixture.app)).await?.ok()?;
        let reasons = version["trustReasons"].as_array().context("no reasons")?;
        let shown: Vec<_> = reasons.iter().map(|reason| (&reason["rule"], &reason["example"])).collect();
        assert!(shown.contains(&(&json!("eval"), &json!("main.js"))), "{version}");
        assert!(shown.contains(&(&json!("undeclared"), &json!("a.example"))), "{version}");
        Ok(())
    }

    async fn of_two_who_roll_back_at_once_one_wins(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let [one, two] = &fixture.versions;
        let both = [fixture.roll_back(&fixture.owner, one, two), fixture.roll_back(&fixture.owner, one, two)];
        let replies = futures::future::try_join_all(both).await?;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 1));
        lost[0].assert_error(409, "stale_version");
        assert_eq!(fixture.list().await?["rollbacks"].as_array().context("no rollbacks")?.len(), 1);
        // Neither who moves it where it is, nor who knows another current version.
        fixture.roll_back(&fixture.owner, one, one).await?.assert_error(409, "already_current");
        fixture.roll_back(&fixture.owner, two, two).await?.assert_error(409, "stale_version");
        let unknown = "ver_00000000000000000000000000";
        fixture.roll_back(&fixture.owner, unknown, one).await?.assert_error(404, "version_not_found");
        fixture.roll_back(&fixture.owner, two, unknown).await?.assert_error(409, "stale_version");
        fixture.roll_back(&fixture.owner, "ver_x", one).await?.assert_error(404, "version_not_found");
        fixture.roll_back(&fixture.owner, two, "ver_x").await?.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn a_new_version_names_its_maker_and_the_first_is_compared_with_itself(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let version = json!({"files": {"main.js": "export default { async fetch() { return new Response('three') } }"}});
        let made = fixture.owner.post(&format!("/v1/apps/{}/versions", fixture.app), &version).await?.ok()?;
        let listed = fixture.list().await?["versions"][0].clone();
        assert_eq!(made["id"], listed["id"]);
        assert!(made["createdByName"].is_string(), "{made}");
        assert_eq!(made["createdByName"], listed["createdByName"]);
        let versions = fixture.list().await?["versions"].clone();
        let first = versions.as_array().and_then(|all| all.last()).context("no versions")?["id"].clone();
        let path = format!("to={}", first.as_str().context("no id")?);
        let compared = fixture.compare(&path, "en").await?.ok()?;
        assert_eq!((&compared["from"]["id"], &compared["to"]["id"]), (&first, &first), "{compared}");
        assert_eq!(compared["files"], json!([]), "{compared}");
        Ok(())
    }

    async fn only_those_who_may_edit_go_back(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let [one, two] = &fixture.versions;
        let viewer = fixture.owner.add_member(&fixture.workspace, "viewer").await?;
        fixture.roll_back(&viewer, one, two).await?.assert_error(403, "forbidden");
        let comparison = format!("/v1/apps/{}/versions/compare?to={two}", fixture.app);
        viewer.get(&comparison).await?.ok()?;
        let stranger = server.sign_in("stranger@example.test").await?;
        fixture.roll_back(&stranger, one, two).await?.assert_error(404, "app_not_found");
        stranger.get(&comparison).await?.assert_error(404, "app_not_found");
        // A version of an app of another workspace is none of this one.
        let elsewhere = Fixture::create(&server).await?;
        fixture.roll_back(&fixture.owner, &elsewhere.versions[0], two).await?.assert_error(404, "version_not_found");
        let foreign = format!("/v1/apps/{}/versions/compare?to={}", fixture.app, elsewhere.versions[0]);
        fixture.owner.get(&foreign).await?.assert_error(404, "version_not_found");
        let reader = fixture.owner.with_bearer(&fixture.owner.create_token(&fixture.workspace, &["read"]).await?);
        fixture.roll_back(&reader, one, two).await?.assert_error(403, "insufficient_scope");
        reader.get(&comparison).await?.ok()?;
        let writer = fixture.owner.create_token(&fixture.workspace, &["read", "write"]).await?;
        // The first version has a host that the second does not have.
        fixture.roll_back(&fixture.owner.with_bearer(&writer), one, two).await?.assert_error(403, "approval_needs_console");
        let admin = fixture.owner.create_token(&fixture.workspace, &["read", "write", "admin"]).await?;
        fixture.roll_back(&fixture.owner.with_bearer(&admin), one, two).await?.ok()?;
        Ok(())
    }

    async fn a_version_whose_project_is_gone_is_no_way_back(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let projects = format!("/v1/workspaces/{}/backend/projects", fixture.workspace);
        let project = fixture.owner.post(&projects, &json!({"name": "Orders"})).await?.string_at("/id")?;
        let mut with_project = version("three", &json!([]));
        with_project["manifest"]["permissions"]["data"] =
            json!([{"name": "orders", "projectId": project, "access": "read"}]);
        let path = format!("/v1/apps/{}/versions", fixture.app);
        let third = fixture.owner.post(&path, &with_project).await?.string_at("/id")?;
        let fourth = fixture.owner.post(&path, &version("four", &json!([]))).await?.string_at("/id")?;
        let delete = json!({"confirmName": "Orders"});
        let deleted = fixture.owner.request(Method::DELETE, &format!("/v1/backend/projects/{project}")).json(&delete)?;
        deleted.send().await?.ok()?;
        let refused = fixture.roll_back(&fixture.owner, &third, &fourth).await?;
        refused.assert_error(409, "version_unusable");
        assert_eq!(fixture.said().await?, "four");
        Ok(())
    }

    async fn two_versions_are_compared_in_the_language_of_the_reader(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let [one, two] = &fixture.versions;
        // Without `from`, with the version before.
        let english = fixture.compare(&format!("to={two}"), "en").await?.ok()?;
        assert_eq!((&english["from"]["id"], &english["to"]["id"]), (&json!(one), &json!(two)));
        let sentence = |comparison: &Value| comparison["diff"]["gains"][0]["sentence"].as_str().map(str::to_owned);
        let mut sentences = std::collections::BTreeSet::from([sentence(&english)]);
        for language in ["ru", "kk"] {
            let comparison = fixture.compare(&format!("to={two}&from={one}"), language).await?.ok()?;
            sentences.insert(sentence(&comparison));
        }
        assert!(sentences.len() == 3 && !sentences.contains(&None), "{sentences:?}");
        let files = english["files"].as_array().context("no files")?;
        let summary: Vec<_> = files.iter().map(|file| (&file["path"], &file["change"], &file["linesAdded"])).collect();
        let expected =
            [("main.js", "changed", 1), ("one.txt", "removed", 0), ("two.txt", "added", 1)];
        let expected = expected.map(|(path, change, lines)| (json!(path), json!(change), json!(lines)));
        assert_eq!(summary, expected.each_ref().map(|(path, change, lines)| (path, change, lines)));
        let unified = files[0]["unified"].as_str().context("no diff")?;
        assert!(unified.contains("\n-    return new Response('one');\n+    return new Response('two');\n"), "{unified}");

        let same = fixture.compare(&format!("to={one}&from={one}"), "en").await?.ok()?;
        assert_eq!((&same["files"], &same["diff"]["details"]), (&json!([]), &json!([])));
        // Nothing was before the first version.
        assert_eq!(fixture.compare(&format!("to={one}"), "en").await?.ok()?, same);
        fixture.compare("from=x", "en").await?.assert_error(400, "invalid_request");
        fixture.compare("to=x", "en").await?.assert_error(400, "invalid_request");
        let unknown = "ver_00000000000000000000000000";
        fixture.compare(&format!("to={unknown}"), "en").await?.assert_error(404, "version_not_found");
        Ok(())
    }

    async fn a_rollback_takes_schedules_along_and_names_what_stays(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let Fixture { owner, workspace, app, .. } = &fixture;
        let source = "export default { async scheduled() {} }";
        let publish = async |triggers: Value, secrets: Value| {
            let mut body = version("base", &json!([]));
            body["files"] = json!({"main.js": source});
            body["manifest"]["triggers"] = triggers;
            body["manifest"]["permissions"]["secrets"] = secrets;
            owner.post(&format!("/v1/apps/{app}/versions"), &body).await?.string_at("/id")
        };
        let daily = json!([{"type": "manual"}, {"type": "schedule", "cron": "0 9 * * *", "timezone": "UTC"}]);
        let base = publish(daily.clone(), json!([])).await?;
        let create = async |name: &str, cron: &str| {
            let trigger = json!({"type": "schedule", "cron": cron, "timezone": "UTC"});
            let body = json!({"name": name, "appId": app, "trigger": trigger});
            owner.post(&format!("/v1/workspaces/{workspace}/automations"), &body).await?.string_at("/id")
        };
        let state = async |automation: &str| -> Result<(Value, Value)> {
            let found = owner.get(&format!("/v1/automations/{automation}")).await?.ok()?;
            Ok((found["status"].clone(), found["trigger"]["cron"].clone()))
        };
        let main = create("Main", "0 9 * * *").await?;
        let plan = async |instruction: &str| -> Result<Value> {
            let plan = owner.post(&format!("/v1/apps/{app}/changes"), &json!({"instruction": instruction})).await?.ok()?;
            let path = format!("/v1/changes/{}/approve", plan["changeId"].as_str().context("no plan")?);
            let approved = owner.post(&path, &json!({"manifest": plan["manifest"]})).await?.ok()?;
            assert_eq!(approved["state"], "live", "{approved}");
            Ok(approved)
        };
        let back = async |to: &str| -> Result<Value> {
            let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
            fixture.roll_back(owner, to, &current).await?.ok()
        };
        let changes = |moved: &Value| -> Vec<(Value, Value)> {
            let automations = moved["automations"].as_array().cloned().unwrap_or_default();
            automations.iter().map(|it| (it["name"].clone(), it["change"].clone())).collect()
        };

        // A schedule that a plan moved moves back, and what else the plan changed is named.
        owner.put(&format!("/v1/apps/{app}/access"), &json!({"sharing": "private", "people": []})).await?.ok()?;
        plan("Run it every minute. Share it with the workspace. Rename it to \"Clock\".").await?;
        plan("Retry failed runs 3 times.").await?;
        assert_eq!(state(&main).await?, (json!("active"), json!("* * * * *")));
        let moved = back(&base).await?;
        assert_eq!(state(&main).await?, (json!("active"), json!("0 9 * * *")), "{moved}");
        assert_eq!(changes(&moved), [(json!("Main"), json!("moved"))], "{moved}");
        let subjects: Vec<_> = moved["remains"].as_array().context("no list")?.iter().map(|it| &it["subject"]).collect();
        assert_eq!(subjects, [&json!("sharing"), &json!("name"), &json!("retries")], "{moved}");
        let audit = owner.get(&format!("/v1/workspaces/{workspace}/audit")).await?.ok()?;
        let entries = audit["items"].as_array().context("no entries")?;
        let entry = entries.iter().find(|entry| entry["action"] == "version.rollback").context("not audited")?;
        assert_eq!(entry["detail"]["automations"], json!([{"id": main, "change": "moved"}]), "{entry}");
        assert_eq!(entry["detail"]["remains"], json!(["sharing", "name", "retries"]), "{entry}");

        // One that a plan paused is started again.
        plan("Remove the schedule.").await?;
        assert_eq!(state(&main).await?.0, "paused");
        assert_eq!(changes(&back(&base).await?), [(json!("Main"), json!("started"))]);
        assert_eq!(state(&main).await?, (json!("active"), json!("0 9 * * *")));

        // What somebody touched since stays, and a schedule that nobody declared runs on.
        let other = create("Other", "30 7 * * *").await?;
        plan("Retry failed runs 2 times.").await?;
        let hourly = json!([{"type": "manual"}, {"type": "schedule", "cron": "0 * * * *", "timezone": "UTC"}]);
        publish(hourly, json!([{"name": "KEY"}])).await?;
        let secret = json!({"value": "a-secret-of-a-test"});
        owner.put(&format!("/v1/apps/{app}/secrets/KEY"), &secret).await?.ok()?;
        let third = create("Third", "0 * * * *").await?;
        let moved = back(&base).await?;
        assert_eq!(changes(&moved), [(json!("Third"), json!("paused"))], "{moved}");
        assert!(moved["remains"].to_string().contains("KEY"), "{moved}");
        assert_eq!(state(&other).await?, (json!("active"), json!("30 7 * * *")));
        assert_eq!(state(&third).await?.0, "paused");
        assert_eq!(state(&main).await?, (json!("active"), json!("0 9 * * *")));
        Ok(())
    }
}
