//! Loud projects that use all they can get, one or several of one share, and quiet ones: requests of the quiet projects
//! complete while those of the loud ones are still running.

use std::{
    io::{self, Read},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use adapter_rows::{PgOptions, PgRows, SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, FileFormat, ImportOptions, ImportSource, NewColumn, NewTable, ProjectRef,
    ReadOptions, RowStore, ShareId, WriteOptions,
};
use futures::{FutureExt as _, future::join_all, poll};
use serde_json::json;

use crate::harness::{fresh_project, noise, pg_options};

/// Time after which a slow statement is stopped.
const LIMIT: Duration = Duration::from_millis(1_500);
const SLOW: &str = "body=match.[ab]{0,250}a[ab]{200}[^ab]";

async fn project(engine: &Engine, body: &str) -> ProjectRef {
    let (project, owner) = (fresh_project(), Access::Owner);
    engine.create_project(&project).await.unwrap();
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("body", ColumnType::Text))
        .with_column(NewColumn::new("v", ColumnType::Integer));
    engine.create_table(&project, &owner, table).await.unwrap();
    let row = json!({"body": body, "v": 1}).to_string();
    let options = WriteOptions { minimal: true, ..WriteOptions::default() };
    engine.insert(&project, &owner, "notes", "", row.as_bytes(), &options).await.unwrap();
    project
}

async fn the_quiet_one_is_served(store: Arc<dyn RowStore>, loud_projects: usize, at_once: usize) {
    let (engine, owner) = (Engine::with_system(store), Access::Owner);
    let mut loud = Vec::new();
    for _ in 0..loud_projects {
        loud.push(project(&engine, &noise(900_000)).await.with_share(ShareId(1)));
    }
    let mut quiet = Vec::new();
    for _ in 0..6 {
        quiet.push(project(&engine, "short").await);
    }
    let (read, write) = (ReadOptions::default(), WriteOptions::default());
    let changed = format!("{SLOW}&select=id");
    let louds = || loud.iter().cycle().take(at_once);
    let reads = louds()
        .map(|loud| engine.list(loud, &owner, "notes", SLOW, &read).map(|done| done.map(drop)).boxed());
    let writes = louds().map(|loud| {
        engine
            .update(loud, &owner, "notes", &changed, br#"{"v":2}"#, &write)
            .map(|done| done.map(drop))
            .boxed()
    });
    for loud in [reads.collect::<Vec<_>>(), writes.collect()] {
        let mut loud = Box::pin(join_all(loud));
        assert!(poll!(&mut loud).is_pending());
        for quiet in &quiet {
            // Polls the requests of the loud projects meanwhile, as a server would.
            let asked = async {
                let page = engine.list(quiet, &owner, "notes", "body=like.s*", &read).await.unwrap();
                assert_eq!(page.rows, 1);
                let row =
                    engine.update(quiet, &owner, "notes", "v=gt.0", br#"{"v":3}"#, &write).await.unwrap();
                assert_eq!(row.rows, 1);
            };
            let asked = std::pin::pin!(asked);
            match futures::future::select(asked, loud).await {
                futures::future::Either::Left(((), others)) => loud = others,
                futures::future::Either::Right(_) => panic!("the loud projects were served first"),
            }
        }
        assert!(poll!(&mut loud).is_pending(), "the loud projects were served first");
        for done in loud.await {
            assert_eq!(done.unwrap_err().code(), "statement_timeout");
        }
    }
}

#[tokio::test]
async fn sqlite_serves_the_quiet_one() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        readers: 4,
        writers: 2,
        statement_timeout: LIMIT,
        ..SqliteOptions::new(directory.path())
    };
    the_quiet_one_is_served(Arc::new(SqliteRows::open(options).unwrap()), 1, 8).await;
}

#[tokio::test]
async fn sqlite_serves_the_quiet_one_beside_many_projects_of_one_share() {
    let directory = tempfile::tempdir().unwrap();
    // As many loud projects as threads of either kind.
    let options = SqliteOptions {
        readers: 4,
        writers: 4,
        statement_timeout: LIMIT,
        ..SqliteOptions::new(directory.path())
    };
    the_quiet_one_is_served(Arc::new(SqliteRows::open(options).unwrap()), 4, 4).await;
}

