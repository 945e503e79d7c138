//! Requests to Qala's API. The rest of the load generator knows neither its paths nor its JSON.

use std::{sync::Arc, time::Duration};

use ::tests::{Client, Server, Webhook, service_signature, unix_time};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::{Method, Request, header};
use serde_json::{Value, json};

use super::{connection::Connection, load::RequestFactory};

/// Rows in the measured table before the first measurement.
pub(super) const ROWS: u64 = 20_000;

/// Maximum number of rows of one insert.
const ROWS_PER_INSERT: u64 = 500;

/// Apps and runs that lists have beside those of the sample.
const LISTED_APPS: usize = 20;
const LISTED_RUNS: u64 = 60;
/// Number of the first of those runs, which no measurement comes to.
const FIRST_LISTED_RUN: u64 = 1_000_000_000_000;

/// An app that does almost nothing, so that the figure is about Qala and not about the app.
const APP_SOURCE: &str = "export default { async scheduled(event) { return event.data.order; } }";

/// Padding that makes the body of a delivery as long as a typical one: 1 KiB.
const NOTE_LENGTH: usize = 990;

/// A workspace with a token, a table, a project key and a webhook, for the figures.
pub(super) struct BenchWorkspace {
    person: Client,
    workspace: String,
    app: String,
    token: String,
    /// `/v1/projects/{id}/rest/{table}`
    rows_path: String,
    project_key: String,
    webhook: Webhook,
}

/// Numbers of runs by state.
pub(super) struct QueueHealth {
    pub(super) unfinished: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
}

impl BenchWorkspace {
    pub(super) async fn create(server: &Server) -> Result<Self> {
        let person = server.sign_in("bench@example.test").await?;
        let workspace = person.create_workspace("Bench").await?;
        let token = person.create_token(&workspace.id, &["read", "write"]).await?;

        let app = person.create_app(&workspace.id, APP_SOURCE).await?;
        let automation = person.create_automation(&workspace.id, &app, "webhook", 0).await?;
        let webhook = person.configure_webhook(&automation, "signed").await?;

        let projects = person.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let project = projects.string_at("/items/0/id")?;
        let table = json!({
            "name": "bench",
            "columns": [{"name": "title", "type": "text"}, {"name": "n", "type": "integer"}],
        });
        person.post(&format!("/v1/backend/projects/{project}/tables"), &table).await?.ok()?;
        let key = json!({"kind": "secret", "name": "bench", "scopes": ["rows:read", "rows:write"]});
        let key = person.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?;

        let bench_workspace = Self {
            workspace: workspace.id,
            app,
            token,
            rows_path: format!("/v1/projects/{project}/rest/bench"),
            project_key: key.string_at("/secret")?,
            webhook,
            person,
        };
        bench_workspace.fill_table().await?;
        Ok(bench_workspace)
    }

    async fn fill_table(&self) -> Result<()> {
        let client = self.person.with_bearer(&self.project_key);
        for first in (0..ROWS).step_by(usize::try_from(ROWS_PER_INSERT)?) {
            let rows = (first..first + ROWS_PER_INSERT).map(|number| row(&format!("row-{number}"), number));
            client.post(&self.rows_path, &rows.collect::<Value>()).await?.ok()?;
        }
        Ok(())
    }

    pub(super) fn token_check(&self) -> RequestFactory {
        get(&self.token, |_| "/v1/tokens/self".to_owned())
    }

    pub(super) fn session_read(&self) -> RequestFactory {
        let cookie = self.person.cookie().unwrap_or_default().to_owned();
        Arc::new(move |_| {
            let request = Request::builder().uri("/v1/session").header(header::COOKIE, &cookie);
            Ok(request.body(Bytes::new())?)
        })
    }

    pub(super) fn row_by_id(&self) -> RequestFactory {
        let rows = self.rows_path.clone();
        get(&self.project_key, move |number| format!("{rows}/row-{}", number * 7919 % ROWS))
    }

