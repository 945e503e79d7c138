//! Reads of a small and of a large table: the cost of a read must not grow with rows that it does not touch.

use std::{fmt::Write as _, sync::Arc};

use ::tests::{BackendProject, Client, Server};
use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request, header};
use serde_json::json;
use xtask::shell::Progress;

use crate::{
    Options,
    load::RequestFactory,
    rounds::{self, TargetLoad, millis},
};

/// The tables and their numbers of rows.
const TABLES: [(&str, u64); 2] = [("small", 20_000), ("large", 1_000_000)];
/// Rows of one import.
const IMPORT_SIZE: u64 = 100_000;
/// Coprime to both numbers of rows: multiplying by it visits all of them, in an order that no cache profits from.
const STRIDE: u64 = 7919;

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = owner.create_workspace("Growth").await?;
    let backend = BackendProject::create(&owner, &workspace.id).await?;
    let key = backend.create_key("secret").await?;
    for (table, rows) in TABLES {
        backend.create_table(table, &[("title", "text"), ("n", "integer")]).await?;
        let index = json!({"columns": ["n"]});
        owner.post(&backend.console_path(&format!("/tables/{table}/indexes")), &index).await?.ok()?;
        for first in (0..rows).step_by(usize::try_from(IMPORT_SIZE)?) {
            progress.report(format!("filling the {table} table, {first} of {rows} rows"));
            import_rows(&owner, &backend, table, first..rows.min(first + IMPORT_SIZE), rows).await?;
        }
    }
    let address = server.base_url().trim_start_matches("http://");
    println!(
        "{:<20} {:>12} {:>9} {:>12} {:>9} {:>6}",
        "figure", "20,000", "p99", "1,000,000", "p99", "ratio"
    );
    let by_id = |table: &str, rows: u64| -> RequestFactory {
        let path = backend.rest_path(table);
        get(&key, move |number| format!("{path}/{}", row_id(number * STRIDE % rows)))
    };
    let list = |table: &str, rows: u64| -> RequestFactory {
        let path = backend.rest_path(table);
        get(&key, move |number| format!("{path}?n=lt.{}&order=n.desc&limit=20", number * STRIDE % rows + 20))
    };
    let [(small, few), (large, many)] = TABLES;
    for (name, one, other) in [
        ("row by id", by_id(small, few), by_id(large, many)),
        ("indexed list of 20", list(small, few), list(large, many)),
    ] {
        let targets = [TargetLoad { address, requests: &one }, TargetLoad { address, requests: &other }];
        let [one, other] = rounds::run_alternating(name, targets, options.load_plan(), progress).await?;
        println!(
            "{name:<20} {:>10.0}/s {:>9} {:>10.0}/s {:>9} {:>6.2}",
            one.per_second,
            millis(one.p99),
            other.per_second,
            millis(other.p99),
            one.per_second / other.per_second,
        );
    }
    Ok(())
}

async fn import_rows(
    owner: &Client,
    backend: &BackendProject,
    table: &str,
    numbers: std::ops::Range<u64>,
    rows: u64,
) -> Result<()> {
    let mut csv = String::from("id,title,n\n");
    for number in numbers {
        writeln!(csv, "{},A row of the bench,{}", row_id(number), number * STRIDE % rows)?;
    }
    let path = backend.console_path(&format!("/tables/{table}/import"));
    owner.request(Method::POST, &path).body("text/csv", csv)?.send().await?.ok()?;
    Ok(())
}

fn get(key: &str, path: impl Fn(u64) -> String + Send + Sync + 'static) -> RequestFactory {
    let key = format!("Bearer {key}");
    Arc::new(move |number| {
        Ok(Request::builder().uri(path(number)).header(header::AUTHORIZATION, &key).body(Bytes::new())?)
    })
}

fn row_id(number: u64) -> String {
    format!("row-{number}")
}
