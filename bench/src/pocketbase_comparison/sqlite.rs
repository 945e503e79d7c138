//! The list without an index in SQLite alone, as the lower bound of its cost.

use std::{
    num::NonZeroUsize,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use rusqlite::{Connection, params};

use super::{QUANTITIES, ROWS, row, row_id};

const USER_ID: &str = "person-of-the-bench";
const TABLE: &str = "PRAGMA journal_mode = WAL; CREATE TABLE items (id TEXT PRIMARY KEY, title TEXT, qty INTEGER, \
     rank INTEGER, price REAL, public INTEGER, owner TEXT, note TEXT, created_at INTEGER) STRICT, WITHOUT ROWID";
const LIST: &str = "SELECT * FROM items WHERE rank < ?1 AND (owner = ?2 OR public = 1) \
     ORDER BY rank DESC, id DESC LIMIT 20";

/// Measures lists per second with one thread per core.
pub(super) fn lists_per_second(folder: &Path, duration: Duration) -> Result<f64> {
    let path = folder.join("raw.sqlite");
    fill_table(&mut Connection::open(&path)?)?;
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|first| {
                scope.spawn({
                    let path = &path;
                    move || measure_lists_per_second(path, first as u64, duration)
                })
            })
            .collect();
        let rates =
            handles.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?);
        rates.sum::<Result<f64>>()
    })
}

fn fill_table(database: &mut Connection) -> Result<()> {
    database.execute_batch(TABLE)?;
    let transaction = database.transaction()?;
    {
        let mut insert =
            transaction.prepare("INSERT INTO items VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        for number in 0..ROWS {
            let row = row(&row_id('r', number), number, USER_ID);
            let text = |name: &str| row[name].as_str().map(str::to_owned);
            insert.execute(params![
                text("id"),
                text("title"),
                row["qty"].as_i64(),
                row["rank"].as_i64(),
                row["price"].as_f64(),
                row["public"].as_bool(),
                text("owner"),
                text("note"),
                number as i64,
            ])?;
        }
    }
    Ok(transaction.commit()?)
}

fn measure_lists_per_second(path: &Path, first: u64, duration: Duration) -> Result<f64> {
    let database = Connection::open(path)?;
    database.execute_batch("PRAGMA cache_size = -8192")?;
    let mut list = database.prepare(LIST)?;
    let started_at = Instant::now();
    let mut lists = 0_u64;
    while started_at.elapsed() < duration {
        let upper_bound = (first + lists) * 7919 % QUANTITIES + 1;
        let mut rows = list.query(params![upper_bound as i64, USER_ID])?;
        while let Some(row) = rows.next()? {
            for column in 0..9 {
                std::hint::black_box(row.get_ref(column)?);
            }
        }
        lists += 1;
    }
    Ok(lists as f64 / started_at.elapsed().as_secs_f64())
}
