//! Starting, stopping and dying.

use anyhow::Result;

tests::on_both! {
    async fn a_session_outlives_a_killed_server(mut server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        server.kill_9()?;
        server.restart().await?;
        person.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_server_that_is_asked_to_stop_ends_well(mut server: Server) -> Result<()> {
        server.client().get("/readyz").await?.assert_status(200);
        let status = server.stop().await?;
        assert!(status.success(), "{status}");
        Ok(())
    }
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
