//! Long random lives of a queue, against a simple model of it.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Randomness, SeededRandomness, Timestamp,
    id::{NodeId, RunId},
};
use runs::{
    Automation, RunStatus, RunsTx as _, Trigger,
    queue::{AttemptOutcome, ClaimedRun, LEASE, RunFault, RunQueue as _},
    webhooks::{AcceptOutcome, WebhookStore as _},
};

use crate::harness::{Database, World, at};

/// A run of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelState {
    Waiting { since: Timestamp },
    Leased { to: NodeId, attempt: u32, until: Timestamp },
    Ended,
}

/// A queue that is simple enough to be trusted. Runs of a limited automation are admitted by their ids.
struct Model {
    limit: usize,
    limited: BTreeSet<RunId>,
    runs: BTreeMap<RunId, (ModelState, u32)>,
}

impl Model {
    /// Returns the runs that can be claimed, in order.
    fn claimable(&self, now: Timestamp) -> Vec<RunId> {
        let admitted: BTreeSet<RunId> = self
            .runs
            .iter()
            .filter(|(id, (state, _))| self.limited.contains(id) && *state != ModelState::Ended)
            .map(|(id, _)| *id)
            .take(self.limit)
            .collect();
        let mut due: Vec<(Timestamp, RunId)> = self
            .runs
            .iter()
            .filter(|(id, _)| !self.limited.contains(id) || admitted.contains(id))
            .filter_map(|(id, (state, _))| match state {
                ModelState::Waiting { since } if *since <= now => Some((*since, *id)),
                _ => None,
            })
            .collect();
        due.sort();
        due.into_iter().map(|(_, id)| id).collect()
    }

    fn holds_lease(&self, node: NodeId, run: &ClaimedRun) -> bool {
        matches!(self.runs[&run.id].0, ModelState::Leased { to, attempt, .. } if to == node && attempt == run.attempt)
    }

    fn set(&mut self, run: RunId, state: ModelState) {
        self.runs.get_mut(&run).unwrap().0 = state;
    }
}

struct Simulation {
    world: World,
    random: SeededRandomness,
    model: Model,
    now: Timestamp,
    nodes: Vec<NodeId>,
    /// Runs that were claimed at some time, whether their leases are still held or not.
    claimed: Vec<(NodeId, ClaimedRun)>,
    ends: BTreeMap<RunId, u32>,
}

impl Simulation {
    fn below(&self, bound: usize) -> usize {
        let random: &dyn Randomness = &self.random;
        random.below(u32::try_from(bound).unwrap()) as usize
    }

    async fn accept(&mut self, webhook: &runs::Webhook, limited: bool) {
        let state = self.world.state(webhook).await;
        let call = runs::webhooks::AcceptCall { at: self.now, ..self.world.call(&state) };
        let run = call.run;
        assert_eq!(self.world.store.accept(call).await.unwrap(), AcceptOutcome::Accepted);
        self.model.runs.insert(run, (ModelState::Waiting { since: self.now }, 0));
        if limited {
            self.model.limited.insert(run);
        }
    }

    async fn claim(&mut self) {
        let node = self.nodes[self.below(self.nodes.len())];
        let limit = 1 + self.below(4);
        let expected: Vec<RunId> = self.model.claimable(self.now).into_iter().take(limit).collect();
        let claimed = self.world.claim(node, u32::try_from(limit).unwrap(), self.now).await;
        assert_eq!(claimed.iter().map(|run| run.id).collect::<Vec<_>>(), expected);
        for run in claimed {
            let entry = self.model.runs.get_mut(&run.id).unwrap();
            entry.1 += 1;
            assert_eq!(run.attempt, entry.1);
            entry.0 = ModelState::Leased { to: node, attempt: run.attempt, until: self.now + LEASE };
            self.claimed.push((node, run));
        }
    }

