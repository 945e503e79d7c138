//! Starts automations whose moment has come.

use std::{sync::Arc, time::Duration};

use kernel::{
    Clock, Randomness, StoreError, Timestamp,
    id::{OccurrenceId, RunId},
};
use runs::{
    Automation, Trigger, TriggerKind,
    automations::occurrences::{Decision, NewOccurrence, Plan},
    ports::Schedules,
    queue::NewRun,
};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;

/// How late a moment is noticed.
const LOOK: Duration = Duration::from_secs(1);
/// Automations looked at in one go.
const BATCH: u32 = 100;

/// Strikes schedules.
///
/// Every node may run one: the store lets only one strike each moment. What is done about moments that were missed, as
/// when no node ran, the schedule's policy says; each leaves a row.
pub struct Scheduler {
    schedules: Arc<dyn Schedules>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
}

impl Scheduler {
    /// A scheduler over a store.
    #[must_use]
    pub fn new(schedules: Arc<dyn Schedules>, clock: Arc<dyn Clock>, random: Arc<dyn Randomness>) -> Self {
        Self { schedules, clock, random }
    }

    /// Strikes what is due every second, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut backoff = Backoff::default();
        loop {
            let wait = match self.strike_due().await {
                Ok(()) => {
                    backoff.reset();
                    LOOK
                }
                Err(error) => {
                    let wait = backoff.after_failure(&*self.random);
                    if backoff.is_first() {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "no schedule can be struck now"
                        );
                    }
                    wait.max(LOOK)
                }
            };
            if shutdown.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                return;
            }
        }
    }

    /// Strikes everything that is due now.
    async fn strike_due(&self) -> Result<(), StoreError> {
        loop {
            let now = self.clock.now();
            let due = self.schedules.due_automations(now, BATCH).await?;
            let mut struck = 0;
            for automation in &due {
                struck += u32::from(self.strike(automation, now).await?);
            }
            // Less than a full batch was all there was; a batch of which nothing was ours is others' work.
            if due.len() < BATCH as usize || struck == 0 {
                return Ok(());
            }
        }
    }

    /// Whether this call was the one that struck.
    async fn strike(&self, automation: &Automation, now: Timestamp) -> Result<bool, StoreError> {
        let (Trigger::Schedule(schedule), Some(due)) = (&automation.trigger, automation.next_run_at) else {
            tracing::error!(automation = %automation.id, "an automation without a schedule is due");
            return Ok(false);
        };
        let passed = schedule.passed(due, now);
        let occurrences: Vec<NewOccurrence> = passed
            .moments
            .into_iter()
            .map(|(moment, decision)| NewOccurrence {
                id: OccurrenceId::generate(&*self.random, moment),
                due_at: moment,
                plan: match decision {
                    Decision::Run => {
                        Plan::Start { run: Box::new(self.new_run(automation, moment, now)), late: false }
                    }
                    Decision::CatchUp => {
                        Plan::Start { run: Box::new(self.new_run(automation, moment, now)), late: true }
                    }
                    Decision::Skip(reason) => Plan::Skip(reason),
                },
            })
            .collect();
        let count = occurrences.len();
        let struck = self.schedules.strike(automation, due, occurrences, passed.next, now).await?;
        if struck {
            tracing::debug!(automation = %automation.id, %due, count, "a schedule struck");
        }
        Ok(struck)
    }

    fn new_run(&self, automation: &Automation, moment: Timestamp, now: Timestamp) -> NewRun {
        NewRun {
            id: RunId::generate(&*self.random, now),
            workspace: automation.workspace,
            app: automation.app,
            automation: Some(automation.id),
            trigger: TriggerKind::Schedule,
            input: RawValue::NULL.to_owned(),
            at: now,
            scheduled_for: Some(moment),
            max_concurrency: automation.max_concurrency,
            version: None,
            replay_of: None,
            by_agent: false,
            held: false,
        }
    }
}

#[cfg(test)]
mod tests;
