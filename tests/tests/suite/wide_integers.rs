//! Integers beyond 53 bits, which a number of JavaScript cannot hold: code changes none in silence.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::BackendProject;

const ID: &str = "8202522731445525542";

const CODE: &str = r#"export default { async scheduled(event, env) {
    const { main } = env.data;
    const tell = (said) => console.log(JSON.stringify(said));
    if (event.data === null) {
        const failed = async (write) => write().then(() => 'written', (error) => `${error.code} ${error.message}`);
        const wide = 2 ** 53;
        tell([
            await failed(() => main.insert('t', { id: 'no', n: wide })),
            await failed(() => main.update('t', { id: 'eq.a' }, { n: -wide })),
            await failed(() => main.insert('t', { id: 'float', n: 2 ** 53 - 1, r: wide, j: { wide } })),
        ]);
        return;
    }
    const [row] = await main.insert('t', { id: 'a', n: event.data.id });
    const got = await main.get('t', 'a');
    const [again] = await main.update('t', { n: `eq.${got.n}` }, { n: got.n });
    tell({ sent: event.data.id, text: event.text, types: [typeof row.n, typeof got.n], again: again.n, r: (await main.get('t', 'b')).r });
} }"#;

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn they_reach_code_and_rows_as_they_were_sent(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("t", &[("n", "integer"), ("r", "real"), ("j", "json")]).await?;
        let row = json!({"id": "b", "n": 1, "r": 9.5e30});
        let key = project.create_key("secret").await?;
        let visitor = server.client();
        let insert = project.rest_request(&visitor, (&key, None), http::Method::POST, "t")?;
        insert.json(&row)?.send().await?.assert_status(201);

        let app = owner.create_app(&workspace, "export default { async scheduled() {} }").await?;
        let version = json!({
            "files": {"main.js": CODE},
            "manifest": {
                "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "triggers": [{"type": "manual"}, {"type": "webhook"}],
                "permissions": {"data": [{"name": "main", "projectId": project.id, "access": "write"}]},
            },
        });
        owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        let automation = owner.create_automation(&workspace, &app, "webhook", 0).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        let body: Value = serde_json::from_str(&format!("{{\"id\":{ID}}}"))?;
        let run = webhook.send(&body).await?.string_at("/runId")?;
        let said = async |run: &str| -> Result<Value> {
            owner.wait_for_success(run).await?;
            let lines = owner.app_log(&app, Some(run)).await?;
            let line = lines.iter().find(|line| line.source == "app").context("no line")?;
            Ok(serde_json::from_str(&line.message)?)
        };
        let expected = json!({
            "sent": ID, "text": format!("{{\"id\":{ID}}}"), "types": ["string", "string"], "again": ID, "r": 9.5e30,
        });
        assert_eq!(said(&run).await?, expected);
        // By other ways to start a run, too.
        let clear = async || -> Result<()> {
            let delete = project.rest_request(&visitor, (&key, None), http::Method::DELETE, "t?id=eq.a")?;
            delete.send().await?.assert_status(200);
            Ok(())
        };
        clear().await?;
        let by_hand = owner.create_automation(&workspace, &app, "manual", 0).await?;
        let run = owner.start_run(&by_hand, body.clone()).await?;
        assert_eq!(said(&run).await?, expected);
        // The row is there already, so the next one fails; its replay finds none.
        let failed = owner.start_run(&by_hand, body.clone()).await?;
        assert_eq!(owner.wait_for_run(&failed).await?["status"], "failed");
        clear().await?;
        let replayed = owner.post(&format!("/v1/runs/{failed}/replay"), &json!({})).await?.string_at("/runId")?;
        assert_eq!(said(&replayed).await?, expected);
        clear().await?;
        let draft = format!("/v1/apps/{app}/draft");
        let version = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let code = json!({"files": {"main.js": CODE}, "baseVersionId": version});
        owner.put(&draft, &code).await?.ok()?;
        let call = json!({"handler": "scheduled", "event": {"data": body}});
        let invoked = owner.post(&format!("{draft}/invoke"), &call).await?.ok()?;
        let line = invoked["logs"][0]["message"].as_str().context("no line")?;
        assert_eq!(serde_json::from_str::<Value>(line)?, expected);

        let rows = project.rest_request(&visitor, (&key, None), http::Method::GET, "t?id=eq.a&select=n")?;
        assert_eq!(String::from_utf8_lossy(&rows.send().await?.body), format!("[{{\"n\":{ID}}}]"));

        // A number of code that may stand for several integers is none of them.
        let run = owner.start_run(&by_hand, Value::Null).await?;
        let said = said(&run).await?;
        for refused in [&said[0], &said[1]] {
            let refused = refused.as_str().unwrap_or_default();
            assert!(refused.starts_with("invalid_value") && refused.contains("\"n\"") && refused.contains("text"), "{refused}");
        }
        assert_eq!(said[2], "written");
        let rows = project.rest_request(&visitor, (&key, None), http::Method::GET, "t?id=eq.float&select=n,r,j")?;
        let float = rows.send().await?.ok()?;
        assert_eq!(float, json!([{"n": 9_007_199_254_740_991_i64, "r": 9_007_199_254_740_992.0, "j": {"wide": 9_007_199_254_740_992.0}}]));
        Ok(())
    }
}
