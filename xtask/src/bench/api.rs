//! The one place of the bench that knows Qala's paths and JSON.

use std::{sync::Arc, time::Duration};

use ::tests::{Client, Hook, Server, service_signature, unix_time};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::{Method, Request, header};
use serde_json::{Value, json};

use super::load::Maker;

/// Rows in the measured table before the first measurement.
pub(super) const ROWS: u64 = 20_000;

/// The most rows that one insert takes.
const ROWS_PER_INSERT: u64 = 500;

/// What the webhook starts: next to nothing, so that the figure is of Qala and not of the app.
const HANDLER: &str = "export default { async scheduled(event) { return event.data.order; } }";

/// Makes a delivery's body as long as a usual one: 1 KiB.
const NOTE: usize = 960;

/// One person's workspace with what the figures need.
pub(super) struct World {
    person: Client,
    workspace: String,
    token: String,
    /// `/v1/projects/{id}/rest/{table}`
    rows: String,
    project_key: String,
    hook: Hook,
}

/// Work that is not finished, and what is.
pub(super) struct QueueHealth {
    pub(super) unfinished: u64,
    pub(super) succeeded: u64,
    pub(super) gone_wrong: u64,
}

impl World {
    pub(super) async fn make(server: &Server) -> Result<Self> {
        let person = server.sign_in("bench@example.test").await?;
        let workspace = person.make_workspace("Bench").await?;
        let token = person.make_token(&workspace.id, &["read", "write"]).await?;

        let app = person.make_app(&workspace.id, HANDLER).await?;
        let road = person.make_road(&workspace.id, &app, "webhook", 0).await?;
        let hook = person.set_hook(&road, "signed").await?;

        let projects = person.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let project = projects.string("/items/0/id")?;
        let table = json!({
            "name": "bench",
            "columns": [{"name": "title", "type": "text"}, {"name": "n", "type": "integer"}],
        });
        person.post(&format!("/v1/backend/projects/{project}/tables"), &table).await?.ok()?;
        let key = json!({"kind": "secret", "name": "bench", "scopes": ["rows:read", "rows:write"]});
        let key = person.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?;

        let world = Self {
            workspace: workspace.id,
            token,
            rows: format!("/v1/projects/{project}/rest/bench"),
            project_key: key.string("/secret")?,
            hook,
            person,
        };
        world.fill_table().await?;
        Ok(world)
    }

    async fn fill_table(&self) -> Result<()> {
        let client = self.person.with_bearer(&self.project_key);
        for first in (0..ROWS).step_by(usize::try_from(ROWS_PER_INSERT)?) {
            let rows = (first..first + ROWS_PER_INSERT).map(|number| row(&format!("row-{number}"), number));
            client.post(&self.rows, &rows.collect::<Value>()).await?.ok()?;
        }
        Ok(())
    }

    pub(super) fn token_check(&self) -> Maker {
        get(&self.token, |_| "/v1/tokens/self".to_owned())
    }

    pub(super) fn session_read(&self) -> Maker {
        let cookie = self.person.cookie().unwrap_or_default().to_owned();
        Arc::new(move |_| {
            let request = Request::builder().uri("/v1/session").header(header::COOKIE, &cookie);
            Ok(request.body(Bytes::new())?)
        })
    }

    pub(super) fn row_by_id(&self) -> Maker {
        let rows = self.rows.clone();
        get(&self.project_key, move |number| format!("{rows}/row-{}", number * 7919 % ROWS))
    }

    pub(super) fn row_list(&self) -> Maker {
        let rows = self.rows.clone();
        get(&self.project_key, move |number| {
            format!("{rows}?id=gt.row-{}&order=id&limit=20", number * 7919 % ROWS)
        })
    }

