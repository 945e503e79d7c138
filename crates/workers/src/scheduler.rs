//! Starts runs of automations whose schedule is due.

use std::{sync::Arc, time::Duration};

use kernel::{
    Clock, Randomness, StoreError, Timestamp,
    id::{OccurrenceId, RunId},
};
use runs::{
    Automation, Trigger, TriggerKind,
    automations::occurrences::{NewOccurrence, OccurrenceDecision, OccurrencePlan},
    ports::ScheduleStore,
    queue::NewRun,
};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;

/// Bound on the delay before a due schedule is noticed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of automations per read.
const BATCH: u32 = 100;

/// Fires the schedules that are due.
///
/// Every node may run one: the store lets only one of them record each occurrence. The schedule's policy decides
/// what happens to occurrences that were missed, as while no node ran; each of them leaves a row.
pub struct Scheduler {
    schedules: Arc<dyn ScheduleStore>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
}

impl Scheduler {
    /// Creates a scheduler over a store.
    #[must_use]
    pub fn new(
        schedules: Arc<dyn ScheduleStore>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Randomness>,
    ) -> Self {
        Self { schedules, clock, random }
    }

    /// Fires the schedules that are due, every second, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut backoff = Backoff::default();
        loop {
            let wait = match self.fire_due().await {
                Ok(()) => {
                    backoff.reset();
                    POLL_INTERVAL
                }
                Err(error) => {
                    let wait = backoff.next_delay(&*self.random);
                    if backoff.is_first_failure() {
                        tracing::warn!(error = &error as &dyn std::error::Error, "cannot fire schedules");
                    }
                    wait.max(POLL_INTERVAL)
                }
            };
            if shutdown.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                return;
            }
        }
    }

    /// Fires every schedule that is due now.
    async fn fire_due(&self) -> Result<(), StoreError> {
        loop {
            let now = self.clock.now();
            let due = self.schedules.due_automations(now, BATCH).await?;
            let mut fired = 0;
            for automation in &due {
                fired += u32::from(self.fire(automation, now).await?);
            }
            // A batch that is not full was all there was; a full one in which nothing fired is handled by other nodes.
            if due.len() < BATCH as usize || fired == 0 {
                return Ok(());
            }
        }
    }

    /// Records the occurrences of a due automation; returns true if this call did, and no other node.
    async fn fire(&self, automation: &Automation, now: Timestamp) -> Result<bool, StoreError> {
        let (Trigger::Schedule(schedule), Some(due)) = (&automation.trigger, automation.next_run_at) else {
            tracing::error!(automation = %automation.id, "an automation without a schedule is due");
            return Ok(false);
        };
        let passed = schedule.due_occurrences(due, now);
        let occurrences: Vec<NewOccurrence> = passed
            .occurrences
            .into_iter()
            .map(|(due_at, decision)| NewOccurrence {
                id: OccurrenceId::generate(&*self.random, due_at),
                due_at,
                plan: match decision {
                    OccurrenceDecision::Run => OccurrencePlan::Start {
                        run: Box::new(self.new_run(automation, due_at, now)),
                        is_late: false,
                    },
                    OccurrenceDecision::CatchUp => OccurrencePlan::Start {
                        run: Box::new(self.new_run(automation, due_at, now)),
                        is_late: true,
                    },
                    OccurrenceDecision::Skip(reason) => OccurrencePlan::Skip(reason),
                },
            })
            .collect();
        let count = occurrences.len();
        let is_fired = self.schedules.fire_schedule(automation, due, occurrences, passed.next, now).await?;
        if is_fired {
            tracing::debug!(automation = %automation.id, %due, count, "schedule fired");
        }
        Ok(is_fired)
    }

    fn new_run(&self, automation: &Automation, due_at: Timestamp, now: Timestamp) -> NewRun {
        NewRun {
            id: RunId::generate(&*self.random, now),
            workspace: automation.workspace,
            app: automation.app,
            automation: Some(automation.id),
            trigger: TriggerKind::Schedule,
            input: RawValue::NULL.to_owned(),
            at: now,
            scheduled_for: Some(due_at),
            max_concurrency: automation.max_concurrency,
            version: None,
            replay_of: None,
            by_agent: false,
            agent: None,
            is_on_hold: false,
        }
    }
}

#[cfg(test)]
mod tests;