    pub(super) fn row_list(&self) -> RequestFactory {
        let rows = self.rows_path.clone();
        get(&self.project_key, move |number| {
            format!("{rows}?id=gt.row-{}&order=id&limit=20", number * 7919 % ROWS)
        })
    }

    pub(super) fn row_insert(&self) -> RequestFactory {
        let (rows, key) = (self.rows_path.clone(), self.project_key.clone());
        Arc::new(move |number| {
            let body = row(&format!("new-{number}"), number).to_string();
            let request = Request::builder().method(Method::POST).uri(&rows);
            let request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            Ok(request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body))?)
        })
    }

    /// Inserts 500 rows with each request.
    pub(super) fn row_bulk(&self) -> RequestFactory {
        let (rows, key) = (self.rows_path.clone(), self.project_key.clone());
        Arc::new(move |number| {
            let first = number * ROWS_PER_INSERT;
            let body = (first..first + ROWS_PER_INSERT).map(|number| row(&format!("bulk-{number}"), number));
            let request = Request::builder().method(Method::POST).uri(&rows);
            let request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            let body = Bytes::from(body.collect::<Value>().to_string());
            Ok(request.header(header::CONTENT_TYPE, "application/json").body(body)?)
        })
    }

    pub(super) fn webhook_requests(&self) -> RequestFactory {
        deliveries(&self.webhook, IdempotencyKeys::None)
    }

    pub(super) fn keyed_webhook_requests(&self) -> RequestFactory {
        deliveries(&self.webhook, IdempotencyKeys::Unique)
    }

    pub(super) fn run_list(&self) -> RequestFactory {
        let path = format!("/v1/workspaces/{}/runs", self.workspace);
        get(&self.token, move |_| path.clone())
    }

    pub(super) fn app_read(&self) -> RequestFactory {
        let path = format!("/v1/apps/{}", self.app);
        get(&self.token, move |_| path.clone())
    }

    pub(super) fn app_list(&self) -> RequestFactory {
        let path = format!("/v1/workspaces/{}/apps", self.workspace);
        get(&self.token, move |_| path.clone())
    }

    /// Adds apps and runs, so that lists of them have a usual length.
    pub(super) async fn fill_lists(&self, address: &str) -> Result<()> {
        for _ in 0..LISTED_APPS {
            self.person.create_app(&self.workspace, APP_SOURCE).await?;
        }
        let (deliveries, mut connection) =
            (self.webhook_requests(), Connection::open(address.to_owned()).await?);
        for number in 0..LISTED_RUNS {
            connection.send(&deliveries(FIRST_LISTED_RUN + number)?).await?;
        }
        Ok(())
    }

    /// Counts the runs of 400 days, so that there are more than are counted.
    pub(super) fn run_histogram(&self) -> RequestFactory {
        let path = format!("/v1/workspaces/{}/runs/histogram", self.workspace);
        let (to, from) = ("2024-10-01T00:00:00Z", "2023-10-01T00:00:00Z");
        get(&self.token, move |_| format!("{path}?from={from}&to={to}"))
    }

    pub(super) fn overview(&self) -> RequestFactory {
        let path = format!("/v1/workspaces/{}/overview", self.workspace);
        get(&self.token, move |_| path.clone())
    }

    /// Creates an app and returns requests for its page.
    pub(super) async fn page(&self) -> Result<RequestFactory> {
        page(&self.person, &self.workspace, PAGE_APP_SOURCE).await.map(|requests| requests(""))
    }

    pub(super) async fn queue_health(&self) -> Result<QueueHealth> {
        queue_health(&self.person, &self.workspace).await
    }

    /// Returns the time from acceptance to end of each run, newest first.
    pub(super) async fn run_times(&self) -> Result<Vec<Duration>> {
        Ok(run_times(&self.person, &self.workspace).await?.into_iter().map(|run| run.duration).collect())
    }
}

/// The app of the quiet workspace.
pub(super) const PAGE_APP_SOURCE: &str = "export default { fetch() { return new Response('hello'); } };";

