//! A benchmark of the engine over SQLite, with the same statements on SQLite alone as a baseline:
//! `cargo run --release -p adapter-rows --example rows_bench`.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use adapter_rows::{SqliteOptions, SqliteRows};
use anyhow::Context as _;
use backend_data::{Access, ColumnType, Engine, NewColumn, NewTable, ProjectRef, ReadOptions, WriteOptions};
use rusqlite::Connection;

const ROWS: usize = 20_000;
const CALLERS: usize = 16;
const TIME: Duration = Duration::from_secs(2);
const LIST: &str = "select=id,title,qty,price,done&qty=gt.500&order=qty.desc&limit=20";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let store = SqliteRows::open(SqliteOptions::new(directory.path()))?;
    let engine = Arc::new(Engine::with_system(Arc::new(store)));
    let project = ProjectRef::new("bench".parse()?, 0);
    engine.create_project(&project).await?;
    let table = NewTable::new("items")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("body", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("price", ColumnType::Real))
        .with_column(NewColumn::new("done", ColumnType::Boolean))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    engine.create_table(&project, &Access::Owner, table).await?;

    let begun = Instant::now();
    for batch in 0..ROWS / 500 {
        let body = bulk(batch * 500);
        engine
            .insert(&project, &Access::Owner, "items", "", body.as_bytes(), &WriteOptions::default())
            .await?;
    }
    let bulks = u32::try_from(ROWS / 500)?;
    show("bulk 500", "ms each", begun.elapsed().as_secs_f64() * 1000.0 / f64::from(bulks));

    let world = (engine.clone(), project.clone());
    let by_id = rate(&world, |(engine, project), n| async move {
        let id = format!("row-{}", (n * 7919) % ROWS as u64);
        engine.get(&project, &Access::Owner, "items", &id, "", backend_data::Format::Json).await.map(drop)
    });
    show("by id", "per second", by_id.await?);
    let list = rate(&world, |(engine, project), _| async move {
        engine.list(&project, &Access::Owner, "items", LIST, &ReadOptions::default()).await.map(drop)
    });
    show("list 20 of 20k", "per second", list.await?);
    // Before the inserts, so that the baseline reads the same rows.
    let file = directory.path().join("0/bench.sqlite3");
    let path = file.clone();
    tokio::task::spawn_blocking(move || read_floors(&path)).await??;
    let insert = rate(&world, |(engine, project), n| async move {
        let body = row(n as usize, &format!("new-{n}"));
        let options = WriteOptions::default();
        engine.insert(&project, &Access::Owner, "items", "", body.as_bytes(), &options).await.map(drop)
    });
    show("insert, 16 callers", "per second", insert.await?);
    drop((world, engine));

    tokio::task::spawn_blocking(move || write_floors(&file)).await?
}

/// Measures the calls of `one` per second by sixteen callers at once.
async fn rate<F>(
    world: &(Arc<Engine>, ProjectRef),
    one: impl Fn((Arc<Engine>, ProjectRef), u64) -> F + Clone + Send + 'static,
) -> anyhow::Result<f64>
where
    F: Future<Output = Result<(), backend_data::Error>> + Send,
{
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let begun = Instant::now();
    let tasks: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (world, one) = (world.clone(), one.clone());
            tokio::spawn(async move {
                let mut done = 0_u64;
                while begun.elapsed() < TIME {
                    one(world.clone(), NEXT.fetch_add(1, Ordering::Relaxed)).await?;
                    done += 1;
                }
                Ok::<_, backend_data::Error>(done)
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += task.await??;
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

const COLUMNS: &str = "id, created_at, title, body, qty, price, done, meta";

/// Measures the calls of `work` per second on one thread.
fn floor(name: &str, mut work: impl FnMut(u64) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (begun, mut done) = (Instant::now(), 0);
    while begun.elapsed() < TIME {
        work(done)?;
        done += 1;
    }
    show(name, "per second", done as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}

/// Measures the same reads without the engine: one thread, one connection.
fn read_floors(file: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(file)?;
    let mut by_id = connection.prepare(&format!("SELECT {COLUMNS} FROM items WHERE id = ?1"))?;
    floor("floor: by id, 1 thread", |n| {
        let id = format!("row-{}", (n * 7919) % ROWS as u64);
        let mut rows = by_id.query([id])?;
        let row = rows.next()?.context("no row")?;
        (0..8).try_for_each(|at| row.get_ref(at).map(drop))?;
        Ok(())
    })?;
    let mut list = connection.prepare(
        "SELECT id, title, qty, price, done FROM items WHERE qty > ?1 ORDER BY qty DESC NULLS FIRST, id LIMIT 20",
    )?;
    floor("floor: list, 1 thread", |_| {
        let mut rows = list.query([500])?;
        while let Some(row) = rows.next()? {
            (0..5).try_for_each(|at| row.get_ref(at).map(drop))?;
        }
        Ok(())
    })
}

/// Measures the same inserts without the engine.
fn write_floors(file: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(file)?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
    let values = "VALUES (?1, '2026-01-01T00:00:00.000000Z', 'title', 'body', 1, 1.5, 1, '{}')";
    let mut insert = connection.prepare(&format!("INSERT INTO items ({COLUMNS}) {values}"))?;
    floor("floor: insert, one commit each", |n| {
        insert.execute([format!("floor-{n}")])?;
        Ok(())
    })?;
    let mut batch = 0_u64;
    floor("floor: insert, 16 a commit (commits)", |_| {
        batch += 1;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for n in 0..16 {
            insert.execute([format!("group-{batch}-{n}")])?;
        }
        Ok(connection.execute_batch("COMMIT")?)
    })?;
    floor("floor: bulk 500 (commits)", |_| {
        batch += 1;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for n in 0..500 {
            insert.execute([format!("bulk-{batch}-{n}")])?;
        }
        Ok(connection.execute_batch("COMMIT")?)
    })
}

fn row(number: usize, id: &str) -> String {
    let quantity = number * 7919 % 1000;
    format!(
        r#"{{"id":"{id}","title":"Item {number}","body":"Some text that is a little longer than a title","qty":{quantity},"price":1.25,"done":true,"meta":{{"k":[1,2,3]}}}}"#
    )
}

fn bulk(from: usize) -> String {
    let rows: Vec<String> = (from..from + 500).map(|n| row(n, &format!("row-{n}"))).collect();
    format!("[{}]", rows.join(","))
}

#[expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]
fn show(what: &str, unit: &str, value: f64) {
    println!("{what:<40} {value:>12.2} {unit}");
}
