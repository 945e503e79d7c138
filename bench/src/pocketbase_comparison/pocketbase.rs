//! PocketBase as a process with a fresh directory, and its requests.

use std::{net::TcpListener, path::Path, process::Stdio, sync::Arc};

use ::tests::{Client, eventually};
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Method, Request, header};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::{BULK_SIZE, BenchTarget, QUANTITIES, ROWS, row, row_id};
use crate::{load::RequestFactory, rounds::with_unique_numbers};

const ADMIN: &str = "admin@example.test";
const PERSON: &str = "person@example.test";
const PASSWORD: &str = "only-for-the-bench";

/// A running PocketBase. Dropping it kills the process.
pub(super) struct PocketBase {
    address: String,
    process: Child,
    _directory: tempfile::TempDir,
}

impl PocketBase {
    pub(super) async fn start(program: &Path) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let data = format!("--dir={}", directory.path().join("data").display());
        let status = Command::new(program)
            .args(["superuser", "upsert", ADMIN, PASSWORD, &data])
            .stdout(Stdio::null())
            .status()
            .await
            .with_context(|| format!("cannot run {}", program.display()))?;
        ensure!(status.success(), "PocketBase created no superuser: {status}");
        let address = format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let process = Command::new(program)
            .args(["serve", &format!("--http={address}"), &data])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let server = Self { address, process, _directory: directory };
        let client = server.client();
        eventually("PocketBase responds", async || client.get("/api/health").await?.ok()).await?;
        Ok(server)
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    fn client(&self) -> Client {
        Client::new(format!("http://{}", self.address))
    }

    async fn sign_in(&self, collection: &str, email: &str) -> Result<(Client, String, String)> {
        let path = format!("/api/collections/{collection}/auth-with-password");
        let client = self.client();
        let reply = client.post(&path, &json!({"identity": email, "password": PASSWORD})).await?;
        let token = reply.string_at("/token")?;
        Ok((client.with_bearer(&token), token, reply.string_at("/record/id")?))
    }

    /// Creates and fills the collection, and returns the requests.
    pub(super) async fn prepare(&self) -> Result<BenchTarget> {
        let (admin, ..) = self.sign_in("_superusers", ADMIN).await?;
        let settings = json!({
            "batch": {"enabled": true, "maxRequests": BULK_SIZE, "timeout": 60, "maxBodySize": 0},
            "rateLimits": {"enabled": false},
        });
        admin.patch("/api/settings", &settings).await?.ok()?;
        let field = |name: &str, kind: &str| json!({"name": name, "type": kind});
        let collection = json!({
            "name": "items",
            "type": "base",
            "listRule": "owner = @request.auth.id || public = true",
            "viewRule": "owner = @request.auth.id || public = true",
            "createRule": "owner = @request.auth.id",
            "fields": [
                field("title", "text"), field("qty", "number"), field("rank", "number"), field("price", "number"),
                field("public", "bool"), field("owner", "text"), field("note", "text"),
                json!({"name": "created", "type": "autodate", "onCreate": true}),
            ],
            "indexes": ["CREATE INDEX items_qty ON items (qty)"],
        });
        admin.post("/api/collections", &collection).await?.ok()?;
        let person = json!({"email": PERSON, "password": PASSWORD, "passwordConfirm": PASSWORD});
        admin.post("/api/collections/users/records", &person).await?.ok()?;
        let (_, token, me) = self.sign_in("users", PERSON).await?;
        for first in (0..ROWS).step_by(usize::try_from(BULK_SIZE)?) {
            let rows = (first..first + BULK_SIZE).map(|number| row(&row_id('r', number), number, &me));
            admin.post("/api/batch", &batch(rows)).await?.ok()?;
        }
        Ok(self.target(&token, &me))
    }

    fn target(&self, token: &str, me: &str) -> BenchTarget {
        const RECORDS: &str = "/api/collections/items/records";
        let factory =
            |request_parts: Box<dyn Fn(u64) -> (Method, String, Option<Value>) + Send + Sync>| -> RequestFactory {
                let token = token.to_owned();
                Arc::new(move |number| {
                    let (method, path, body) = request_parts(number);
                    let request = Request::builder().method(method).uri(path);
                    let request = request.header(header::AUTHORIZATION, token.as_str());
                    let request = request.header(header::CONTENT_TYPE, "application/json");
                    Ok(request.body(body.map_or_else(Bytes::new, |body| body.to_string().into()))?)
                })
            };
        let list = |column: &'static str| -> RequestFactory {
            factory(Box::new(move |number| {
                let upper_bound = number * 7919 % QUANTITIES + 1;
                let filter = format!("{column}%3C{upper_bound}");
                (
                    Method::GET,
                    format!("{RECORDS}?sort=-{column}&perPage=20&skipTotal=1&filter={filter}"),
                    None,
                )
            }))
        };
        let (insert_owner, bulk_owner) = (me.to_owned(), me.to_owned());
        BenchTarget {
            address: self.address.clone(),
            by_id: factory(Box::new(|number| {
                (Method::GET, format!("{RECORDS}/{}", row_id('r', number * 7919 * 2 % ROWS)), None)
            })),
            list: list("qty"),
            list_unindexed: list("rank"),
            insert: with_unique_numbers(&factory(Box::new(move |number| {
                let row = row(&row_id('n', number), number * 2, &insert_owner);
                (Method::POST, RECORDS.to_owned(), Some(row))
            }))),
            bulk: with_unique_numbers(&factory(Box::new(move |number| {
                let rows =
                    (0..BULK_SIZE).map(|at| row(&row_id('b', number * BULK_SIZE + at), at * 2, &bulk_owner));
                (Method::POST, "/api/batch".to_owned(), Some(batch(rows)))
            }))),
        }
    }
}

fn batch(rows: impl Iterator<Item = Value>) -> Value {
    let requests: Vec<Value> = rows
        .map(|row| json!({"method": "POST", "url": "/api/collections/items/records", "body": row}))
        .collect();
    json!({ "requests": requests })
}
