//! Rows by id, compared with a prepared select of one row by `pgbench`, PostgreSQL's own load generator.

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

/// A table with the same columns and number of rows as the measured one.
const TABLE: &str = "DROP TABLE IF EXISTS pgbench_baseline; \
     CREATE TABLE pgbench_baseline (id text PRIMARY KEY, title text, n bigint, created_at timestamptz DEFAULT now()); \
     INSERT INTO pgbench_baseline SELECT 'row-' || i, 'A row of the bench', i FROM generate_series(0, 19999) i; \
     ANALYZE pgbench_baseline";
const SCRIPT: &str = "\\set n random(0, 19999)\nSELECT * FROM pgbench_baseline WHERE id = 'row-' || :n;\n";

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let url = server.database_url().context("this scene needs PostgreSQL: add --postgres")?;
    let workspace = api::BenchWorkspace::create(server).await?;
    sqlx::raw_sql(TABLE).execute(&mut PgConnection::connect(url).await?).await?;
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("by_id.sql");
    std::fs::write(&script, SCRIPT)?;

    let address = server.base_url().trim_start_matches("http://");
    let requests: RequestFactory = workspace.row_by_id();
    let (mut ours, mut theirs, mut latencies) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.report(format!("row by id, round {round} of {ROUNDS}"));
        let LoadResult { per_second, p99, .. } = load::run(address, options.load_plan(), &requests).await?;
        ours.push(per_second);
        latencies.push(p99.as_secs_f64() * 1e3);
        let mut pgbench = Command::new(postgres::pgbench()?);
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=1"]);
        pgbench.arg(format!("--client={}", options.connections)).arg(format!("--time={}", options.seconds));
        let output = pgbench.arg("--file").arg(&script).arg(url).stdin(Stdio::null()).output().await?;
        let printed = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        theirs.push(transactions_per_second(&printed).with_context(|| format!("no figure in {printed}"))?);
    }
    let (ours, theirs) = (median_value(ours)?, median_value(theirs)?);
    println!("{:<12} {:>12} {:>9} {:>12} {:>6}", "figure", "Qala", "p99", "pgbench", "ratio");
    println!(
        "{:<12} {ours:>10.0}/s {:>6.1} ms {theirs:>10.0}/s {:>6.2}",
        "row by id",
        median_value(latencies)?,
        ours / theirs
    );
    Ok(())
}

fn transactions_per_second(output: &str) -> Option<f64> {
    output.lines().find_map(|line| line.strip_prefix("tps = "))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_parsed_from_the_output_of_pgbench() {
        let output = "latency average = 0.212 ms\ntps = 18822.7 (without initial connection time)\n";
        assert_eq!(transactions_per_second(output), Some(18822.7));
    }
}
