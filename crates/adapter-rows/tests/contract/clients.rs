//! Writes as clients of PostgREST expect them: order and limit, PUT, defaults, unique columns.

mod defaults;
mod estimates;
mod inserts;
mod limited;
mod puts;
mod unique;
mod unique_together;

use backend_data::{
    Access, ColumnType, Count, Error, ErrorKind, NewColumn, NewIndex, NewTable, Operation, OperationKind,
    Person, ReadOptions, Resolution, Rule, WriteOptions,
};
use serde_json::{Value as Json, json};

use crate::harness::{World, text};

fn mia() -> Access {
    Access::Person(Person { subject: "mia".into(), ..Person::default() })
}

fn rule(id: &str, actions: &[&str], condition: &Json) -> Json {
    json!({"id": id, "audience": {"kind": "anyone"}, "actions": actions, "where": condition, "columns": null})
}

fn all() -> Json {
    json!({"t": "all"})
}

fn own() -> Json {
    json!({"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}})
}

async fn set_rules(world: &World, rules: Json) {
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
}

async fn notes(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    world.table(table).await;
}

async fn five(world: &World) {
    notes(world).await;
    let rows = json!([
        {"id": "a", "owner": "mia", "qty": 3, "meta": {"n": 5}},
        {"id": "b", "owner": "tom", "qty": 1, "meta": {"n": "x"}},
        {"id": "c", "owner": "mia", "qty": null, "meta": null},
        {"id": "d", "owner": "tom", "qty": 2, "meta": {"n": true}},
        {"id": "e", "owner": "mia", "qty": 1, "meta": {"n": 4.5}},
    ]);
    world.insert("notes", &rows.to_string()).await.unwrap();
}

async fn update(world: &World, access: &Access, query: &str, body: &str) -> Result<String, Error> {
    let options = WriteOptions::default();
    let done = world.engine.update(&world.project, access, "notes", query, body.as_bytes(), &options).await;
    done.map(|written| text(&written))
}

async fn delete(world: &World, access: &Access, query: &str) -> Result<String, Error> {
    let options = WriteOptions::default();
    let done = world.engine.delete(&world.project, access, "notes", query, &options).await;
    done.map(|written| text(&written))
}

async fn put(
    world: &World,
    access: &Access,
    query: &str,
    body: &str,
) -> Result<(String, Option<u64>), Error> {
    let options = WriteOptions::default();
    let done = world.engine.put(&world.project, access, "notes", query, body.as_bytes(), &options).await;
    done.map(|written| (text(&written), written.inserted))
}

async fn upsert(world: &World, access: &Access, query: &str, rows: &Json) -> Result<String, Error> {
    let options = WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() };
    insert(world, access, query, rows, &options).await
}

async fn insert(
    world: &World,
    access: &Access,
    query: &str,
    rows: &Json,
    options: &WriteOptions,
) -> Result<String, Error> {
    let rows = rows.to_string();
    let done = world.engine.insert(&world.project, access, "notes", query, rows.as_bytes(), options).await;
    done.map(|written| text(&written))
}

fn code<T: std::fmt::Debug>(done: Result<T, Error>) -> String {
    done.unwrap_err().code().to_owned()
}
