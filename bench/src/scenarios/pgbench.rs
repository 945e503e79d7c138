//! Rows by id beside `pgbench`, PostgreSQL's own load generator: a prepared select of one row.

use std::process::Stdio;

use ::tests::Server;
use anyhow::{Context as _, Result, ensure};
use sqlx::{Connection as _, PgConnection};
use tokio::process::Command;
use xtask::{postgres, shell::Progress};

use crate::{
    Options, api,
    load::{self, LoadResult, RequestFactory},
    rounds::{ROUNDS, median_value},
};

/// A table as wide as the measured one, and as long.
const TABLE: &str = "DROP TABLE IF EXISTS pgbench_floor; \
     CREATE TABLE pgbench_floor (id text PRIMARY KEY, title text, n bigint, created_at timestamptz DEFAULT now()); \
     INSERT INTO pgbench_floor SELECT 'row-' || i, 'A row of the bench', i FROM generate_series(0, 19999) i; \
     ANALYZE pgbench_floor";
const SCRIPT: &str = "\\set n random(0, 19999)\nSELECT * FROM pgbench_floor WHERE id = 'row-' || :n;\n";

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let url = server.database_url().context("this scene is of PostgreSQL: add --postgres")?;
    let world = api::BenchWorkspace::create(server).await?;
    sqlx::raw_sql(TABLE).execute(&mut PgConnection::connect(url).await?).await?;
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("by_id.sql");
    std::fs::write(&script, SCRIPT)?;

    let address = server.base_url().trim_start_matches("http://");
    let maker: RequestFactory = world.row_by_id();
    let (mut ours, mut theirs, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.report(format!("row by id, round {round} of {ROUNDS}"));
        let LoadResult { per_second, p99, .. } = load::run(address, options.load_plan(), &maker).await?;
        ours.push(per_second);
        waits.push(p99.as_secs_f64() * 1e3);
        let mut pgbench = Command::new(postgres::pgbench()?);
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=1"]);
        pgbench.arg(format!("--client={}", options.connections)).arg(format!("--time={}", options.seconds));
        let output = pgbench.arg("--file").arg(&script).arg(url).stdin(Stdio::null()).output().await?;
        let told = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        theirs.push(transactions_per_second(&told).with_context(|| format!("no figure in {told}"))?);
    }
    let (ours, theirs) = (median_value(ours)?, median_value(theirs)?);
    println!("{:<12} {:>12} {:>9} {:>12} {:>6}", "figure", "Qala", "p99", "pgbench", "ratio");
    println!(
        "{:<12} {ours:>10.0}/s {:>6.1} ms {theirs:>10.0}/s {:>6.2}",
        "row by id",
        median_value(waits)?,
        ours / theirs
    );
    Ok(())
}

fn transactions_per_second(told: &str) -> Option<f64> {
    told.lines().find_map(|line| line.strip_prefix("tps = "))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_is_read_from_what_pgbench_prints() {
        let told = "latency average = 0.212 ms\ntps = 18822.7 (without initial connection time)\n";
        assert_eq!(transactions_per_second(told), Some(18822.7));
    }
}
