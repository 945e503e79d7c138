//! What the machine does without Qala.

use std::{
    env,
    fs::File,
    io::Write as _,
    net::Ipv4Addr,
    os::unix::fs::FileExt as _,
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use axum::{Router, extract, routing};
use bytes::Bytes;
use http::Request;
use rusqlite::Connection;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
};

use super::load::{self, LoadPlan, LoadResult, RequestFactory};

/// What the floor server prints before its address.
const LISTENING: &str = "listening on ";

/// One block, as databases write them.
const BLOCK_SIZE: usize = 4096;

/// Rows in the table of the SQLite floor.
const ROWS: u64 = 20_000;

/// The child's side: answers any request to `/{n}` with `n` bytes, until it is killed.
pub(super) fn serve() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let answer = async |extract::Path(bytes): extract::Path<usize>, _request: Bytes| vec![b'x'; bytes];
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{LISTENING}{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        Ok(axum::serve(listener, Router::new().route("/{bytes}", routing::any(answer))).await?)
    })
}

/// An HTTP server that does nothing, in a process of its own as Qala is.
pub(super) struct NullServer {
    address: String,
    /// Killed when dropped.
    _process: Child,
}

impl NullServer {
    pub(super) async fn start() -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut process = command.arg("floor-server").stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let output = process.stdout.take().context("the floor server has a standard output")?;
        let line = BufReader::new(output).lines().next_line().await?.unwrap_or_default();
        let address = line.strip_prefix(LISTENING).context("the floor server did not start")?.to_owned();
        Ok(Self { address, _process: process })
    }

    /// The same exchange as one that was measured: the same method and body in, as many bytes out.
    pub(super) async fn measure(
        &self,
        plan: LoadPlan,
        like: &RequestFactory,
        answer_bytes: usize,
    ) -> Result<LoadResult> {
        let like = Arc::clone(like);
        let maker: RequestFactory = Arc::new(move |number| {
            let (mut parts, body) = like(number)?.into_parts();
            parts.uri = format!("/{answer_bytes}").parse()?;
            Ok(Request::from_parts(parts, body))
        });
        load::run(&self.address, plan, &maker).await
    }
}

/// How often a second one thread reads a row by its id from SQLite, with no server around it.
pub(super) fn sqlite_selects_per_second(folder: &Path, lasts: Duration) -> Result<f64> {
    let mut database = Connection::open(folder.join("floor.sqlite"))?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE TABLE floor (id TEXT PRIMARY KEY, title TEXT, n INTEGER)",
    )?;
    let transaction = database.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO floor VALUES (?1, ?2, ?3)")?;
        for number in 0..ROWS {
            insert.execute((row_id(number), "A row of the floor", number as i64))?;
        }
    }
    transaction.commit()?;

    let mut select = database.prepare("SELECT id, title, n FROM floor WHERE id = ?1")?;
    let since = Instant::now();
    let mut selects = 0_u64;
    while since.elapsed() < lasts {
        // A stride that is prime to the number of rows visits all of them, in no order that helps.
        let id = row_id(selects * 7919 % ROWS);
        let title = select.query_row([id], |row| row.get::<_, String>(1))?;
        std::hint::black_box(title);
        selects += 1;
    }
    Ok(selects as f64 / since.elapsed().as_secs_f64())
}

/// How often a second a 4 KiB block reaches the disk of `folder` for good, one after the other.
pub(super) fn fdatasyncs_per_second(folder: &Path, lasts: Duration) -> Result<f64> {
    let file = File::create(folder.join("floor.blocks"))?;
    let block = [0x5A; BLOCK_SIZE];
    let since = Instant::now();
    let mut syncs = 0_u64;
    while since.elapsed() < lasts {
        file.write_all_at(&block, syncs * BLOCK_SIZE as u64)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(syncs as f64 / since.elapsed().as_secs_f64())
}

fn row_id(number: u64) -> String {
    format!("row-{number}")
}
