//! Senders of webhook calls that survive crashes of the server, and a log of the calls that it accepted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use ::tests::{Client, Webhook, eventually_within};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

/// Delay of a sender after a failed call.
const RETRY_DELAY: Duration = Duration::from_millis(20);
/// Limit for the last runs to finish, which includes the expiry of lost leases.
const DEADLINE: Duration = Duration::from_secs(300);

/// Running senders.
pub(super) struct Senders {
    tasks: JoinSet<()>,
    is_stopped: Arc<AtomicBool>,
    log: Arc<DeliveryLog>,
}

#[derive(Default)]
struct DeliveryLog {
    accepted: Mutex<BTreeSet<String>>,
    sent: AtomicU64,
}

/// Result of all calls.
pub(super) struct DeliveryReport {
    pub(super) sent: u64,
    pub(super) accepted: usize,
    pub(super) succeeded: usize,
    /// Runs that failed or were blocked; each is kept as a dead letter.
    pub(super) failed: usize,
}

impl Senders {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), is_stopped: Arc::default(), log: Arc::default() }
    }

    /// Starts a number of senders to a webhook.
    pub(super) fn start(&mut self, webhook: &Webhook, senders: u64) {
        for _ in 0..senders {
            let (webhook, is_stopped, log) =
                (webhook.clone(), Arc::clone(&self.is_stopped), Arc::clone(&self.log));
            self.tasks.spawn(async move {
                while !is_stopped.load(Ordering::Relaxed) {
                    let order = log.sent.fetch_add(1, Ordering::Relaxed);
                    let reply = webhook.send(&json!({ "order": order })).await;
                    match reply.and_then(|reply| reply.string_at("/runId")) {
                        Ok(run) => {
                            log.accepted.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
                        }
                        // The call may have been accepted, but the sender has no response.
                        Err(_) => sleep(RETRY_DELAY).await,
                    }
                }
            });
        }
    }

    /// Stops the senders, and checks that every accepted run is in the list of runs and that the feed reports its end
    /// once.
    pub(super) async fn reconcile(mut self, person: &Client, workspace: &str) -> Result<DeliveryReport> {
        self.is_stopped.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended?;
        }
        let runs = eventually_within(DEADLINE, "every run finishes", async || {
            let runs = list_run_statuses(person, workspace).await?;
            let unfinished = runs.values().filter(|status| !is_terminal(status)).count();
            ensure!(unfinished == 0, "{unfinished} runs are not finished");
            Ok(runs)
        })
        .await?;
        let accepted = self.log.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lost = accepted.iter().filter(|run| !runs.contains_key(*run)).count();
        ensure!(lost == 0, "{lost} accepted runs are missing");
        let ends = count_end_events(person, workspace).await?;
        for run in runs.keys() {
            let count = ends.get(run).copied().unwrap_or_default();
            ensure!(count == 1, "the feed reports the end of {run} {count} times");
        }
        let succeeded = runs.values().filter(|status| *status == "succeeded").count();
        let sent = self.log.sent.load(Ordering::Relaxed);
        Ok(DeliveryReport { sent, accepted: accepted.len(), succeeded, failed: runs.len() - succeeded })
    }
}

fn is_terminal(status: &str) -> bool {
    matches!(status, "succeeded" | "failed" | "blocked")
}

async fn list_run_statuses(person: &Client, workspace: &str) -> Result<BTreeMap<String, String>> {
    let mut runs = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let reply = person.get(&format!("/v1/workspaces/{workspace}/runs?limit=200{cursor}")).await?;
        let page = reply.ok()?;
        for run in page["items"].as_array().context("no list of runs")? {
            let text =
                |name: &str| run[name].as_str().map(str::to_owned).context("a run without an id or a status");
            runs.insert(text("id")?, text("status")?);
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(runs),
        }
    }
}

/// Counts the events in the feed that report the end of each run.
async fn count_end_events(person: &Client, workspace: &str) -> Result<BTreeMap<String, u32>> {
    let token = person.create_token(workspace, &["read"]).await?;
    let agent = person.with_bearer(&token);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    let mut since = 0;
    loop {
        let reply = agent.get(&format!("/v1/workspaces/{workspace}/agent-events?since={since}")).await?;
        let page: Value = reply.ok()?;
        ensure!(page["gap"] != true, "the feed has a gap");
        let items = page["items"].as_array().context("the feed has no items")?;
        for item in items {
            let ended = matches!(item["kind"].as_str(), Some("run_finished" | "run_failed"));
            if let Some(run) = item["runId"].as_str().filter(|_| ended) {
                *ends.entry(run.to_owned()).or_default() += 1;
            }
        }
        let cursor = page["cursor"].as_u64().context("the feed has no cursor")?;
        if cursor == since {
            return Ok(ends);
        }
        since = cursor;
    }
}
