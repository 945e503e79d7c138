//! Starting, stopping and crashing.

use std::fs;

use anyhow::Result;
use tests::{AutomationFixture, unix_time};

/// An app that does nothing.
const IDLE: &str = "export default { async scheduled() {} }";

tests::on_both! {
    async fn a_session_survives_a_crash(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.kill()?;
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn replay_protection_survives_a_crash(mut server: Server) -> Result<()> {
        let AutomationFixture { owner, automation, .. } = AutomationFixture::create(&server, IDLE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        let now = unix_time();
        webhook.signed_request_at(now, "1")?.send().await?.assert_status(202);
        server.kill()?;
        server.restart().await?;
        webhook.signed_request_at(now, "1")?.send().await?.assert_error(409, "replayed");
        webhook.signed_request_at(now, "2")?.send().await?.assert_status(202);
        webhook.signed_request_at(now, "2")?.send().await?.assert_error(409, "replayed");
        Ok(())
    }

    async fn a_server_stops_cleanly_on_sigterm(mut server: Server) -> Result<()> {
        server.client().get("/readyz").await?.assert_status(200);
        let status = server.stop().await?;
        assert!(status.success(), "{status}");
        Ok(())
    }
}

/// The server opens its WAL with the first call, so removing the file before that stands for a failing disk.
#[tokio::test]
async fn a_server_whose_disk_fails_accepts_nothing_and_reports_it() -> Result<()> {
    tests::on_database(tests::Database::Sqlite, async |mut server| {
        let AutomationFixture { owner, automation, .. } = AutomationFixture::create(&server, IDLE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        server.client().get("/readyz").await?.assert_status(200);
        fs::remove_file(server.data_dir().join("qala.db-wal"))?;
        webhook.signed_request("1")?.send().await?.assert_status(503);
        webhook.signed_request("2")?.send().await?.assert_status(503);
        server.client().get("/readyz").await?.assert_status(503);
        server.client().get("/healthz").await?.assert_status(200);
        assert!(server.log().contains("the log cannot be synced"), "{}", server.log());
        server.kill()
    })
    .await
}

#[tokio::test]
async fn two_nodes_share_sessions() -> Result<()> {
    tests::on_database(tests::Database::Postgres, async |server| {
        let second = server.start_another_node().await?;
        let person = server.sign_in("aigerim@example.test").await?;
        let at_first = person.get("/v1/session").await?.string_at("/user/id")?;
        // The session's `Origin` is the first node's, but reads need none.
        let at_second =
            person.with_base_url(second.base_url()).get("/v1/session").await?.string_at("/user/id")?;
        assert_eq!(at_first, at_second);
        Ok(())
    })
    .await
}
