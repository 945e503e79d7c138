//! No expression of a caller is evaluated on a row that the rules hide, since its result or the time that it takes
//! would reveal the value. The statements of the engine are run again with functions that record their arguments, and
//! with `EXPLAIN`.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use adapter_rows::{SqliteOptions, SqliteRows};
use async_trait::async_trait;
use backend_data::{
    Access, ColumnType, Engine, NewColumn, NewIndex, NewTable, Person, ProjectRef, ReadOptions, RowStore,
    Rule, Value, WriteOptions,
};
use rusqlite::{Connection, functions::FunctionFlags};
use serde_json::{Value as Json, json};
use sqlx::{Connection as _, Row as _};

use crate::{
    harness::{fresh_project, pg_options, pg_store},
    recording_store::{RecordingStore, bind, inlined},
};

/// A text that every hidden value contains.
const HIDDEN: &str = "swordfish";

const QUERIES: [&str; 22] = [
    "secret=match.^s",
    "secret=imatch.^S",
    "secret=like.s*",
    "secret=ilike.*S*",
    "secret=not.like.s*",
    "secret=gt.s",
    "secret=eq.swordfish",
    "secret=in.(a,swordfish)",
    "or=(secret.like.s*,v.gt.5)",
    "and=(v.gt.0,or(secret.match.^s,meta->>a.like.s*))",
    "v=eq.1&secret=match.^s",
    "meta->>a=like.s*",
    "meta->a=eq.\"swordfish\"",
    "meta->a=gt.\"s\"",
    "meta=cs.{\"a\":\"swordfish\"}",
    "meta=cd.{\"a\":\"swordfish\"}",
    "meta=eq.{\"a\":\"swordfish\"}",
    "order=secret&secret=match.^s",
    "order=meta->a,meta->>a",
    "select=x:meta->a,y:meta->>a,z:secret",
    "select=meta->>n::integer.sum(),count()",
    "select=meta->>a,count()&order=meta->>a",
];

/// Inserts rows of `bob`, who may read and change his own, rows that everybody may read, and rows of `ann`.
async fn prepared(store: Arc<dyn RowStore>) -> (Engine, ProjectRef, Arc<RecordingStore>) {
    let recorded = Arc::new(RecordingStore::new(store));
    let (engine, project) = (Engine::with_system(recorded.clone()), fresh_project());
    engine.create_project(&project).await.unwrap();
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("kind", ColumnType::Text))
        .with_column(NewColumn::new("secret", ColumnType::Text))
        .with_column(NewColumn::new("v", ColumnType::Integer))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    engine.create_table(&project, &Access::Owner, table).await.unwrap();
    let rows: Vec<Json> = (0..60)
        .map(|n| {
            let owner = if n % 20 == 0 { "bob" } else { "ann" };
            let secret = if owner == "bob" { "salt".to_owned() } else { format!("{HIDDEN}{n}") };
            json!({"id": format!("{n:02}"), "owner": owner, "kind": "closed", "secret": secret, "v": n % 7,
                "meta": {"a": secret, "n": if owner == "bob" { "7" } else { HIDDEN }}})
        })
        .collect();
    let (body, options) = (serde_json::to_vec(&rows).unwrap(), WriteOptions::default());
    engine.insert(&project, &Access::Owner, "notes", "", &body, &options).await.unwrap();
    (engine, project, recorded)
}

