//! Several nodes over one database, and nodes and workers that are killed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Database, Server, Webhook, Workspace, eventually_within};

/// Covers the lease of half a minute, after which another node claims the runs of a lost one.
const LEASE_EXPIRY_DEADLINE: Duration = Duration::from_secs(90);

/// An app that logs the number of its call and attempt; a slow call sleeps.
const SOURCE: &str = "export default { async scheduled(event) { \
    console.log(`call ${event.data.call}`); \
    if (event.data.slow) await new Promise((resolve) => setTimeout(resolve, 3000)) } }";

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
    automation: String,
    webhook: Webhook,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, workspace, app, automation } =
            AutomationFixture::create(server, SOURCE).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        Ok(Self { owner, workspace, app, automation, webhook })
    }

    /// Returns status and number of attempts of every run.
    async fn runs(&self) -> Result<BTreeMap<String, (String, u64)>> {
        let mut runs = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let path = format!(
                "/v1/workspaces/{}/runs?automationId={}&limit=200{cursor}",
                self.workspace.id, self.automation
            );
            let page = self.owner.get(&path).await?.ok()?;
            for run in page["items"].as_array().context("no items")? {
                let status = run["status"].as_str().context("no status")?.to_owned();
                runs.insert(
                    run["id"].as_str().context("no id")?.to_owned(),
                    (status, run["attempt"].as_u64().context("no attempt")?),
                );
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(runs),
            }
        }
    }

    async fn wait_until_all_succeed(
        &self,
        deadline: Duration,
        count: usize,
    ) -> Result<BTreeMap<String, (String, u64)>> {
        eventually_within(deadline, "every run succeeds", async || {
            let runs = self.runs().await?;
            let open = runs.values().filter(|(status, _)| status != "succeeded").count();
            ensure!(
                open == 0 && runs.len() == count,
                "{} runs, {open} of them not succeeded: {runs:?}",
                runs.len()
            );
            Ok(runs)
        })
        .await
    }

    /// Reads the feed of the workspace from its start, and returns the statuses of each run. No event may be missing.
    async fn published_statuses(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let path = format!("/v1/workspaces/{}/agent-events", self.workspace.id);
        let head = self.owner.get(&path).await?.ok()?["cursor"].as_u64().context("no cursor")?;
        let path = format!("/v1/workspaces/{}/events?since=0", self.workspace.id);
        let mut stream = self.owner.request(http::Method::GET, &path).open_event_stream().await?;
        let mut statuses = BTreeMap::<_, Vec<_>>::new();
        for number in 1..=head {
            let event = stream.next_event().await?;
            assert_eq!(event.id, Some(number), "{event:?}");
            if event.event.as_deref() == Some("run") {
                let text = |field: &str| event.data[field].as_str().unwrap_or_default().to_owned();
                statuses.entry(text("runId")).or_default().push(text("status"));
            }
        }
        Ok(statuses)
    }

    /// Returns the messages in the app's log by run.
    async fn logged_messages(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let mut messages = BTreeMap::<_, Vec<_>>::new();
        let mut before = String::new();
        loop {
            let reply = self.owner.get(&format!("/v1/apps/{}/logs?limit=500{before}", self.app)).await?;
            let page = reply.ok()?;
            let lines = page["lines"].as_array().context("no lines")?;
            for line in lines {
                let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
                messages.entry(text("runId")).or_default().push(text("message"));
            }
            if page["hasMore"] != true {
                return Ok(messages);
            }
            before = format!("&before={}", lines.last().context("no line")?["id"]);
        }
    }
}

