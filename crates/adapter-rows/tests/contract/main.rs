//! The contract of a row store, tested on each implementation. Each test has its own project.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation fails the test"
)]

mod agree;
mod agree_rules;
mod clients;
mod columns;
mod concurrency;
mod documents;
mod fairness;
mod filters;
mod forms;
mod harness;
mod imports;
mod injection;
mod limits;
mod lookups;
mod matrix;
mod merges;
mod observer;
mod outbox;
mod plans;
mod pooler;
mod postgres;
mod preconditions;
mod recording_store;
mod row_policies;
mod rule_tests;
mod rules;
mod schema;
mod shards;
mod sizes;
mod sqlite;
mod storage;
mod threads;
mod writes;

/// Defines each test for SQLite and for PostgreSQL.
macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test] async fn $name() { super::$name($crate::harness::sqlite().await).await; })*
        }
        mod on_postgres {
            $(#[tokio::test] async fn $name() { super::$name($crate::harness::postgres().await).await; })*
        }
    };
}
pub(crate) use contract;
