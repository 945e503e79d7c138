//! Many small projects on one machine, asked at random.

use std::sync::Arc;

use ::tests::{BackendProject, Client, Server};
use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Request, header};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use xtask::shell::Progress;

use crate::{
    Options,
    figures::resident_bytes,
    load::RequestFactory,
    rounds::{self, TargetLoad, millis},
};

const PROJECTS: usize = 2_000;
/// How many a workspace has; it may have no more than 2,000, with the one it begins with.
const PROJECTS_PER_WORKSPACE: usize = 500;
/// How many are made at a time.
const CONCURRENT_CREATIONS: usize = 8;
const TABLES: [&str; 3] = ["one", "two", "three"];
/// Rows of each table.
const ROWS: u64 = 100;
/// Prime to the number of projects.
const STRIDE: u64 = 7919;

/// Where a project's rows are, and its key.
#[derive(Clone)]
struct ProjectAccess {
    rows: String,
    key: String,
}

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let mut workspace = owner.create_workspace("Many").await?;
    let mut projects = Vec::new();
    let mut making: JoinSet<Result<ProjectAccess>> = JoinSet::new();
    for number in 0..PROJECTS {
        if making.len() == CONCURRENT_CREATIONS {
            projects.push(making.join_next().await.context("one is being made")???);
        }
        if number % 100 == 0 {
            progress.report(format!("making project {number} of {PROJECTS}"));
        }
        if number > 0 && number % PROJECTS_PER_WORKSPACE == 0 {
            workspace = owner.create_workspace("Many").await?;
        }
        making.spawn(create_project(owner.clone(), workspace.id.clone()));
    }
    while let Some(made) = making.join_next().await {
        projects.push(made??);
    }
    let address = server.base_url().trim_start_matches("http://");
    let memory = || -> Result<f64> {
        Ok(resident_bytes(server.process_id().context("the server runs")?)? as f64 / 1e6)
    };
    let one = by_id(projects.get(..1).context("there are projects")?);
    let all = by_id(&projects);
    println!("memory before {:.0} MB", memory()?);
    let sides = [TargetLoad { address, requests: &one }, TargetLoad { address, requests: &all }];
    let [one, all] = rounds::run_alternating("row by id", sides, options.load_plan(), progress).await?;
    println!(
        "{:<12} {:>12} {:>9} {:>14} {:>9} {:>10}",
        "figure", "one project", "p99", "2,000 projects", "p99", "p99 ratio"
    );
    println!(
        "{:<12} {:>10.0}/s {:>9} {:>12.0}/s {:>9} {:>10.2}",
        "row by id",
        one.per_second,
        millis(one.p99),
        all.per_second,
        millis(all.p99),
        all.p99.as_secs_f64() / one.p99.as_secs_f64(),
    );
    println!("memory after {:.0} MB", memory()?);
    Ok(())
}

async fn create_project(owner: Client, workspace: String) -> Result<ProjectAccess> {
    let backend = BackendProject::create(&owner, &workspace).await?;
    let key = backend.create_key("secret").await?;
    let client = owner.with_bearer(&key);
    for table in TABLES {
        backend.create_table(table, &[("title", "text"), ("n", "integer")]).await?;
        let rows = (0..ROWS).map(|number| json!({"id": row_id(number), "title": "A row", "n": number}));
        client.post(&backend.rest_path(table), &rows.collect::<Value>()).await?.ok()?;
    }
    Ok(ProjectAccess { rows: backend.rest_path(""), key })
}

fn by_id(projects: &[ProjectAccess]) -> RequestFactory {
    let projects = projects.to_vec();
    Arc::new(move |number| {
        let turn = usize::try_from(number * STRIDE)?;
        let project = projects.get(turn % projects.len()).context("there are projects")?;
        let table = TABLES.get(turn % TABLES.len()).context("there are tables")?;
        let path = format!("{}{table}/{}", project.rows, row_id(number % ROWS));
        let request = Request::builder().uri(path);
        Ok(request.header(header::AUTHORIZATION, format!("Bearer {}", project.key)).body(Bytes::new())?)
    })
}

fn row_id(number: u64) -> String {
    format!("row-{number}")
}
