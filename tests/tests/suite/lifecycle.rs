//! Starting, stopping and dying.

use std::fs;

use anyhow::Result;
use tests::{AutomationFixture, unix_time};

/// Does nothing.
const IDLE: &str = "export default { async scheduled() {} }";

tests::on_both! {
    async fn a_session_outlives_a_killed_server(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.kill()?;
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_killed_server_knows_what_it_accepted(mut server: Server) -> Result<()> {
        let AutomationFixture { owner, automation: road, .. } = AutomationFixture::create(&server, IDLE).await?;
        let hook = owner.configure_webhook(&road, "signed").await?;
        let now = unix_time();
        hook.signed_request_at(now, "1")?.send().await?.assert_status(202);
        server.kill()?;
        server.restart().await?;
        hook.signed_request_at(now, "1")?.send().await?.assert_error(409, "replayed");
        hook.signed_request_at(now, "2")?.send().await?.assert_status(202);
        hook.signed_request_at(now, "2")?.send().await?.assert_error(409, "replayed");
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
    tests::on_database(tests::Database::Sqlite, async |mut server| {
        let AutomationFixture { owner, automation: road, .. } =
            AutomationFixture::create(&server, IDLE).await?;
        let hook = owner.configure_webhook(&road, "signed").await?;
        server.client().get("/readyz").await?.assert_status(200);
        fs::remove_file(server.data_dir().join("qala.db-wal"))?;
        hook.signed_request("1")?.send().await?.assert_status(503);
        hook.signed_request("2")?.send().await?.assert_status(503);
        server.client().get("/readyz").await?.assert_status(503);
        server.client().get("/healthz").await?.assert_status(200);
        assert!(server.log().contains("the log cannot be synced"), "{}", server.log());
        server.kill()
    })
    .await
}

#[tokio::test]
async fn two_nodes_know_the_same_people() -> Result<()> {
    tests::on_database(tests::Database::Postgres, async |server| {
        let second = server.start_another_node().await?;
        let person = server.sign_in("aigerim@example.test").await?;
        let at_first = person.get("/v1/session").await?.string_at("/user/id")?;
        // The cookie's origin is the first node's; reading needs none.
        let at_second =
            person.with_base_url(second.base_url()).get("/v1/session").await?.string_at("/user/id")?;
        assert_eq!(at_first, at_second);
        Ok(())
    })
    .await
}