/// An app that uses up workers, processors, memory and the log.
const HOSTILE_APP_SOURCE: &str = "
    const sleep = () => new Promise((done) => setTimeout(done, 29500));
    const attacks = {
        sleep, spin() { for (;;); },
        huge: () => 'x'.repeat(6 * 1024 * 1024 - 16),
        log() { for (let i = 0; i < 1000; i++) console.log('x'.repeat(2000)); },
        memory() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); },
    };
    export default {
        async fetch(request) { return new Response(await attacks[new URL(request.url).search.slice(1)]()); },
        async scheduled(event) { await (event.data.order % 2 ? sleep() : attacks.spin()); },
    };";

/// Creates an app and returns a function that returns requests for its page with a query.
async fn page(
    person: &Client,
    workspace: &str,
    source: &str,
) -> Result<impl Fn(&str) -> RequestFactory + use<>> {
    let app = person.create_app(workspace, source).await?;
    let slug = person.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
    Ok(move |query: &str| -> RequestFactory {
        let path = format!("/a/{slug}/?{query}");
        Arc::new(move |_| Ok(Request::builder().uri(&path).body(Bytes::new())?))
    })
}

pub(super) fn healthz() -> RequestFactory {
    Arc::new(|_| Ok(Request::builder().uri("/healthz").body(Bytes::new())?))
}

/// Creates a hostile workspace and returns the requests that it sends without end, each with a number of connections.
pub(super) async fn hostile_loads(server: &Server) -> Result<Vec<(u64, RequestFactory)>> {
    let person = server.sign_in("hostile@example.test").await?;
    let workspace = person.create_workspace("Hostile").await?.id;
    let visits = page(&person, &workspace, HOSTILE_APP_SOURCE).await?;
    let app = person.create_app(&workspace, HOSTILE_APP_SOURCE).await?;
    let automation = person.create_automation(&workspace, &app, "webhook", 0).await?;
    let webhook = person.configure_webhook(&automation, "signed").await?;
    let projects = person.get(&format!("/v1/workspaces/{workspace}/backend/projects")).await?;
    let project = projects.string_at("/items/0/id")?;
    let table = json!({"name": "flood", "columns": [{"name": "body", "type": "text"}]});
    person.post(&format!("/v1/backend/projects/{project}/tables"), &table).await?.ok()?;
    let key = json!({"kind": "secret", "name": "flood", "scopes": ["rows:read", "rows:write"]});
    let key =
        person.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?.string_at("/secret")?;
    let rows = format!("/v1/projects/{project}/rest/flood");
    let client = person.with_bearer(&key);
    let text: String = (0..200_000_u64).map(|n| if (n * n / 7) % 3 == 0 { 'a' } else { 'b' }).collect();
    for _ in 0..4 {
        client.post(&rows, &json!({ "body": text })).await?.ok()?;
    }
    let pattern = format!("{rows}?select=id&body=not.match.a%5Bab%5D%7B200%7D%5B%5Eab%5D");
    let insert: RequestFactory = {
        let (rows, key) = (rows.clone(), key.clone());
        Arc::new(move |number| {
            let body = json!({"body": format!("{number} {}", "x".repeat(20_000))}).to_string();
            let request = Request::builder().method(Method::POST).uri(&rows);
            let request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            Ok(request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body))?)
        })
    };
    Ok(vec![
        (8, visits("sleep")),
        (4, visits("spin")),
        (2, visits("huge")),
        (2, visits("log")),
        (2, visits("memory")),
        (2, deliveries(&webhook, IdempotencyKeys::None)),
        (4, get(&key, move |_| pattern.clone())),
        (2, insert),
    ])
}

/// A workspace with a webhook.
pub(super) struct WebhookWorkspace {
    pub(super) id: String,
    webhook: Webhook,
}

