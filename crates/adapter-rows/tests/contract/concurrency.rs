//! Concurrent writes to the same rows: every request succeeds, in whatever order it names the rows.

mod imports;

use std::sync::Arc;

use adapter_rows::{PgOptions, PgRows};
use backend_data::{
    Access, ColumnType, NewColumn, NewTable, Operation, OperationKind, Resolution, WriteOptions,
};
use futures::future::join_all;
use serde_json::{Value as Json, json};

use crate::{
    contract,
    harness::{World, fresh_project, pg_options, text, world},
};

contract!(
    eight_clients_upsert_in_any_order,
    eight_clients_send_batches_in_any_order,
    eight_clients_update_every_row,
    eight_clients_ignore_duplicates,
    a_write_that_fails_is_undone_alone,
    a_refused_write_can_read_its_cause,
    rows_are_returned_in_the_order_in_which_they_were_sent,
);

const ROWS: usize = 500;

async fn stock(world: &World) {
    let table = NewTable::new("notes").with_column(NewColumn::new("v", ColumnType::Integer));
    world.table(table).await;
    let rows: Vec<Json> = (0..ROWS).map(|n| json!({"id": format!("{n:03}"), "v": 0})).collect();
    world.insert("notes", &Json::from(rows).to_string()).await.unwrap();
}

/// A generator of fixed pseudorandom numbers.
struct Shuffled(u64);

impl Shuffled {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    /// Returns some of the rows, each once.
    fn some(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..ROWS).collect();
        (0..count).map(|_| all.swap_remove(self.next(all.len()))).collect()
    }
}

