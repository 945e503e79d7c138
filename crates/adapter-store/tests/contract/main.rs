//! Contract of the store, on each of its databases. Each test has a database of its own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected has failed"
)]

mod accept_calls;
mod agent_tools;
mod alerts;
mod app_health;
mod app_metrics;
mod app_secrets;
mod approvals;
mod apps;
mod automations;
mod caller_cache;
mod cancellations;
mod connections;
mod dead_letters;
mod deletions;
mod devices;
mod drafts;
mod durability;
mod event_lines;
mod event_retention;
mod event_wakeups;
mod events;
mod gates;
mod harness;
mod held_runs;
mod identity;
mod imports;
mod limits;
mod logs;
mod model;
mod notifications;
mod oauth;
mod outbox;
mod people;
mod planned_changes;
mod postgres_writer;
mod projects;
mod purges;
mod queue;
mod queue_turns;
mod schedules;
mod spans;
mod start_on_accept;
mod startup;
mod stored_code;
mod stored_code_upgrade;
mod unit_of_work;
mod workspaces;

/// Runs each test on SQLite and on PostgreSQL.
macro_rules! contract {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name($crate::harness::Database::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$name($crate::harness::Database::postgres().await).await;
            }
        }
    )*};
}
pub(crate) use contract;
