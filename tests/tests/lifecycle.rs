//! Starting, stopping and dying.

use std::fs;

use anyhow::Result;
use tests::{Road, unix_time};

/// Does nothing.
const IDLE: &str = "export default { async scheduled() {} }";

tests::on_both! {
    async fn a_session_outlives_a_killed_server(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.kill_9()?;
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_killed_server_knows_what_it_accepted(mut server: Server) -> Result<()> {
        let Road { owner, id: road, .. } = Road::make(&server, IDLE).await?;
        let hook = owner.set_hook(&road, "signed").await?;
        let now = unix_time();
        hook.signed_at(now, "1")?.send().await?.assert_status(202);
        server.kill_9()?;
        server.restart().await?;
        hook.signed_at(now, "1")?.send().await?.assert_problem(409, "replayed");
        hook.signed_at(now, "2")?.send().await?.assert_status(202);
        hook.signed_at(now, "2")?.send().await?.assert_problem(409, "replayed");
        Ok(())
    }

    async fn a_server_that_is_asked_to_stop_ends_well(mut server: Server) -> Result<()> {
        server.client().get("/readyz").await?.assert_status(200);
        let status = server.stop().await?;
        assert!(status.success(), "{status}");
        Ok(())
    }
}

/// The first call is what the log is opened for; that it is not where it was stands for a disk that fails.
#[tokio::test]
async fn a_server_whose_disk_fails_accepts_nothing_and_says_so() -> Result<()> {
    tests::on(tests::Database::Sqlite, async |mut server| {
        let Road { owner, id: road, .. } = Road::make(&server, IDLE).await?;
        let hook = owner.set_hook(&road, "signed").await?;
        server.client().get("/readyz").await?.assert_status(200);
        fs::remove_file(server.data_dir().join("qala.db-wal"))?;
        hook.signed("1")?.send().await?.assert_status(503);
        hook.signed("2")?.send().await?.assert_status(503);
        server.client().get("/readyz").await?.assert_status(503);
        server.client().get("/healthz").await?.assert_status(200);
        assert!(server.log().contains("the log cannot be synced"), "{}", server.log());
        server.kill_9()
    })
    .await
}

#[tokio::test]
async fn two_nodes_know_the_same_people() -> Result<()> {
    tests::on(tests::Database::Postgres, async |server| {
        let second = server.second_node().await?;
        let person = server.sign_in("aigerim@example.test").await?;
        let at_first = person.get("/v1/session").await?.string("/user/id")?;
        // The cookie's origin is the first node's; reading needs none.
        let at_second = person.at(second.base_url()).get("/v1/session").await?.string("/user/id")?;
        assert_eq!(at_first, at_second);
        Ok(())
    })
    .await
}