/// Runs something several times for each of eight concurrent clients.
async fn run_concurrently<F: Future<Output = Result<(), String>> + Send + 'static>(
    world: World,
    times: usize,
    one: impl Fn(Arc<World>, Shuffled, usize) -> F + Clone + Send + 'static,
) -> Arc<World> {
    let world = Arc::new(world);
    let clients: Vec<_> = (0..8_usize)
        .map(|client| {
            let (world, one) = (world.clone(), one.clone());
            tokio::spawn(async move {
                for time in 0..times {
                    let shuffled = Shuffled((client * 1_000 + time) as u64);
                    one(world.clone(), shuffled, client).await?;
                }
                Ok::<(), String>(())
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap().unwrap();
    }
    world
}

fn error_text(error: &backend_data::Error) -> String {
    format!("{} {}", error.code(), error.message())
}

async fn eight_clients_upsert_in_any_order(world: World) {
    stock(&world).await;
    let merge = |world: Arc<World>, mut shuffled: Shuffled, client: usize| async move {
        let ids = shuffled.some(100);
        let rows: Vec<Json> = ids.iter().map(|n| json!({"id": format!("{n:03}"), "v": client})).collect();
        let options =
            WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() };
        let body = Json::from(rows.clone()).to_string();
        let (owner, query) = (Access::Owner, "select=id,v");
        let done =
            world.engine.insert(&world.project, &owner, "notes", query, body.as_bytes(), &options).await;
        let done = done.map_err(|error| error_text(&error))?;
        assert_eq!(text(&done), Json::from(rows).to_string());
        Ok(())
    };
    run_concurrently(world, 20, merge).await;
}

async fn eight_clients_send_batches_in_any_order(world: World) {
    stock(&world).await;
    let batch = |world: Arc<World>, mut shuffled: Shuffled, client: usize| async move {
        let ids: Vec<String> = shuffled.some(10).iter().map(|n| format!("{n:03}")).collect();
        let body = json!({"v": client}).to_string();
        let operations = ids.iter().map(|id| Operation {
            kind: OperationKind::Update,
            table: "notes",
            id: Some(id),
            query: "",
            body: body.as_bytes(),
            options: WriteOptions::default(),
        });
        let done = world.engine.batch(&world.project, &Access::Owner, operations.collect()).await;
        done.map(drop).map_err(|error| error_text(&error))
    };
    run_concurrently(world, 10, batch).await;
}

async fn eight_clients_update_every_row(world: World) {
    stock(&world).await;
    let update = |world: Arc<World>, _: Shuffled, client: usize| async move {
        let (body, options) = (json!({"v": client}).to_string(), WriteOptions::default());
        let (owner, all) = (Access::Owner, "id=not.is.null&select=id");
        let done = world.engine.update(&world.project, &owner, "notes", all, body.as_bytes(), &options).await;
        let done = done.map_err(|error| error_text(&error))?;
        assert_eq!(done.rows, ROWS as u64);
        Ok(())
    };
    let world = run_concurrently(world, 10, update).await;
    // The last update wrote every row.
    let values = world.list("select=v,count()").await.unwrap();
    assert!(values.starts_with(r#"[{"v":"#) && values.ends_with(r#""count":500}]"#), "{values}");
}

async fn eight_clients_ignore_duplicates(world: World) {
    stock(&world).await;
    let ignore = |world: Arc<World>, mut shuffled: Shuffled, _: usize| async move {
        let ids = shuffled.some(50);
        let rows: Vec<Json> = ids.iter().map(|n| json!({"id": format!("new {n:03}"), "v": 1})).collect();
        let options =
            WriteOptions { resolution: Some(Resolution::IgnoreDuplicates), ..WriteOptions::default() };
        let (owner, body) = (Access::Owner, Json::from(rows).to_string());
        let done = world.engine.insert(&world.project, &owner, "notes", "", body.as_bytes(), &options).await;
        done.map(drop).map_err(|error| error_text(&error))
    };
    run_concurrently(world, 10, ignore).await;
}

/// Every fourth insert names a row that exists, after others that do not: none of its rows stays, and all of the others' do.
async fn a_write_that_fails_is_undone_alone(world: World) {
    stock(&world).await;
    let insert = |world: Arc<World>, mut shuffled: Shuffled, client: usize| async move {
        let number = shuffled.next(1_000_000);
        let fails = shuffled.next(4) == 0;
        let mut rows: Vec<Json> = (0..5)
            .map(|n| json!({"id": format!("new-{client}-{number}-{n}"), "v": i64::from(fails)}))
            .collect();
        if fails {
            rows.push(json!({"id": "007", "v": 1}));
        }
        let options = WriteOptions::default();
        let body = Json::from(rows).to_string();
        let done =
            world.engine.insert(&world.project, &Access::Owner, "notes", "", body.as_bytes(), &options).await;
        match done {
            Err(error) if fails && error.code() == "row_exists" => Ok(()),
            Ok(done) if !fails && done.rows == 5 => {
                let own = format!("id=like.new-{client}-{number}-*&select=count()");
                let kept = world.list(&own).await.map_err(|error| error_text(&error))?;
                if kept == r#"[{"count":5}]"# { Ok(()) } else { Err(kept) }
            }
            Ok(done) => Err(format!("{} rows, although it must fail: {fails}", done.rows)),
            Err(error) => Err(error_text(&error)),
        }
    };
    let world = run_concurrently(world, 40, insert).await;
    assert_eq!(world.list("v=eq.1&select=count()").await.unwrap(), r#"[{"count":0}]"#);
}

/// Of those who insert a row at once, one succeeds, and the others find its row as soon as they are refused.
async fn a_refused_write_can_read_its_cause(mut world: World) {
    for _ in 0..20 {
        // No write of it has failed yet.
        world.project = fresh_project();
        world.engine.create_project(&world.project).await.unwrap();
        let table = NewTable::new("notes").with_column(NewColumn::new("v", ColumnType::Integer));
        world.table(table).await;
        let insert = async |client: usize| match world
            .insert("notes", &json!({"id": "x", "v": client}).to_string())
            .await
        {
            Ok(_) => 1,
            Err(error) => {
                assert_eq!(error.code(), "row_exists");
                assert_eq!(world.list("id=eq.x&select=count()").await.unwrap(), r#"[{"count":1}]"#);
                0
            }
        };
        assert_eq!(join_all((0..8).map(insert)).await.into_iter().sum::<i32>(), 1);
        world.engine.drop_project(&world.project).await.unwrap();
    }
}

async fn rows_are_returned_in_the_order_in_which_they_were_sent(world: World) {
    stock(&world).await;
    let insert = async |resolution, query: &str, rows: &str| {
        let options = WriteOptions { resolution, ..WriteOptions::default() };
        let done = world
            .engine
            .insert(&world.project, &Access::Owner, "notes", query, rows.as_bytes(), &options)
            .await;
        done.map(|written| text(&written)).map_err(|error| error_text(&error))
    };
    let rows = r#"[{"id":"z","v":1},{"id":"x","v":2},{"id":"001","v":3},{"id":"y","v":4}]"#;
    let ignored = insert(Some(Resolution::IgnoreDuplicates), "select=v", rows).await;
    assert_eq!(ignored.unwrap(), r#"[{"v":1},{"v":2},{"v":4}]"#);
    let merged = insert(Some(Resolution::MergeDuplicates), "select=v,id", rows).await;
    assert_eq!(merged.unwrap(), r#"[{"v":1,"id":"z"},{"v":2,"id":"x"},{"v":3,"id":"001"},{"v":4,"id":"y"}]"#);
    let added = insert(None, "select=id", r#"[{"id":"c"},{"id":"b"},{"id":"a"}]"#).await;
    assert_eq!(added.unwrap(), r#"[{"id":"c"},{"id":"b"},{"id":"a"}]"#);
}

/// Two writers that certainly deadlock, since each holds a lock that the other needs. One of them is retried.
#[tokio::test]
async fn a_deadlock_is_retried() {
    let options = PgOptions { max_connections: 8, ..pg_options() };
    let store = PgRows::connect(&options).await.unwrap();
    let world = world(Arc::new(store), None).await;
    stock(&world).await;
    let swap = |world: Arc<World>, _: Shuffled, client: usize| async move {
        let ids = if client.is_multiple_of(2) { ["000", "400"] } else { ["400", "000"] };
        let body = json!({"v": client}).to_string();
        // Work between the two updates makes sure that both writers hold their first lock.
        let between = Operation {
            kind: OperationKind::Update,
            table: "notes",
            id: None,
            query: "v=eq.-1",
            body: body.as_bytes(),
            options: WriteOptions::default(),
        };
        let by_id = |id| Operation { id: Some(id), query: "", ..between.clone() };
        let mut operations = vec![by_id(ids[0])];
        operations.extend((0..20).map(|_| between.clone()));
        operations.push(by_id(ids[1]));
        let done = world.engine.batch(&world.project, &Access::Owner, operations).await;
        done.map(drop).map_err(|error| error_text(&error))
    };
    run_concurrently(world, 5, swap).await;
}
