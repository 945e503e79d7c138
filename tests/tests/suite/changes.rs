//! Events `changed`: what one client changes, others hear of, as far as they may see it.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{AutomationFixture, BackendProject, Client, Database, EventStream, Server, StreamEvent};
use tokio::time::Instant;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const SOURCE: &str = "export default { async scheduled() {} }";

/// A client that follows the changes of a workspace.
struct Follower {
    stream: EventStream,
    last: u64,
}

impl Follower {
    async fn open(client: &Client, workspace: &str) -> Result<Self> {
        let path = format!("/v1/workspaces/{workspace}/events");
        let mut stream = client.request(Method::GET, &path).open_event_stream().await?;
        let last = stream.next_block().await?.and_then(|block| block.id).context("no number")?;
        Ok(Self { stream, last })
    }

    async fn resume(client: &Client, workspace: &str, last: u64) -> Result<Self> {
        let path = format!("/v1/workspaces/{workspace}/events");
        let request = client.request(Method::GET, &path).header(LAST_EVENT_ID, &last.to_string())?;
        Ok(Self { stream: request.open_event_stream().await?, last })
    }

    /// Waits for the next change.
    async fn next(&mut self) -> Result<Value> {
        loop {
            let StreamEvent { id, event, data, .. } = self.stream.next_event().await?;
            self.last = id.unwrap_or(self.last);
            if event.as_deref() == Some("changed") {
                return Ok(data);
            }
        }
    }

    /// Waits for a change of an object, and returns it with those before it.
    async fn until(&mut self, kind: &str, id: &str) -> Result<Vec<Value>> {
        let mut changes = Vec::new();
        loop {
            let change = self.next().await.with_context(|| format!("{kind} {id}, after {changes:?}"))?;
            let found = change["kind"] == kind && change["id"] == id;
            changes.push(change);
            if found {
                return Ok(changes);
            }
        }
    }

    async fn wait(&mut self, kind: &str, id: &str) -> Result<Value> {
        self.until(kind, id).await?.pop().context("no change")
    }
}

/// Renames an app that everybody sees, waits until a follower hears of it, and returns the kinds of what came before.
async fn kinds_until_now(follower: &mut Follower, owner: &Client, app: &str) -> Result<Vec<String>> {
    owner.patch(&format!("/v1/apps/{app}"), &json!({"description": "Renamed"})).await?.ok()?;
    let mut changes = follower.until("app", app).await?;
    changes.pop();
    Ok(changes.iter().filter_map(|change| change["kind"].as_str().map(str::to_owned)).collect())
}