impl WebhookWorkspace {
    pub(super) async fn create(owner: &Client, number: usize) -> Result<Self> {
        let workspace = owner.create_workspace(&format!("Bench {number}")).await?.id;
        let app = owner.create_app(&workspace, APP_SOURCE).await?;
        let automation = owner.create_automation(&workspace, &app, "webhook", 0).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        Ok(Self { id: workspace, webhook })
    }

    pub(super) fn webhook_requests(&self) -> RequestFactory {
        deliveries(&self.webhook, IdempotencyKeys::None)
    }

    pub(super) fn webhook(&self) -> &Webhook {
        &self.webhook
    }

    pub(super) async fn health(&self, owner: &Client) -> Result<QueueHealth> {
        queue_health(owner, &self.id).await
    }
}

/// Times of a run.
pub(super) struct RunTime {
    pub(super) accepted_at: DateTime<Utc>,
    /// From acceptance to end.
    pub(super) duration: Duration,
}

/// Returns the times of all runs of a workspace, newest first.
pub(super) async fn run_times(person: &Client, workspace: &str) -> Result<Vec<RunTime>> {
    let mut times = Vec::new();
    let mut cursor = String::new();
    loop {
        let reply = person.get(&format!("/v1/workspaces/{workspace}/runs?limit=200{cursor}")).await?;
        let page = reply.ok()?;
        for run in page["items"].as_array().context("no list of runs")? {
            let at = |name: &str| -> Result<DateTime<Utc>> {
                let text = run[name].as_str().with_context(|| format!("{name} of {run}"))?;
                Ok(text.parse()?)
            };
            let (accepted_at, finished_at) = (at("acceptedAt")?, at("finishedAt")?);
            let duration = (finished_at - accepted_at).to_std().unwrap_or_default();
            times.push(RunTime { accepted_at, duration });
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(times),
        }
    }
}

async fn queue_health(person: &Client, workspace: &str) -> Result<QueueHealth> {
    let reply = person.get(&format!("/v1/workspaces/{workspace}/queue-health")).await?;
    let body = reply.ok()?;
    let count = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64).context(pointer.to_owned());
    Ok(QueueHealth {
        unfinished: count("/queued")? + count("/putOff").unwrap_or_default() + count("/running")?,
        succeeded: count("/finishedLastHour/succeeded")?,
        failed: count("/finishedLastHour/failed")? + count("/finishedLastHour/blocked")?,
    })
}

#[derive(Clone, Copy)]
enum IdempotencyKeys {
    None,
    Unique,
}

/// Returns signed deliveries of 1 KiB, each with a different body.
fn deliveries(webhook: &Webhook, keys: IdempotencyKeys) -> RequestFactory {
    let webhook = webhook.clone();
    Arc::new(move |number| {
        let body = delivery_body(number);
        let request = Request::builder().method(Method::POST).uri(&webhook.path);
        let signature = service_signature(&webhook.secret, &unix_time().to_string(), body.as_bytes());
        let mut request = request.header("service-signature", signature);
        if matches!(keys, IdempotencyKeys::Unique) {
            request = request.header("idempotency-key", format!("bench-{number}"));
        }
        Ok(request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body))?)
    })
}

pub(super) fn delivery_body(number: u64) -> String {
    json!({"order": number, "total": 4200, "note": "x".repeat(NOTE_LENGTH)}).to_string()
}

/// Fails unless the server reports that it is ready.
pub(super) async fn check_ready(server: &Server) -> Result<()> {
    let reply = server.client().get("/readyz").await?;
    if !reply.status.is_success() {
        bail!("{reply}");
    }
    Ok(())
}

fn row(id: &str, number: u64) -> Value {
    json!({"id": id, "title": "A row of the bench", "n": number})
}

fn get(bearer: &str, path: impl Fn(u64) -> String + Send + Sync + 'static) -> RequestFactory {
    let bearer = format!("Bearer {bearer}");
    Arc::new(move |number| {
        let request = Request::builder().uri(path(number)).header(header::AUTHORIZATION, &bearer);
        Ok(request.body(Bytes::new())?)
    })
}
