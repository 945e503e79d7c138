//! Metrics of apps as the server stores them, until there is a route that reads them.

use std::time::Duration;

use anyhow::{Result, ensure};
use http::Method;
use serde_json::json;
use tests::{AutomationFixture, Client, Server, eventually_within};

/// Covers the ten seconds between two writes, on a loaded machine.
const WRITE_DEADLINE: Duration = Duration::from_secs(40);

const SOURCE: &str = "const sleep = (millis) => new Promise((done) => setTimeout(done, millis));
    const compute = () => { let sum = 0; for (let i = 0; i < 3e5; i++) sum += i; return sum; };
    export default {
        async fetch(request) {
            const { pathname } = new URL(request.url);
            if (pathname === '/throw') throw new Error('no');
            if (pathname === '/busy') return new Response('busy', { status: 503 });
            if (pathname === '/missing') return new Response('missing', { status: 404 });
            if (pathname === '/slow') await sleep(20000);
            if (pathname === '/headers') return new Response('', { headers: { 'x-long': 'x'.repeat(20000) } });
            if (pathname !== '/stream') { compute(); return new Response('hello'); }
            return new Response(new ReadableStream({ async start(controller) {
                controller.enqueue(new TextEncoder().encode('one'));
                await sleep(100);
                compute();
                controller.close();
            } }));
        },
        async scheduled(event) { compute(); if (event.data?.fail) throw new Error('no'); },
    };";

struct Fixture {
    owner: Client,
    visitor: Client,
    app: String,
    automation: String,
    path: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, app, automation, .. } =
            AutomationFixture::create(server, SOURCE).await?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { owner, visitor: server.client(), app, automation, path: format!("/a/{slug}/") })
    }

    async fn visit(&self, rest: &str) -> Result<u16> {
        let path = format!("{}{rest}", self.path);
        Ok(self.visitor.request(Method::GET, &path).send().await?.status.as_u16())
    }

    async fn run(&self, fail: bool) -> Result<()> {
        let run = self.owner.start_run(&self.automation, json!({"fail": fail})).await?;
        self.owner.wait_for_run(&run).await.map(drop)
    }
}

/// Returns the sum of a column over all apps and nodes, in intervals of so many minutes.
async fn sum(server: &Server, column: &str, minutes: u8) -> Result<i64> {
    let sql = format!(
        "SELECT CAST(coalesce(sum({column}), 0) AS bigint) FROM app_metrics WHERE resolution = {minutes}"
    );
    server.query_number(&sql).await
}

/// Waits until each column has its sum, in every resolution.
async fn expect_sums(server: &Server, expected: &[(&str, i64)]) -> Result<()> {
    eventually_within(WRITE_DEADLINE, "the metrics are written", async || {
        for (column, expected) in expected {
            for minutes in [1, 15, 60] {
                let found = sum(server, column, minutes).await?;
                ensure!(found == *expected, "{column} of {minutes} minutes is {found}, not {expected}");
            }
        }
        Ok(())
    })
    .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn requests_and_runs_are_counted(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for (rest, status) in [("", 200), ("missing", 404), ("throw", 500), ("busy", 503), ("headers", 500)] {
            assert_eq!(fixture.visit(rest).await?, status, "{rest}");
        }
        let stream = fixture.visitor.request(Method::GET, &format!("{}stream", fixture.path)).open_stream().await;
        assert_eq!(stream?.drain().await, (3, true));
        // A visitor who goes away.
        let slow = format!("{}slow", fixture.path);
        let slow = fixture.visitor.request(Method::GET, &slow).send();
        assert!(tokio::time::timeout(Duration::from_secs(1), slow).await.is_err());
        fixture.run(false).await?;
        fixture.run(true).await?;
        expect_sums(&server, &[
            ("requests", 7), ("failed_requests", 4), ("runs", 2), ("failed_runs", 1), ("retried_attempts", 0),
        ]).await?;
        let cpu = [sum(&server, "request_cpu_micros", 60).await?, sum(&server, "run_cpu_micros", 60).await?];
        assert!(cpu.iter().all(|micros| (1_000..20_000_000).contains(micros)), "{cpu:?}");
        Ok(())
    }

    async fn what_does_not_reach_an_app_is_not_counted(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let app = format!("/v1/apps/{}", fixture.app);
        fixture.owner.patch(&app, &json!({"paused": true})).await?.ok()?;
        assert_eq!(fixture.visit("").await?, 503);
        fixture.owner.patch(&app, &json!({"paused": false})).await?.ok()?;
        let large = fixture.visitor.request(Method::POST, &fixture.path).body("text/plain", "x".repeat(2 << 20))?;
        assert_eq!(large.send().await?.status, 413);
        assert_eq!(fixture.visit("").await?, 200);
        expect_sums(&server, &[("requests", 1), ("failed_requests", 0)]).await
    }

    async fn a_stop_writes_what_was_counted_and_a_start_goes_on_in_rows_of_its_own(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.visit("").await?;
        fixture.run(false).await?;
        // A response that the end of the server cuts off.
        let slow = format!("{}slow", fixture.path);
        let slow = fixture.visitor.request(Method::GET, &slow).send();
        assert!(tokio::time::timeout(Duration::from_secs(1), slow).await.is_err());
        server.stop().await?;
        for (column, expected) in [("requests", 2), ("failed_requests", 1), ("runs", 1)] {
            assert_eq!(sum(&server, column, 1).await?, expected, "{column}");
        }
        server.restart().await?;
        fixture.visit("").await?;
        server.stop().await?;
        assert_eq!(sum(&server, "requests", 60).await?, 3);
        let nodes = "SELECT count(DISTINCT node_id) FROM app_metrics";
        assert_eq!(server.query_number(nodes).await?, 2);
        Ok(())
    }
}
