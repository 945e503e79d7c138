//! Values of imported steps: what the step of n8n gave for the same items, recorded by running its own engine on inputs of our making.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::Client;

/// A line for each step: its type, version, parameters, items of its inputs, and items of its outputs; null where it fails.
const RECORDED: &str = include_str!("../data/n8n-steps.jsonl");
/// Most steps of a workflow.
const STEPS: usize = 50;

/// Runs the steps one by one, each on its recorded inputs.
const RUN: &str = r"export default {
  async scheduled(event) {
    const given = [];
    for (const [name, inputs] of event.data) {
      const all = inputs.map((items) => items.map((json) => ({ json })));
      const flow = { dates: new Dates('UTC'), all: () => all[0], item: (step, item) => item, output: () => all[0], ran: () => true, variables: new Map() };
      try {
        const outputs = await steps.find((step) => step.name === name).run(all[0], flow, all);
        given.push(outputs.map((items) => (items ?? []).map((item) => item.json)));
      } catch {
        given.push(null);
      }
    }
    return given;
  },
};
";

fn workflow(cases: &[Value]) -> Value {
    let mut nodes = vec![
        json!({"id": "s", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}),
    ];
    let mut links = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let name = format!("Step {number}");
        nodes.push(json!({
            "id": name, "name": name, "type": format!("n8n-nodes-base.{}", case["kind"].as_str().unwrap_or_default()),
            "typeVersion": case["version"], "parameters": case["parameters"],
        }));
        links.push(json!({"node": name, "type": "main", "index": 0}));
    }
    json!({"name": "Recorded", "nodes": nodes, "connections": {"Start": {"main": [links]}}})
}

/// Returns what the imported steps give, in the order of the cases.
async fn given(owner: &Client, workspace: &str, cases: &[Value]) -> Result<Vec<Value>> {
    let body = json!({"source": workflow(cases).to_string(), "name": "Recorded"});
    let made = owner.post(&format!("/v1/workspaces/{workspace}/imports"), &body).await?.ok()?;
    for (number, case) in cases.iter().enumerate().filter(|(_, case)| case["kind"] != "merge") {
        let items = made["report"]["items"].as_array().context("no items")?;
        let item = items.iter().find(|item| item["id"] == format!("Step {number}")).context("no item")?;
        assert_eq!(item["grade"], "exact", "{case}: {item}");
    }
    let app = made["appId"].as_str().context("no app")?;
    let version = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
    let content = owner.get(&format!("/v1/apps/{app}/versions/{version}")).await?.ok()?;
    let mut files = content["files"].clone();
    let main = files["main.js"].as_str().context("no code")?;
    let (steps, _) = main.split_once("/** @type {Qala.App} */").context("no handlers")?;
    files["main.js"] = json!(format!("import {{ Dates }} from './dates.js';\n{steps}{RUN}"));
    let draft = format!("/v1/apps/{app}/draft");
    owner.put(&draft, &json!({"files": files, "baseVersionId": version})).await?.ok()?;
    let inputs: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(number, case)| json!([format!("Step {number}"), case["inputs"]]))
        .collect();
    let call = json!({"handler": "scheduled", "event": {"data": inputs}});
    let ran = owner.post(&format!("{draft}/invoke"), &call).await?.ok()?;
    Ok(serde_json::from_str(ran["body"].as_str().context("no result")?)?)
}

/// Leaves out the outputs at the end that have no item.
fn trimmed(outputs: &Value) -> Value {
    let mut outputs = outputs.clone();
    if let Some(all) = outputs.as_array_mut() {
        while all.len() > 1 && all.last().is_some_and(|items| items == &json!([])) {
            all.pop();
        }
    }
    outputs
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn steps_give_what_they_gave_in_the_original(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let cases: Vec<Value> = RECORDED.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        assert!(cases.len() > 150);
        for cases in cases.chunks(STEPS) {
            let given = given(&owner, &workspace, cases).await?;
            assert_eq!(given.len(), cases.len());
            for (case, given) in cases.iter().zip(&given) {
                assert_eq!(trimmed(given), trimmed(&case["expected"]), "{case}");
            }
        }
        Ok(())
    }
}
