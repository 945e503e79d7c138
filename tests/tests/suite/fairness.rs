//! Isolation of workspaces: one whose code sleeps, computes or streams without end beside a quiet one, and many such ones of one
//! person beside that of another.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use http::Method;
use serde_json::{Value, json};
use tests::{BackendProject, Client, Server, eventually};

/// An app that responds, sleeps or computes as its path or input says, and logs when it has started.
const HOSTILE: &str = "
    const forever = (how) => how === 'spin'
        ? (() => { for (;;); })()
        : new Promise((done) => setTimeout(done, 29500));
    export default {
        async fetch(request) {
            const how = new URL(request.url).searchParams.get('how');
            if (how === 'stream') {
                return new Response(new ReadableStream({ pull() { return forever('sleep'); } }));
            }
            await forever(how);
            return new Response('late');
        },
        async scheduled(event) { await forever(event.data); },
    };";
const QUIET: &str = "export default {
    fetch() { return new Response('hello'); },
    scheduled() { return 1; },
};";

/// An app with a URL and an automation with a manual trigger.
struct AppFixture {
    owner: Client,
    workspace: String,
    page: String,
    automation: String,
}

impl AppFixture {
    async fn create(server: &Server, name: &str, source: &str) -> Result<Self> {
        let owner = server.sign_in(&format!("{name}@example.test")).await?;
        Self::create_in_new_workspace(owner, name, source).await
    }

    async fn create_in_new_workspace(owner: Client, name: &str, source: &str) -> Result<Self> {
        let workspace = owner.create_workspace(name).await?.id;
        let app = owner.create_app(&workspace, source).await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { owner, workspace, page: format!("/a/{slug}/"), automation })
    }

    async fn visit(&self) -> Result<()> {
        let visitor = self.owner.signed_out();
        let reply = visitor.request(Method::GET, &self.page).send().await?;
        reply.assert_status(200);
        anyhow::ensure!(reply.body == "hello", "{reply}");
        Ok(())
    }
}

/// Starts many more visits and runs than there are worker processes, none of which ends by itself.
async fn start_flood(
    hostile: &AppFixture,
    how: &'static str,
) -> Result<(Vec<tokio::task::JoinHandle<()>>, Vec<String>)> {
    let visits = (0..14).map(|_| spawn_visit(hostile, how)).collect();
    let mut runs = Vec::new();
    for _ in 0..14 {
        runs.push(hostile.owner.start_run(&hostile.automation, Value::from(how)).await?);
    }
    wait_for_six_runs(&hostile.owner, &runs).await?;
    Ok((visits, runs))
}

/// Visits an app, and leaves the response unread.
fn spawn_visit(hostile: &AppFixture, how: &str) -> tokio::task::JoinHandle<()> {
    let (visitor, page) = (hostile.owner.signed_out(), format!("{}?how={how}", hostile.page));
    tokio::spawn(async move {
        if let Ok(request) = visitor.request(Method::GET, &page).open_stream().await {
            std::future::pending::<()>().await;
            drop(request);
        }
    })
}

/// Creates a workspace and a project with a table, and returns the path of imports into it.
async fn create_import_path(owner: &Client) -> Result<String> {
    let workspace = owner.create_workspace("Files").await?.id;
    let project = BackendProject::create(owner, &workspace).await?;
    project.create_table("items", &[("title", "text")]).await?;
    Ok(project.console_path("/tables/items/import"))
}

/// Creates a workspace and a project with one text, and returns the project and a secret key.
async fn create_texts(owner: &Client, body: &str, count: usize) -> Result<(BackendProject, String)> {
    let workspace = owner.create_workspace("Notes").await?.id;
    let project = BackendProject::create(owner, &workspace).await?;
    project.create_table("texts", &[("body", "text")]).await?;
    let key = project.create_key("secret").await?;
    for _ in 0..count {
        let insert = project.rest_request(owner, (&key, None), Method::POST, "texts")?;
        insert.json(&json!({"body": body}))?.send().await?.ok()?;
    }
    Ok((project, key))
}

/// Returns a bit that looks random.
fn is_odd_hash(number: u32) -> bool {
    let mixed = number.wrapping_mul(0x9e37_79b9);
    let mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    (mixed ^ (mixed >> 13)) & 1 == 1
}

async fn wait_for_six_runs(owner: &Client, runs: &[String]) -> Result<()> {
    eventually("as many run as may run at once", async || {
        let running = count_running(owner, runs).await?;
        (running == 6).then_some(()).with_context(|| format!("{running} are running"))
    })
    .await
}

async fn count_running(owner: &Client, runs: &[String]) -> Result<usize> {
    let mut running = 0;
    for run in runs {
        let run = owner.get(&format!("/v1/runs/{run}")).await?;
        running += usize::from(run.ok()?["status"] == "running");
    }
    Ok(running)
}