fn rules() -> Vec<Json> {
    let own = json!({"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}});
    let open = json!({"t": "cmp", "column": "kind", "op": "eq", "value": {"k": "lit", "v": "open"}});
    let listed = json!({"t": "in", "column": "owner", "values": ["bob", "carl"]});
    let high = json!({"t": "cmp", "column": "v", "op": "lt", "value": {"k": "lit", "v": 9}});
    vec![
        own.clone(),
        listed.clone(),
        json!({"t": "or", "of": [own.clone(), open.clone()]}),
        json!({"t": "and", "of": [own, high]}),
        json!({"t": "or", "of": [open, listed]}),
    ]
}

/// Runs every query under every rule, with and without an index that a planner would like to use, and inspects each
/// statement.
async fn each_statement(
    engine: &Engine,
    project: &ProjectRef,
    recorded: &RecordingStore,
    look: &mut dyn StatementInspector,
) {
    let bob = Access::Person(Person { subject: "bob".into(), ..Person::default() });
    let (owner, read) = (Access::Owner, ReadOptions { include_count: true, ..ReadOptions::default() });
    let mut seen = 0;
    for indexed in [false, true] {
        if indexed {
            for columns in [&["secret"][..], &["v", "secret"], &["secret", "owner", "kind", "v"]] {
                engine.add_index(project, &owner, "notes", NewIndex::on(columns)).await.unwrap();
            }
        }
        for condition in rules() {
            let rule = json!([{"id": "own", "audience": {"kind": "anyone"}, "columns": null, "where": condition,
                "actions": ["read", "update", "delete"]}]);
            let rules: Vec<Rule> = serde_json::from_value(rule).unwrap();
            engine.set_rules(project, &owner, "notes", rules).await.unwrap();
            for query in QUERIES {
                recorded.take_statements();
                let page = engine.list(project, &bob, "notes", query, &read).await;
                page.unwrap_or_else(|error| panic!("{query}: {error:?}"));
                if !query.contains("select") {
                    let walk = if query.contains("order") {
                        query.to_owned()
                    } else {
                        format!("{query}&order=meta->>a")
                    };
                    let first = format!("{walk}&cursor=&limit=1");
                    let page = engine.list(project, &bob, "notes", &first, &read).await.unwrap();
                    if let Some(cursor) = page.next_cursor {
                        let next = format!("{walk}&cursor={cursor}&limit=1");
                        engine.list(project, &bob, "notes", &next, &read).await.unwrap();
                    }
                }
                if !query.contains("select") && !query.contains("order") {
                    let options = WriteOptions { max_affected: Some(0), ..WriteOptions::default() };
                    let chosen = format!("{query}&select=x:meta->a,y:meta->>a");
                    // Refused if they touch a row of his, so that every query finds the same rows.
                    let _ = engine.update(project, &bob, "notes", &chosen, br#"{"v":1}"#, &options).await;
                    let _ = engine.delete(project, &bob, "notes", &chosen, &options).await;
                }
                for (sql, params) in recorded.take_statements() {
                    seen += 1;
                    look.inspect(&sql, &params).await;
                }
            }
        }
    }
    assert!(seen > 500, "{seen} statements were inspected");
}

#[async_trait]
trait StatementInspector {
    async fn inspect(&mut self, sql: &str, params: &[Value]);
}

/// Returns true for a value of a hidden row, which has a number that no text of the queries has.
fn is_hidden(text: &str) -> bool {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    text.split(HIDDEN).skip(1).any(numbered)
}

struct SqliteInspector {
    connection: Arc<Mutex<Connection>>,
    leaks: Arc<AtomicUsize>,
}

#[async_trait]
impl StatementInspector for SqliteInspector {
    async fn inspect(&mut self, sql: &str, params: &[Value]) {
        let connection = self.connection.lock().unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        bind(&mut statement, params);
        let mut rows = statement.raw_query();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        drop(statement);
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(self.leaks.load(Ordering::Relaxed), 0, "{sql}");
    }
}

#[tokio::test]
async fn sqlite_evaluates_nothing_on_hidden_rows() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteRows::open(SqliteOptions::new(directory.path())).unwrap();
    let (engine, project, recorded) = prepared(Arc::new(store)).await;
    let path = directory.path().join("0").join(format!("{}.sqlite3", project.id));
    let connection = Connection::open(path).unwrap();
    let (calls, leaks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for (name, arguments) in [
        ("qala_like", 2),
        ("qala_ilike", 2),
        ("qala_match", 2),
        ("qala_json", 2),
        ("qala_json_text", 2),
        ("qala_json_order", 1),
        ("qala_json_contains", 2),
        ("qala_cast", 3),
    ] {
        let (calls, leaks) = (calls.clone(), leaks.clone());
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection
            .create_scalar_function(name, arguments, flags, move |context| {
                calls.fetch_add(1, Ordering::Relaxed);
                // The value of the row is the first argument, for `cd` the second.
                let hidden = (0..context.len()).any(|at| context.get_raw(at).as_str().is_ok_and(is_hidden));
                leaks.fetch_add(usize::from(hidden), Ordering::Relaxed);
                Ok(Some(1))
            })
            .unwrap();
    }
    let connection = Arc::new(Mutex::new(connection));
    let mut look = SqliteInspector { connection, leaks };
    each_statement(&engine, &project, &recorded, &mut look).await;
    assert!(calls.load(Ordering::Relaxed) > 500, "the functions were hardly called");
}

struct PostgresInspector {
    connection: sqlx::PgConnection,
    filters: usize,
}

/// Removes each `CASE WHEN … END` from a condition.
fn outside_of_cases(condition: &str) -> String {
    let (mut out, mut depth) = (String::new(), 0_usize);
    for word in condition.split_inclusive([' ', '(', ')']) {
        match word.trim_matches([' ', '(', ')']) {
            "CASE" => depth += 1,
            "END" => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push_str(word),
            _ => {}
        }
    }
    out
}

#[async_trait]
impl StatementInspector for PostgresInspector {
    async fn inspect(&mut self, sql: &str, params: &[Value]) {
        let text = inlined(sql, params);
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN (COSTS OFF, FORMAT JSON) {text}"));
        let plan = sqlx::raw_sql(explain).fetch_one(&mut self.connection).await;
        let plan: String =
            plan.unwrap_or_else(|error| panic!("{error}: {text}")).try_get_unchecked(0).unwrap();
        let plan: Json = serde_json::from_str(&plan).unwrap();
        self.conditions(&plan, &text);
    }
}

impl PostgresInspector {
    /// Checks every condition of a plan.
    fn conditions(&mut self, plan: &Json, sql: &str) {
        match plan {
            Json::Array(parts) => parts.iter().for_each(|part| self.conditions(part, sql)),
            Json::Object(parts) => {
                for (name, part) in parts {
                    let Json::String(condition) = part else {
                        self.conditions(part, sql);
                        continue;
                    };
                    if !name.ends_with("Filter") && !name.ends_with("Cond") {
                        continue;
                    }
                    self.filters += 1;
                    let rest = outside_of_cases(condition);
                    let asks = ["~", "->", "@>", "<@", "jsonb"].iter().find(|part| rest.contains(**part));
                    assert!(asks.is_none(), "{asks:?} is evaluated on every row: {condition}\n{sql}");
                }
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn postgres_evaluates_nothing_on_hidden_rows() {
    let (engine, project, recorded) = prepared(Arc::new(pg_store().await)).await;
    let connection = sqlx::PgConnection::connect(&pg_options().url).await.unwrap();
    let mut look = PostgresInspector { connection, filters: 0 };
    each_statement(&engine, &project, &recorded, &mut look).await;
    assert!(look.filters > 500, "{} conditions were inspected", look.filters);
}
