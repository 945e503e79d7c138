//! `cargo xtask bench`: measures a release build on this machine and compares it with baselines of the same machine. It
//! is a package of its own, so that the other developer commands build without the store and the API.
//!
//! A *baseline* is the same exchange without Qala, measured in the same run with the same number of connections.
//! Compare the ratio of a figure to its baseline between machines, not the figure.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod api;
mod baselines;
mod bulk_tokens;
mod connection;
mod figures;
mod in_process;
mod load;
mod pocketbase_comparison;
mod processes;
mod release_comparison;
mod rounds;
mod scenarios;
mod workerd_comparison;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use ::tests::{Database, Server, ServerOptions};
use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use xtask::{
    compile::{self, Profile},
    postgres::{Durability, Postgres, guard},
    shell::Progress,
    workspace::Workspace,
};

/// Measure a release build on this machine, and compare it with baselines of the same machine.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    options: Options,
}

/// A helper process that the measurement starts from this binary.
#[derive(Subcommand)]
enum Role {
    /// Own a throwaway PostgreSQL cluster until standard input closes.
    #[command(hide = true)]
    PostgresGuard {
        /// The folder with PostgreSQL's server programs.
        binaries: PathBuf,
        #[arg(value_enum)]
        durability: Durability,
    },
    /// Respond with bodies of a given size, as the baseline of HTTP figures.
    #[command(hide = true)]
    BaselineServer,
}

#[derive(Args)]
struct Options {
    /// URL of a PostgreSQL database to measure on. Default: embedded SQLite in a fresh directory.
    #[arg(long, conflicts_with = "postgres")]
    database_url: Option<String>,
    /// Measure on a throwaway PostgreSQL cluster with PostgreSQL's default settings.
    #[arg(long)]
    postgres: bool,
    /// Duration of each load.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Number of connections that send requests at once.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Measure token check and session read a second time, after adding a million tokens and ten thousand workspaces.
    #[arg(long)]
    crowd: bool,
    /// Compare rows with those of this PocketBase program instead, in alternating rounds.
    #[arg(long, value_name = "PROGRAM")]
    beside_pocketbase: Option<PathBuf>,
    /// Compare a page of an app with that of this program, npm's `workerd`, instead, in alternating rounds.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["crowd", "beside_pocketbase"])]
    beside_workerd: Option<PathBuf>,
    /// Compare rows, webhooks, sessions, lists and pages of apps with those of this earlier release of Qala instead, in alternating rounds.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["crowd", "beside_pocketbase", "beside_workerd", "database_url"])]
    beside_release: Option<PathBuf>,
    /// Alternating rounds of each release per figure.
    #[arg(long, requires = "beside_release", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Measure this binary instead of building a release.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Run this scene instead.
    #[arg(long, value_enum, conflicts_with_all = ["crowd", "beside_pocketbase", "beside_workerd", "beside_release", "only"])]
    scene: Option<scenarios::Scenario>,
    /// Lift the rate limits in the scene `fairness` too, which keeps the default limits otherwise.
    #[arg(long, requires = "scene")]
    no_rate_limits: bool,
    #[command(flatten)]
    peers: scenarios::peers::Programs,
    /// Measure only these figures.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Figure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// Resident memory of all processes before the first request.
    IdleMemory,
    /// `GET /v1/tokens/self` with a personal access token.
    TokenCheck,
    /// The path from a token to a membership without HTTP, in this process and always on SQLite.
    TokenCheckInProcess,
    /// `GET /v1/session` with a session cookie.
    SessionRead,
    /// One row by its id, with a secret project key.
    RowById,
    /// Twenty rows, ordered.
    RowList,
    /// One row per request.
    RowInsert,
    /// 500 rows per request; only beside an earlier release.
    RowBulk,
    /// The newest runs of a workspace; only beside an earlier release.
    RunList,
    /// One app; only beside an earlier release.
    AppRead,
    /// The apps of a workspace; only beside an earlier release.
    AppList,
    /// A page of an app; only beside an earlier release.
    AppHttp,
    /// Signed deliveries to a webhook, each with a body of its own.
    WebhookAccept,
    /// The same, each with an idempotency key too.
    WebhookKeyed,
    /// Runs that those deliveries start, until the queue is empty.
    RunsFinished,
    /// From the start of the process to `/readyz`, on an existing database.
    StartUp,
}