    pub(super) fn row_insert(&self) -> Maker {
        let (rows, key) = (self.rows.clone(), self.project_key.clone());
        Arc::new(move |number| {
            let body = row(&format!("new-{number}"), number).to_string();
            let request = Request::builder().method(Method::POST).uri(&rows);
            let request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
            Ok(request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body))?)
        })
    }

    /// Signed deliveries.
    pub(super) fn webhook(&self) -> Maker {
        deliveries(&self.hook, Keys::None)
    }

    /// Signed deliveries, each with an idempotency key.
    pub(super) fn keyed_webhook(&self) -> Maker {
        deliveries(&self.hook, Keys::EachItsOwn)
    }

    /// A page of the workspace's runs.
    pub(super) fn run_list(&self) -> Maker {
        let path = format!("/v1/workspaces/{}/runs", self.workspace);
        get(&self.token, move |_| path.clone())
    }

    /// The answer of an app over HTTP.
    pub(super) async fn page(&self) -> Result<Maker> {
        page(&self.person, &self.workspace, PAGE).await.map(|maker| maker(""))
    }

    pub(super) async fn queue_health(&self) -> Result<QueueHealth> {
        queue_health(&self.person, &self.workspace).await
    }

    /// How long each run took from its acceptance to its end, newest first.
    pub(super) async fn run_times(&self) -> Result<Vec<Duration>> {
        Ok(run_times(&self.person, &self.workspace).await?.into_iter().map(|run| run.took).collect())
    }
}

/// What answers over HTTP in the quiet workspace.
const PAGE: &str = "export default { fetch() { return new Response('hello'); } };";

/// What takes places, processors, memory and the log.
const HOSTILE: &str = "
    const sleep = () => new Promise((done) => setTimeout(done, 29500));
    const ways = {
        sleep, spin() { for (;;); },
        huge: () => 'x'.repeat(6 * 1024 * 1024 - 16),
        log() { for (let i = 0; i < 1000; i++) console.log('x'.repeat(2000)); },
        memory() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); },
    };
    export default {
        async fetch(request) { return new Response(await ways[new URL(request.url).search.slice(1)]()); },
        async scheduled(event) { await (event.data.order % 2 ? sleep() : ways.spin()); },
    };";

/// Makes the address of an app's page with a query.
async fn page(person: &Client, workspace: &str, source: &str) -> Result<impl Fn(&str) -> Maker + use<>> {
    let app = person.make_app(workspace, source).await?;
    let slug = person.get(&format!("/v1/apps/{app}")).await?.string("/slug")?;
    Ok(move |query: &str| -> Maker {
        let path = format!("/a/{slug}/?{query}");
        Arc::new(move |_| Ok(Request::builder().uri(&path).body(Bytes::new())?))
    })
}

pub(super) fn healthz() -> Maker {
    Arc::new(|_| Ok(Request::builder().uri("/healthz").body(Bytes::new())?))
}

/// What a workspace of somebody else's sends without end, and over how many connections each.
pub(super) async fn hostile(server: &Server) -> Result<Vec<(u64, Maker)>> {
    let person = server.sign_in("hostile@example.test").await?;
    let workspace = person.make_workspace("Hostile").await?.id;
    let visits = page(&person, &workspace, HOSTILE).await?;
    let app = person.make_app(&workspace, HOSTILE).await?;
    let road = person.make_road(&workspace, &app, "webhook", 0).await?;
    let hook = person.set_hook(&road, "signed").await?;
    let projects = person.get(&format!("/v1/workspaces/{workspace}/backend/projects")).await?;
    let project = projects.string("/items/0/id")?;
    let table = json!({"name": "flood", "columns": [{"name": "body", "type": "text"}]});
    person.post(&format!("/v1/backend/projects/{project}/tables"), &table).await?.ok()?;
    let key = json!({"kind": "secret", "name": "flood", "scopes": ["rows:read", "rows:write"]});
    let key = person.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?.string("/secret")?;
    let rows = format!("/v1/projects/{project}/rest/flood");
    let client = person.with_bearer(&key);
    let text: String = (0..200_000_u64).map(|n| if (n * n / 7) % 3 == 0 { 'a' } else { 'b' }).collect();
    for _ in 0..4 {
        client.post(&rows, &json!({ "body": text })).await?.ok()?;
    }
    let pattern = format!("{rows}?select=id&body=not.match.a%5Bab%5D%7B200%7D%5B%5Eab%5D");
    let insert: Maker = {
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
        (2, deliveries(&hook, Keys::None)),
        (4, get(&key, move |_| pattern.clone())),
        (2, insert),
    ])
}

