//! Bytes of stored code: what counts, what is refused at the limit, and versions whose files are deleted.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, eventually_within};

const MIB: u64 = 1 << 20;
const SOURCE: &str =
    "export default { async scheduled(event) { if (event.data?.fail) throw new Error('as requested') } }";
/// Covers the ten seconds between two searches for versions that nothing needs.
const PRUNE_DEADLINE: Duration = Duration::from_secs(60);

/// A version with a file of its own, and one that all versions share.
fn version(number: usize, shared: &str) -> Value {
    json!({"files": {"main.js": format!("{SOURCE}\n// {number}"), "shared.txt": shared}})
}

async fn publish(client: &Client, app: &str, version: &Value) -> Result<String> {
    client.post(&format!("/v1/apps/{app}/versions"), version).await?.string_at("/id")
}

async fn stored_bytes(client: &Client, workspace: &str) -> Result<u64> {
    let workspace = client.get(&format!("/v1/workspaces/{workspace}")).await?.ok()?;
    ensure!(workspace["storedCodeLimitBytes"] == json!(50 * MIB), "{workspace}");
    workspace["storedCodeBytes"].as_u64().context("no bytes")
}

tests::on_both! {
    args: ["--no-rate-limits", "--default-plan", "free"];

    async fn the_same_file_counts_once(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, .. } = AutomationFixture::create(&server, SOURCE).await?;
        let large = "x".repeat(500_000);
        let empty = stored_bytes(&owner, &workspace.id).await?;
        publish(&owner, &app, &version(1, &large)).await?;
        let one = stored_bytes(&owner, &workspace.id).await?;
        assert!((500_000..510_000).contains(&(one - empty)), "{empty}, then {one}");
        for number in 2..6 {
            publish(&owner, &app, &version(number, &large)).await?;
        }
        let draft = json!({"files": {"main.js": SOURCE, "again.txt": large}});
        owner.put(&format!("/v1/apps/{app}/draft"), &draft).await?.assert_status(200);
        let all = stored_bytes(&owner, &workspace.id).await?;
        assert!(all - one < 10_000, "{one}, then {all}");
        let read = owner.get(&format!("/v1/apps/{app}/draft")).await?.ok()?;
        assert_eq!(read["files"], draft["files"]);
        owner.delete(&format!("/v1/apps/{app}/draft")).await?.assert_status(200);
        // The tag of a workspace does not move with what is stored.
        let path = format!("/v1/workspaces/{}", workspace.id);
        let tag = owner.get(&path).await?.headers["etag"].clone();
        publish(&owner, &app, &version(7, &large)).await?;
        assert_eq!(owner.get(&path).await?.headers["etag"], tag);
        owner.delete(&format!("/v1/apps/{app}")).await?.assert_status(200);
        let left = stored_bytes(&owner, &workspace.id).await?;
        assert!(left < empty + 10_000, "{empty}, then {left}");
        Ok(())
    }

    async fn beyond_the_plan_nothing_more_is_stored(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, SOURCE).await?;
        let builder = owner.add_member(&workspace.id, "builder").await?;
        let token = owner.with_bearer(&owner.create_token(&workspace.id, &["read", "write"]).await?);
        let apps = format!("/v1/workspaces/{}/apps", workspace.id);
        let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let second = publish(&owner, &app, &version(1, "shared")).await?;
        server.execute_static_sql("UPDATE workspace_code SET bytes = 52428700").await?;
        for client in [&owner, &builder, &token] {
            let new_app = json!({"name": "Another", "files": {"main.js": format!("{SOURCE}// new")}});
            client.post(&apps, &new_app).await?.assert_error(409, "storage_full");
        }
        for client in [&owner, &token] {
            let refused = client.post(&format!("/v1/apps/{app}/versions"), &version(2, "more")).await?;
            refused.assert_error(409, "storage_full");
            ensure!(refused.json::<Value>()?["error"]["message"].as_str().is_some_and(|text| text.contains("50 MiB")), "{refused}");
        }
        let draft = json!({"files": {"main.js": format!("{SOURCE}// a draft")}});
        owner.put(&format!("/v1/apps/{app}/draft"), &draft).await?.assert_error(409, "storage_full");
        let listed = owner.get(&format!("/v1/apps/{app}/versions")).await?.ok()?;
        assert_eq!(listed["versions"].as_array().map(Vec::len), Some(2), "{listed}");
        // What is there goes on: it runs, and goes back and forth.
        let run = owner.start_run(&automation, json!({})).await?;
        owner.wait_for_success(&run).await?;
        let back = json!({"expectCurrentVersionId": second});
        owner.post(&format!("/v1/apps/{app}/versions/{current}/rollback"), &back).await?.assert_status(200);
        // The same files with another manifest, as a planned change has them.
        let plan = json!({"instruction": "Rename it to \"Reports\"."});
        let plan = owner.post(&format!("/v1/apps/{app}/changes"), &plan).await?.ok()?;
        let approve = format!("/v1/changes/{}/approve", plan["changeId"].as_str().context("no id")?);
        let approved = owner.post(&approve, &json!({"manifest": plan["manifest"]})).await?.ok()?;
        assert_eq!(approved["state"], "live", "{approved}");
        Ok(())
    }

    async fn a_version_beyond_the_newest_fifty_loses_its_files(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, SOURCE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        let kept = publish(&owner, &app, &version(2, "kept")).await?;
        let run = webhook.send(&json!({"fail": true})).await?.string_at("/runId")?;
        assert_eq!(owner.wait_for_run(&run).await?["status"], "failed");
        let letters = owner.get(&format!("/v1/workspaces/{}/dead-letters?state=open", workspace.id)).await?;
        let letter = letters.string_at("/items/0/id")?;
        let gone = publish(&owner, &app, &version(3, "gone")).await?;
        let failed = owner.start_run(&automation, json!({"fail": true})).await?;
        assert_eq!(owner.wait_for_run(&failed).await?["status"], "failed");
        let mut current = String::new();
        for number in 4..=53 {
            current = publish(&owner, &app, &version(number, "shared")).await?;
        }
        let path = |version: &str| format!("/v1/apps/{app}/versions/{version}");
        let pruned = eventually_within(PRUNE_DEADLINE, "the version loses its files", async || {
            let read = owner.get(&path(&gone)).await?.ok()?;
            ensure!(read["runnable"] == false, "{read}");
            Ok(read)
        })
        .await?;
        assert_eq!((&pruned["files"], &pruned["trustReasons"]), (&json!({}), &Value::Null));
        assert_eq!(pruned["manifest"]["name"], "An app of a test", "{pruned}");
        let named = owner.get(&path(&kept)).await?.ok()?;
        assert_eq!((&named["runnable"], &named["files"]["shared.txt"]), (&json!(true), &json!("kept")));
        let listed = owner.get(&format!("/v1/apps/{app}/versions?limit=200")).await?.ok()?;
        let unusable: Vec<u64> = listed["versions"].as_array().into_iter().flatten()
            .filter(|version| version["runnable"] == false)
            .filter_map(|version| version["number"].as_u64())
            .collect();
        assert_eq!(unusable, [3, 1]);

        let back = json!({"expectCurrentVersionId": current});
        let refused = owner.post(&format!("{}/rollback", path(&gone)), &back).await?;
        refused.assert_error(409, "version_unusable");
        let original = json!({"version": "original"});
        owner.post(&format!("/v1/runs/{failed}/replay"), &original).await?.assert_error(409, "version_unusable");
        owner.post(&format!("/v1/runs/{failed}/replay"), &json!({"input": {}})).await?.assert_status(200);
        let compared = owner.get(&format!("/v1/apps/{app}/versions/compare?from={gone}&to={current}")).await?.ok()?;
        assert_eq!((&compared["from"]["runnable"], &compared["files"]), (&json!(false), &json!([])));
        // The dead letter's version is there until it is settled.
        let replay = json!({"version": "original", "payload": {}});
        let replayed = owner.post(&format!("/v1/dead-letters/{letter}/replay"), &replay).await?.ok()?;
        assert_eq!(replayed["version"]["number"], 2, "{replayed}");
        owner.wait_for_success(replayed["runId"].as_str().context("no run")?).await?;
        let explained = owner.get(&format!("/v1/runs/{failed}/explain")).await?;
        explained.assert_status(200);
        Ok(())
    }

    async fn a_person_creates_a_bounded_number_of_workspaces(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let mut last = String::new();
        for number in 0..50 {
            last = owner.create_workspace(&format!("Tulpar {number}")).await?.id;
        }
        let another = json!({"name": "One more", "profile": "global", "teamSize": "solo", "intents": []});
        let refused = owner.post("/v1/workspaces", &another).await?;
        refused.assert_error(409, "too_many_workspaces");
        // One that can be restored still counts.
        let confirm = json!({"confirmName": "Tulpar 49"});
        owner.request(http::Method::DELETE, &format!("/v1/workspaces/{last}")).json(&confirm)?.send().await?.assert_status(200);
        owner.post("/v1/workspaces", &another).await?.assert_error(409, "too_many_workspaces");
        let other = server.sign_in("other@example.test").await?;
        other.post("/v1/workspaces", &another).await?.assert_status(200);
        Ok(())
    }
}
