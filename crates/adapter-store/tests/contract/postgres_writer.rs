//! The writers of PostgreSQL: which rows their statements read, and what becomes of a batch whose connection is cut.

use std::time::Duration;

use futures::future::join_all;
use kernel::StoreError;
use runs::{
    Webhook,
    queue::{AttemptOutcome, RunQueue as _},
    webhooks::{AcceptOutcome, WebhookStore as _},
};
use tokio::time::timeout;

use crate::{
    harness::{Database, World, at, connect, execute, finished_run},
    start_on_accept::Slots,
};

/// Name of the writers' connections.
const WRITER: &str = "qala writer";
/// Time after which a test that waits has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn postgres_world() -> (World, Webhook) {
    let world = World::new(Database::postgres().await).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    (world, webhook)
}

/// Accepts so many calls, at once, and takes and ends their runs.
async fn accept_claim_and_finish(world: &World, webhook: &Webhook, count: u32) {
    let state = world.state(webhook).await;
    let accepted = join_all((0..count).map(|_| world.store.accept(world.call(&state)))).await;
    assert!(accepted.iter().all(|outcome| matches!(outcome, Ok(AcceptOutcome::Accepted))), "{accepted:?}");
    let node = world.id();
    let claimed = world.claim(node, count, at(5)).await;
    assert_eq!(claimed.len(), count as usize);
    let ends =
        claimed.iter().map(|run| world.store.finish(node, finished_run(run, AttemptOutcome::Succeeded)));
    for held in join_all(ends).await {
        assert!(held.unwrap());
    }
}

/// Times that PostgreSQL has read all of these tables.
async fn whole_reads(world: &World) -> i64 {
    let sql = "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('runs', 'run_queue')";
    world.query_scalar(sql, Vec::new()).await
}

/// A plan is kept for as long as nobody analyses the table: one that reads all of an empty queue would read all of a long one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_plan_reads_a_whole_table() {
    for analysed in [false, true] {
        let (mut world, webhook) = postgres_world().await;
        world.execute("ALTER TABLE run_queue SET (autovacuum_enabled = off)", Vec::new()).await;
        world.execute("ALTER TABLE runs SET (autovacuum_enabled = off)", Vec::new()).await;
        if analysed {
            world.execute("ANALYZE runs, run_queue", Vec::new()).await;
        }
        world.end_connections("qala%").await;
        let before = whole_reads(&world).await;
        world.store = world.database.open().await;

        for count in [1, 11, 64, 64, 11, 1, 1, 64, 64] {
            accept_claim_and_finish(&world, &webhook, count).await;
        }
        world.end_connections("qala%").await;
        assert_eq!(whole_reads(&world).await - before, 0, "analysed while empty: {analysed}");
    }
}

/// Statements of a batch, with BEGIN and COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StatementCounts {
    /// Calls that are accepted and queued.
    accept: i64,
    /// Runs that are claimed from the queue.
    claim: i64,
    finish: i64,
    /// Calls whose runs start as they are accepted.
    start: i64,
}

/// The counts of batches of every size. They may only fall: each is a round trip.
const STATEMENTS: StatementCounts = StatementCounts { accept: 10, claim: 9, finish: 10, start: 11 };

/// Counts the statements that the store sends from now on.
async fn count_statements(database: &Database) {
    let db = connect(&database.url).await;
    execute(&db, "CREATE EXTENSION pg_stat_statements").await;
    let name = database.url.rsplit('/').next().unwrap();
    execute(&db, &format!("ALTER DATABASE {name} SET pg_stat_statements.track = top")).await;
}

/// Returns the number of statements since it was asked before, without those of the counting and of notifications, which have
/// connections of their own.
async fn take_statement_count(world: &World) -> i64 {
    let sql = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%' \
               AND query NOT ILIKE '%notify%' AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let count = world.query_scalar(sql, Vec::new()).await;
    let reset =
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
    world.execute(reset, Vec::new()).await;
    count
}

