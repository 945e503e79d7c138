//! Baselines: what the machine does without Qala.

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

/// Prefix of the line in which the baseline server prints its address.
const LISTENING: &str = "listening on ";

/// Size of a block that databases write.
const BLOCK_SIZE: usize = 4096;

/// Rows in the table of the SQLite baseline.
const ROWS: u64 = 20_000;

/// Runs the baseline server: responds to any request to `/{n}` with `n` bytes, until it is killed.
pub(super) fn serve() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let respond = async |extract::Path(bytes): extract::Path<usize>, _request: Bytes| vec![b'x'; bytes];
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{LISTENING}{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        Ok(axum::serve(listener, Router::new().route("/{bytes}", routing::any(respond))).await?)
    })
}

/// An HTTP server that does nothing, in a separate process like Qala.
pub(super) struct NullServer {
    address: String,
    /// Killed when dropped.
    _process: Child,
}

impl NullServer {
    pub(super) async fn start() -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut process = command.arg("baseline-server").stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let output = process.stdout.take().context("the baseline server has no standard output")?;
        let line = BufReader::new(output).lines().next_line().await?.unwrap_or_default();
        let address = line.strip_prefix(LISTENING).context("the baseline server did not start")?.to_owned();
        Ok(Self { address, _process: process })
    }

    /// Measures the same exchange as one with Qala: requests with the same method and body, and responses of
    /// `body_bytes`.
    pub(super) async fn measure(
        &self,
        plan: LoadPlan,
        requests: &RequestFactory,
        body_bytes: usize,
    ) -> Result<LoadResult> {
        let requests = Arc::clone(requests);
        let redirected: RequestFactory = Arc::new(move |number| {
            let (mut parts, body) = requests(number)?.into_parts();
            parts.uri = format!("/{body_bytes}").parse()?;
            Ok(Request::from_parts(parts, body))
        });
        load::run(&self.address, plan, &redirected).await
    }
}

/// Measures how often per second one thread reads a row by its id from SQLite without a server.
pub(super) fn sqlite_selects_per_second(folder: &Path, duration: Duration) -> Result<f64> {
    let mut database = Connection::open(folder.join("baseline.sqlite"))?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE TABLE baseline (id TEXT PRIMARY KEY, title TEXT, n INTEGER)",
    )?;
    let transaction = database.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO baseline VALUES (?1, ?2, ?3)")?;
        for number in 0..ROWS {
            insert.execute((row_id(number), "A row of the baseline", number as i64))?;
        }
    }
    transaction.commit()?;

    let mut select = database.prepare("SELECT id, title, n FROM baseline WHERE id = ?1")?;
    let started_at = Instant::now();
    let mut selects = 0_u64;
    while started_at.elapsed() < duration {
        // A stride that is coprime to the number of rows visits all of them, in an order that no cache profits from.
        let id = row_id(selects * 7919 % ROWS);
        let title = select.query_row([id], |row| row.get::<_, String>(1))?;
        std::hint::black_box(title);
        selects += 1;
    }
    Ok(selects as f64 / started_at.elapsed().as_secs_f64())
}

/// Measures how often per second one thread writes a block of 4 KiB to the disk of `folder` and syncs it.
pub(super) fn fdatasyncs_per_second(folder: &Path, duration: Duration) -> Result<f64> {
    let file = File::create(folder.join("baseline.blocks"))?;
    let block = [0x5A; BLOCK_SIZE];
    let started_at = Instant::now();
    let mut syncs = 0_u64;
    while started_at.elapsed() < duration {
        file.write_all_at(&block, syncs * BLOCK_SIZE as u64)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(syncs as f64 / started_at.elapsed().as_secs_f64())
}

fn row_id(number: u64) -> String {
    format!("row-{number}")
}
