//! `cargo xtask bench --scene`: figures that need a stage of their own.

mod delivery_log;
mod fairness;
mod flood;
mod growth;
mod history;
mod kills;
mod nodes;
mod pace;
pub(super) mod peers;
mod pgbench;
mod projects;

use ::tests::Server;
use anyhow::Result;
use clap::ValueEnum;
use xtask::shell::Progress;

use super::Options;

/// What is set up and measured instead of the usual figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scenario {
    /// Rows by id and an indexed list, in a table of 20 thousand rows and in one of a million.
    Growth,
    /// Rows by id in one project, and in two thousand projects of three tables.
    Projects,
    /// Rows by id beside `pgbench`, on the same PostgreSQL.
    Pgbench,
    /// A thousand deliveries a second, from their acceptance to the end of their runs.
    Pace,
    /// A quiet workspace among a hundred, while another one floods.
    Flood,
    /// A quiet workspace beside one that takes whatever it can get.
    Fairness,
    /// The list of runs and the speed of runs, among no runs and among a million.
    History,
    /// Webhooks beside other programs that take them, each named by an option of its own.
    Peers,
    /// Twenty times `kill -9` under load, and what came of every call.
    Kills,
    /// Three nodes over one PostgreSQL under load, one killed and one added.
    Nodes,
}

pub(super) async fn run(
    scene: Scenario,
    server: &mut Server,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    match scene {
        Scenario::Growth => growth::run(server, options, progress).await,
        Scenario::Projects => projects::run(server, options, progress).await,
        Scenario::Pgbench => pgbench::run(server, options, progress).await,
        Scenario::Pace => pace::run(server, options, progress).await,
        Scenario::Flood => flood::run(server, options, progress).await,
        Scenario::Fairness => fairness::run(server, options, progress).await,
        Scenario::Peers => peers::run(server, options, progress).await,
        Scenario::Kills => kills::run(server, progress).await,
        Scenario::Nodes => nodes::run(server, options, progress).await,
        Scenario::History => history::run(server, options, progress).await,
    }
}