#[tokio::test]
async fn two_nodes_share_runs_and_none_runs_twice() -> Result<()> {
    const CALLS: usize = 300;
    let options = Server::with(Database::Postgres).args(["--no-rate-limits"]);
    tests::on_server(options, async |first| {
        let second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let other_webhook = fixture.webhook.with_base_url(second.base_url());
        let mut calls = tokio::task::JoinSet::new();
        for call in 0..CALLS {
            let webhook = if call % 2 == 0 { fixture.webhook.clone() } else { other_webhook.clone() };
            calls.spawn(async move {
                let reply = webhook.send(&json!({"call": call})).await?;
                reply.assert_status(202);
                Ok::<_, anyhow::Error>((reply.string_at("/runId")?, format!("call {call}")))
            });
        }
        let accepted = calls.join_all().await.into_iter().collect::<Result<BTreeMap<_, _>>>()?;
        assert_eq!(accepted.len(), CALLS);

        let runs = fixture.wait_until_all_succeed(LEASE_EXPIRY_DEADLINE, CALLS).await?;
        assert!(runs.values().all(|(_, attempt)| *attempt == 1), "{runs:?}");
        let messages = fixture.logged_messages().await?;
        assert_eq!(messages.len(), CALLS);
        for (run, call) in &accepted {
            assert_eq!(messages.get(run), Some(&vec![call.clone()]), "{run}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn replays_and_repeated_calls_are_recognised_on_every_node() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let other_webhook = fixture.webhook.with_base_url(second.base_url());
        let now = tests::unix_time();
        fixture.webhook.signed_request_at(now, "{}")?.send().await?.assert_status(202);
        other_webhook.signed_request_at(now, "{}")?.send().await?.assert_error(409, "replayed");
        // A new secret is in force on every node at once.
        let renewed =
            fixture.owner.rotate_webhook_secret(&fixture.automation).await?.with_base_url(second.base_url());
        renewed.send(&json!({"call": 1})).await?.assert_status(202);
        other_webhook.send(&json!({"call": 2})).await?.assert_error(401, "bad_signature");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn another_node_finishes_the_runs_of_a_killed_one() -> Result<()> {
    const CALLS: usize = 12;
    let options = Server::with(Database::Postgres).args(["--no-rate-limits", "--workers", "3"]);
    tests::on_server(options, async |first| {
        let mut second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let other_webhook = fixture.webhook.with_base_url(second.base_url());
        let mut accepted = Vec::new();
        for call in 0..CALLS {
            let webhook = if call % 2 == 0 { &fixture.webhook } else { &other_webhook };
            accepted.push(webhook.send(&json!({"call": call, "slow": true})).await?.string_at("/runId")?);
        }
        eventually_within(Duration::from_secs(15), "both nodes run code", async || {
            let running = fixture.runs().await?.values().filter(|(status, _)| status == "running").count();
            // A node runs at most three at once, so more than three prove that both nodes work.
            if running > 3 { Ok(()) } else { bail!("{running} running") }
        })
        .await?;
        second.kill()?;
        let runs = fixture.wait_until_all_succeed(LEASE_EXPIRY_DEADLINE, CALLS).await?;
        assert!(accepted.iter().all(|run| runs.contains_key(run)), "{runs:?}");
        let again = runs.values().filter(|(_, attempt)| *attempt > 1).count();
        assert!((1..=3).contains(&again), "the killed node had leases of one to three runs: {runs:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_concurrency_limit_of_an_automation_holds_across_nodes() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let one = json!({"maxConcurrency": 1});
        fixture.owner.patch(&format!("/v1/automations/{}", fixture.automation), &one).await?.ok()?;
        let other_webhook = fixture.webhook.with_base_url(second.base_url());
        let mut accepted = Vec::new();
        for call in 0..8 {
            let webhook = if call % 2 == 0 { &fixture.webhook } else { &other_webhook };
            accepted.push(webhook.send(&json!({"call": call})).await?.string_at("/runId")?);
        }
        let mut spans = Vec::new();
        for run in &accepted {
            let run = fixture.owner.wait_for_success(run).await?;
            let at = |pointer: &str| {
                let time = run.pointer(pointer).and_then(Value::as_str);
                time.map(str::to_owned).with_context(|| run.to_string())
            };
            assert!(at("/acceptedAt")? <= at("/startedAt")?, "{run}");
            spans.push((at("/startedAt")?, at("/finishedAt")?));
        }
        spans.sort();
        for pair in spans.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "two runs overlap: {spans:?}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_schedule_fires_once_across_nodes() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let _second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let source = "export default { async scheduled(event) { console.log(`${event.cron} ${event.scheduledTime}`) } }";
        let app = fixture.owner.create_app(&fixture.workspace.id, source).await?;
        let automation = json!({"name": "Each minute", "appId": app, "trigger": {"type": "schedule", "cron": "* * * * *"}});
        let path = format!("/v1/workspaces/{}/automations", fixture.workspace.id);
        fixture.owner.post(&path, &automation).await?.ok()?;
        let log = eventually_within(Duration::from_secs(80), "the schedule fires", async || {
            let log = fixture.owner.app_log(&app, None).await?;
            if log.is_empty() { bail!("it has not fired") } else { Ok(log) }
        })
        .await?;
        let times: BTreeSet<_> = log.iter().map(|line| line.message.clone()).collect();
        assert_eq!(times.len(), log.len(), "the schedule fired twice in a minute: {log:?}");
        assert!(times.iter().all(|time| time.starts_with("* * * * * ")), "{times:?}");
        Ok(())
    })
    .await
}

/// A run that starts as its call is accepted is never in the queue, so its first event is that it runs.
#[tokio::test]
async fn a_run_starts_as_it_is_accepted_on_every_node() -> Result<()> {
    let options = Server::with(Database::Postgres).args(["--no-rate-limits"]);
    tests::on_server(options, async |first| {
        let second = first.start_another_node().await?;
        let fixture = Fixture::create(&first).await?;
        let other_webhook = fixture.webhook.with_base_url(second.base_url());
        for call in 0..12 {
            let webhook = if call % 2 == 0 { &fixture.webhook } else { &other_webhook };
            let run = webhook.send(&json!({"call": call})).await?.string_at("/runId")?;
            // One after the other, so that nothing waits when the next one comes.
            fixture.owner.wait_for_success(&run).await?;
        }
        let published = fixture.published_statuses().await?;
        assert_eq!(published.len(), 12);
        assert!(published.values().all(|statuses| statuses == &["running", "succeeded"]), "{published:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_visit_finds_the_app_as_it_is_on_every_node() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let second = first.start_another_node().await?;
        let owner = first.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let source = |text: &str| format!("export default {{ fetch() {{ return new Response('{text}') }} }}");
        let app = owner.create_app(&workspace.id, &source("one")).await?;
        let app_path = format!("/v1/apps/{app}");
        let page = format!("/a/{}/", owner.get(&app_path).await?.string_at("/slug")?);
        let (visitor, other_visitor) = (first.client(), second.client());
        // At once on the node that made the change, and within a second on the other one.
        let shows = async |expected: (u16, &str)| {
            let check = async |visitor: &Client| {
                let reply = visitor.get(&page).await?;
                let body = String::from_utf8_lossy(&reply.body).into_owned();
                let seen = (reply.status.as_u16(), body.contains(expected.1));
                ensure!(seen == (expected.0, true), "{} {body}, and not {expected:?}", reply.status);
                Ok(())
            };
            check(&visitor).await?;
            eventually_within(Duration::from_secs(3), "the other node follows", async || {
                check(&other_visitor).await
            })
            .await?;
            check(&visitor).await
        };
        shows((200, "one")).await?;
        let version_path = format!("{app_path}/versions");
        let first_version = owner.get(&version_path).await?.string_at("/versions/0/id")?;
        let version = json!({"files": {"main.js": source("two")}});
        let second_version = owner.post(&version_path, &version).await?.string_at("/id")?;
        shows((200, "two")).await?;
        let rollback = json!({"expectCurrentVersionId": second_version});
        owner.post(&format!("{version_path}/{first_version}/rollback"), &rollback).await?.ok()?;
        shows((200, "one")).await?;
        owner.patch(&app_path, &json!({"paused": true})).await?.ok()?;
        shows((503, "app_paused")).await?;
        owner.patch(&app_path, &json!({"paused": false})).await?.ok()?;
        shows((200, "one")).await?;
        owner.delete(&app_path).await?.assert_status(200);
        shows((404, "not_found")).await
    })
    .await
}

#[tokio::test]
async fn a_revoked_token_is_refused_on_every_node() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let second = first.start_another_node().await?;
        let owner = first.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let bearer = owner.with_bearer(&owner.create_token(&workspace.id, &["read"]).await?);
        let other_webhook = bearer.with_base_url(second.base_url());
        other_webhook.get("/v1/tokens/self").await?.assert_status(200);
        bearer.delete("/v1/tokens/self").await?.assert_status(200);
        bearer.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        // Another node may use its cache for a second, and no longer.
        eventually_within(Duration::from_secs(3), "the other node rejects it too", async || {
            other_webhook.get("/v1/tokens/self").await?.check_error(401, Some("unauthorized"))
        })
        .await
    })
    .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_run_starts_as_it_is_accepted(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for call in 0..5 {
            let run = fixture.webhook.send(&json!({"call": call})).await?.string_at("/runId")?;
            fixture.owner.wait_for_success(&run).await?;
        }
        let published = fixture.published_statuses().await?;
        assert!(published.values().all(|statuses| statuses == &["running", "succeeded"]), "{published:?}");
        Ok(())
    }

    async fn accepted_runs_survive_a_crash(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (outcomes, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let mut senders = tokio::task::JoinSet::new();
        for sender_number in 0..8 {
            let (webhook, outcomes) = (fixture.webhook.clone(), outcomes.clone());
            senders.spawn(async move {
                // Until the server is killed.
                for number in 0.. {
                    let call = format!("{sender_number}-{number}");
                    let Ok(reply) = webhook.send(&json!({"call": call})).await else { return };
                    let _sent = outcomes.send((reply.status.as_u16(), reply.string_at("/runId").ok(), call));
                }
            });
        }
        drop(outcomes);
        let mut accepted = BTreeMap::new();
        while let Some((status, run, call)) = receiver.recv().await {
            assert_eq!(status, 202);
            accepted.insert(run.context("no run")?, format!("call {call}"));
            if accepted.len() == 100 {
                server.kill()?;
            }
        }
        senders.join_all().await;
        assert!(accepted.len() >= 100);
        server.restart().await?;

        // The server may have accepted calls whose response was lost, and finishes them too.
        let runs = eventually_within(LEASE_EXPIRY_DEADLINE, "every run succeeds", async || {
            let runs = fixture.runs().await?;
            let open: Vec<_> = runs.iter().filter(|(_, (status, _))| status != "succeeded").collect();
            ensure!(open.is_empty(), "{} of {} have not succeeded, such as {:?}", open.len(), runs.len(), open.first());
            Ok(runs)
        })
        .await?;
        let lost: Vec<_> = accepted.keys().filter(|run| !runs.contains_key(*run)).collect();
        assert_eq!(lost, Vec::<&String>::new(), "of {} accepted", accepted.len());
        let messages = fixture.logged_messages().await?;
        for (run, call) in &accepted {
            let lines = messages.get(run).with_context(|| format!("{run} logged nothing"))?;
            assert!(!lines.is_empty() && lines.iter().all(|line| line == call), "{run}: {lines:?}");
        }

        let published = fixture.published_statuses().await?;
        assert_eq!(published.len(), runs.len());
        for (run, statuses) in &published {
            // A run is queued unless it starts when it is accepted; a lost attempt is started again, and the run ends
            // once.
            let (end, before) = statuses.split_last().context("a run without an event")?;
            let attempts = before.iter().skip(usize::from(before.first().is_some_and(|first| first == "queued")));
            assert_eq!(end, "succeeded", "{run}: {statuses:?}");
            assert!(!before.is_empty() && attempts.clone().count() > 0, "{run}: {statuses:?}");
            assert!(attempts.into_iter().all(|status| status == "running"), "{run}: {statuses:?}");
        }
        Ok(())
    }

    async fn active_runs_finish_or_are_released_when_the_server_stops(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let mut runs = Vec::new();
        for call in 0..20 {
            let body: Value = json!({"call": call, "slow": call < 4});
            runs.push(fixture.webhook.send(&body).await?.string_at("/runId")?);
        }
        assert!(server.stop().await?.success());
        server.restart().await?;
        // No lease has to expire first, because the server released unfinished runs.
        for run in &runs {
            fixture.owner.wait_for_success(run).await?;
        }
        assert!(fixture.runs().await?.values().all(|(_, attempt)| *attempt <= 2));
        Ok(())
    }
    async fn workers_end_with_their_server(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let endless = "export default { async scheduled() { for (;;) {} } }";
        let (_, run) = fixture.owner.create_and_run_app(&fixture.workspace.id, endless).await?;
        eventually_within(Duration::from_secs(15), "the app runs", async || {
            let run = fixture.owner.get(&format!("/v1/runs/{run}")).await?.ok()?;
            ensure!(run["status"] == "running", "{run}");
            Ok(())
        })
        .await?;
        let apps = descendants_of(server.process_id().context("no process")?)?;
        assert!(!apps.is_empty(), "apps run in separate processes");
        server.kill()?;
        eventually_within(Duration::from_secs(5), "the worker processes have ended", async || {
            let left: Vec<_> = apps.iter().filter(|id| is_alive(**id)).collect();
            ensure!(left.is_empty(), "{left:?}");
            Ok(())
        })
        .await
    }
}

/// Returns all descendants of a process.
fn descendants_of(process: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        if parent_of(id).is_some_and(|(_, parent)| parent == process) {
            found.push(id);
            found.extend(descendants_of(id)?);
        }
    }
    Ok(found)
}

/// False if the process does not exist or is a zombie.
fn is_alive(process: u32) -> bool {
    parent_of(process).is_some_and(|(state, _)| state != "Z" && state != "X")
}

/// Returns state and parent of a process, which proc_pid_stat(5) has after the name in parentheses.
fn parent_of(process: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}
