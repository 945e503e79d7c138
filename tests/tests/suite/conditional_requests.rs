//! Entity tags and preconditions (RFC 9110, section 13): nobody overwrites what they have not seen.

use anyhow::{Context as _, Result};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use tests::{Client, Reply, Workspace};

const CODE: &str = "export default { async fetch() { return new Response('ok'); }, async scheduled() {} }";

async fn send(client: &Client, method: Method, path: &str, tag: &str, body: &Value) -> Result<Reply> {
    client.request(method, path).header(header::IF_MATCH, tag)?.json(body)?.send().await
}

async fn tag_of(client: &Client, path: &str) -> Result<String> {
    let read = client.get(path).await?;
    read.ok()?;
    Ok(read.header("etag").with_context(|| format!("no tag: {read}"))?.to_owned())
}

/// An object, its read, and two writes of it.
struct Object {
    read: String,
    method: Method,
    write: String,
    bodies: [Value; 2],
}

impl Object {
    fn new(method: Method, path: &str, bodies: [Value; 2]) -> Self {
        Self { read: path.to_owned(), method, write: path.to_owned(), bodies }
    }
}

/// Returns objects of each kind of which both a read and a write exist.
async fn objects(owner: &Client, workspace: &Workspace) -> Result<Vec<Object>> {
    let ws = &workspace.id;
    let app = owner.create_app(ws, CODE).await?;
    let automation = json!({"name": "A road", "appId": app, "trigger": {"type": "webhook"}});
    let automation = owner.post(&format!("/v1/workspaces/{ws}/automations"), &automation).await?;
    let automation = automation.string_at("/id")?;
    let webhook = format!("/v1/automations/{automation}/webhook");
    owner.put(&webhook, &json!({"mode": "token"})).await?.ok()?;
    let projects = owner.get(&format!("/v1/workspaces/{ws}/backend/projects")).await?;
    let project = format!("/v1/backend/projects/{}", projects.string_at("/items/0/id")?);
    let columns = json!([{"name": "title", "type": "text"}, {"name": "tags", "type": "json"}]);
    owner.post(&format!("{project}/tables"), &json!({"name": "things", "columns": columns})).await?.ok()?;
    let row = json!({"id": "first", "title": "The first", "tags": {"b": [1, 2.50], "a": null}});
    owner.post(&format!("{project}/tables/things/rows"), &row).await?.ok()?;

    let domain = format!("/v1/workspaces/{ws}/join-domain");
    owner.put(&domain, &json!({"domain": "first.example"})).await?.ok()?;
    let names = || [json!({"name": "One name"}), json!({"name": "Another name"})];
    Ok(vec![
        Object::new(Method::PATCH, &format!("/v1/apps/{app}"), names()),
        Object::new(Method::PATCH, &format!("/v1/workspaces/{ws}"), names()),
        Object::new(
            Method::PUT,
            &format!("/v1/apps/{app}/access"),
            ["team", "workspace"].map(|sharing| json!({"sharing": sharing, "people": []})),
        ),
        Object::new(Method::PATCH, &format!("/v1/automations/{automation}"), names()),
        Object::new(Method::PATCH, &webhook, [json!({"perMinute": 7}), json!({"perMinute": 8})]),
        Object::new(Method::PUT, &webhook, [9, 10].map(|limit| json!({"mode": "token", "perMinute": limit}))),
        Object::new(
            Method::PUT,
            &domain,
            ["second.example", "third.example"].map(|domain| json!({"domain": domain})),
        ),
        Object {
            write: format!("{project}/settings"),
            ..Object::new(Method::PATCH, &project, [json!({"maxBodyKb": 100}), json!({"maxBodyKb": 200})])
        },
        Object::new(
            Method::PATCH,
            &format!("{project}/tables/things/rows/first"),
            [json!({"title": "A"}), json!({"title": "B"})],
        ),
    ])
}

/// An object whose tag stands in a list, and writes of it. `{n}` in a body is a number that differs with each write.
struct Listed {
    list: String,
    /// JSON pointer of the object in the list.
    at: String,
    method: Method,
    write: String,
    body: &'static str,
    /// The write leaves no object.
    is_last: bool,
}

impl Listed {
    fn new(list: &str, at: &str, method: Method, write: &str, body: &'static str) -> Self {
        let is_last = method == Method::DELETE;
        Self { list: list.to_owned(), at: at.to_owned(), method, write: write.to_owned(), body, is_last }
    }