/// A workspace with nothing but a webhook of its own.
pub(super) struct Road {
    pub(super) workspace: String,
    hook: Hook,
}

impl Road {
    pub(super) async fn make(owner: &Client, number: usize) -> Result<Self> {
        let workspace = owner.make_workspace(&format!("Bench {number}")).await?.id;
        let app = owner.make_app(&workspace, HANDLER).await?;
        let road = owner.make_road(&workspace, &app, "webhook", 0).await?;
        let hook = owner.set_hook(&road, "signed").await?;
        Ok(Self { workspace, hook })
    }

    pub(super) fn webhook(&self) -> Maker {
        deliveries(&self.hook, Keys::None)
    }

    pub(super) fn hook(&self) -> &Hook {
        &self.hook
    }

    pub(super) async fn health(&self, owner: &Client) -> Result<QueueHealth> {
        queue_health(owner, &self.workspace).await
    }
}

/// When a run was accepted, and how long it took from then to its end.
pub(super) struct RunTime {
    pub(super) accepted_at: DateTime<Utc>,
    pub(super) took: Duration,
}

/// The times of all runs of a workspace, newest first.
pub(super) async fn run_times(person: &Client, workspace: &str) -> Result<Vec<RunTime>> {
    let mut times = Vec::new();
    let mut cursor = String::new();
    loop {
        let reply = person.get(&format!("/v1/workspaces/{workspace}/runs?limit=200{cursor}")).await?;
        let page = reply.ok()?;
        for run in page["items"].as_array().context("a list of runs")? {
            let at = |name: &str| -> Result<DateTime<Utc>> {
                let text = run[name].as_str().with_context(|| format!("{name} of {run}"))?;
                Ok(text.parse()?)
            };
            let (accepted_at, finished_at) = (at("acceptedAt")?, at("finishedAt")?);
            let took = (finished_at - accepted_at).to_std().unwrap_or_default();
            times.push(RunTime { accepted_at, took });
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
        gone_wrong: count("/finishedLastHour/failed")? + count("/finishedLastHour/blocked")?,
    })
}

/// Whether deliveries have idempotency keys.
#[derive(Clone, Copy)]
enum Keys {
    None,
    EachItsOwn,
}

/// Deliveries of 1 KiB, each with a body of its own.
fn deliveries(hook: &Hook, keys: Keys) -> Maker {
    let hook = hook.clone();
    Arc::new(move |number| {
        let body = order(number);
        let request = Request::builder().method(Method::POST).uri(&hook.path);
        let signature = service_signature(&hook.secret, &unix_time().to_string(), body.as_bytes());
        let mut request = request.header("service-signature", signature);
        if matches!(keys, Keys::EachItsOwn) {
            request = request.header("idempotency-key", format!("bench-{number}"));
        }
        Ok(request.header(header::CONTENT_TYPE, "application/json").body(Bytes::from(body))?)
    })
}

/// The body of a delivery.
pub(super) fn order(number: u64) -> String {
    json!({"order": number, "total": 4200, "note": "x".repeat(NOTE)}).to_string()
}

/// Whether the server says that it is ready.
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

fn get(bearer: &str, path: impl Fn(u64) -> String + Send + Sync + 'static) -> Maker {
    let bearer = format!("Bearer {bearer}");
    Arc::new(move |number| {
        let request = Request::builder().uri(path(number)).header(header::AUTHORIZATION, &bearer);
        Ok(request.body(Bytes::new())?)
    })
}
