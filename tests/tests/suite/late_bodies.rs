//! Requests whose caller loses a right, or is signed out, before the last byte of the body arrives, or is read. Those of agents
//! are in `mcp`.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use tests::{
    BackendProject, Client, Server, UnfinishedRequest, encode_form, identity_settings, person_token,
    unix_time,
};

const FORM: &str = "application/x-www-form-urlencoded";

/// Ends all sessions of a person, as they do when they have lost a device.
async fn end_sessions(server: &Server, email: &str) -> Result<()> {
    server.sign_in(email).await?.delete("/v1/me/sessions?all=true").await?.ok().map(drop)
}

/// Creates a project with the table `items`, and a key that reads it.
async fn create_project(owner: &Client, workspace: &str) -> Result<(BackendProject, String)> {
    let project = BackendProject::create(owner, workspace).await?;
    project.create_table("items", &[("title", "text")]).await?;
    let key = project.create_key("secret").await?;
    Ok((project, key))
}

async fn row_ids(visitor: &Client, project: &BackendProject, key: &str) -> Result<Value> {
    project.rest_request(visitor, (key, None), Method::GET, "items?select=id")?.send().await?.ok()
}

async fn hold_form(client: &Client, path: &str, pairs: &[(&str, &str)]) -> Result<UnfinishedRequest> {
    client.request(Method::POST, path).body(FORM, encode_form(pairs))?.send_unfinished().await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_file_of_somebody_who_is_removed_is_not_imported(server: Server) -> Result<()> {
        let email = "owner@example.test";
        let owner = server.sign_in(email).await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let (project, key) = create_project(&owner, &workspace).await?;
        let builder = owner.add_member(&workspace, "builder").await?;
        let path = project.console_path("/tables/items/import");
        let hold = async |client: &Client, file: &'static str| {
            client.request(Method::POST, &path).body("text/csv", file)?.send_unfinished().await
        };
        hold(&builder, "id,title\ntea,Tea\n").await?.finish().await?.assert_status(200);
        assert_eq!(row_ids(&server.client(), &project, &key).await?, json!([{"id": "tea"}]));

        let held = hold(&builder, "id,title\njam,Jam\n").await?;
        let member = format!("/v1/workspaces/{workspace}/members/{}", builder.user_id().await?);
        owner.delete(&member).await?.assert_status(200);
        held.finish().await?.assert_error(404, "project_not_found");
        let held = hold(&owner, "id,title\njam,Jam\n").await?;
        end_sessions(&server, email).await?;
        held.finish().await?.assert_error(401, "unauthorized");
        assert_eq!(row_ids(&server.client(), &project, &key).await?, json!([{"id": "tea"}]));
        Ok(())
    }

    async fn a_file_that_is_read_slowly_ends_with_the_right_to_it(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let (project, _) = create_project(&owner, &workspace).await?;
        let builder = owner.add_member(&workspace, "builder").await?;
        // Three pages, each longer than what a connection holds on its way.
        let rows: String = (0..1500).map(|row| format!("row-{row},{}\n", "x".repeat(20_000))).collect();
        let import = owner.request(Method::POST, &project.console_path("/tables/items/import"));
        import.body("text/csv", format!("id,title\n{rows}"))?.send().await?.assert_status(200);
        let path = project.console_path("/tables/items/export");
        let open = async || builder.request(Method::GET, &path).open_stream().await;
        let (length, is_whole) = open().await?.drain().await;
        assert!(is_whole && length > rows.len(), "{length}");
        let mut held = open().await?;
        held.next_chunk().await?;
        let member = format!("/v1/workspaces/{workspace}/members/{}", builder.user_id().await?);
        owner.delete(&member).await?.assert_status(200);
        let (length, is_whole) = held.drain().await;
        assert!(!is_whole && length < rows.len(), "{length}");
        Ok(())
    }

    async fn a_role_that_is_lowered_is_not_used(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let admin = owner.add_member(&workspace, "admin").await?;
        let tokens = format!("/v1/workspaces/{workspace}/tokens");
        let request = admin.request(Method::POST, &tokens);
        let held = request.json(&json!({"name": "Laptop", "scopes": ["admin"]}))?.send_unfinished().await?;
        let member = format!("/v1/workspaces/{workspace}/members/{}", admin.user_id().await?);
        owner.patch(&member, &json!({"role": "member"})).await?.assert_status(200);
        held.finish().await?.assert_error(403, "forbidden");
        admin.create_token(&workspace, &["read"]).await?;
        Ok(())
    }

    async fn a_key_that_is_revoked_writes_nothing(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let (project, reader) = create_project(&owner, &workspace).await?;
        let visitor = server.client();
        let created = owner.post(&project.console_path("/keys"), &json!({"kind": "secret", "name": "Shop"})).await?;
        let (id, key) = (created.string_at("/key/id")?, created.string_at("/secret")?);
        let insert = async |row: &str| {
            let request = project.rest_request(&visitor, (&key, None), Method::POST, "items")?;
            request.json(&json!({"id": row}))?.send_unfinished().await
        };
        insert("tea").await?.finish().await?.assert_status(201);
        let held = [
            insert("jam").await?,
            project
                .rest_request(&visitor, (&key, None), Method::PATCH, "items/tea")?
                .json(&json!({"title": "Tea"}))?
                .send_unfinished()
                .await?,
        ];
        owner.delete(&project.console_path(&format!("/keys/{id}"))).await?.assert_status(200);
        for held in held {
            held.finish().await?.assert_error(401, "unauthorized");
        }
        let rows = project.rest_request(&visitor, (&reader, None), Method::GET, "items?select=id,title")?;
        assert_eq!(rows.send().await?.ok()?, json!([{"id": "tea", "title": null}]));
        Ok(())
    }

    async fn a_person_token_that_expires_writes_nothing(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let (project, reader) = create_project(&owner, &workspace).await?;
        let settings = json!({"identity": identity_settings()});
        owner.patch(&project.console_path("/settings"), &settings).await?.assert_status(200);
        let key = project.create_key("publishable").await?;
        // Half a minute is granted for clocks that differ, of which ten seconds remain.
        let token = person_token("ann", json!({"exp": unix_time() - 20}))?;
        let visitor = server.client();
        let request = project.rest_request(&visitor, (&key, Some(&token)), Method::POST, "items")?;
        let held = request.json(&json!({"id": "tea"}))?.send_unfinished().await?;
        tokio::time::sleep(Duration::from_secs(11)).await;
        held.finish().await?.assert_error(401, "unauthorized");
        assert_eq!(row_ids(&visitor, &project, &reader).await?, json!([]));
        Ok(())
    }

    async fn a_session_that_ends_neither_joins_nor_creates_a_workspace(server: Server) -> Result<()> {
        let email = "aru@example.test";
        let owner = server.sign_in("owner@example.test").await?;
        let home = owner.create_workspace("Home").await?.id;
        let token = owner.create_invite(&home, email, "builder").await?;
        let thief = server.sign_in(email).await?;
        let hold = async |path: &str, body: Value| {
            thief.request(Method::POST, path).json(&body)?.send_unfinished().await
        };
        let workspace = json!({"name": "Theirs", "profile": "global", "teamSize": "solo", "intents": []});
        let created = hold("/v1/workspaces", workspace).await?;
        let accepted = hold(&format!("/v1/invites/{token}/accept"), json!({})).await?;
        end_sessions(&server, email).await?;
        for held in [created, accepted] {
            held.finish().await?.assert_error(401, "unauthorized");
        }
        let person = server.sign_in(email).await?;
        assert_eq!(person.get("/v1/workspaces").await?.ok()?["items"], json!([]));
        Ok(())
    }

    async fn a_session_that_ends_allows_nobody_else_in(server: Server) -> Result<()> {
        let email = "aru@example.test";
        let thief = server.sign_in(email).await?;
        let workspace = thief.create_workspace("Home").await?.id;
        let visitor = server.client();
        let login = visitor.post("/v1/cli/device", &json!({"client": "qala-cli"})).await?;
        let (device, code) = (login.string_at("/deviceCode")?, login.string_at("/userCode")?);
        let agent = thief.register_agent("Agent").await?;
        let consent = format!("/oauth/consent/{}", agent.start_authorization(&[]).await?);

        let form = [("user_code", code.as_str()), ("workspace_id", &workspace), ("access", "asked")];
        let approved = hold_form(&thief, "/device/approve", &form).await?;
        let form = [("decision", "allow"), ("workspaceId", workspace.as_str()), ("access", "write")];
        let allowed = hold_form(&thief, &consent, &form).await?;
        end_sessions(&server, email).await?;
        approved.finish().await?.assert_error(401, "unauthorized");
        let redirected = allowed.finish().await?;
        redirected.assert_status(303);
        let location = redirected.header("location").unwrap_or_default();
        assert!(location.starts_with("/sign-in?next="), "{location}");

        let poll = visitor.post("/v1/cli/device/poll", &json!({"deviceCode": device})).await?;
        assert_eq!(poll.string_at("/status")?, "pending");
        // The person can still decide.
        let person = server.sign_in(email).await?;
        person.get(&consent).await?.assert_status(200);
        Ok(())
    }
}
