//! Three nodes over one PostgreSQL under load; one is killed, and another one added.

use std::time::Duration;

use ::tests::Server;
use anyhow::Result;
use tokio::time::sleep;

use super::{kills, ledger::Senders};
use crate::{
    bench::{Options, api},
    shell::Progress,
};

const SENDERS_EACH: u64 = 2;

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let road = api::Road::make(&owner, 0).await?;
    let (mut second, third) = (server.second_node().await?, server.second_node().await?);
    let mut senders = Senders::new();
    for node in [server, &second, &third] {
        senders.start(&road.hook().at(node.base_url()), SENDERS_EACH);
    }
    let third_of_it = Duration::from_secs(options.seconds) / 3;
    progress.say("three nodes");
    sleep(third_of_it).await;
    progress.say("killing one");
    second.kill_9()?;
    sleep(third_of_it).await;
    progress.say("adding one");
    let fourth = server.second_node().await?;
    senders.start(&road.hook().at(fourth.base_url()), SENDERS_EACH);
    sleep(third_of_it).await;
    progress.say("waiting for the runs to finish");
    kills::report(&senders.account(&owner, &road.workspace).await?);
    Ok(())
}
