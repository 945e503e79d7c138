//! Reading the audit log, and the path of audit entries of rows into it.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::BackendProject;

fn items(body: &Value) -> Result<Vec<Value>> {
    Ok(body["items"].as_array().context("no items")?.clone())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_admin_reads_the_audit_log(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        let audit = format!("/v1/workspaces/{id}/audit");
        let admin = owner.add_member(&id, "admin").await?;
        let secret = owner.create_token(&id, &["write"]).await?;
        let created = owner.with_bearer(&secret).post(&format!("/v1/workspaces/{id}/apps"), &json!({"name": "An app"})).await?;

        let all = items(&admin.get(&audit).await?.ok()?)?;
        let newest = &all[0];
        assert_eq!((&newest["action"], &newest["target"]), (&json!("app.create"), &json!(created.string_at("/id")?)));
        assert_eq!(newest["actor"]["id"], owner.user_id().await?.as_str());
        assert_eq!(newest["actor"]["name"], "owner");
        assert!(newest["actor"]["tokenId"].as_str().is_some_and(|token| token.starts_with("tok_")), "{newest}");
        assert_eq!(newest["requestId"].as_str(), created.header("x-request-id"));
        assert_eq!(newest["address"], "127.0.0.1");
        let actions: BTreeSet<_> = all.iter().filter_map(|item| item["action"].as_str()).collect();
        for action in ["workspace.create", "invite.create", "invite.accept", "member.join", "token.create"] {
            assert!(actions.contains(action), "{action}: {actions:?}");
        }
        let joined = all.iter().find(|item| item["action"] == "member.join").context("no member.join")?;
        assert_eq!(joined["detail"]["role"], "admin");
        assert_eq!(joined["actor"]["id"], admin.user_id().await?.as_str());

        // It has no secrets.
        let text = Value::from(all.clone()).to_string();
        assert!(!text.contains("qiv_") && !text.contains(&secret), "{text}");

        // The pages together are the whole log, newest first and without duplicates.
        let mut paged = Vec::new();
        let mut cursor = String::new();
        loop {
            let body = admin.get(&format!("{audit}?limit=2{cursor}")).await?.ok()?;
            paged.extend(items(&body)?);
            match body["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(paged, all);

        let only = items(&admin.get(&format!("{audit}?action=invite.create")).await?.ok()?)?;
        assert_eq!(only.len(), 1);
        let of_admin = admin.user_id().await?;
        let only = items(&admin.get(&format!("{audit}?actor={of_admin}")).await?.ok()?)?;
        assert!(!only.is_empty() && only.iter().all(|item| item["actor"]["id"] == of_admin.as_str()), "{only:?}");
        let of_owner = owner.user_id().await?;
        let with_token = items(&admin.get(&format!("{audit}?actor={of_owner}&action=app.create")).await?.ok()?)?;
        assert!(with_token.iter().any(|item| item["actor"]["tokenId"].is_string()), "{with_token:?}");
        assert_eq!(items(&admin.get(&format!("{audit}?action=no.such")).await?.ok()?)?, <[Value; 0]>::default());
        for bad in ["limit=0", "limit=201", "cursor=x", "actor=x", "action=", "action=%00", "action=A", "who=x"] {
            let reply = admin.get(&format!("{audit}?{bad}")).await?;
            reply.check_error(400, Some("invalid_request")).context(bad)?;
        }
        Ok(())
    }

    async fn only_admins_of_the_workspace_read_the_audit_log(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        let audit = format!("/v1/workspaces/{id}/audit");
        for role in ["builder", "member", "viewer"] {
            owner.add_member(&id, role).await?.get(&audit).await?.assert_error(403, "admin_only");
        }
        let outsider = server.sign_in("outsider@example.test").await?;
        let elsewhere = outsider.create_workspace("Elsewhere").await?.id;
        outsider.get(&audit).await?.assert_error(404, "workspace_not_found");
        server.client().get(&audit).await?.assert_error(401, "unauthorized");
        let token = owner.with_bearer(&owner.create_token(&id, &["admin"]).await?);
        token.get(&audit).await?.assert_error(403, "console_only");
        // The log of another workspace has nothing of this one.
        let theirs = outsider.get(&format!("/v1/workspaces/{elsewhere}/audit")).await?;
        assert!(!String::from_utf8_lossy(&theirs.body).contains(&id), "{theirs}");
        Ok(())
    }

    /// Rows are in another store than the audit log, so their audit entries go through an outbox in the store of the
    /// rows.
    async fn changes_of_rows_reach_the_audit_log_after_a_crash(mut server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        let backend = BackendProject::create(&owner, &id).await?;
        backend.create_table("memos", &[("title", "text")]).await?;
        let rows = backend.console_path("/tables/memos/rows");

        server.execute_static_sql("ALTER TABLE audit_log RENAME TO audit_log_away").await?;
        let written = owner.post(&rows, &json!([{"id": "a", "title": "a"}, {"id": "b", "title": "b"}])).await?;
        written.assert_status(201);
        let row = owner.delete(&backend.console_path("/tables/memos/rows/a")).await?;
        row.assert_status(200);
        owner.post(&rows, &json!([{"id": "b"}])).await?.assert_status(409);
        server.kill()?;
        server.execute_static_sql("ALTER TABLE audit_log_away RENAME TO audit_log").await?;
        server.restart().await?;

        let audit = format!("/v1/workspaces/{id}/audit");
        let both = tests::eventually_within(Duration::from_secs(60), "the audit entries arrive", async || {
            let mut all = items(&owner.get(&audit).await?.ok()?)?;
            all.retain(|item| item["action"].as_str().is_some_and(|action| action.starts_with("row.")));
            (all.len() >= 2).then_some(all).context("they have not arrived")
        });
        let both = both.await?;
        let summary = |item: &Value| json!([item["action"], item["target"], item["detail"]]);
        assert_eq!(both.iter().map(summary).collect::<Vec<_>>(), [
            json!(["row.delete", backend.id, {"table": "memos", "row": "a", "rows": 1}]),
            json!(["row.insert", backend.id, {"table": "memos", "rows": 2}]),
        ]);
        assert!(both.iter().all(|item| item["requestId"].is_string() && item["address"] == "127.0.0.1"));
        assert_eq!(both[1]["requestId"].as_str(), written.header("x-request-id"));
        Ok(())
    }
}
