//! `qala backup`: copies the SQLite data, also of a running server.

mod progress;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use adapter_backup::{BackupSources, BackupSummary};
use adapter_store::DatabaseUrl;
use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use self::progress::ProgressLine;
use crate::{
    cli::BackupArguments,
    config::{self, RowsBackend},
    logging, open_file_limit,
};

/// Exit code for a command that cannot apply to this installation.
const USAGE_ERROR: u8 = 2;

/// Runs `qala backup`.
pub(crate) async fn backup(arguments: BackupArguments) -> anyhow::Result<ExitCode> {
    logging::init(None)?;
    let url = config::database_url(&arguments.database)?;
    let DatabaseUrl::Sqlite(control_plane) = url.clone() else {
        print_postgres_unsupported();
        return Ok(ExitCode::from(USAGE_ERROR));
    };
    config::check_database_exists(&arguments.database, &url)?;
    // Each database takes a few descriptors.
    open_file_limit::raise_open_file_limit();
    let mut sources = BackupSources { control_plane, rows: BTreeMap::new(), external_shards: Vec::new() };
    for (shard, location) in config::rows_backends(&arguments.database, &arguments.rows)? {
        match location {
            RowsBackend::Sqlite(directory) => drop(sources.rows.insert(shard, directory)),
            RowsBackend::Postgres(_) => sources.external_shards.push(shard),
        }
    }
    let rows_elsewhere = !sources.external_shards.is_empty();
    let made = back_up(sources, arguments.directory.clone()).await?;
    print_summary(&arguments, &made, rows_elsewhere);
    Ok(ExitCode::SUCCESS)
}

/// Copies on a blocking thread until it is done or the process gets SIGINT or SIGTERM.
async fn back_up(sources: BackupSources, directory: PathBuf) -> anyhow::Result<BackupSummary> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let copying = tokio::task::spawn_blocking(move || {
        let mut line = ProgressLine::new();
        adapter_backup::back_up(&sources, &directory, |progress| {
            line.update(progress);
            if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.store(true, Ordering::Relaxed);
    });
    Ok(copying.await.context("the backup ended early")??)
}

#[expect(clippy::print_stderr, reason = "errors of a command go to standard error")]
fn print_postgres_unsupported() {
    eprintln!(
        "qala: backup copies SQLite data, and this installation is on PostgreSQL: use pg_dump. If the rows are in \
         a database of their own, dump it after the control plane's; see docs/operations.md"
    );
}

#[expect(clippy::print_stdout, reason = "output of the command")]
fn print_summary(arguments: &BackupArguments, made: &BackupSummary, rows_elsewhere: bool) {
    let BackupSummary { files, bytes, deferred_files: later } = made;
    println!(
        "Copied {files} databases ({}) to {}.",
        progress::format_bytes(*bytes),
        arguments.directory.display()
    );
    if *later > 0 {
        println!(
            "{later} of them are of projects whose rows may be newer than the copy of the control plane."
        );
    }
    if rows_elsewhere {
        println!("The rows on PostgreSQL are not included: dump them now, with pg_dump.");
    }
    println!(
        "The master key is not included, and the backup is useless without it: keep a copy of the key elsewhere."
    );
}
