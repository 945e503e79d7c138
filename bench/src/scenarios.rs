//! `cargo xtask bench --scene`: figures that need a setup of their own.

mod backlog;
mod cost;
pub(super) mod decoded;
mod delivery_log;
mod fairness;
pub(super) mod fetch;
mod flood;
mod growth;
mod history;
mod kills;
mod nodes;
mod overview;
mod pace;
pub(super) mod peers;
mod pgbench;
mod projects;

use ::tests::Server;
use anyhow::{Result, bail};
use clap::ValueEnum;
use xtask::shell::Progress;

use super::Options;

/// A setup that is measured instead of the standard figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scenario {
    /// Processor time, statements, syncs and bytes of each operation.
    Cost,
    /// Runs and webhooks while 200,000 runs wait.
    Backlog,
    /// A row by id and an indexed list, in a table of 20,000 rows and in one of a million.
    Growth,
    /// A row by id in one project, and at random in 2,000 projects of three tables.
    Projects,
    /// A row by id, and the same select by `pgbench` on the same PostgreSQL.
    Pgbench,
    /// 1,000 deliveries per second, from acceptance to the end of the run.
    Pace,
    /// The quiet ones of a hundred workspaces, alone and while another one sends as fast as it can.
    Flood,
    /// A quiet workspace, alone and beside one that uses up every resource it can.
    Fairness,
    /// Requests of an app through a connection.
    Fetch,
    /// Memory while apps read responses that are long once they are decoded.
    Decoded,
    /// The list of runs and the rate of runs, without old runs and with a million of them.
    History,
    /// The overview of a workspace of 10,000 apps and a million runs.
    Overview,
    /// Webhooks, compared with those of other programs; each program has an option.
    Peers,
    /// 20 times `kill -9` under load, with a check of every accepted call.
    Kills,
    /// Three nodes over one PostgreSQL under load, of which one is killed and another added.
    Nodes,
}

pub(super) async fn run(
    scene: Scenario,
    server: &mut Server,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    match scene {
        Scenario::Backlog => backlog::run(server, options, progress).await,
        Scenario::Cost => cost::run(server, options, progress).await,
        Scenario::Growth => growth::run(server, options, progress).await,
        Scenario::Projects => projects::run(server, options, progress).await,
        Scenario::Pgbench => pgbench::run(server, options, progress).await,
        Scenario::Pace => pace::run(server, options, progress).await,
        Scenario::Flood => flood::run(server, options, progress).await,
        Scenario::Fairness => fairness::run(server, options, progress).await,
        Scenario::Peers => peers::run(server, options, progress).await,
        Scenario::Kills => kills::run(server, progress).await,
        Scenario::Nodes => nodes::run(server, options, progress).await,
        Scenario::Fetch | Scenario::Decoded => bail!("this scene starts a server of its own"),
        Scenario::History => history::run(server, options, progress).await,
        Scenario::Overview => overview::run(server, options, progress).await,
    }
}