/// Checks that the quiet workspace is served while all runs of the hostile one continue.
async fn check_served(quiet: &AppFixture, hostile: &AppFixture, runs: &[String]) -> Result<()> {
    for _ in 0..3 {
        quiet.visit().await?;
        let run = quiet.owner.start_run(&quiet.automation, json!(null)).await?;
        quiet.owner.wait_for_success(&run).await?;
    }
    // New code can be checked too.
    quiet.owner.create_app(&quiet.workspace, QUIET).await?;
    assert_eq!(count_running(&hostile.owner, runs).await?, 6);
    Ok(())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn code_that_sleeps_does_not_starve_other_workspaces(server: Server) -> Result<()> {
        let hostile = AppFixture::create(&server, "hostile", HOSTILE).await?;
        let quiet = AppFixture::create(&server, "quiet", QUIET).await?;
        let (visits, runs) = start_flood(&hostile, "sleep").await?;
        check_served(&quiet, &hostile, &runs).await?;
        visits.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(())
    }

    async fn code_that_computes_does_not_starve_other_workspaces(server: Server) -> Result<()> {
        let hostile = AppFixture::create(&server, "hostile", HOSTILE).await?;
        let quiet = AppFixture::create(&server, "quiet", QUIET).await?;
        let (visits, runs) = start_flood(&hostile, "spin").await?;
        // With twelve of them on few cores it may take a while, so only success is checked and not the time.
        quiet.visit().await?;
        let run = quiet.owner.start_run(&quiet.automation, json!(null)).await?;
        quiet.owner.wait_for_success(&run).await?;
        assert!(runs.len() > 6);
        visits.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(())
    }

    async fn endless_streams_do_not_starve_other_workspaces(server: Server) -> Result<()> {
        let hostile = AppFixture::create(&server, "hostile", HOSTILE).await?;
        let quiet = AppFixture::create(&server, "quiet", QUIET).await?;
        let (visits, runs) = start_flood(&hostile, "stream").await?;
        check_served(&quiet, &hostile, &runs).await?;
        visits.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(())
    }

    /// Each visit and each run is of another workspace.
    async fn one_person_with_many_workspaces_does_not_starve_others(server: Server) -> Result<()> {
        let quiet = AppFixture::create(&server, "quiet", QUIET).await?;
        let person = server.sign_in("hostile@example.test").await?;
        let (mut all, mut visits, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..12 {
            let name = format!("hostile-{number}");
            let hostile = AppFixture::create_in_new_workspace(person.clone(), &name, HOSTILE).await?;
            if number < 4 {
                visits.push(spawn_visit(&hostile, "stream"));
            }
            runs.push(person.start_run(&hostile.automation, json!("sleep")).await?);
            all.push(hostile);
        }
        let refused = format!("{}?how=stream", all[0].page);
        eventually("the person has as many streams as one may have", async || {
            let stream = person.signed_out().request(Method::GET, &refused).open_stream().await?;
            anyhow::ensure!(stream.status == 503, "{}", stream.status);
            Ok(())
        })
        .await?;
        visits.extend(all.iter().skip(4).map(|hostile| spawn_visit(hostile, "sleep")));
        wait_for_six_runs(&person, &runs).await?;
        check_served(&quiet, &all[0], &runs).await?;
        // Somebody else's streams have places too.
        let other = AppFixture::create(&server, "other", HOSTILE).await?;
        let (visitor, page) = (other.owner.signed_out(), format!("{}?how=stream", other.page));
        assert_eq!(visitor.request(Method::GET, &page).open_stream().await?.status, 200);
        visits.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(())
    }

    /// Searches in projects of several workspaces of one person take half of the readers or connections at most.
    async fn rows_of_one_person_hold_up_nobody(server: Server) -> Result<()> {
        let hostile = server.sign_in("hostile@example.test").await?;
        let text: String = (0..800_000).map(|n| if is_odd_hash(n) { 'a' } else { 'b' }).collect();
        let mut projects = Vec::new();
        for _ in 0..6 {
            // So many that a search takes all of its time on a fast machine too.
            projects.push(Arc::new(create_texts(&hostile, &text, 8).await?));
        }
        let quiet = server.sign_in("quiet@example.test").await?;
        let (project, key) = create_texts(&quiet, "tea", 1).await?;
        // More than all connections together.
        let searches = projects.iter().cycle().take(24).map(|searched| {
            let (searched, client) = (Arc::clone(searched), hostile.signed_out());
            tokio::spawn(async move {
                let search = "texts?select=id&body=match.[ab]{0,250}a[ab]{200}[^ab]";
                let (project, key) = &*searched;
                project.rest_request(&client, (key, None), Method::GET, search)?.send().await
            })
        });
        let searches: Vec<_> = searches.collect();
        for _ in 0..10 {
            let list = project.rest_request(&quiet, (&key, None), Method::GET, "texts?body=like.t*")?;
            assert_eq!(list.send().await?.ok()?.as_array().map(Vec::len), Some(1));
        }
        assert!(searches.iter().all(|search| !search.is_finished()), "others were served first");
        searches.iter().for_each(tokio::task::JoinHandle::abort);
        Ok(())
    }

    /// Two files of one person at most arrive at once, and neither takes the turn of another person's.
    async fn slow_uploads_of_one_person_hold_up_nobody(server: Server) -> Result<()> {
        let hostile = server.sign_in("hostile@example.test").await?;
        let hostile_path = create_import_path(&hostile).await?;
        let mut held = Vec::new();
        for number in 0..2 {
            let file = format!("id\nslow-{number}\n");
            let request = hostile.request(Method::POST, &hostile_path).body("text/csv", file)?;
            held.push(request.send_unfinished().await?);
        }
        let check_path = format!("{hostile_path}?check=true");
        eventually("both files have their places", async || {
            let third = hostile.request(Method::POST, &check_path).body("text/csv", "id\n")?.send().await?;
            anyhow::ensure!(third.status == 503, "{third}");
            third.assert_error(503, "overloaded");
            Ok(())
        })
        .await?;
        let quiet = server.sign_in("quiet@example.test").await?;
        let quiet_path = create_import_path(&quiet).await?;
        let import = quiet.request(Method::POST, &quiet_path).body("text/csv", "id\ntea\n")?.send().await?;
        assert_eq!(import.ok()?["imported"], 1);
        for file in held {
            assert_eq!(file.finish().await?.ok()?["imported"], 1);
        }
        Ok(())
    }
}
