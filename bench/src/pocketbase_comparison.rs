//! `cargo xtask bench --beside-pocketbase`: compares rows with those of PocketBase.
//!
//! Both have the same rows and the same rule, `owner = me or public = true`, and get the requests of the same person.
//! Rounds alternate, so that other load on the machine affects both; the figures are medians.

mod pocketbase;
mod qala;
mod sqlite;

use std::path::Path;

use ::tests::Server;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use xtask::shell::Progress;

use super::{
    Options,
    load::RequestFactory,
    processes::resident_bytes,
    rounds::{self, TargetLoad, millis},
};
use pocketbase::PocketBase;

/// Rows in either table before the first round.
const ROWS: u64 = 20_000;
/// Rows of one bulk insert.
const BULK_SIZE: u64 = 500;
/// Number of distinct values of `qty` and `rank`.
const QUANTITIES: u64 = 10_000;

/// Figure for which every row is scanned.
const UNINDEXED: &str = "filtered list, ordered without";

/// Address and requests of one server.
struct BenchTarget {
    address: String,
    by_id: RequestFactory,
    list: RequestFactory,
    list_unindexed: RequestFactory,
    insert: RequestFactory,
    bulk: RequestFactory,
}

/// Measures both, and prints each figure as soon as it is measured.
pub(super) async fn run(
    server: &Server,
    program: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    progress.report("filling a table of Qala");
    let ours = qala::prepare(server).await?;
    progress.report("filling a table of PocketBase");
    let pocketbase = PocketBase::start(program).await?;
    let theirs = pocketbase.prepare().await?;

    let pairs = [
        ("row by id", &ours.by_id, &theirs.by_id),
        ("filtered list, ordered by an index", &ours.list, &theirs.list),
        (UNINDEXED, &ours.list_unindexed, &theirs.list_unindexed),
        ("row insert", &ours.insert, &theirs.insert),
        ("bulk insert of 500", &ours.bulk, &theirs.bulk),
    ];
    println!("{:<36} {:>16} {:>9} {:>16} {:>9} {:>6}", "figure", "Qala", "p99", "PocketBase", "p99", "ratio");
    let mut scans_per_second = 0.0;
    for (name, our_requests, their_requests) in pairs {
        let targets = [
            TargetLoad { address: &ours.address, requests: our_requests },
            TargetLoad { address: &theirs.address, requests: their_requests },
        ];
        let [ours, theirs] = rounds::run_alternating(name, targets, options.load_plan(), progress).await?;
        if name == UNINDEXED {
            scans_per_second = ours.per_second;
        }
        println!(
            "{name:<36} {:>14.0}/s {:>9} {:>14.0}/s {:>9} {:>6.2}",
            ours.per_second,
            millis(ours.p99),
            theirs.per_second,
            millis(theirs.p99),
            ours.per_second / theirs.per_second,
        );
    }
    progress.report("the list without an index, in SQLite alone");
    let folder = server.data_dir().to_owned();
    let duration = options.load_plan().duration;
    let raw = tokio::task::spawn_blocking(move || sqlite::lists_per_second(&folder, duration)).await??;
    println!(
        "{:<36} {:>16} {:>9} {raw:>14.0}/s {:>9} {:>6.2}",
        "that list, with SQLite alone",
        "",
        "",
        "",
        scans_per_second / raw
    );
    let memory = |process: Option<u32>| resident_bytes(process.context("the process is not running")?);
    let (ours, theirs) = (memory(server.process_id())?, memory(pocketbase.process_id())?);
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "{:<36} {:>13.0} MB {:>9} {:>13.0} MB {:>9} {:>6.2}",
        "memory afterwards",
        megabytes(ours),
        "",
        megabytes(theirs),
        "",
        ours as f64 / theirs as f64
    );
    Ok(())
}

/// Returns a row of the table. Every second row is owned by the person who sends the requests, every fourth is public.
fn row(id: &str, number: u64, me: &str) -> Value {
    json!({
        "id": id,
        "title": format!("Row {number} of the bench"),
        "qty": number * 7919 % QUANTITIES,
        "rank": number * 104_729 % QUANTITIES,
        "price": (number % 1000) as f64 / 4.0,
        "public": number % 4 == 1,
        "owner": if number.is_multiple_of(2) { me } else { "another-person" },
        "note": "a note that is about as long as a short note usually is",
    })
}

/// Returns an id of fifteen characters, as PocketBase requires.
fn row_id(prefix: char, number: u64) -> String {
    format!("{prefix}{number:014}")
}
