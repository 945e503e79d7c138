//! Tools of agents, and what runs return.

use ::apps::manifest::EgressPermission;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AgentToolId, AutomationId},
};
use runs::{
    Automation, AutomationStatus, RunsRead as _, RunsTx as _, Trigger,
    agent_tools::{
        AgentTool, AgentToolState, AgentToolsRead as _, AgentToolsTx as _, InputSchema, ListedTool,
        PermissionsHash, ToolName,
    },
    queue::{AttemptOutcome, FinishedRun, RunQueue as _},
};

use crate::{
    contract,
    harness::{Database, World, at, finished_run, json},
};

contract!(
    a_tool_is_read_as_it_was_written,
    a_name_is_unique_in_its_workspace,
    the_state_follows_the_current_version,
    calls_are_counted_for_seven_days,
    a_deleted_automation_takes_its_tool_with_it,
    what_a_run_returned_is_kept_with_it,
);

const DAY: i64 = 86_400_000;

/// The beginning of a day in UTC, moved by so many milliseconds. Tests begin at noon of day 0.
fn midnight(day: i64, millis: i64) -> Timestamp {
    at(day * DAY - DAY / 2 + millis)
}

/// A world whose app has a current version.
async fn published_world(database: Database) -> World {
    let world = World::new(database).await;
    world.publish(world.app, Some(world.version), false).await;
    world
}

