//! Tests of SQLite alone: durability when the process is killed, and shared threads.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, ErrorKind, NewColumn, NewTable, ProjectRef, ReadOptions, WriteOptions,
};

use crate::harness;

const CHILD: &str = "QALA_TEST_CRASH_DIRECTORY";

fn engine(directory: &std::path::Path) -> Engine {
    Engine::with_system(Arc::new(SqliteRows::open(SqliteOptions::new(directory)).unwrap()))
}

fn crash_project() -> ProjectRef {
    ProjectRef::new("crash".parse().unwrap(), 0)
}

/// The child process of the next test. It inserts batches of three from eight tasks and prints the name of each batch
/// that was acknowledged. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_child() {
    let Ok(directory) = std::env::var(CHILD) else { return };
    let engine = Arc::new(engine(directory.as_ref()));
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let engine = engine.clone();
            tokio::spawn(async move {
                for number in 0_u64.. {
                    let row = format!(r#"{{"batch":"{task}-{number}"}}"#);
                    let rows = format!("[{row},{row},{row}]");
                    let (project, options) = (crash_project(), WriteOptions::default());
                    let written =
                        engine.insert(&project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await;
                    written.unwrap();
                    println!("wrote {task}-{number}");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let project = crash_project();
    {
        let engine = engine(directory.path());
        engine.create_project(&project).await.unwrap();
        let notes = NewTable::new("notes").with_column(NewColumn::new("batch", ColumnType::Text));
        engine.create_table(&project, &Access::Owner, notes).await.unwrap();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["sqlite::crash_child", "--exact", "--nocapture"])
        .env(CHILD, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let batch = |line: String| line.split_once("wrote ").map(|(_, batch)| batch.to_owned());
    let mut acknowledged: Vec<String> = lines.by_ref().filter_map(batch).take(200).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // The last line may be cut off, so only complete lines count.
    let mut rest: Vec<String> = lines.filter_map(batch).collect();
    rest.pop();
    acknowledged.extend(rest);
    assert!(acknowledged.len() >= 200);

    let engine = engine(directory.path());
    let mut found = std::collections::HashMap::<String, usize>::new();
    for offset in (0..).step_by(1000) {
        let query = format!("select=batch&offset={offset}");
        let page =
            engine.list(&project, &Access::Owner, "notes", &query, &ReadOptions::default()).await.unwrap();
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&page.body).unwrap();
        for row in &rows {
            *found.entry(row["batch"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        if rows.is_empty() {
            break;
        }
    }
    assert!(found.values().all(|rows| *rows == 3), "half a batch was kept");
    for batch in acknowledged {
        assert!(found.contains_key(&batch), "batch {batch} was acknowledged and is lost");
    }
}

#[tokio::test]
async fn a_long_statement_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions { statement_timeout: Duration::ZERO, ..SqliteOptions::new(directory.path()) };
    let quick = SqliteOptions::new(directory.path());
    let project = harness::fresh_project();
    {
        let engine = Engine::with_system(Arc::new(SqliteRows::open(quick).unwrap()));
        engine.create_project(&project).await.unwrap();
        let notes = NewTable::new("notes").with_column(NewColumn::new("qty", ColumnType::Integer));
        engine.create_table(&project, &Access::Owner, notes).await.unwrap();
        let rows = format!("[{}]", vec![r#"{"qty":1}"#; 500].join(","));
        for _ in 0..4 {
            let write = WriteOptions::default();
            engine.insert(&project, &Access::Owner, "notes", "", rows.as_bytes(), &write).await.unwrap();
        }
    }
    let engine = Engine::with_system(Arc::new(SqliteRows::open(options).unwrap()));
    let read = ReadOptions::default();
    let slow = engine.list(&project, &Access::Owner, "notes", "qty=neq.1", &read).await.unwrap_err();
    assert_eq!((slow.kind(), slow.code()), (ErrorKind::Timeout, "statement_timeout"));
    let write = WriteOptions::default();
    let slow = engine.update(&project, &Access::Owner, "notes", "qty=eq.1", br#"{"qty":2}"#, &write).await;
    assert_eq!(slow.unwrap_err().kind(), ErrorKind::Timeout);
    // The stopped statement changed nothing, and its thread still works.
    let engine = self::engine(directory.path());
    let counted = ReadOptions { include_count: true, ..read };
    let page = engine.list(&project, &Access::Owner, "notes", "qty=eq.1&limit=1", &counted).await.unwrap();
    assert_eq!(page.total, Some(2000));
}

#[tokio::test]
async fn many_projects_share_a_few_threads() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions { max_open_files: 4, ..SqliteOptions::new(directory.path()) };
    let engine = Engine::with_system(Arc::new(SqliteRows::open(options).unwrap()));
    let projects: Vec<ProjectRef> = (0..40).map(|_| harness::fresh_project()).collect();
    for project in &projects {
        engine.create_project(project).await.unwrap();
        engine.create_table(project, &Access::Owner, NewTable::new("notes")).await.unwrap();
        let body = format!(r#"{{"id":"{}"}}"#, project.id);
        let write = WriteOptions::default();
        engine.insert(project, &Access::Owner, "notes", "", body.as_bytes(), &write).await.unwrap();
    }
    for project in &projects {
        engine
            .get(project, &Access::Owner, "notes", project.id.as_str(), "", backend_data::Format::Json)
            .await
            .unwrap();
    }
}