/// One line of the table.
struct TableRow {
    name: String,
    value: String,
    p99: Option<Duration>,
    /// Name and value of the baseline, and the ratio to it.
    baseline: Option<(String, f64, f64)>,
}

impl Options {
    fn is_selected(&self, figure: Figure) -> bool {
        self.only.is_empty() || self.only.contains(&figure)
    }

    fn load_plan(&self) -> load::LoadPlan {
        load::LoadPlan {
            connections: self.connections,
            duration: Duration::from_secs(self.seconds),
            interval: None,
        }
    }
}

fn main() -> ExitCode {
    let Cli { role, options } = Cli::parse();
    let result = match role {
        None => Workspace::open().and_then(|workspace| run(&workspace, &options)),
        Some(Role::PostgresGuard { binaries, durability }) => guard::run(&binaries, durability),
        Some(Role::BaselineServer) => baselines::serve(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Builds, measures and prints the table.
fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.connections == 0 || options.seconds == 0 {
        bail!("--connections and --seconds must be at least 1");
    }
    let progress = Progress::start();
    let qala = if let Some(program) = &options.program {
        program.clone()
    } else {
        progress.report("building a release of qala");
        compile::qala(workspace, Profile::Release)?
    };
    let cluster = options.postgres.then(|| Postgres::start(&progress, Durability::Full)).transpose()?;
    let url =
        cluster.as_ref().map(|cluster| cluster.url().to_owned()).or_else(|| options.database_url.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let database = url.map_or(Database::Sqlite, Database::Existing);
        if options.scene == Some(scenarios::Scenario::Fetch) {
            return scenarios::fetch::run(Server::with(database).binary(qala), &progress).await;
        }
        if options.scene == Some(scenarios::Scenario::Decoded) {
            return scenarios::decoded::run(Server::with(database).binary(qala), &progress).await;
        }
        let has_default_limits =
            options.scene == Some(scenarios::Scenario::Fairness) && !options.no_rate_limits;
        let limits = if has_default_limits { RateLimits::Default } else { RateLimits::Lifted };
        let mut server = start_server(qala, database, limits).await?;
        if let Some(earlier) = &options.beside_release {
            return release_comparison::run(&server, earlier, options, &progress).await;
        }
        if let Some(program) = &options.beside_pocketbase {
            return pocketbase_comparison::run(&server, program, options, &progress).await;
        }
        if let Some(program) = &options.beside_workerd {
            return workerd_comparison::run(&server, program, options, &progress).await;
        }
        if let Some(scene) = options.scene {
            return scenarios::run(scene, &mut server, options, &progress).await;
        }
        print_table(&figures::measure(&mut server, options, &progress).await?);
        Ok(())
    })
}

/// Rate limits of the measured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateLimits {
    /// No limits, so that a figure shows what the server can do.
    Lifted,
    /// The default limits, and a load generator that may set the address of each client.
    Default,
}

/// Starts a server of this release.
async fn start_server(program: PathBuf, database: Database, limits: RateLimits) -> Result<Server> {
    start_for_bench(Server::with(database).binary(program), limits).await
}

/// Starts a server with the options that all figures share.
async fn start_for_bench(server: ServerOptions, limits: RateLimits) -> Result<Server> {
    let server = match limits {
        RateLimits::Lifted => server.arg("--no-rate-limits"),
        RateLimits::Default => server.args(["--trusted-proxies", "127.0.0.0/8"]),
    };
    let server = server.env("QALA_LOG", "info,access=off").start();
    server.await.context("cannot start the measured server")
}

fn print_table(rows: &[TableRow]) {
    println!("\n{:<22} {:>14} {:>10}  {:<30} {:>6}", "figure", "value", "p99", "baseline", "ratio");
    for row in rows {
        let p99 = row.p99.map_or_else(String::new, |p99| match p99.as_secs_f64() {
            short if short < 1e-4 => format!("{:.2} µs", short * 1e6),
            long => format!("{:.2} ms", long * 1e3),
        });
        let (baseline, ratio) =
            row.baseline.as_ref().map_or_else(Default::default, |(name, value, ratio)| {
                (format!("{name} {value:.0}/s"), format!("{ratio:.2}"))
            });
        println!("{:<22} {:>14} {p99:>10}  {baseline:<30} {ratio:>6}", row.name, row.value);
    }
}
