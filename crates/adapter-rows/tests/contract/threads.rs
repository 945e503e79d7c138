//! Threads of reads. On SQLite, a small row is read by its id on the caller's thread, anything else on a reader thread.
//! On either store, a costly read blocks no thread that serves others.

use std::{
    cell::Cell,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{Access, ColumnType, Engine, Format, NewColumn, NewTable, ReadOptions, WriteOptions};
use futures::{FutureExt as _, poll};
use serde_json::json;

use crate::{
    contract,
    harness::{World, fresh_project, noise},
};

contract!(costly_reads_leave_the_thread_to_others);

/// Returns the processor time of this thread. Unlike the clock, it does not go on while other programs have the processor.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// Measures `work`, and the longest time that the thread was busy while another of its tasks waited for its turn.
async fn beside<T>(work: impl Future<Output = T>) -> (T, Duration, Duration) {
    let (begun, longest, done) = (Instant::now(), Cell::new(Duration::ZERO), Cell::new(false));
    let other = async {
        let mut last = thread_time();
        while !done.get() {
            tokio::task::yield_now().await;
            longest.set(longest.get().max(thread_time() - last));
            last = thread_time();
        }
    };
    let work = async {
        let worked = work.await;
        done.set(true);
        worked
    };
    let (worked, ()) = futures::join!(work, other);
    (worked, begun.elapsed(), longest.get())
}

async fn costly_reads_leave_the_thread_to_others(world: World) {
    let documents = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];
    let table = NewTable::new("notes").with_column(NewColumn::new("body", ColumnType::Text));
    let table =
        documents.iter().fold(table, |table, name| table.with_column(NewColumn::new(name, ColumnType::Json)));
    world.table(table).await;
    let document = json!({"a": noise(400_000)});
    let mut row = json!({"id": "large", "body": noise(200_000)});
    documents.iter().for_each(|name| row[*name] = document.clone());
    world.insert("notes", &row.to_string()).await.unwrap();
    // Each item reads a whole document and the expression reads the whole text, but the result is small.
    let items = documents.iter().flat_map(|name| (0..20).map(move |item| format!("{name}_{item}:{name}->b")));
    let items = items.collect::<Vec<_>>().join(",");
    let pattern = "body=not.match.[ab]{0,250}a[ab]{100}[^ab]";
    let (project, owner, read) = (&world.project, Access::Owner, ReadOptions::default());
    let select = format!("select={items}");
    let by_id = async {
        world.engine.get(project, &owner, "notes", "large", &select, Format::Json).await.map(|page| page.rows)
    };
    let (found, took, waited) = beside(by_id).await;
    assert_eq!(found.unwrap(), 1);
    assert!(waited * 3 < took, "items: others waited {waited:?} of {took:?}");
    for query in [format!("select={items}&id=eq.large"), format!("select=id&id=eq.large&{pattern}")] {
        let list = async { world.engine.list(project, &owner, "notes", &query, &read).await };
        let (found, took, waited) = beside(list).await;
        // A search may exceed its time limit.
        assert!(
            found.as_ref().is_ok_and(|page| page.rows == 1)
                || found.is_err_and(|error| error.code() == "statement_timeout")
        );
        assert!(waited * 3 < took, "{query}: others waited {waited:?} of {took:?}");
    }
}

#[tokio::test]
async fn only_small_rows_are_read_on_the_callers_thread() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        readers: 1,
        statement_timeout: Duration::from_secs(2),
        ..SqliteOptions::new(directory.path())
    };
    let engine = Engine::with_system(Arc::new(SqliteRows::open(options).unwrap()));
    let (project, owner) = (fresh_project(), Access::Owner);
    engine.create_project(&project).await.unwrap();
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("body", ColumnType::Text))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    engine.create_table(&project, &owner, table).await.unwrap();
    let write = WriteOptions { minimal: true, ..WriteOptions::default() };
    for (id, length) in [("small", 10), ("large", 500_000_u32)] {
        let row = json!({"id": id, "body": noise(length), "meta": {"a": noise(length)}}).to_string();
        engine.insert(&project, &owner, "notes", "", row.as_bytes(), &write).await.unwrap();
    }
    // The only reader is busy for two seconds.
    let (slow, read) = ("body=match.[ab]{0,250}a[ab]{200}[^ab]", ReadOptions::default());
    let mut busy = pin!(engine.list(&project, &owner, "notes", slow, &read).boxed());
    assert!(poll!(&mut busy).is_pending());
    let get = |id, query| engine.get(&project, &owner, "notes", id, query, Format::Json);
    for (id, query, at_once) in [
        ("small", "", true),
        ("small", "select=id,body,meta", true),
        ("large", "select=id", true),
        ("large", "", false),
        ("large", "select=meta", false),
        ("small", "select=meta->a", false),
        ("large", "select=meta->a", false),
        ("small", "select=a:body,b:body", false),
        ("small", "select=body::json", false),
    ] {
        let mut read = pin!(get(id, query).boxed());
        assert_eq!(poll!(&mut read).is_ready(), at_once, "{id} {query}");
    }
    assert_eq!(busy.await.unwrap_err().code(), "statement_timeout");
    assert_eq!(get("large", "select=meta->a").await.unwrap().rows, 1);
}
