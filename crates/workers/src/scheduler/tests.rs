use std::sync::Mutex;

use async_trait::async_trait;
use kernel::{Id, SeededRandomness, clock::ManualClock};
use runs::{
    AutomationStatus,
    automations::{
        occurrences::{CatchUp, SchedulePolicy},
        schedule::Schedule,
    },
};
use uuid::Uuid;

use super::*;

/// The times that started a run, each with whether it was late, and the next time after them.
type Fired = (Vec<(Timestamp, bool)>, Option<Timestamp>);

/// Holds one automation, and records what fired.
struct MemorySchedules {
    automation: Mutex<Automation>,
    fired: Mutex<Vec<Fired>>,
    /// True if another node is always first.
    is_claimed_elsewhere: bool,
}

#[async_trait]
impl ScheduleStore for MemorySchedules {
    async fn due_automations(&self, now: Timestamp, _: u32) -> Result<Vec<Automation>, StoreError> {
        let automation = self.automation.lock().unwrap().clone();
        let due = automation.next_run_at.is_some_and(|next| next <= now);
        Ok(if due { vec![automation] } else { Vec::new() })
    }

    async fn fire_schedule(
        &self,
        automation: &Automation,
        due: Timestamp,
        passed: Vec<NewOccurrence>,
        next: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut stored = self.automation.lock().unwrap();
        assert_eq!((automation.id, Some(due)), (stored.id, stored.next_run_at));
        let mut started = Vec::new();
        for occurrence in passed {
            if let OccurrencePlan::Start { run, is_late } = occurrence.plan {
                assert_eq!((run.automation, run.trigger), (Some(automation.id), TriggerKind::Schedule));
                assert_eq!((run.scheduled_for, run.at), (Some(occurrence.due_at), now));
                assert_eq!(run.input.get(), "null");
                started.push((occurrence.due_at, is_late));
            }
        }
        if self.is_claimed_elsewhere {
            return Ok(false);
        }
        stored.next_run_at = next;
        self.fired.lock().unwrap().push((started, next));
        Ok(true)
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn hourly(next: &str, trigger: Trigger, beaten: bool) -> Arc<MemorySchedules> {
    let automation = Automation {
        id: Id::from_uuid(Uuid::from_u128(1)),
        workspace: Id::from_uuid(Uuid::from_u128(2)),
        app: Id::from_uuid(Uuid::from_u128(3)),
        name: "hourly".to_owned(),
        trigger,
        status: AutomationStatus::Active,
        max_concurrency: None,
        retries: 0,
        next_run_at: Some(at(next)),
        created_by: Id::from_uuid(Uuid::from_u128(4)),
        created_at: at(next),
    };
    Arc::new(MemorySchedules {
        automation: Mutex::new(automation),
        fired: Mutex::default(),
        is_claimed_elsewhere: beaten,
    })
}

/// Returns what a schedule fires while the clock moves from `from` to `to` in steps of `step`.
async fn fired_between(
    trigger: &Trigger,
    from: &str,
    to: &str,
    step: chrono::TimeDelta,
) -> Vec<(Timestamp, bool)> {
    let Trigger::Schedule(schedule) = trigger else { panic!("no schedule") };
    let first = schedule.next_after(at(from)).unwrap();
    let memory = hourly(&first.to_rfc3339(), trigger.clone(), false);
    let clock = Arc::new(ManualClock::new(at(from)));
    let schedules = Arc::clone(&memory) as Arc<dyn ScheduleStore>;
    let random = Arc::new(SeededRandomness::new(1));
    let scheduler = Scheduler::new(schedules, Arc::clone(&clock) as Arc<dyn Clock>, random);
    while clock.now() < at(to) {
        clock.advance(step);
        scheduler.fire_due().await.unwrap();
    }
    let fired = memory.fired.lock().unwrap();
    fired.iter().flat_map(|(started, _)| started.clone()).collect()
}

/// The clocks of New York change at 07:00 UTC on 14 March and at 06:00 UTC on 7 November 2027.
#[tokio::test]
async fn a_clock_change_fires_the_same_times_live_and_caught_up() {
    let policy = SchedulePolicy { catch_up: CatchUp::All, ..SchedulePolicy::default() };
    for (cron, spring, autumn) in [
        ("0 2,14 * * *", 6, 6),
        ("0,30 2 * * *", 5, 6),
        ("*/30 2 * * *", 5, 6),
        ("0 1,13 * * *", 6, 6),
        ("0,30 1 * * *", 6, 6),
        ("30 * * * *", 72, 72),
        ("0 0-23 * * *", 72, 71),
    ] {
        let schedule = Schedule::parse(cron, Some("America/New_York")).unwrap();
        let trigger = Trigger::Schedule(schedule.with_policy(policy).unwrap());
        let days = [
            ("2027-03-13T04:30:00Z", "2027-03-16T04:30:00Z", spring),
            ("2027-11-06T03:30:00Z", "2027-11-09T03:30:00Z", autumn),
        ];
        for (from, to, count) in days {
            let live = fired_between(&trigger, from, to, chrono::TimeDelta::seconds(50)).await;
            let late = fired_between(&trigger, from, to, at(to) - at(from)).await;
            assert_eq!(live.len(), count, "{cron}: {live:?}");
            assert!(live.iter().all(|(_, late)| !late), "{cron}: {live:?}");
            let times = |fired: &[(Timestamp, bool)]| fired.iter().map(|(at, _)| *at).collect::<Vec<_>>();
            assert_eq!(times(&live), times(&late), "{cron}");
        }
    }
}

fn schedule() -> Trigger {
    Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap())
}

async fn fire_due_at(memory: &Arc<MemorySchedules>, now: &str) {
    let clock = Arc::new(ManualClock::new(at(now)));
    let schedules = Arc::clone(memory) as Arc<dyn ScheduleStore>;
    let scheduler = Scheduler::new(schedules, clock, Arc::new(SeededRandomness::new(1)));
    scheduler.fire_due().await.unwrap();
}

#[tokio::test]
async fn missed_times_fire_once() {
    let memory = hourly("2026-11-21T09:00:00Z", schedule(), false);
    fire_due_at(&memory, "2026-11-21T08:59:59Z").await;
    assert!(memory.fired.lock().unwrap().is_empty());
    // The occurrences of 09:00 and 10:00 have passed.
    fire_due_at(&memory, "2026-11-21T10:30:00Z").await;
    fire_due_at(&memory, "2026-11-21T10:30:01Z").await;
    let expected = [(vec![(at("2026-11-21T10:00:00Z"), true)], Some(at("2026-11-21T11:00:00Z")))];
    assert_eq!(*memory.fired.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_schedule_fired_by_another_node_does_not_fire() {
    let memory = hourly("2026-11-21T09:00:00Z", schedule(), true);
    fire_due_at(&memory, "2026-11-21T09:00:00Z").await;
    assert!(memory.fired.lock().unwrap().is_empty());
}

#[tokio::test]
async fn only_schedules_fire() {
    let memory = hourly("2026-11-21T09:00:00Z", Trigger::Webhook, false);
    fire_due_at(&memory, "2026-11-21T09:00:00Z").await;
    assert!(memory.fired.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn it_polls_every_second_until_the_shutdown() {
    let memory = hourly("2026-11-21T09:00:00Z", schedule(), false);
    let clock = Arc::new(ManualClock::new(at("2026-11-21T08:59:59Z")));
    let schedules = Arc::clone(&memory) as Arc<dyn ScheduleStore>;
    let scheduler =
        Scheduler::new(schedules, Arc::clone(&clock) as Arc<dyn Clock>, Arc::new(SeededRandomness::new(1)));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(scheduler.run(shutdown.clone()));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    clock.advance(chrono::TimeDelta::seconds(1));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(memory.fired.lock().unwrap().len(), 1);
    shutdown.cancel();
    running.await.unwrap();
}