#[tokio::test]
async fn postgres_serves_the_quiet_one() {
    // After its first statement, the loud project has one connection, so its statements wait for each other.
    let acquire_timeout = LIMIT * 20;
    let options = PgOptions { max_connections: 4, statement_timeout: LIMIT, acquire_timeout, ..pg_options() };
    the_quiet_one_is_served(Arc::new(PgRows::connect(&options).await.unwrap()), 1, 6).await;
}

#[tokio::test]
async fn postgres_serves_the_quiet_one_beside_many_projects_of_one_share() {
    let acquire_timeout = LIMIT * 20;
    let options = PgOptions { max_connections: 4, statement_timeout: LIMIT, acquire_timeout, ..pg_options() };
    the_quiet_one_is_served(Arc::new(PgRows::connect(&options).await.unwrap()), 4, 4).await;
}

/// A file whose first reading is not delayed. The second one waits at the end until the test releases it.
struct Slow {
    opened: Mutex<u32>,
    go: Arc<Mutex<mpsc::Receiver<()>>>,
}

struct Waits(Arc<Mutex<mpsc::Receiver<()>>>);

impl Read for Waits {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.lock().unwrap().recv();
        Ok(0)
    }
}

impl ImportSource for Slow {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut opened = self.opened.lock().unwrap();
        *opened += 1;
        let rows: Vec<String> = (0..1_000).map(|n| format!("{{\"v\":{n}}}\n")).collect();
        let rows = io::Cursor::new(rows.concat());
        Ok(if *opened == 1 { Box::new(rows) } else { Box::new(rows.chain(Waits(Arc::clone(&self.go)))) })
    }
}

#[tokio::test]
async fn imports_leave_the_writers_to_others() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions { writers: 2, ..SqliteOptions::new(directory.path()) };
    let engine = Arc::new(Engine::with_system(Arc::new(SqliteRows::open(options).unwrap())));
    let owner = Access::Owner;
    let mut letting_go = Vec::new();
    let mut imports = Vec::new();
    for _ in 0..4 {
        let loud = project(&engine, "loud").await.with_share(ShareId(1));
        let (go, wait) = mpsc::channel();
        letting_go.push(go);
        let source = Arc::new(Slow { opened: Mutex::new(0), go: Arc::new(Mutex::new(wait)) });
        let engine = engine.clone();
        imports.push(tokio::spawn(async move {
            let options = ImportOptions { format: FileFormat::JsonLines, ..ImportOptions::default() };
            engine.import(&loud, &Access::Owner, "notes", source, &options).await
        }));
    }
    let quiet = project(&engine, "quiet").await.with_share(ShareId(1));
    for _ in 0..10 {
        tokio::task::yield_now().await;
        let write = WriteOptions::default();
        engine.insert(&quiet, &owner, "notes", "", br#"{"v":1}"#, &write).await.unwrap();
    }
    assert!(imports.iter().all(|import| !import.is_finished()));
    drop(letting_go);
    for import in imports {
        assert_eq!(import.await.unwrap().unwrap().rows, 1_000);
    }
}

#[tokio::test]
async fn writes_of_a_project_keep_their_order_from_turn_to_turn() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteRows::open(SqliteOptions::new(directory.path())).unwrap();
    let engine = Engine::with_system(Arc::new(store));
    let (project, owner) = (project(&engine, "first").await, Access::Owner);
    engine.delete(&project, &owner, "notes", "v=eq.1", &WriteOptions::default()).await.unwrap();
    let minimal = WriteOptions { minimal: true, ..WriteOptions::default() };
    let rows: Vec<_> = (0..500).map(|_| json!({"body": "x".repeat(1_000), "v": 0})).collect();
    let rows = serde_json::to_vec(&rows).unwrap();
    for _ in 0..10 {
        engine.insert(&project, &owner, "notes", "", &rows, &minimal).await.unwrap();
    }
    // Each takes some milliseconds, all of them much longer than one turn of a writer.
    let numbered: Vec<Vec<u8>> = (1..=60).map(|n| json!({"v": n}).to_string().into_bytes()).collect();
    let updates = numbered.iter().enumerate().map(|(before, body)| {
        let (engine, project, owner, minimal) = (&engine, &project, &owner, &minimal);
        async move {
            // Only the rows that the update before has written.
            let filter = format!("v=eq.{before}");
            engine.update(project, owner, "notes", &filter, body, minimal).await
        }
    });
    for done in join_all(updates).await {
        assert_eq!(done.unwrap().rows, 5_000);
    }
}
