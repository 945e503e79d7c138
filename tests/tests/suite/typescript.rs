//! Apps in TypeScript: the source is kept as it was written, and runs without its types.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

const MAIN: &str = "import type { Order } from './orders.js';
import { total } from './orders.js';

export default {
  async scheduled(event: { data: Order }): Promise<number> {
    console.log('lines', event.data.lines.length);
    return total(event.data);
  },
} satisfies Qala.App;
";
const ORDERS: &str = "export interface Order { lines: readonly number[] }
export const total = ({ lines }: Order): number => {
  if (lines.length === 0) throw new RangeError('no lines');
  return lines.reduce((sum, one) => sum + one, 0);
};
";

fn files() -> Value {
    json!({"main.ts": MAIN, "orders.ts": ORDERS, "qala.d.ts": "declare namespace Qala { interface App {} }"})
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_app_in_typescript_runs_and_keeps_its_source(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let body = json!({"name": "Orders", "files": files()});
        let created = owner.post(&format!("/v1/workspaces/{}/apps", workspace.id), &body).await?;
        let app = created.string_at("/id")?;
        let version = created.ok()?["currentVersionId"].as_str().context("no version")?.to_owned();
        let version = owner.get(&format!("/v1/apps/{app}/versions/{version}")).await?.ok()?;
        ensure!(version["files"] == files(), "{version}");

        let automation = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        let run = owner.start_run(&automation, json!({"lines": [1, 2, 39]})).await?;
        let run = owner.wait_for_success(&run).await?;
        ensure!(run["result"] == 42, "{run}");
        let failed = owner.start_run(&automation, json!({"lines": []})).await?;
        let failed = owner.wait_for_run(&failed).await?;
        let message = failed["errorMessage"].as_str().unwrap_or_default();
        ensure!(message.contains("orders.ts:3:") && message.contains("main.ts:7:"), "{message}");
        Ok(())
    }

    async fn code_that_is_more_than_types_is_refused_at_its_place(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let path = format!("/v1/workspaces/{}/apps", workspace.id);
        let nested = format!("let a = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let types = format!("type A = {}b", "keyof ".repeat(100_000));
        for (files, says) in [
            (json!({"main.ts": "let a = 1;\nenum A { B }"}), "main.ts:2:1: "),
            (json!({"main.ts": "export default { scheduled(a: ) {} }"}), "main.ts:1:31: "),
            (json!({"main.ts": MAIN}), "main.ts imports ./orders.js"),
            (json!({"main.ts": MAIN, "main.js": "export default {}"}), "main.js beside main.ts"),
            (json!({"orders.ts": ORDERS}), "main.js or main.ts"),
            (json!({"main.ts": nested}), "nested too deeply"),
            (json!({"main.ts": types}), "nested too deeply"),
        ] {
            let refused = owner.post(&path, &json!({"name": "Orders", "files": files})).await?;
            refused.assert_error(400, "invalid_request");
            let problem: Value = refused.json()?;
            let message = problem["error"]["message"].as_str().unwrap_or_default();
            ensure!(message.contains(says), "{message} does not say {says}");
        }
        owner.post(&path, &json!({"name": "Orders", "files": files()})).await?.ok()?;
        Ok(())
    }
}