async fn share(owner: &Client, app: &str, sharing: &str, people: Value) -> Result<()> {
    let access = json!({"sharing": sharing, "people": people});
    owner.put(&format!("/v1/apps/{app}/access"), &access).await?.ok().map(drop)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_second_client_hears_of_each_change(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, SOURCE).await?;
        let ws = workspace.id.as_str();
        let in_workspace = |path: &str| format!("/v1/workspaces/{ws}/{path}");
        let admin = owner.add_member(ws, "admin").await?;
        let by = owner.user_id().await?;
        let mut second = Follower::open(&admin, ws).await?;

        let named = owner.patch(&format!("/v1/apps/{app}"), &json!({"name": "Diary"})).await?.ok()?;
        let change = second.wait("app", &app).await?;
        assert_eq!((&change["appId"], &change["appName"], &change["by"]), (&json!(app), &named["name"], &json!(by)));
        assert_eq!((&change["roadId"], &change["projectId"], &change["table"]), (&Value::Null, &Value::Null, &Value::Null));
        assert!(change["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{change}");

        let version = owner.post(&format!("/v1/apps/{app}/versions"), &json!({"files": {"main.js": SOURCE}})).await?.string_at("/id")?;
        assert_eq!(second.wait("version", &version).await?["appId"], json!(app));
        share(&owner, &app, "workspace", json!([])).await?;
        second.wait("app", &app).await?;

        let road = format!("/v1/automations/{automation}");
        owner.patch(&road, &json!({"name": "Other"})).await?.ok()?;
        let change = second.wait("automation", &automation).await?;
        assert_eq!((&change["appId"], &change["roadId"]), (&json!(app), &json!(automation)));
        for path in ["/webhook", "/webhook/rotate"] {
            let body = json!({"mode": "signed"});
            let reply = if path == "/webhook" { owner.put(&format!("{road}{path}"), &body).await? } else { owner.post(&format!("{road}{path}"), &json!({})).await? };
            reply.ok()?;
            let change = loop {
                let change = second.next().await?;
                if change["kind"] == "webhook" { break change }
            };
            assert_eq!((&change["roadId"], &change["appId"]), (&json!(automation), &json!(app)));
        }
        let manual = owner.create_automation(ws, &app, "manual", 0).await?;
        second.wait("automation", &manual).await?;
        owner.delete(&format!("/v1/automations/{manual}")).await?.ok()?;
        second.wait("automation", &manual).await?;

        let gate = workspace.creation_response["starter"]["gateIds"][0].as_str().context("no gate")?.to_owned();
        owner.patch(&format!("/v1/gates/{gate}"), &json!({"status": "closed"})).await?.ok()?;
        assert_eq!(second.wait("gate", &gate).await?["appId"], Value::Null);

        let project = BackendProject::create(&owner, ws).await?;
        let change = second.wait("project", &project.id).await?;
        assert_eq!(change["projectId"], json!(project.id));
        let key = json!({"kind": "secret", "name": "A key", "scopes": ["rows:read"]});
        let key = owner.post(&project.console_path("/keys"), &key).await?.string_at("/key/id")?;
        assert_eq!(second.wait("project_key", &key).await?["projectId"], json!(project.id));
        owner.delete(&project.console_path(&format!("/keys/{key}"))).await?.ok()?;
        second.wait("project_key", &key).await?;
        owner.patch(&project.console_path("/settings"), &json!({"maxBodyKb": 64})).await?.ok()?;
        second.wait("project", &project.id).await?;

        let user = admin.user_id().await?;
        let guest = owner.add_member(ws, "viewer").await?;
        let guest_id = guest.user_id().await?;
        second.wait("member", &guest_id).await?;
        owner.patch(&in_workspace(&format!("members/{guest_id}")), &json!({"role": "member"})).await?.ok()?;
        second.wait("member", &guest_id).await?;
        owner.delete(&in_workspace(&format!("members/{guest_id}"))).await?.ok()?;
        second.wait("member", &guest_id).await?;
        let invite = owner.post(&in_workspace("invites"), &json!({"emails": ["a@people.test"], "role": "member", "deliver": "link"})).await?.string_at("/items/0/id")?;
        second.wait("invite", &invite).await?;
        owner.delete(&in_workspace(&format!("invites/{invite}"))).await?.ok()?;
        second.wait("invite", &invite).await?;
        owner.put(&in_workspace("join-domain"), &json!({"domain": "people.test"})).await?.ok()?;
        second.wait("join_domain", ws).await?;

        // Tokens are for their own person only, in every session.
        let mut own = Follower::open(&owner, ws).await?;
        let token = owner.post(&in_workspace("tokens"), &json!({"name": "Mine", "scopes": ["read"]})).await?.string_at("/token/id")?;
        assert_eq!(own.wait("token", &token).await?["by"], json!(by));
        let others = kinds_until_now(&mut second, &owner, &app).await?;
        assert!(!others.contains(&"token".to_owned()), "{others:?}");

        owner.post(&in_workspace(&format!("members/{user}/transfer-ownership")), &json!({"confirmName": "Tulpar"})).await?.ok()?;
        second.wait("member", &user).await?;
        owner.delete(&format!("/v1/apps/{app}")).await?.ok()?;
        second.wait("app", &app).await?;
        Ok(())
    }

    async fn changes_are_for_those_who_may_see_the_object(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let ws = workspace.id.as_str();
        let app = owner.create_app(ws, SOURCE).await?;
        share(&owner, &app, "workspace", json!([])).await?;
        let hidden = owner.create_app(ws, SOURCE).await?;
        share(&owner, &hidden, "private", json!([])).await?;
        let project = BackendProject::create(&owner, ws).await?;
        let (builder, member, viewer) =
            (owner.add_member(ws, "builder").await?, owner.add_member(ws, "member").await?, owner.add_member(ws, "viewer").await?);
        let mut followers = Vec::new();
        for client in [&builder, &member, &viewer] {
            followers.push(Follower::open(client, ws).await?);
        }
        owner.patch(&format!("/v1/apps/{hidden}"), &json!({"name": "Secret"})).await?.ok()?;
        owner.create_invite(ws, "a@people.test", "member").await?;
        project.create_key("secret").await?;
        project.create_table("items", &[("title", "text")]).await?;
        owner.create_token(ws, &["read"]).await?;
        let gate = workspace.creation_response["starter"]["gateIds"][0].as_str().context("no gate")?;
        owner.patch(&format!("/v1/gates/{gate}"), &json!({"status": "closed"})).await?.ok()?;
        for (follower, expected) in followers.iter_mut().zip([&["table", "gate"][..], &["table", "gate"], &["gate"]]) {
            assert_eq!(kinds_until_now(follower, &owner, &app).await?, expected);
        }

        // Whoever created a project sees its keys.
        let theirs = BackendProject::create(&builder, ws).await?;
        let mut creator = Follower::open(&builder, ws).await?;
        let key = json!({"kind": "secret", "name": "Ours", "scopes": ["rows:read"]});
        let key = owner.post(&theirs.console_path("/keys"), &key).await?.string_at("/key/id")?;
        creator.wait("project_key", &key).await?;

        let stranger = server.sign_in("stranger@example.test").await?;
        stranger.get(&format!("/v1/workspaces/{ws}/events")).await?.assert_error(404, "workspace_not_found");
        Ok(())
    }

    async fn those_who_lose_an_app_hear_of_it_once(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let ws = workspace.id.as_str();
        let shown = owner.create_app(ws, SOURCE).await?;
        share(&owner, &shown, "workspace", json!([])).await?;
        let app = owner.create_app(ws, SOURCE).await?;
        let (member, viewer) = (owner.add_member(ws, "member").await?, owner.add_member(ws, "viewer").await?);
        let grant = json!([{"userId": viewer.user_id().await?, "rights": ["can_view"]}]);
        share(&owner, &app, "team", grant).await?;
        let mut followers = [Follower::open(&member, ws).await?, Follower::open(&viewer, ws).await?];
        share(&owner, &app, "private", json!([])).await?;
        for follower in &mut followers {
            let change = follower.wait("app", &app).await?;
            assert_eq!((&change["appId"], &change["appName"]), (&json!(app), &Value::Null), "its name may be another now");
        }
        for client in [&member, &viewer] {
            client.get(&format!("/v1/apps/{app}")).await?.assert_error(404, "app_not_found");
        }
        owner.patch(&format!("/v1/apps/{app}"), &json!({"name": "Secret"})).await?.ok()?;
        for follower in &mut followers {
            assert_eq!(kinds_until_now(follower, &owner, &shown).await?, [""; 0]);
        }
        Ok(())
    }

    async fn tables_policies_and_columns_are_reported(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        let key = json!({"kind": "secret", "name": "Tests", "scopes": ["schema:write"]});
        let key = owner.post(&project.console_path("/keys"), &key).await?.string_at("/secret")?;
        let member = owner.add_member(&workspace.id, "member").await?;
        let mut follower = Follower::open(&member, &workspace.id).await?;
        let id = format!("{}/items", project.id);
        let table = |path: &str| project.console_path(&format!("/tables/items{path}"));
        let by = owner.user_id().await?;

        project.create_table("items", &[("title", "text")]).await?;
        let change = follower.wait("table", &id).await?;
        assert_eq!((&change["projectId"], &change["table"], &change["by"]), (&json!(project.id), &json!("items"), &json!(by)));
        owner.post(&table("/columns"), &json!({"name": "qty", "type": "integer"})).await?.ok()?;
        follower.wait("table", &id).await?;
        owner.patch(&table("/columns/qty"), &json!({"name": "amount"})).await?.ok()?;
        follower.wait("table", &id).await?;
        owner.delete(&table("/columns/amount")).await?.ok()?;
        follower.wait("table", &id).await?;
        owner.post(&table("/indexes"), &json!({"columns": ["title"]})).await?.ok()?;
        follower.wait("table", &id).await?;
        owner.delete(&table("/indexes/ix1")).await?.ok()?;
        follower.wait("table", &id).await?;
        project.set_policy("items", &json!({"sentences": ["Anyone may read every row."]})).await?.ok()?;
        follower.wait("policy", &id).await?;
        owner.patch(&project.console_path("/settings"), &json!({"publicReadTables": ["items"], "confirmPublicRead": ["items"]})).await?.ok()?;
        follower.wait("policy", &id).await?;
        // A server changes the schema with its key.
        let columns = format!("/v1/projects/{}/schema/tables/items/columns", project.id);
        let request = server.client().with_bearer(&key);
        request.post(&columns, &json!({"name": "unit", "type": "text"})).await?.ok()?;
        assert_eq!(follower.wait("table", &id).await?["by"], Value::Null);
        owner.request(Method::DELETE, &table("")).json(&json!({"confirmName": "items"}))?.send().await?.ok()?;
        follower.wait("table", &id).await?;
        Ok(())
    }

    async fn written_rows_are_reported_at_most_once_a_second(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        project.create_table("items", &[("title", "text")]).await?;
        project.create_table("other", &[("title", "text")]).await?;
        let key = project.create_key("secret").await?;
        let member = owner.add_member(&workspace.id, "member").await?;
        let (items, other) = (format!("{}/items", project.id), format!("{}/other", project.id));
        let mut follower = Follower::open(&member, &workspace.id).await?;
        let rows = project.console_path("/tables/items/rows");

        owner.post(&rows, &json!({"id": "a", "title": "x"})).await?.ok()?;
        let change = follower.wait("rows", &items).await?;
        assert_eq!((&change["projectId"], &change["table"], &change["by"]), (&json!(project.id), &json!("items"), &Value::Null));

        // The second write within the second is reported at its end, whoever wrote it; other tables are not held back.
        let write = async |method: Method, path: &str, body: Value| {
            project.rest_request(&owner.signed_out(), (&key, None), method, path)?.json(&body)?.send().await?.ok()
        };
        write(Method::PATCH, "items?id=eq.a", json!({"title": "y"})).await?;
        write(Method::POST, "other", json!({"id": "a"})).await?;
        let heard: BTreeSet<String> = [follower.next().await?, follower.next().await?]
            .iter()
            .filter_map(|change| change["id"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(heard, BTreeSet::from([items.clone(), other.clone()]));

        let batch = json!({"operations": [
            {"method": "POST", "table": "items", "body": {"id": "b"}}, {"method": "POST", "table": "other", "body": {"id": "b"}},
        ]});
        write(Method::POST, "_batch", batch).await?;
        let heard: BTreeSet<String> = [follower.next().await?, follower.next().await?]
            .iter()
            .filter_map(|change| change["id"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(heard, BTreeSet::from([items.clone(), other.clone()]));

        let started_at = Instant::now();
        for number in 0..100 {
            write(Method::POST, "items", json!({"id": format!("row {number}")})).await?;
        }
        // What is written at last is reported at last: the mark is a write to the other table after it.
        write(Method::DELETE, "items?id=like.row*", json!({})).await?;
        write(Method::DELETE, "other?id=eq.b", json!({})).await?;
        let changes = follower.until("rows", &other).await?;
        let reported = changes.iter().filter(|change| change["id"] == json!(items)).count();
        let seconds = usize::try_from(started_at.elapsed().as_secs())?;
        assert!(reported <= seconds + 2, "{reported} reports in {seconds} seconds");

        // A write that changed nothing is not reported.
        write(Method::DELETE, "other?id=eq.nothing", json!({})).await?;
        owner.post(&project.console_path("/tables/items/rows"), &json!({"id": "z"})).await?.ok()?;
        let changes = follower.until("rows", &items).await?;
        assert!(!changes.iter().any(|change| change["id"] == json!(other)), "{changes:?}");
        Ok(())
    }

    async fn a_shutdown_reports_what_was_written_last(mut server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        project.create_table("items", &[("title", "text")]).await?;
        let id = format!("{}/items", project.id);
        let mut follower = Follower::open(&owner, &workspace.id).await?;
        let rows = project.console_path("/tables/items/rows");
        owner.post(&rows, &json!({"id": "a"})).await?.ok()?;
        follower.wait("rows", &id).await?;
        owner.post(&rows, &json!({"id": "b"})).await?.ok()?;
        let last = follower.last;
        server.restart().await?;
        let owner = owner.with_base_url(server.base_url());
        Follower::resume(&owner, &workspace.id, last).await?.wait("rows", &id).await?;
        Ok(())
    }

    async fn the_feed_for_agents_has_no_changes(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, SOURCE).await?;
        let feed = format!("/v1/workspaces/{}/agent-events", workspace.id);
        let since = owner.get(&feed).await?.ok()?["cursor"].as_u64().context("no cursor")?;
        let mut follower = Follower::open(&owner, &workspace.id).await?;
        owner.patch(&format!("/v1/automations/{automation}"), &json!({"name": "Other"})).await?.ok()?;
        follower.wait("automation", &automation).await?;
        let page = owner.get(&format!("{feed}?since={since}")).await?.ok()?;
        assert_eq!(page["items"], json!([]));
        assert!(page["cursor"].as_u64() > Some(since), "the cursor moves past them: {page}");
        drop(app);
        Ok(())
    }
}

#[tokio::test]
async fn changes_reach_clients_of_another_node() -> Result<()> {
    tests::on_database(Database::Postgres, async |server: Server| {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, SOURCE).await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        project.create_table("items", &[("title", "text")]).await?;
        let node = server.start_another_node().await?;
        let there = owner.with_base_url(node.base_url());
        let mut follower = Follower::open(&there, &workspace.id).await?;
        owner.patch(&format!("/v1/apps/{app}"), &json!({"name": "Diary"})).await?.ok()?;
        follower.wait("app", &app).await?;
        owner.post(&project.console_path("/tables/items/rows"), &json!({"id": "a"})).await?.ok()?;
        follower.wait("rows", &format!("{}/items", project.id)).await?;
        Ok(())
    })
    .await
}