/// On a runtime of one thread, all that is sent before the writer has its turn is one batch.
#[tokio::test]
async fn a_batch_has_as_many_statements_whatever_its_size() {
    let database = Database::postgres().await;
    count_statements(&database).await;
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let node = world.id();
    // Opens the connection.
    accept_claim_and_finish(&world, &webhook, 1).await;
    let state = world.state(&webhook).await;
    for size in [1, 11, 64] {
        take_statement_count(&world).await;
        let accept_all = async || {
            let accepted = join_all((0..size).map(|_| world.store.accept(world.call(&state)))).await;
            assert!(accepted.iter().all(|outcome| matches!(outcome, Ok(AcceptOutcome::Accepted))));
            take_statement_count(&world).await
        };
        let accept = accept_all().await;
        let claimed = world.claim(node, size, at(5)).await;
        assert_eq!(claimed.len(), size as usize);
        let claim = take_statement_count(&world).await;
        let ends =
            claimed.iter().map(|run| world.store.finish(node, finished_run(run, AttemptOutcome::Succeeded)));
        assert!(join_all(ends).await.into_iter().all(|held| held.unwrap()));
        let finish = take_statement_count(&world).await;
        let slots = Slots::offer(&world, size);
        let start = accept_all().await;
        assert_eq!(slots.started_ids().len(), size as usize);
        world.store.offer_slots(None);
        assert_eq!(StatementCounts { accept, claim, finish, start }, STATEMENTS, "a batch of {size}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_between_batches_is_replaced() {
    let (world, webhook) = postgres_world().await;
    for _ in 0..3 {
        accept_claim_and_finish(&world, &webhook, 3).await;
        world.end_connections(WRITER).await;
    }
    assert_eq!(world.count("runs").await, 9);
}

/// Nothing of the batch was written, so it is written on a new connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_within_a_batch_is_replaced() {
    let (world, webhook) = postgres_world().await;
    accept_claim_and_finish(&world, &webhook, 1).await;
    let state = world.state(&webhook).await;
    let holder = connect(&world.database.url).await;
    execute(&holder, "BEGIN").await;
    execute(&holder, "LOCK TABLE run_inputs IN EXCLUSIVE MODE").await;
    let accepted = {
        let (store, call) = (world.store.clone(), world.call(&state));
        tokio::spawn(async move { store.accept(call).await })
    };
    wait_for_blocked_writer(&world).await;
    world.end_connections(WRITER).await;
    wait_for_blocked_writer(&world).await;
    execute(&holder, "COMMIT").await;
    assert_eq!(accepted.await.unwrap().unwrap(), AcceptOutcome::Accepted);
    assert_eq!(world.count("runs").await, 2);
}

/// Returns once a writer waits for a lock.
async fn wait_for_blocked_writer(world: &World) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() \
               AND wait_event_type = 'Lock'";
    let waiting = async {
        while world.query_scalar::<i64>(sql, vec![WRITER.into()]).await == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, waiting).await.expect("a writer waits for the lock");
}

/// The database may have committed, so the batch is not written again: its callers hear that the outcome is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_not_confirmed_is_not_repeated() {
    let (world, webhook) = postgres_world().await;
    let state = world.state(&webhook).await;
    // A sequence counts what is rolled back too.
    for sql in [
        "CREATE SEQUENCE commits",
        "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM nextval('commits'), pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON runs DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION cut()",
    ] {
        world.execute(sql, Vec::new()).await;
    }
    let accepted = join_all((0..5).map(|_| world.store.accept(world.call(&state)))).await;
    assert!(
        accepted.iter().all(|outcome| matches!(outcome, Err(StoreError::Unavailable(_)))),
        "{accepted:?}"
    );
    let commits: i64 = world.query_scalar("SELECT last_value FROM commits", Vec::new()).await;
    assert!(commits <= 5, "each call is committed once at most, in {commits} commits");
    assert_eq!(world.count("runs").await, 0);

    world.execute("DROP TRIGGER cut ON runs", Vec::new()).await;
    assert_eq!(world.store.accept(world.call(&state)).await.unwrap(), AcceptOutcome::Accepted);
    assert_eq!(world.count("runs").await, 1);
}

/// A statement that one operation makes fail is that operation's error, and the others are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_fails_is_its_own_callers_error() {
    let (world, webhook) = postgres_world().await;
    let state = world.state(&webhook).await;
    let mut written = 0;
    // A statement that is cancelled, a value that the database does not take, and a server that has become a standby.
    for (code, spoils_others) in [("57014", false), ("22003", false), ("25006", true)] {
        let calls: Vec<_> = (0..12).map(|_| world.call(&state)).collect();
        let refused = calls[5].run;
        let function = format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF NEW.id = '{}' THEN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$",
            refused.uuid()
        );
        let trigger =
            "CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION fail()";
        world.execute(&function, Vec::new()).await;
        world.execute(trigger, Vec::new()).await;
        let accepted = calls.into_iter().map(|call| async { (call.run, world.store.accept(call).await) });
        for (run, outcome) in join_all(accepted).await {
            match outcome {
                Ok(outcome) => {
                    assert_eq!((outcome, run == refused), (AcceptOutcome::Accepted, false), "{code}");
                    written += 1;
                }
                Err(error) => {
                    assert!(run == refused || spoils_others, "{code}: {error}");
                    assert_eq!(matches!(error, StoreError::Unavailable(_)), spoils_others, "{code}: {error}");
                }
            }
        }
    }
    assert_eq!(world.count("runs").await, written);
    world.execute("DROP TRIGGER fail ON runs", Vec::new()).await;
    assert_eq!(world.store.accept(world.call(&state)).await.unwrap(), AcceptOutcome::Accepted);
}