async fn add_automation(world: &World) -> Automation {
    let automation = world.automation(Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

async fn tool_of(world: &World, automation: &Automation, name: &str) -> AgentTool {
    let app = world.store.tool_app(world.workspace, world.app).await.unwrap().unwrap();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    AgentTool {
        id: world.id(),
        workspace: world.workspace,
        app: world.app,
        automation: automation.id,
        name: ToolName::parse(name).unwrap(),
        title: "Invoice".to_owned(),
        description: "Sends an invoice.".to_owned(),
        input_schema: InputSchema::parse(serde_json::from_str(schema).unwrap()).unwrap(),
        is_enabled: true,
        reviewed_hash: app.current.unwrap().1,
        reviewed_at: at(5),
        reviewed_by: world.user,
        published_at: at(4),
    }
}

async fn add_tool(world: &World, name: &str) -> AgentTool {
    let automation = add_automation(world).await;
    let tool = tool_of(world, &automation, name).await;
    world.write(async |tx| tx.upsert_agent_tool(&tool).await).await;
    tool
}

async fn listed(world: &World, automation: AutomationId, now: Timestamp) -> Option<ListedTool> {
    world.store.agent_tool(world.workspace, automation, world.user, now).await.unwrap()
}

async fn names(world: &World) -> Vec<String> {
    let tools = world.store.agent_tools(world.workspace, world.user, Visibility::All, at(0)).await.unwrap();
    tools.into_iter().map(|listed| listed.tool.name.to_string()).collect()
}

async fn a_tool_is_read_as_it_was_written(database: Database) {
    let world = published_world(database).await;
    let tool = add_tool(&world, "invoice").await;
    let found = listed(&world, tool.automation, at(0)).await.unwrap();
    assert_eq!(found.tool, tool);
    assert_eq!((found.state, found.calls_week, found.last_called_at), (AgentToolState::Live, 0, None));
    assert_eq!((&*found.app_name, found.app_fact.app), ("Invoices", world.app));
    assert!(found.reviewed_by_name.is_some());

    let name = ToolName::parse("bill").unwrap();
    let changed = AgentTool {
        name: name.clone(),
        title: "Bill".to_owned(),
        description: "Sends a bill.".to_owned(),
        input_schema: InputSchema::any(),
        is_enabled: false,
        reviewed_at: at(9),
        ..tool.clone()
    };
    world.write(async |tx| tx.upsert_agent_tool(&changed).await).await;
    let found = listed(&world, tool.automation, at(0)).await.unwrap();
    assert_eq!((found.tool, found.state), (changed, AgentToolState::Off));
    let by_name = world.store.automation_of_tool(world.workspace, &name).await.unwrap();
    assert_eq!(by_name, Some(tool.automation));
    assert_eq!(world.store.automation_of_tool(world.workspace, &tool.name).await.unwrap(), None);

    let elsewhere = world.id();
    assert!(world.store.agent_tool(elsewhere, tool.automation, world.user, at(0)).await.unwrap().is_none());
    assert_eq!(world.store.automation_of_tool(elsewhere, &name).await.unwrap(), None);
    assert!(world.store.tool_app(elsewhere, world.app).await.unwrap().is_none());
    world
        .write(async |tx| {
            assert_eq!(tx.count_agent_tools(world.workspace).await?, 1);
            assert_eq!(tx.count_agent_tools(elsewhere).await?, 0);
            assert_eq!(tx.agent_tool_for_update(elsewhere, tool.automation).await?, None);
            tx.delete_agent_tool(elsewhere, tool.id).await
        })
        .await;
    assert_eq!(names(&world).await, ["bill"]);
}

async fn a_name_is_unique_in_its_workspace(database: Database) {
    let world = published_world(database).await;
    add_tool(&world, "invoice").await;
    let automation = add_automation(&world).await;
    let second = tool_of(&world, &automation, "invoice").await;
    let refused = world.try_write(async |tx| tx.upsert_agent_tool(&second).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    // An automation is one tool.
    let (first, other) =
        (tool_of(&world, &automation, "one").await, tool_of(&world, &automation, "two").await);
    world.write(async |tx| tx.upsert_agent_tool(&first).await).await;
    let refused = world.try_write(async |tx| tx.upsert_agent_tool(&other).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

async fn the_state_follows_the_current_version(database: Database) {
    let world = published_world(database).await;
    let tool = add_tool(&world, "invoice").await;
    let state = async || listed(&world, tool.automation, at(0)).await.unwrap().state;
    // A version that is older than the column of digests.
    world.execute("UPDATE app_versions SET permissions_hash = NULL", Vec::new()).await;
    assert_eq!(state().await, AgentToolState::Live);
    let app = world.store.tool_app(world.workspace, world.app).await.unwrap().unwrap();
    assert_eq!(app.current, Some((world.version, tool.reviewed_hash.clone())));

    let mut manifest = world.manifest();
    manifest.permissions.egress = vec![EgressPermission::new("b.example", None)];
    let version = world.id();
    world.add_version(world.app, version, 7, manifest).await;
    world.publish(world.app, Some(version), false).await;
    assert_eq!(state().await, AgentToolState::NeedsReview);
    let reviewed_hash = PermissionsHash("another".to_owned());
    let other = AgentTool { reviewed_hash, ..tool.clone() };
    world.write(async |tx| tx.upsert_agent_tool(&other).await).await;
    world.publish(world.app, Some(world.version), false).await;
    assert_eq!(state().await, AgentToolState::NeedsReview);
    world.write(async |tx| tx.upsert_agent_tool(&tool).await).await;
    assert_eq!(state().await, AgentToolState::Live);

    world.publish(world.app, Some(world.version), true).await;
    assert_eq!(state().await, AgentToolState::Paused);
    world.publish(world.app, None, false).await;
    assert_eq!(state().await, AgentToolState::NeedsReview);
    world.publish(world.app, Some(world.version), false).await;
    let draft = Automation {
        id: tool.automation,
        status: AutomationStatus::Draft,
        ..world.automation(Trigger::Manual)
    };
    world.write(async |tx| tx.update_automation(&draft).await).await;
    assert_eq!(state().await, AgentToolState::Paused);
}

async fn calls_are_counted_for_seven_days(database: Database) {
    let world = published_world(database).await;
    let (one, two) = (add_tool(&world, "one").await, add_tool(&world, "two").await);
    let record = async |tool: AgentToolId, time: Timestamp| {
        world.write(async |tx| tx.record_tool_call(tool, time).await).await;
    };
    let calls = async |now: Timestamp| listed(&world, one.automation, now).await.unwrap().calls_week;
    assert_eq!(names(&world).await, ["one", "two"]);
    for time in [midnight(1, 0), midnight(1, 1), midnight(2, -1), midnight(2, 0)] {
        record(one.id, time).await;
    }
    assert_eq!(calls(midnight(2, 0)).await, 4);
    assert_eq!(calls(midnight(8, -1)).await, 4, "today and the six days before");
    assert_eq!(calls(midnight(8, 0)).await, 1);
    assert_eq!(calls(midnight(9, 0)).await, 0);
    record(two.id, midnight(3, 0)).await;
    assert_eq!(names(&world).await, ["two", "one"], "the one that was called last");
    assert_eq!(
        listed(&world, two.automation, midnight(3, 0)).await.unwrap().last_called_at,
        Some(midnight(3, 0))
    );
    // What nobody counts any more is deleted with the next call.
    record(one.id, midnight(8, 0)).await;
    assert_eq!(world.count("agent_tool_calls").await, 3);
    // To publish again does not reset anything.
    world.write(async |tx| tx.upsert_agent_tool(&one).await).await;
    let found = listed(&world, one.automation, midnight(8, 0)).await.unwrap();
    assert_eq!((found.calls_week, found.last_called_at), (2, Some(midnight(8, 0))));
}

async fn a_deleted_automation_takes_its_tool_with_it(database: Database) {
    let world = published_world(database).await;
    let (one, two) = (add_tool(&world, "one").await, add_tool(&world, "two").await);
    for tool in [&one, &two] {
        world.write(async |tx| tx.record_tool_call(tool.id, at(0)).await).await;
    }
    world.write(async |tx| tx.delete_automation(world.workspace, one.automation, at(9)).await).await;
    assert_eq!(names(&world).await, ["two"]);
    assert_eq!(world.count("agent_tool_calls").await, 1);
}

async fn what_a_run_returned_is_kept_with_it(database: Database) {
    let world = published_world(database).await;
    let automation = add_automation(&world).await;
    let runs = [world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(0)).await];
    let node = world.id();
    let claimed = world.claim(node, 2, at(0)).await;
    let result = r#"{"text":"a\u0000b ✓","list":[1,2.50]}"#;
    let finishes = claimed.iter().map(|run| {
        let kept = (run.id == runs[0]).then(|| json(result));
        world.store.finish(node, FinishedRun { result: kept, ..finished_run(run, AttemptOutcome::Succeeded) })
    });
    for held in futures::future::join_all(finishes).await {
        assert!(held.unwrap());
    }
    let read = async |run| {
        let found = world.store.run_result(world.workspace, run).await.unwrap();
        found.map(|json| json.get().to_owned())
    };
    assert_eq!(read(runs[0]).await.as_deref(), Some(result));
    assert_eq!(read(runs[1]).await, None);
    assert!(world.store.run_result(world.id(), runs[0]).await.unwrap().is_none());
    // A lost lease keeps nothing.
    let late =
        FinishedRun { result: Some(json("1")), ..finished_run(&claimed[1], AttemptOutcome::Succeeded) };
    assert!(!world.store.finish(node, late).await.unwrap());
    assert_eq!(world.count("run_results").await, 1);
    // It goes with the run.
    world.execute("UPDATE workspaces SET plan = 'free'", Vec::new()).await;
    world.store.delete_expired(at(31 * DAY)).await.unwrap();
    assert_eq!((world.count("runs").await, world.count("run_results").await), (0, 0));
}
