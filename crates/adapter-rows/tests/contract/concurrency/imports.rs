//! Imports that conflict with other writes: they are run again from the first row, or refused.

use std::{
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use backend_data::{Error, ImportOptions, Progress, store::OutboxEntry};
use bytes::Bytes;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::mpsc;

use super::*;

contract!(overlapping_imports_are_all_or_nothing);

/// Returns a file of rows with these ids.
fn file(ids: impl Iterator<Item = usize>, v: usize) -> Arc<Bytes> {
    let mut file = String::from("id,v\n");
    for id in ids {
        writeln!(file, "n{id:05},{v}").unwrap();
    }
    Arc::new(Bytes::from(file))
}

async fn import(world: &World, file: Arc<Bytes>, options: &ImportOptions) -> Result<u64, Error> {
    let report = world.engine.import(&world.project, &Access::Owner, "notes", file, options).await?;
    Ok(report.rows)
}

async fn overlapping_imports_are_all_or_nothing(world: World) {
    const LENGTH: usize = 1_200;
    world.table(NewTable::new("notes").with_column(NewColumn::new("v", ColumnType::Integer))).await;
    let one = |world: Arc<World>, mut shuffled: Shuffled, client: usize| async move {
        // Each pair has its own rows in two orders, so that batches of the two wait for each other.
        let first = client / 2 * LENGTH;
        let mut ids: Vec<usize> = (first..first + LENGTH).collect();
        ids.rotate_left(shuffled.next(LENGTH));
        if client.is_multiple_of(2) {
            ids.reverse();
        }
        match import(&world, file(ids.into_iter(), client), &ImportOptions::default()).await {
            Ok(rows) if rows == LENGTH as u64 => Ok(()),
            Err(error) if error.code() == "row_exists" => Ok(()),
            other => Err(format!("{:?}", other.map_err(|error| error_text(&error)))),
        }
    };
    let world = run_concurrently(world, 2, one).await;
    let written = world.list("select=v,count()&order=v").await.unwrap();
    let written: Vec<Json> = serde_json::from_str(&written).unwrap();
    assert_eq!(written.len(), 4, "one of each pair: {written:?}");
    assert!(written.iter().all(|of_one| of_one["count"] == LENGTH), "{written:?}");
}

/// An import and another transaction that wait for each other. Only the import looks for deadlocks, so that
/// it is the one that is aborted.
struct Crossed {
    world: World,
    other: PgConnection,
    begun: mpsc::UnboundedReceiver<u64>,
    options: ImportOptions,
    heard: Arc<Mutex<Vec<u64>>>,
}

impl Crossed {
    const ROWS: usize = 1_500;

    async fn new(options: &PgOptions) -> Self {
        let world = world(Arc::new(PgRows::connect(options).await.unwrap()), None).await;
        world.table(NewTable::new("notes").with_column(NewColumn::new("v", ColumnType::Integer))).await;
        let mut other = PgConnection::connect(&options.url).await.unwrap();
        sqlx::raw_sql("SET deadlock_timeout = '10min'").execute(&mut other).await.unwrap();
        let (tell, begun) = mpsc::unbounded_channel();
        let heard = Arc::<Mutex<Vec<u64>>>::default();
        let keeping = Arc::clone(&heard);
        let progress = move |progress| {
            if let Progress::Written(rows) = progress {
                keeping.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
                if rows == 500 {
                    let _ = tell.send(rows);
                }
            }
        };
        let options = ImportOptions { progress: Some(Arc::new(progress)), ..ImportOptions::default() };
        Self { world, other, begun, options, heard }
    }

    fn inserting(&self, id: usize) -> String {
        let project = &self.world.project.id;
        format!(
            "INSERT INTO \"data_{project}\".\"notes\" (\"id\", \"created_at\") VALUES ('n{id:05}', now())"
        )
    }

    /// Writes a row of the last batch and, once the import wrote its first batch, a row of that one.
    async fn run(mut self, end: &str) -> (World, Result<u64, Error>, Vec<u64>) {
        let (last, first) = (self.inserting(Self::ROWS - 1), self.inserting(0));
        let mut crossing = self.other.begin().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(last)).execute(&mut *crossing).await.unwrap();
        let entry = OutboxEntry { id: "one".into(), body: "{}".into() };
        let recording = self.world.engine.with_outbox(vec![entry]);
        let importing = recording.import(
            &self.world.project,
            &Access::Owner,
            "notes",
            file(0..Self::ROWS, 1),
            &self.options,
        );
        let crossed = async {
            self.begun.recv().await.unwrap();
            // Waits until the import is aborted, since only the import looks for deadlocks.
            sqlx::raw_sql(AssertSqlSafe(first)).execute(&mut *crossing).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(end.to_owned())).execute(&mut *crossing).await.unwrap();
        };
        let (done, ()) = futures::join!(importing, crossed);
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.world, done.map(|report| report.rows), heard)
    }
}

async fn left(world: &World) -> (String, usize) {
    let entries = world.engine.read_outbox(&world.project).await.unwrap();
    (world.list("select=v,count()&order=v").await.unwrap(), entries.len())
}

#[tokio::test]
async fn an_import_is_run_again_from_its_first_row_after_a_deadlock() {
    let (world, done, heard) = Crossed::new(&pg_options()).await.run("ROLLBACK").await;
    assert_eq!(done.map_err(|error| error_text(&error)), Ok(1_500));
    assert_eq!(left(&world).await, (r#"[{"v":1,"count":1500}]"#.to_owned(), 1), "nothing twice");
    let tries = heard.iter().filter(|rows| **rows == 0).count();
    assert!(tries >= 2 && heard.last() == Some(&1_500), "{heard:?}");
}

#[tokio::test]
async fn an_import_whose_rows_exist_after_a_deadlock_is_refused() {
    let (world, done, _) = Crossed::new(&pg_options()).await.run("COMMIT").await;
    let refused = done.unwrap_err();
    assert_eq!(
        (refused.code(), refused.details()),
        ("row_exists", Some("It is among the lines 2 to 501. No row was inserted."))
    );
    assert_eq!(left(&world).await, (r#"[{"v":null,"count":2}]"#.to_owned(), 0));
}

#[tokio::test]
async fn an_import_fails_after_its_last_attempt_and_leaves_nothing() {
    let options = PgOptions { statement_timeout: Duration::from_millis(400), ..pg_options() };
    let mut held = Crossed::new(&options).await;
    let last = held.inserting(Crossed::ROWS - 1);
    let mut holding = held.other.begin().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(last)).execute(&mut *holding).await.unwrap();
    let rows = || file(0..Crossed::ROWS, 1);
    let refused = import(&held.world, rows(), &held.options).await.unwrap_err();
    assert_eq!(refused.code(), "write_conflict");
    let tries = held.heard.lock().unwrap().iter().filter(|rows| **rows == 0).count();
    assert_eq!(tries, 5);
    assert_eq!(left(&held.world).await, ("[]".to_owned(), 0));
    holding.rollback().await.unwrap();
    assert_eq!(import(&held.world, rows(), &held.options).await.unwrap(), 1_500);
}
