//! Durability: a call that was accepted outlives the process.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use kernel::id::RunId;
use runs::{
    RunStatus, RunsRead as _, RunsTx as _, Trigger,
    webhooks::{AcceptOutcome, Proof, WebhookStore as _},
};

use crate::harness::{Database, World};

/// Names the database to the process that is to be killed.
const DATABASE: &str = "QALA_TEST_ACCEPT_INTO";
/// Accepted calls that are awaited before the process is killed.
const ANSWERS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_accepted_call_outlives_a_kill() {
    let database = Database::sqlite();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durability::accepts_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DATABASE, &database.url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut accepted: Vec<RunId> = Vec::new();
    while accepted.len() < ANSWERS {
        let line = answers.next().expect("the process goes on").unwrap();
        accepted.extend(line.parse::<RunId>());
    }
    // SIGKILL, in the middle of its work.
    child.kill().unwrap();
    child.wait().unwrap();
    // It may have answered more before it died.
    accepted.extend(answers.map_while(Result::ok).filter_map(|line| line.parse::<RunId>().ok()));

    let store = database.open().await;
    for run in &accepted {
        let (workspace, _) = store.run_scope(*run).await.unwrap().expect("an accepted run is there");
        let run = store.run(workspace, *run).await.unwrap().expect("an accepted run is there");
        assert_eq!(run.state.status(), RunStatus::Queued);
    }
    store.check().await.unwrap();
}

/// The process that [`every_accepted_call_outlives_a_kill`] starts and kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs in a process of its own, until that is killed"]
async fn accepts_until_it_is_killed() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let world = World::at(&url).await;
    let automation = world.automation(Trigger::Webhook);
    let webhook = world.webhook(&automation, Proof::None);
    world
        .write(async |tx| {
            tx.insert_automation(&automation).await?;
            tx.upsert_webhook(&webhook).await
        })
        .await;
    let state = world.state(&webhook).await;
    let accept = async || {
        // Far more than it lives to do.
        for _ in 0..100_000 {
            let call = world.call(&state);
            let run = call.run;
            assert_eq!(world.store.accept(call).await.unwrap(), AcceptOutcome::Accepted);
            writeln!(std::io::stdout(), "{run}").unwrap();
        }
    };
    tokio::join!(accept(), accept(), accept());
}