    async fn tag(&self, client: &Client) -> Result<String> {
        client.get(&self.list).await?.string_at(&format!("{}/etag", self.at))
    }

    async fn write(&self, client: &Client, tag: Option<&str>, number: u32) -> Result<Reply> {
        let request = client.request(self.method.clone(), &self.write);
        let request = match tag {
            Some(tag) => request.header(header::IF_MATCH, tag)?,
            None => request,
        };
        match self.body {
            "" => request.send().await,
            body => {
                request
                    .json(&serde_json::from_str::<Value>(&body.replace("{n}", &number.to_string()))?)?
                    .send()
                    .await
            }
        }
    }
}

/// Returns objects that have no read of their own, those that are deleted last.
async fn listed_objects(owner: &Client, workspace: &Workspace) -> Result<Vec<Listed>> {
    let ws = &workspace.id;
    let in_workspace = |path: &str| format!("/v1/workspaces/{ws}/{path}");
    let gate = json!({"host": "tags.example.test"});
    let gate = owner.post(&in_workspace("gates"), &gate).await?.string_at("/id")?;
    let gates = owner.get(&in_workspace("gates")).await?.ok()?;
    let gate_at = gates["items"].as_array().into_iter().flatten().position(|it| it["id"] == gate.as_str());
    let gate_at = format!("/items/{}", gate_at.context("no gate")?);
    let gate = format!("/v1/gates/{gate}");

    let colleague = owner.add_member(ws, "builder").await?.user_id().await?;
    let members = owner.get(&in_workspace("members")).await?.ok()?;
    let member_at = members["items"]
        .as_array()
        .into_iter()
        .flatten()
        .position(|it| it["user"]["id"] == colleague.as_str());
    let member_at = format!("/items/{}", member_at.context("no member")?);
    let member = in_workspace(&format!("members/{colleague}"));

    let secrets = format!("/v1/apps/{}/secrets", workspace.sample_app);
    let secret = format!("{secrets}/TAG_KEY");
    owner.put(&secret, &json!({"value": "example-secret"})).await?.ok()?;

    let projects = owner.get(&in_workspace("backend/projects")).await?;
    let project = format!("/v1/backend/projects/{}", projects.string_at("/items/0/id")?);
    let columns = json!([{"name": "title", "type": "text"}, {"name": "free", "type": "text"}]);
    owner.post(&format!("{project}/tables"), &json!({"name": "tagged", "columns": columns})).await?.ok()?;
    owner.post(&format!("{project}/tables/tagged/indexes"), &json!({"columns": ["title"]})).await?.ok()?;
    let tables = owner.get(&project).await?.ok()?;
    let table_at = tables["tables"].as_array().into_iter().flatten().position(|it| it["name"] == "tagged");
    let table_at = format!("/tables/{}", table_at.context("no table")?);
    let table = format!("{project}/tables/tagged");
    let keys = format!("{project}/keys");
    let key = json!({"kind": "publishable", "name": "A key"});
    let key = owner.post(&keys, &key).await?.string_at("/key/id")?;

    let column_at = format!("{table_at}/columns/3");
    Ok(vec![
        Listed::new(
            &in_workspace("members"),
            &member_at,
            Method::PATCH,
            &member,
            r#"{"accessEndsAt": "2200-01-01T00:00:{n}.000Z"}"#,
        ),
        Listed::new(&secrets, "/items/0", Method::PUT, &secret, r#"{"value": "another-{n}"}"#),
        Listed::new(
            &project,
            &table_at,
            Method::PUT,
            &format!("{table}/policy"),
            r#"{"rules": [{"id": "rule_{n}", "audience": {"kind": "anyone"}, "actions": ["read"], "where": {"t": "all"}, "columns": null}]}"#,
        ),
        Listed::new(&in_workspace("gates"), &gate_at, Method::DELETE, &gate, ""),
        Listed::new(&in_workspace("members"), &member_at, Method::DELETE, &member, ""),
        Listed::new(&secrets, "/items/0", Method::DELETE, &secret, ""),
        Listed::new(&keys, "/0", Method::DELETE, &format!("{keys}/{key}"), ""),
        Listed::new(&project, &column_at, Method::DELETE, &format!("{table}/columns/free"), ""),
        Listed::new(&project, &table_at, Method::DELETE, &format!("{table}/indexes/ix1"), ""),
        Listed::new(&project, &table_at, Method::DELETE, &table, r#"{"confirmName": "tagged"}"#),
    ])
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_item_of_a_list_has_the_tag_that_its_writes_need(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        for object in listed_objects(&owner, &workspace).await? {
            let name = format!("{} {}", object.method, object.write);
            let before = object.tag(&owner).await?;
            assert!(before.len() == 34 && before.starts_with('"'), "{name}: {before}");
            for stale in ["\"nonsense\"", &format!("W/{before}")] {
                object.write(&owner, Some(stale), 10).await?.assert_error(412, "changed_meanwhile");
            }
            for malformed in ["", "nonsense", "*, \"0\""] {
                object.write(&owner, Some(malformed), 10).await?.assert_error(400, "invalid_request");
            }
            assert_eq!(object.tag(&owner).await?, before, "{name} was done by a refused write");
            let written = object.write(&owner, Some(&format!("\"0\", {before}")), 11).await?;
            written.ok().with_context(|| name.clone())?;
            if object.is_last {
                continue;
            }
            let after = object.tag(&owner).await?;
            assert_ne!(after, before, "{name}");
            assert_eq!(written.header("etag"), Some(after.as_str()), "{name}");
            object.write(&owner, Some(&before), 12).await?.assert_error(412, "changed_meanwhile");
            object.write(&owner, Some("*"), 13).await?.ok()?;
            // Without a precondition, a write needs none.
            object.write(&owner, None, 14).await?.ok()?;
        }
        Ok(())
    }

    async fn of_simultaneous_writes_of_an_item_with_one_tag_exactly_one_succeeds(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        for object in listed_objects(&owner, &workspace).await? {
            let object = std::sync::Arc::new(object);
            let tag = object.tag(&owner).await?;
            let mut writes = tokio::task::JoinSet::new();
            for number in 20..26 {
                let (owner, object, tag) = (owner.clone(), std::sync::Arc::clone(&object), tag.clone());
                writes.spawn(async move { object.write(&owner, Some(&tag), number).await });
            }
            let replies = writes.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
            let succeeded = replies.iter().filter(|reply| reply.status.is_success()).count();
            let others = [StatusCode::OK, StatusCode::PRECONDITION_FAILED, StatusCode::NOT_FOUND];
            assert_eq!(succeeded, 1, "{} {}: {}", object.method, object.write, replies[0]);
            assert!(replies.iter().all(|reply| others.contains(&reply.status)), "{}", object.write);
        }
        Ok(())
    }

    /// A gate and a column change by PATCH to a state that can come back, a secret has a tag before it has a value, and
    /// somebody who may not remove a member learns that rather than the member's state.
    async fn tags_of_items_follow_what_they_show(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let objects = listed_objects(&owner, &workspace).await?;
        let gate = objects.iter().find(|it| it.write.starts_with("/v1/gates/")).context("no gate")?;
        let open = gate.tag(&owner).await?;
        let closed = send(&owner, Method::PATCH, &gate.write, &open, &json!({"status": "closed"})).await?;
        closed.ok()?;
        assert_eq!(closed.header("etag"), Some(closed.string_at("/etag")?.as_str()));
        send(&owner, Method::PATCH, &gate.write, &open, &json!({"status": "open"})).await?.assert_error(412, "changed_meanwhile");

        let column = objects.iter().find(|it| it.write.ends_with("/columns/free")).context("no column")?;
        let tag = column.tag(&owner).await?;
        // Another part of the table is another object.
        let table = column.write.trim_end_matches("/columns/free");
        owner.put(&format!("{table}/policy"), &json!({"sentences": ["Signed-in people may read every row."]})).await?.ok()?;
        let renamed = send(&owner, Method::PATCH, &column.write, &tag, &json!({"name": "taken"})).await?;
        renamed.ok()?;
        assert_eq!(renamed.header("etag"), Some(column.tag(&owner).await?.as_str()));
        send(&owner, Method::PATCH, &column.write, &tag, &json!({"name": "free"})).await?.assert_error(404, "column_not_found");
        let renamed = column.write.replace("/free", "/taken");
        send(&owner, Method::PATCH, &renamed, &tag, &json!({"name": "taken"})).await?.assert_error(412, "changed_meanwhile");

        let secrets = format!("/v1/apps/{}/secrets", workspace.sample_app);
        let fresh = format!("{secrets}/FRESH_KEY");
        let value = json!({"value": "example-secret"});
        send(&owner, Method::PUT, &fresh, "*", &value).await?.assert_error(412, "changed_meanwhile");
        owner.request(Method::DELETE, &fresh).header(header::IF_MATCH, "*")?.send().await?.assert_error(404, "secret_not_found");

        let colleague = owner.add_member(&workspace.id, "member").await?;
        let me = owner.user_id().await?;
        let remove = format!("/v1/workspaces/{}/members/{me}", workspace.id);
        let refused = colleague.request(Method::DELETE, &remove).header(header::IF_MATCH, "\"0\"")?.send().await?;
        refused.assert_error(403, "admin_only");
        Ok(())
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_write_needs_the_tag_of_the_current_state(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        for Object { read, method, write, bodies: [first, second] } in objects(&owner, &workspace).await? {
            let before = tag_of(&owner, &read).await?;
            let write_with = async |tag: &str, body: &Value| send(&owner, method.clone(), &write, tag, body).await;
            for stale in ["\"0\"", "\"0\", \"1\"", &format!("W/{before}")] {
                write_with(stale, &first).await?.assert_error(412, "changed_meanwhile");
            }
            for malformed in ["", "0", "\"0", "*, \"0\""] {
                write_with(malformed, &first).await?.assert_error(400, "invalid_request");
            }
            assert_eq!(tag_of(&owner, &read).await?, before, "{read} was changed by a refused write");

            let written = write_with(&format!("\"0\", {before}"), &first).await?;
            written.ok()?;
            let after = tag_of(&owner, &read).await?;
            assert_ne!(after, before, "{read}");
            assert_eq!(written.header("etag"), Some(after.as_str()), "{write}");
            write_with(&before, &second).await?.assert_error(412, "changed_meanwhile");
            write_with("*", &second).await?.ok()?;
            // Without a precondition, a write needs none.
            owner.request(method.clone(), &write).json(&first)?.send().await?.ok()?;
        }
        Ok(())
    }

    async fn of_simultaneous_writes_with_one_tag_exactly_one_succeeds(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        for Object { read, method, write, bodies } in objects(&owner, &workspace).await? {
            for _ in 0..3 {
                let tag = tag_of(&owner, &read).await?;
                // The first body is that of the state before, if the second won: then nothing would change.
                let current = owner.get(&read).await?.ok()?;
                let is_current = |body: &Value| body.as_object().into_iter().flatten().all(|(name, value)| {
                    current.get(name).or_else(|| current["settings"].get(name)) == Some(value)
                });
                let body = bodies.iter().find(|body| !is_current(body)).context("no change")?;
                let mut writes = tokio::task::JoinSet::new();
                for _ in 0..6 {
                    let (owner, method, write) = (owner.clone(), method.clone(), write.clone());
                    let (tag, body) = (tag.clone(), body.clone());
                    writes.spawn(async move { send(&owner, method, &write, &tag, &body).await });
                }
                let replies = writes.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
                let count = |status| replies.iter().filter(|reply| reply.status == status).count();
                let counts = (count(StatusCode::OK), count(StatusCode::PRECONDITION_FAILED));
                assert_eq!(counts, (1, 5), "{method} {write}: {}", replies[0]);
            }
        }
        Ok(())
    }

    async fn a_delete_needs_the_tag_too_and_what_is_gone_is_not_found(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let objects = objects(&owner, &workspace).await?;
        let of = |part: &str| objects.iter().find(|object| object.read.contains(part)).context("no object");
        let paths = [of("/rows/")?, of("/automations/")?, of("/apps/")?].map(|object| object.read.clone());
        for path in paths {
            let delete = async |tag: &str| {
                owner.request(Method::DELETE, &path).header(header::IF_MATCH, tag)?.send().await
            };
            let tag = tag_of(&owner, &path).await?;
            delete("\"0\"").await?.assert_error(412, "changed_meanwhile");
            delete(&tag).await?.ok()?;
            let again = delete(&tag).await?;
            assert_eq!(again.status, StatusCode::NOT_FOUND, "{path}: {again}");
        }
        let domain = &of("/join-domain")?.read;
        let tag = tag_of(&owner, domain).await?;
        let delete = async |tag: &str| {
            owner.request(Method::DELETE, domain).header(header::IF_MATCH, tag)?.send().await
        };
        delete("\"0\"").await?.assert_error(412, "changed_meanwhile");
        delete(&tag).await?.ok()?;
        Ok(())
    }

    async fn a_webhook_is_created_only_if_no_state_is_required(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let app = owner.create_app(&workspace.id, CODE).await?;
        let automation = json!({"name": "A road", "appId": app, "trigger": {"type": "webhook"}});
        let automations = format!("/v1/workspaces/{}/automations", workspace.id);
        let automation = owner.post(&automations, &automation).await?.string_at("/id")?;
        let webhook = format!("/v1/automations/{automation}/webhook");
        let body = json!({"mode": "token"});
        send(&owner, Method::PUT, &webhook, "*", &body).await?.assert_error(412, "changed_meanwhile");
        let limit = json!({"perMinute": 3});
        send(&owner, Method::PATCH, &webhook, "*", &limit).await?.assert_error(404, "webhook_not_found");
        let configured = owner.put(&webhook, &body).await?;
        configured.ok()?;
        let tag = tag_of(&owner, &webhook).await?;
        assert_eq!(configured.header("etag"), Some(tag.as_str()));
        Ok(())
    }

    async fn what_the_server_computes_does_not_change_a_tag(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let path = format!("/v1/automations/{}/webhook", workspace.automation);
        let webhook = owner.rotate_webhook_secret(&workspace.automation).await?;
        let before = tag_of(&owner, &path).await?;
        webhook.send(&json!({})).await?.assert_status(202);
        let after = owner.get(&path).await?;
        assert_eq!(after.ok()?["deliveries"].as_array().map(Vec::len), Some(1));
        assert_eq!(after.header("etag"), Some(before.as_str()));
        let rotated = owner.post(&format!("{path}/rotate"), &json!({})).await?;
        rotated.ok()?;
        assert_ne!(tag_of(&owner, &path).await?, before, "the hint of the secret has changed");
        Ok(())
    }

    async fn a_stranger_and_a_viewer_learn_nothing_from_a_precondition(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let app = format!("/v1/apps/{}", workspace.sample_app);
        let tag = tag_of(&owner, &app).await?;
        let stranger = server.sign_in("stranger@example.test").await?;
        stranger.create_workspace("Elsewhere").await?;
        let viewer = owner.add_member(&workspace.id, "viewer").await?;
        let name = json!({"name": "Another name"});
        for tag in [tag.as_str(), "\"0\"", "nonsense"] {
            send(&stranger, Method::PATCH, &app, tag, &name).await?.assert_error(404, "app_not_found");
            send(&viewer, Method::PATCH, &app, tag, &name).await?.assert_error(403, "forbidden");
        }
        // The viewer reads other rights than the owner, so it is another representation.
        assert_ne!(tag_of(&viewer, &app).await?, tag);
        Ok(())
    }

    async fn a_read_of_a_known_state_has_no_body(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let access = format!("/v1/apps/{}/access", workspace.sample_app);
        let tag = tag_of(&owner, &access).await?;
        let read = async |known: &str| {
            owner.request(Method::GET, &access).header(header::IF_NONE_MATCH, known)?.send().await
        };
        for known in [tag.as_str(), &format!("\"0\", W/{tag}"), "*"] {
            let unchanged = read(known).await?;
            unchanged.assert_status(304);
            assert_eq!((unchanged.body.len(), unchanged.header("etag")), (0, Some(tag.as_str())));
        }
        for unknown in ["\"0\"", "nonsense"] {
            read(unknown).await?.ok()?;
        }
        owner.put(&access, &json!({"sharing": "private", "people": []})).await?.ok()?;
        read(&tag).await?.ok()?;
        Ok(())
    }

    async fn rows_of_the_data_api_have_tags(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let projects = format!("/v1/workspaces/{}/backend/projects", workspace.id);
        let project = owner.get(&projects).await?.string_at("/items/0/id")?;
        let console = format!("/v1/backend/projects/{project}");
        let columns = json!([
            {"name": "title", "type": "text"}, {"name": "price", "type": "real"},
            {"name": "count", "type": "integer"}, {"name": "done", "type": "boolean"},
            {"name": "due", "type": "timestamp"}, {"name": "tags", "type": "json"},
        ]);
        owner.post(&format!("{console}/tables"), &json!({"name": "things", "columns": columns})).await?.ok()?;
        let scopes = json!(["rows:read", "rows:write"]);
        let key = json!({"kind": "secret", "name": "A key", "scopes": scopes});
        let key = owner.post(&format!("{console}/keys"), &key).await?.string_at("/secret")?;
        let client = server.client().with_bearer(&key);
        let rows = format!("/v1/projects/{project}/rest/things");
        for (id, row) in [
            ("nulls", json!({})),
            ("values", json!({
                "title": "Tea \"☕\"", "price": 0.1, "count": 9_007_199_254_740_993_i64, "done": true,
                "due": "2026-11-21T11:58:00.123456Z", "tags": {"b": [1, 2.50, {"c": null}], "a": "x"},
            })),
        ] {
            let mut new = row.clone();
            new["id"] = json!(id);
            client.post(&rows, &new).await?.assert_status(201);
            let path = format!("{rows}/{id}");
            let tag = tag_of(&client, &path).await?;
            let known = client.request(Method::GET, &path).header(header::IF_NONE_MATCH, &tag)?;
            known.send().await?.assert_status(304);
            assert_eq!(client.get(&format!("{path}?select=title")).await?.header("etag"), None);
            let body = json!({"title": "Changed"});
            send(&client, Method::PATCH, &path, "\"0\"", &body).await?.assert_error(412, "changed_meanwhile");
            send(&client, Method::PATCH, &path, "nonsense", &body).await?.assert_error(400, "invalid_request");
            let changed = send(&client, Method::PATCH, &path, &tag, &body).await?;
            assert_eq!(changed.ok()?["title"], "Changed", "{id}");
            let after = tag_of(&client, &path).await?;
            assert_eq!(changed.header("etag"), Some(after.as_str()));
            // The console reads the same row under the same tag.
            let in_console = format!("{console}/tables/things/rows/{id}");
            assert_eq!(tag_of(&owner, &in_console).await?, after);
            let delete = async |tag: &str| {
                client.request(Method::DELETE, &path).header(header::IF_MATCH, tag)?.send().await
            };
            delete(&tag).await?.assert_error(412, "changed_meanwhile");
            delete(&after).await?.ok()?;
            delete(&after).await?.assert_error(404, "row_not_found");
            send(&client, Method::PATCH, &path, &after, &body).await?.assert_error(404, "row_not_found");
        }
        Ok(())
    }

    /// A caller who may read but not write a row learns that rather than its state.
    async fn a_precondition_does_not_replace_a_policy(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let projects = format!("/v1/workspaces/{}/backend/projects", workspace.id);
        let project = owner.get(&projects).await?.string_at("/items/0/id")?;
        let console = format!("/v1/backend/projects/{project}");
        let columns = json!([{"name": "title", "type": "text"}, {"name": "secret", "type": "text"}]);
        owner.post(&format!("{console}/tables"), &json!({"name": "things", "columns": columns})).await?.ok()?;
        let rule = |id: &str, action: &str, title: Value| json!({
            "id": id, "audience": {"kind": "visitors"}, "actions": [action], "columns": ["title"],
            "where": {"t": "cmp", "column": "title", "op": "neq", "value": {"k": "lit", "v": title}},
        });
        let rules = json!({"rules": [rule("readers", "read", json!("hidden")), rule("writers", "update", json!("fixed"))]});
        owner.put(&format!("{console}/tables/things/policy"), &rules).await?.ok()?;
        for title in ["open", "fixed", "hidden"] {
            let row = json!({"id": title, "title": title, "secret": "s"});
            owner.post(&format!("{console}/tables/things/rows"), &row).await?.ok()?;
        }
        let key = json!({"kind": "publishable", "name": "A key"});
        let key = owner.post(&format!("{console}/keys"), &key).await?.string_at("/secret")?;
        let visitor = server.client().with_bearer(&key);
        let path = |id: &str| format!("/v1/projects/{project}/rest/things/{id}");
        let body = json!({"title": "changed"});

        let fixed = tag_of(&visitor, &path("fixed")).await?;
        send(&visitor, Method::PATCH, &path("fixed"), &fixed, &body).await?.assert_error(404, "row_not_found");
        send(&visitor, Method::PATCH, &path("hidden"), "\"0\"", &body).await?.assert_error(404, "row_not_found");
        // The tag is of what the visitor sees: a change of another column does not show.
        let open = tag_of(&visitor, &path("open")).await?;
        let secret = json!({"secret": "t"});
        owner.patch(&format!("{console}/tables/things/rows/open"), &secret).await?.ok()?;
        send(&visitor, Method::PATCH, &path("open"), "\"0\"", &body).await?.assert_error(412, "changed_meanwhile");
        let changed = send(&visitor, Method::PATCH, &path("open"), &open, &body).await?;
        changed.ok()?;
        assert_eq!(changed.header("etag"), None, "the response has an id that the visitor cannot read");
        assert_ne!(tag_of(&visitor, &path("open")).await?, open);
        let delete = visitor.request(Method::DELETE, &path("open")).header(header::IF_MATCH, "\"0\"")?;
        delete.send().await?.assert_error(403, "forbidden");
        Ok(())
    }
}
