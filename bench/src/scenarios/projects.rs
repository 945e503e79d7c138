//! Rows by id in one project, and at random in many small projects.

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
    load::RequestFactory,
    processes::resident_bytes,
    rounds::{self, TargetLoad, millis},
};

const PROJECTS: usize = 2_000;
/// Projects per workspace. The limit is 2,000, including the sample project.
const PROJECTS_PER_WORKSPACE: usize = 500;
/// Projects that are created at once.
const CONCURRENT_CREATIONS: usize = 8;
const TABLES: [&str; 3] = ["one", "two", "three"];
/// Rows of each table.
const ROWS: u64 = 100;
/// Coprime to the number of projects.
const STRIDE: u64 = 7919;

/// Path of a project's data API and its key.
#[derive(Clone)]
struct ProjectAccess {
    rows: String,
    key: String,
}

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let mut workspace = owner.create_workspace("Many").await?;
    let mut projects = Vec::new();
    let mut creations: JoinSet<Result<ProjectAccess>> = JoinSet::new();
    for number in 0..PROJECTS {
        if creations.len() == CONCURRENT_CREATIONS {
            projects.push(creations.join_next().await.context("no creation is pending")???);
        }
        if number % 100 == 0 {
            progress.report(format!("creating project {number} of {PROJECTS}"));
        }
        if number > 0 && number % PROJECTS_PER_WORKSPACE == 0 {
            workspace = owner.create_workspace("Many").await?;
        }
        creations.spawn(create_project(owner.clone(), workspace.id.clone()));
    }
    while let Some(created) = creations.join_next().await {
        projects.push(created??);
    }
    let address = server.base_url().trim_start_matches("http://");
    let memory = || -> Result<f64> {
        Ok(resident_bytes(server.process_id().context("the server is not running")?)? as f64 / 1e6)
    };
    let one = by_id(projects.get(..1).context("there are no projects")?);
    let all = by_id(&projects);
    println!("memory before {:.0} MB", memory()?);
    let targets = [TargetLoad { address, requests: &one }, TargetLoad { address, requests: &all }];
    let [one, all] = rounds::run_alternating("row by id", targets, options.load_plan(), progress).await?;
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
        let index = usize::try_from(number * STRIDE)?;
        let project = projects.get(index % projects.len()).context("there are no projects")?;
        let table = TABLES.get(index % TABLES.len()).context("there are no tables")?;
        let path = format!("{}{table}/{}", project.rows, row_id(number % ROWS));
        let request = Request::builder().uri(path);
        Ok(request.header(header::AUTHORIZATION, format!("Bearer {}", project.key)).body(Bytes::new())?)
    })
}

fn row_id(number: u64) -> String {
    format!("row-{number}")
}
