//! Three nodes over one PostgreSQL under load, of which one is killed and another added.

use std::time::Duration;

use ::tests::Server;
use anyhow::Result;
use tokio::time::sleep;
use xtask::shell::Progress;

use super::{delivery_log::Senders, kills};
use crate::{Options, api};

const SENDERS_PER_NODE: u64 = 2;

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = api::WebhookWorkspace::create(&owner, 0).await?;
    let (mut second, third) = (server.start_another_node().await?, server.start_another_node().await?);
    let mut senders = Senders::new();
    for node in [server, &second, &third] {
        senders.start(&workspace.webhook().with_base_url(node.base_url()), SENDERS_PER_NODE);
    }
    let phase = Duration::from_secs(options.seconds) / 3;
    progress.report("three nodes");
    sleep(phase).await;
    progress.report("killing a node");
    second.kill()?;
    sleep(phase).await;
    progress.report("adding a node");
    let fourth = server.start_another_node().await?;
    senders.start(&workspace.webhook().with_base_url(fourth.base_url()), SENDERS_PER_NODE);
    sleep(phase).await;
    progress.report("waiting for the runs to finish");
    kills::print_report(&senders.reconcile(&owner, &workspace.id).await?);
    Ok(())
}