    /// Anybody who ever claimed a run may come with its end, be it late or twice.
    async fn finish(&mut self) {
        if self.claimed.is_empty() {
            return;
        }
        let index = self.below(self.claimed.len());
        let retry_at = self.now + chrono::TimeDelta::milliseconds(i64::try_from(self.below(20_000)).unwrap());
        let fault = || RunFault { code: "app_error".to_owned(), message: "no".to_owned() };
        let conclusion = match self.below(4) {
            0 => AttemptOutcome::Retry { at: retry_at, fault: fault() },
            1 => AttemptOutcome::Failed(fault()),
            2 => AttemptOutcome::Blocked(fault()),
            _ => AttemptOutcome::Succeeded,
        };
        let (node, run) = &self.claimed[index];
        let (node, id, expected) = (*node, run.id, self.model.holds_lease(*node, run));
        assert_eq!(self.world.finish(node, run, conclusion.clone()).await, expected, "{id}");
        if !expected {
            return;
        }
        if matches!(conclusion, AttemptOutcome::Retry { .. }) {
            self.model.set(id, ModelState::Waiting { since: retry_at });
        } else {
            self.model.set(id, ModelState::Ended);
            *self.ends.entry(id).or_default() += 1;
        }
    }

    async fn release(&mut self) {
        if self.claimed.is_empty() {
            return;
        }
        let (node, run) = &self.claimed[self.below(self.claimed.len())];
        self.world.store.release(*node, &[run.id]).await.unwrap();
        let (state, attempts) = self.model.runs[&run.id];
        if matches!(state, ModelState::Leased { to, .. } if to == *node) {
            // When it became due has not changed.
            let since = self.due_at(run.id).await;
            self.model.runs.insert(run.id, (ModelState::Waiting { since }, attempts - 1));
        }
    }

    async fn expire(&mut self) {
        let lost: Vec<RunId> = self
            .model
            .runs
            .iter()
            .filter(|(_, (state, _))| matches!(state, ModelState::Leased { until, .. } if *until <= self.now))
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(self.world.store.release_expired_leases(self.now).await.unwrap(), lost.len() as u64);
        for run in lost {
            let since = self.due_at(run).await;
            self.model.set(run, ModelState::Waiting { since });
        }
    }

    async fn due_at(&self, run: RunId) -> Timestamp {
        let sql = "SELECT available_at FROM run_queue WHERE run_id = $1";
        let millis: i64 = self.world.query_scalar(sql, vec![run.uuid().into()]).await;
        Timestamp::from_timestamp_millis(millis).unwrap()
    }

    async fn drain_queue(&mut self) {
        loop {
            self.now += LEASE;
            self.expire().await;
            let node = self.nodes[0];
            let claimed = self.world.claim(node, 50, self.now).await;
            for run in &claimed {
                assert!(self.world.finish(node, run, AttemptOutcome::Succeeded).await);
                self.model.set(run.id, ModelState::Ended);
                *self.ends.entry(run.id).or_default() += 1;
            }
            if claimed.is_empty() && self.world.count("run_queue").await == 0 {
                return;
            }
        }
    }
}

async fn run_simulation(seed: u64) {
    let world = World::new(Database::sqlite()).await;
    let (_, free) = world.add_webhook_automation(None).await;
    let (_, limited) = world.add_webhook_automation(Some(2)).await;
    let manual = Automation { max_concurrency: None, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&manual).await).await;
    let mut life = Simulation {
        nodes: vec![world.id(), world.id(), world.id()],
        world,
        random: SeededRandomness::new(seed),
        model: Model { limit: 2, limited: BTreeSet::new(), runs: BTreeMap::new() },
        now: at(0),
        claimed: Vec::new(),
        ends: BTreeMap::new(),
    };
    for _ in 0..150 {
        match life.below(10) {
            0 | 1 => life.accept(&free, false).await,
            2 => life.accept(&limited, true).await,
            3 => {
                let run = life.world.enqueue(&manual, life.now).await;
                life.model.runs.insert(run, (ModelState::Waiting { since: life.now }, 0));
            }
            4 | 5 => life.claim().await,
            6 | 7 => life.finish().await,
            8 => life.release().await,
            _ => {
                life.now += chrono::TimeDelta::milliseconds(i64::try_from(life.below(15_000)).unwrap());
                life.expire().await;
            }
        }
    }
    life.drain_queue().await;
    let accepted: Vec<RunId> = life.model.runs.keys().copied().collect();
    assert_eq!(life.ends, accepted.iter().map(|run| (*run, 1)).collect(), "seed {seed}");
    for run in accepted {
        let status = life.world.run(run).await.state.status();
        assert!(
            matches!(status, RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked),
            "{status:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_accepted_run_ends_exactly_once() {
    for seed in 0..6 {
        run_simulation(seed).await;
    }
}
