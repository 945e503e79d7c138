//! Reading the audit log, and the path of audit entries of rows into it.

use std::{collections::BTreeSet, io::Read as _, time::Duration};

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;
use http::{Method, header};
use serde_json::{Value, json};
use tests::BackendProject;

fn items(body: &Value) -> Result<Vec<Value>> {
    Ok(body["items"].as_array().context("no items")?.clone())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn what_an_agent_did_is_told_from_what_its_person_did(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, "export default { async scheduled() {} }").await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        let tokens = owner.register_agent("Night shift").await?.sign_in(&owner, &workspace, "write").await?;
        let agent = owner.with_bearer(&tokens.access);
        let token = owner.with_bearer(&owner.create_token(&workspace, &["write"]).await?);

        let of_person = owner.start_run(&automation, Value::Null).await?;
        let of_token = token.start_run(&automation, Value::Null).await?;
        let of_agent = agent.start_run(&automation, Value::Null).await?;
        agent.patch(&format!("/v1/apps/{app}"), &json!({"description": "By an agent."})).await?.ok()?;

        let audit = format!("/v1/workspaces/{workspace}/audit");
        let read = async |query: &str| -> Result<Vec<Value>> {
            items(&owner.get(&format!("{audit}?{query}")).await?.ok()?)
        };
        let of_run = async |run: &str| -> Result<Value> {
            Ok(read(&format!("target={run}")).await?.first().context("no entry")?["actor"].clone())
        };
        let (person, personal, agents) =
            (of_run(&of_person).await?, of_run(&of_token).await?, of_run(&of_agent).await?);
        assert_eq!((&person["grantId"], &person["clientName"], &person["tokenId"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!((&personal["grantId"], &personal["tokenId"].is_string()), (&Value::Null, &true));
        assert_eq!((&agents["clientName"], &agents["tokenId"]), (&json!("Night shift"), &Value::Null));
        for actor in [&person, &personal, &agents] {
            assert_eq!(actor["id"], owner.user_id().await?.as_str(), "each acted for the person");
        }
        let grant = agents["grantId"].as_str().context("no grant")?;
        let actions = |entries: &[Value]| {
            entries.iter().filter_map(|entry| entry["action"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        for query in ["actor=agents".to_owned(), format!("grantId={grant}"), format!("actor=agents&grantId={grant}")] {
            let found = read(&query).await?;
            let own = found.iter().filter(|entry| entry["actor"]["grantId"] == json!(grant)).count();
            assert_eq!(own, found.len(), "{query}");
            assert!(actions(&found).contains(&"app.update".to_owned()), "{query}: {found:?}");
            assert!(!found.iter().any(|entry| entry["target"] == json!(of_person)), "{query}");
        }
        let listed = owner.get(&format!("{audit}/actions")).await?.ok()?;
        let listed: Vec<&str> = listed["items"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert!(listed.contains(&"run.start") && listed.contains(&"workspace.create"), "{listed:?}");
        assert!(listed.is_sorted(), "{listed:?}");
        let now = read("limit=1").await?[0]["at"].as_str().context("no time")?.to_owned();
        assert_eq!(read(&format!("to={}", "2026-01-01T00:00:00Z")).await?, Vec::<Value>::new());
        assert!(!read(&format!("from={}", now.replace(':', "%3A"))).await?.is_empty());
        for query in ["actor=somebody", "grantId=app_1", "target=", "from=today"] {
            owner.get(&format!("{audit}?{query}")).await?.assert_error(400, "invalid_request");
        }
        let both = format!("{audit}?actor={}&grantId={grant}", owner.user_id().await?);
        owner.get(&both).await?.assert_error(400, "invalid_request");

        for (run, client) in [(&of_person, None), (&of_token, None), (&of_agent, Some("Night shift"))] {
            let run = owner.get(&format!("/v1/runs/{run}")).await?.ok()?;
            assert_eq!(run["askedBy"]["clientName"].as_str(), client, "{run}");
            assert_eq!(run["trigger"], "manual");
        }
        let named = async |query: &str| -> Result<Value> {
            Ok(read(query).await?.first().with_context(|| format!("no entry of {query}"))?["object"].clone())
        };
        let object = named(&format!("target={of_agent}")).await?;
        assert_eq!((&object["appId"], &object["automationId"]), (&json!(app), &json!(automation)), "{object}");
        let app_name = object["appName"].clone();
        assert!(app_name.is_string() && object["automationName"].is_string(), "{object}");
        let version = named("action=version.create").await?;
        assert_eq!((&version["appName"], version["name"].is_string()), (&app_name, true), "{version}");
        let person = named("action=member.join").await;
        assert!(person.is_err() || person?["name"].is_string());
        assert_eq!(named("action=workspace.create").await?, Value::Null);
        // What is deleted keeps its name, and has no page any more.
        owner.delete(&format!("/v1/automations/{automation}")).await?.ok()?;
        owner.delete(&format!("/v1/apps/{app}")).await?.ok()?;
        let gone = named(&format!("target={app}&action=app.delete")).await?;
        assert_eq!((&gone["appId"], &gone["appName"]), (&Value::Null, &app_name), "{gone}");
        let deleted = read("action=automation.delete").await?;
        assert!(deleted.iter().all(|entry| entry["object"].is_null() && entry["detail"]["name"].is_string()), "{deleted:?}");

        // The name stays known when the agent's access has ended.
        owner.delete(&format!("/v1/workspaces/{workspace}/oauth/grants/{grant}")).await?.ok()?;
        assert_eq!(of_run(&of_agent).await?["clientName"], "Night shift");
        Ok(())
    }

    async fn the_history_of_an_app_has_its_versions_plans_and_automations(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, "export default { async scheduled() {} }").await?;
        let other = owner.create_app(&workspace, "export default { async scheduled() {} }").await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        let run = owner.start_run(&automation, Value::Null).await?;
        owner.wait_for_success(&run).await?;
        let change = owner.post(&format!("/v1/apps/{app}/changes"), &json!({"instruction": "Run it every hour."})).await?;
        let (plan, change) = (change.ok()?, change.string_at("/changeId")?);
        owner.post(&format!("/v1/changes/{change}/approve"), &json!({"manifest": plan["manifest"]})).await?.ok()?;
        owner.delete(&format!("/v1/automations/{automation}")).await?.ok()?;
        owner.patch(&format!("/v1/apps/{other}"), &json!({"description": "Another."})).await?.ok()?;

        let audit = format!("/v1/workspaces/{workspace}/audit");
        let history = items(&owner.get(&format!("{audit}?appId={app}&limit=200")).await?.ok()?)?;
        let actions: BTreeSet<_> = history.iter().filter_map(|entry| entry["action"].as_str()).collect();
        for action in ["app.create", "version.create", "automation.create", "automation.delete", "run.start", "change.plan", "change.approve"] {
            assert!(actions.contains(action), "{action}: {actions:?}");
        }
        assert!(!history.iter().any(|entry| entry["target"] == json!(other)), "{history:?}");
        let one = items(&owner.get(&format!("{audit}?appId={app}&action=automation.delete")).await?.ok()?)?;
        assert_eq!((one.len(), &one[0]["target"]), (1, &json!(automation)));
        for text in ["app_1", "", "ver_01h455vb4pex5vsknk084sn02q"] {
            owner.get(&format!("{audit}?appId={text}")).await?.assert_error(400, "invalid_request");
        }
        let elsewhere = owner.create_workspace("Other").await?.id;
        let found = owner.get(&format!("/v1/workspaces/{elsewhere}/audit?appId={app}")).await?.ok()?;
        assert_eq!(found["items"], json!([]));
        Ok(())
    }

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

    async fn the_log_is_compressed_for_clients_that_take_it(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        for _ in 0..5 {
            owner.create_app(&id, "export default { async scheduled() {} }").await?;
        }
        let audit = format!("/v1/workspaces/{id}/audit");
        let plain = owner.get(&audit).await?;
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
        let packed = owner.request(Method::GET, &audit).header(header::ACCEPT_ENCODING, "gzip")?.send().await?;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        let mut unpacked = Vec::new();
        GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked)?;
        assert_eq!(serde_json::from_slice::<Value>(&unpacked)?, plain.ok()?);
        assert!(packed.body.len() * 2 < unpacked.len(), "{} of {} bytes", packed.body.len(), unpacked.len());
        // What shows a secret once is sent as it is.
        let token = json!({"name": "n".repeat(60), "scopes": ["read"]});
        let tokens = owner.request(Method::POST, &format!("/v1/workspaces/{id}/tokens"));
        let created = tokens.header(header::ACCEPT_ENCODING, "gzip")?.json(&token)?.send().await?;
        assert_eq!(created.assert_status(200).header("content-encoding"), None);
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
