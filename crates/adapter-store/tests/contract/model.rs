//! Long random lives of a queue, against a simple model of it.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Randomness, SeededRandomness, Timestamp,
    id::{NodeId, RunId},
};
use runs::{
    Automation, RunStatus, RunsTx as _, Trigger,
    queue::{ClaimedRun, Conclusion, LEASE, RunFault, RunQueue as _},
    webhooks::{HookDesk as _, Verdict},
};

use crate::harness::{Database, World, at};

/// A run of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting { since: Timestamp },
    Leased { to: NodeId, attempt: u32, until: Timestamp },
    Ended,
}

/// A queue that is easy to believe in. Runs of a limited automation come in by their ids.
struct Model {
    limit: usize,
    limited: BTreeSet<RunId>,
    runs: BTreeMap<RunId, (State, u32)>,
}

impl Model {
    /// Which runs can be claimed, in order.
    fn claimable(&self, now: Timestamp) -> Vec<RunId> {
        let let_in: BTreeSet<RunId> = self
            .runs
            .iter()
            .filter(|(id, (state, _))| self.limited.contains(id) && *state != State::Ended)
            .map(|(id, _)| *id)
            .take(self.limit)
            .collect();
        let mut due: Vec<(Timestamp, RunId)> = self
            .runs
            .iter()
            .filter(|(id, _)| !self.limited.contains(id) || let_in.contains(id))
            .filter_map(|(id, (state, _))| match state {
                State::Waiting { since } if *since <= now => Some((*since, *id)),
                _ => None,
            })
            .collect();
        due.sort();
        due.into_iter().map(|(_, id)| id).collect()
    }

    fn holds(&self, node: NodeId, run: &ClaimedRun) -> bool {
        matches!(self.runs[&run.id].0, State::Leased { to, attempt, .. } if to == node && attempt == run.attempt)
    }

    fn set(&mut self, run: RunId, state: State) {
        self.runs.get_mut(&run).unwrap().0 = state;
    }
}

struct Life {
    world: World,
    random: SeededRandomness,
    model: Model,
    now: Timestamp,
    nodes: Vec<NodeId>,
    /// What was claimed at some time, held still or not.
    claimed: Vec<(NodeId, ClaimedRun)>,
    ends: BTreeMap<RunId, u32>,
}

impl Life {
    fn below(&self, bound: usize) -> usize {
        let random: &dyn Randomness = &self.random;
        random.below(u32::try_from(bound).unwrap()) as usize
    }

    async fn accept(&mut self, webhook: &runs::Webhook, limited: bool) {
        let state = self.world.state(webhook).await;
        let call = runs::webhooks::Acceptance { at: self.now, ..self.world.call(&state) };
        let run = call.run;
        assert_eq!(self.world.store.accept(call).await.unwrap(), Verdict::Accepted);
        self.model.runs.insert(run, (State::Waiting { since: self.now }, 0));
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
            entry.0 = State::Leased { to: node, attempt: run.attempt, until: self.now + LEASE };
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
            0 => Conclusion::Retry { at: retry_at, fault: fault() },
            1 => Conclusion::Failed(fault()),
            2 => Conclusion::Blocked(fault()),
            _ => Conclusion::Succeeded,
        };
        let (node, run) = &self.claimed[index];
        let (node, id, expected) = (*node, run.id, self.model.holds(*node, run));
        assert_eq!(self.world.finish(node, run, conclusion.clone()).await, expected, "{id}");
        if !expected {
            return;
        }
        if matches!(conclusion, Conclusion::Retry { .. }) {
            self.model.set(id, State::Waiting { since: retry_at });
        } else {
            self.model.set(id, State::Ended);
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
        if matches!(state, State::Leased { to, .. } if to == *node) {
            // When it became due has not changed.
            let since = self.due_at(run.id).await;
            self.model.runs.insert(run.id, (State::Waiting { since }, attempts - 1));
        }
    }

    async fn expire(&mut self) {
        let lost: Vec<RunId> = self
            .model
            .runs
            .iter()
            .filter(|(_, (state, _))| matches!(state, State::Leased { until, .. } if *until <= self.now))
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(self.world.store.release_expired(self.now).await.unwrap(), lost.len() as u64);
        for run in lost {
            let since = self.due_at(run).await;
            self.model.set(run, State::Waiting { since });
        }
    }

    async fn due_at(&self, run: RunId) -> Timestamp {
        let sql = "SELECT available_at FROM run_queue WHERE run_id = $1";
        let millis: i64 = self.world.value(sql, vec![run.uuid().into()]).await;
        Timestamp::from_timestamp_millis(millis).unwrap()
    }

    async fn work_everything_off(&mut self) {
        loop {
            self.now += LEASE;
            self.expire().await;
            let node = self.nodes[0];
            let claimed = self.world.claim(node, 50, self.now).await;
            for run in &claimed {
                assert!(self.world.finish(node, run, Conclusion::Succeeded).await);
                self.model.set(run.id, State::Ended);
                *self.ends.entry(run.id).or_default() += 1;
            }
            if claimed.is_empty() && self.world.count("run_queue").await == 0 {
                return;
            }
        }
    }
}

async fn live(seed: u64) {
    let world = World::new(Database::sqlite()).await;
    let (_, free) = world.hooked(None).await;
    let (_, limited) = world.hooked(Some(2)).await;
    let manual = Automation { max_concurrency: None, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&manual).await).await;
    let mut life = Life {
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
                life.model.runs.insert(run, (State::Waiting { since: life.now }, 0));
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
    life.work_everything_off().await;
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
        live(seed).await;
    }
}
