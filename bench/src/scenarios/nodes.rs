//! Three nodes over one PostgreSQL under load; one is killed, and another one added.

use std::time::Duration;

use ::tests::Server;
use anyhow::Result;
use tokio::time::sleep;
use xtask::shell::Progress;

use super::{delivery_log::Senders, kills};
use crate::{Options, api};

const SENDERS_EACH: u64 = 2;

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = api::WebhookWorkspace::create(&owner, 0).await?;
    let (mut second, third) = (server.start_another_node().await?, server.start_another_node().await?);
    let mut senders = Senders::new();
    for node in [server, &second, &third] {
        senders.start(&workspace.webhook().with_base_url(node.base_url()), SENDERS_EACH);
    }
    let third_of_it = Duration::from_secs(options.seconds) / 3;
    progress.report("three nodes");
    sleep(third_of_it).await;
    progress.report("killing one");
    second.kill()?;
    sleep(third_of_it).await;
    progress.report("adding one");
    let fourth = server.start_another_node().await?;
    senders.start(&workspace.webhook().with_base_url(fourth.base_url()), SENDERS_EACH);
    sleep(third_of_it).await;
    progress.report("waiting for the runs to finish");
    kills::report(&senders.reconcile(&owner, &workspace.id).await?);
    Ok(())
}
