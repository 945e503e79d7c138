//! A project of Qala with a policy, and the requests of a person with a token.

use std::sync::Arc;

use ::tests::{BackendProject, Client, Server, identity_settings, person_token, unix_time};
use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request, header};
use serde_json::{Value, json};

use super::{BULK_SIZE, BenchTarget, QUANTITIES, ROWS, row, row_id};
use crate::{load::RequestFactory, rounds::with_unique_numbers};

const USER_ID: &str = "person-of-the-bench";

/// Lifetime of the person's token, in seconds.
const TOKEN_LIFETIME_SECONDS: u64 = 6 * 3600;

/// Creates and fills the table, and returns the requests.
pub(super) async fn prepare(server: &Server) -> Result<BenchTarget> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = owner.create_workspace("Beside").await?;
    let backend = BackendProject::create(&owner, &workspace.id).await?;
    let columns = [
        ("title", "text"),
        ("qty", "integer"),
        ("rank", "integer"),
        ("price", "real"),
        ("public", "boolean"),
        ("owner", "text"),
        ("note", "text"),
    ];
    backend.create_table("items", &columns).await?;
    let index = json!({"columns": ["qty"]});
    owner.post(&backend.console_path("/tables/items/indexes"), &index).await?.ok()?;
    owner.patch(&backend.console_path("/settings"), &json!({"identity": identity_settings()})).await?.ok()?;
    let mine = json!({"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}});
    let public = json!({"t": "cmp", "column": "public", "op": "eq", "value": {"k": "lit", "v": true}});
    let policy = json!({"rules": [
        {"id": "seen", "audience": {"kind": "signed_in"}, "actions": ["read"],
            "where": {"t": "or", "of": [mine, public]}, "columns": null},
        {"id": "written", "audience": {"kind": "signed_in"}, "actions": ["insert"], "where": mine, "columns": null},
    ]});
    backend.set_policy("items", &policy).await?.ok()?;
    fill_table(&owner, &backend).await?;

    let key = backend.create_key("publishable").await?;
    let token =
        format!("Bearer {}", person_token(USER_ID, json!({"exp": unix_time() + TOKEN_LIFETIME_SECONDS}))?);
    let build_request = move |method: Method, path: String, body: Option<Value>| -> Result<Request<Bytes>> {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("apikey", &key).header(header::AUTHORIZATION, &token);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        Ok(request.body(body.map_or_else(Bytes::new, |body| body.to_string().into()))?)
    };
    let factory =
        |request_parts: Box<dyn Fn(u64) -> (Method, String, Option<Value>) + Send + Sync>| -> RequestFactory {
            let build_request = build_request.clone();
            Arc::new(move |number| {
                let (method, path, body) = request_parts(number);
                build_request(method, path, body)
            })
        };
    let table = backend.rest_path("items");
    let path = |rest: &'static str| {
        let table = table.clone();
        move |number: u64| format!("{table}{rest}{number}")
    };
    let (indexed, unindexed) =
        (path("?order=qty.desc&limit=20&qty=lt."), path("?order=rank.desc&limit=20&rank=lt."));
    let (by_id, insert, bulk) = (table.clone(), table.clone(), table.clone());
    Ok(BenchTarget {
        address: server.base_url().trim_start_matches("http://").to_owned(),
        // The person owns the even rows.
        by_id: factory(Box::new(move |number| {
            (Method::GET, format!("{by_id}/{}", row_id('r', number * 7919 * 2 % ROWS)), None)
        })),
        list: factory(Box::new(move |number| (Method::GET, indexed(number * 7919 % QUANTITIES + 1), None))),
        list_unindexed: factory(Box::new(move |number| {
            (Method::GET, unindexed(number * 7919 % QUANTITIES + 1), None)
        })),
        insert: with_unique_numbers(&factory(Box::new(move |number| {
            (Method::POST, insert.clone(), Some(row(&row_id('n', number), number * 2, USER_ID)))
        }))),
        bulk: with_unique_numbers(&factory(Box::new(move |number| {
            let rows = (0..BULK_SIZE).map(|at| row(&row_id('b', number * BULK_SIZE + at), at * 2, USER_ID));
            (Method::POST, bulk.clone(), Some(rows.collect()))
        }))),
    })
}

async fn fill_table(owner: &Client, backend: &BackendProject) -> Result<()> {
    let secret = json!({"kind": "secret", "name": "Fill", "scopes": ["rows:read", "rows:write"]});
    let secret = owner.post(&backend.console_path("/keys"), &secret).await?.string_at("/secret")?;
    let client = owner.with_bearer(&secret);
    for first in (0..ROWS).step_by(usize::try_from(BULK_SIZE)?) {
        let rows: Value =
            (first..first + BULK_SIZE).map(|number| row(&row_id('r', number), number, USER_ID)).collect();
        client.post(&backend.rest_path("items"), &rows).await?.ok()?;
    }
    Ok(())
}
