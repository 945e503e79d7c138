//! `Qala-View-As`: what somebody with less authority sees, decided by the server.

use anyhow::Result;
use http::Method;
use serde_json::json;
use tests::{Client, Reply};

const CODE: &str = "export default { async scheduled() {} }";

async fn view(client: &Client, path: &str, role: &str) -> Result<Reply> {
    client
        .request(Method::GET, path)
        .header(http::HeaderName::from_static("qala-view-as"), role)?
        .send()
        .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn creation_and_grants_do_not_count_in_a_view(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?.id;
        let builder = owner.add_member(&workspace, "builder").await?;
        let private = builder.create_app(&workspace, CODE).await?;
        let hidden = json!({"sharing": "private", "people": []});
        builder.put(&format!("/v1/apps/{private}/access"), &hidden).await?.ok()?;
        let granted = owner.create_app(&workspace, CODE).await?;
        let people = json!([{"userId": builder.user_id().await?, "rights": ["can_view", "can_share"]}]);
        let access = json!({"sharing": "private", "people": people});
        owner.put(&format!("/v1/apps/{granted}/access"), &access).await?.ok()?;
        let shared = owner.create_app(&workspace, CODE).await?;
        let access = json!({"sharing": "team", "people": []});
        owner.put(&format!("/v1/apps/{shared}/access"), &access).await?.ok()?;
        for app in [&private, &granted] {
            builder.get(&format!("/v1/apps/{app}")).await?.ok()?;
        }
        for (who, role, rights) in [
            (&owner, "builder", Some(json!(["can_view", "can_run", "can_edit"]))),
            (&builder, "builder", Some(json!(["can_view", "can_run", "can_edit"]))),
            (&owner, "member", Some(json!(["can_view", "can_run"]))),
            (&builder, "viewer", None),
        ] {
            for app in [&private, &granted] {
                view(who, &format!("/v1/apps/{app}"), role).await?.assert_error(404, "app_not_found");
            }
            let seen = view(who, &format!("/v1/apps/{shared}"), role).await?;
            match &rights {
                Some(rights) => assert_eq!(&seen.ok()?["rights"], rights, "{role}"),
                None => {
                    seen.assert_error(404, "app_not_found");
                }
            }
            let apps = view(who, &format!("/v1/workspaces/{workspace}/apps"), role).await?.ok()?;
            let listed = apps["items"].as_array().into_iter().flatten().any(|app| app["id"] == json!(shared));
            assert_eq!(listed, rights.is_some(), "{role}: {apps}");
        }
        Ok(())
    }

    async fn a_view_never_raises(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?.id;
        let viewer = owner.add_member(&workspace, "viewer").await?;
        let path = format!("/v1/workspaces/{workspace}/members");
        assert_eq!(view(&viewer, &path, "builder").await?.ok()?["yourRole"], "viewer");
        let projects = format!("/v1/workspaces/{workspace}/backend/projects");
        assert_eq!(view(&viewer, &projects, "builder").await?.ok()?["items"], json!([]));
        view(&viewer, &format!("/v1/workspaces/{workspace}/audit"), "builder").await?.assert_error(403, "admin_only");
        for (role, seen) in [("builder", "builder"), ("member", "member"), ("viewer", "viewer")] {
            assert_eq!(view(&owner, &path, role).await?.ok()?["yourRole"], seen);
            assert_eq!(view(&owner, "/v1/session", role).await?.ok()?["workspaceRole"], seen);
            assert_eq!(view(&owner, "/v1/workspaces", role).await?.ok()?["items"][0]["role"], seen);
        }
        // The view is of one request.
        assert_eq!(owner.get(&path).await?.ok()?["yourRole"], "owner");
        Ok(())
    }

    async fn a_view_is_for_reads_of_sessions_and_known_roles(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let app = format!("/v1/apps/{}", workspace.sample_app);
        let name = http::HeaderName::from_static("qala-view-as");
        let rename = owner.request(Method::PATCH, &app).header(&name, "viewer")?;
        let refused = rename.json(&json!({"name": "Another name"}))?.send().await?;
        refused.assert_error(403, "view_is_read_only");
        let unknown_app = "/v1/apps/app_00000000000e00800000000000";
        let delete = owner.request(Method::DELETE, unknown_app).header(&name, "viewer")?;
        delete.send().await?.assert_error(403, "view_is_read_only");
        for invalid in ["owner", "admin", "", "Viewer", "viewer, member"] {
            view(&owner, &app, invalid).await?.assert_error(400, "invalid_request");
        }
        let twice = owner.request(Method::GET, &app).header(&name, "member")?.append_header(&name, "viewer")?;
        twice.send().await?.assert_error(400, "invalid_request");

        let token = owner.with_bearer(&owner.create_token(&workspace.id, &["read"]).await?);
        view(&token, &app, "viewer").await?.assert_error(403, "console_only");
        view(&server.client(), &app, "viewer").await?.assert_error(401, "unauthorized");
        let projects = format!("/v1/workspaces/{}/backend/projects", workspace.id);
        let project = owner.get(&projects).await?.string_at("/items/0/id")?;
        let key = json!({"kind": "secret", "name": "A key", "scopes": ["rows:read"]});
        let keys = format!("/v1/backend/projects/{project}/keys");
        let key = owner.post(&keys, &key).await?.string_at("/secret")?;
        let schema = format!("/v1/projects/{project}/schema");
        let client = server.client().with_bearer(&key);
        client.get(&schema).await?.ok()?;
        view(&client, &schema, "viewer").await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn a_stream_can_be_followed_in_a_view(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?.id;
        let hidden = owner.create_app(&workspace, CODE).await?;
        let access = json!({"sharing": "private", "people": []});
        owner.put(&format!("/v1/apps/{hidden}/access"), &access).await?.ok()?;
        let shown = owner.create_app(&workspace, CODE).await?;
        let access = json!({"sharing": "workspace", "people": []});
        owner.put(&format!("/v1/apps/{shown}/access"), &access).await?.ok()?;

        let events = format!("/v1/workspaces/{workspace}/events");
        let query = format!("{events}?viewAs=viewer");
        let by_query = owner.request(Method::GET, &query).open_event_stream().await?;
        let by_header = owner.request(Method::GET, &events);
        let by_header = by_header.header(http::HeaderName::from_static("qala-view-as"), "viewer")?;
        let by_header = by_header.open_event_stream().await?;
        for app in [&hidden, &shown] {
            let version = json!({"files": {"main.js": format!("{CODE} // 2")}});
            owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        }
        for mut stream in [by_query, by_header] {
            let event = stream.next_event().await?;
            let seen = (event.event.as_deref(), &event.data["appId"]);
            assert_eq!(seen, (Some("build"), &json!(shown)), "the first event that a viewer sees");
        }
        owner.get(&format!("{events}?viewAs=owner")).await?.assert_error(400, "invalid_request");
        let log = format!("/v1/apps/{shown}/logs/stream?viewAs=viewer");
        owner.get(&log).await?.assert_error(403, "forbidden");
        Ok(())
    }
}
