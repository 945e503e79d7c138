//! Reading and changing a workspace.

use anyhow::Result;
use serde_json::json;

tests::on_both! {
    async fn a_member_or_their_token_reads_the_workspace(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let path = format!("/v1/workspaces/{}", workspace.id);
        let created = workspace.creation_response["workspace"].clone();
        assert_eq!(owner.get(&path).await?.ok()?, created);
        let viewer = owner.add_member(&workspace.id, "viewer").await?;
        let token = viewer.create_token(&workspace.id, &["read"]).await?;
        for reader in [&viewer, &viewer.with_bearer(&token)] {
            let read = reader.get(&path).await?.ok()?;
            assert_eq!((&read["name"], &read["memberCount"]), (&json!("Tulpar"), &json!(2)), "{read}");
        }
        server.sign_in("stranger@example.test").await?.get(&path).await?.assert_error(404, "workspace_not_found");
        Ok(())
    }

    async fn an_admin_changes_what_they_send(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let path = format!("/v1/workspaces/{}", workspace.id);
        let before = owner.get(&path).await?.ok()?;
        let admin = owner.add_member(&workspace.id, "admin").await?;
        let change = json!({"name": " Tulpar Labs ", "locale": "kk", "hourlyCostMinor": 12});
        let changed = admin.patch(&path, &change).await?.ok()?;
        let mut expected = before.clone();
        expected["name"] = json!("Tulpar Labs");
        expected["locale"] = json!("kk");
        expected["hourlyCostMinor"] = json!(12);
        expected["memberCount"] = json!(2);
        assert_eq!(changed, expected);
        assert_eq!(owner.get(&path).await?.ok()?, expected);
        assert_eq!(owner.get("/v1/workspaces").await?.ok()?["items"][0]["name"], "Tulpar Labs");
        // What is the same is no change, and leaves no entry.
        admin.patch(&path, &change).await?.assert_status(200);
        admin.patch(&path, &json!({})).await?.assert_status(200);
        let audit = owner.get(&format!("{path}/audit?action=workspace.update")).await?.ok()?;
        assert_eq!(audit["items"].as_array().map(Vec::len), Some(1), "{audit}");
        let detail = json!({"name": "Tulpar Labs", "locale": "kk", "hourlyCostMinor": 12});
        assert_eq!(audit["items"][0]["detail"], detail, "{audit}");

        for (body, field) in [
            (json!({"name": "x"}), "`name`"),
            (json!({"timezone": "Moon/Crater"}), "`timezone`"),
            (json!({"hourlyCostMinor": 1_000_000_001}), "`hourlyCostMinor`"),
        ] {
            let refused = owner.patch(&path, &body).await?;
            assert!(refused.assert_status(400).to_string().contains(field), "{refused}");
        }
        let builder = owner.add_member(&workspace.id, "builder").await?;
        builder.patch(&path, &change).await?.assert_error(403, "admin_only");
        let token = owner.create_token(&workspace.id, &["read", "write"]).await?;
        owner.with_bearer(&token).patch(&path, &change).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn explanations_follow_the_language_at_once(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let source = "export default { async scheduled() { throw new Error('no') } }";
        let (_, run) = owner.create_and_run_app(&workspace.id, source).await?;
        owner.wait_for_run(&run).await?;
        let explain = format!("/v1/runs/{run}/explain");
        assert!(owner.get(&explain).await?.string_at("/what")?.contains("failed"));
        owner.patch(&format!("/v1/workspaces/{}", workspace.id), &json!({"locale": "ru"})).await?.ok()?;
        assert!(owner.get(&explain).await?.string_at("/what")?.contains("ошибкой"));
        Ok(())
    }
}
