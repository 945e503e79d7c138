//! The cost of statements among few rows and among many: pages with cursors, and filters under rules. Each statement of
//! the engine is run again in a way that shows how many rows it visits.
//!
//! The figures of `docs/benchmarks/2026-11-23.md` are those of
//! `cargo test -p adapter-rows --test contract plans::figures -- --ignored --nocapture`.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use adapter_rows::{PgRows, SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, NewColumn, NewIndex, NewTable, Person, ProjectRef, ReadOptions, RowStore,
    Rule, Value, WriteOptions,
};
use rusqlite::{Connection, StatementStatus, functions::FunctionFlags};
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::{
    harness::{fresh_project, pg_options},
    recording_store::{RecordingStore, bind, inlined},
};

/// Number of rows of each owner, in a table of any size.
const OWN: u64 = 20;
/// Number of rows of a page.
const PAGE: u64 = 10;

/// The cost of a statement.
#[derive(Clone, Debug, Default)]
struct Cost {
    /// The access paths of the table in each part of the statement.
    nodes: Vec<String>,
    /// Rows visited on PostgreSQL, instructions of the virtual machine on SQLite.
    visited: u64,
    /// Evaluations of the caller's filter, if they are counted.
    asked: u64,
    /// Pages read from the cache on PostgreSQL.
    pages: u64,
    /// Sorts of more rows than a page has.
    sorted: u64,
    milliseconds: f64,
}

/// A database with a table of this many rows.
struct Table {
    engine: Engine,
    project: ProjectRef,
    recorded: Arc<RecordingStore>,
    rows: u64,
    database: Database,
}

enum Database {
    Sqlite { connection: Box<Connection>, asked: Arc<AtomicU64>, _directory: tempfile::TempDir },
    Postgres(Box<PgConnection>),
}

/// Returns a statement that inserts rows in no order of any column. A quarter of them have no quantity, and those have
/// the greatest ids: a scan of the ids that looks for them visits all others first.
fn filling(table: &str, source: &str, rows: u64, now: &str, id: &str) -> String {
    let (owners, valued, pad) = (rows / OWN, rows / 4 * 3, "pad".repeat(50));
    format!(
        "INSERT INTO {table} (\"id\", \"created_at\", \"owner\", \"qty\", \"title\") \
         SELECT {id}, {now}, 'u' || (n % {owners}), \
         CASE WHEN n * 7919 % {rows} < {valued} THEN n * 48271 % {rows} END, 'note ' || n || '{pad}' FROM {source}"
    )
}

impl Table {
    async fn prepared(store: Arc<dyn RowStore>) -> (Engine, ProjectRef, Arc<RecordingStore>) {
        let recorded = Arc::new(RecordingStore::new(store));
        let (engine, project) = (Engine::with_system(recorded.clone()), fresh_project());
        engine.create_project(&project).await.unwrap();
        let table = NewTable::new("notes")
            .with_column(NewColumn::new("owner", ColumnType::Text))
            .with_column(NewColumn::new("qty", ColumnType::Integer))
            .with_column(NewColumn::new("title", ColumnType::Text));
        engine.create_table(&project, &Access::Owner, table).await.unwrap();
        for column in ["qty", "owner"] {
            engine.add_index(&project, &Access::Owner, "notes", NewIndex::on(&[column])).await.unwrap();
        }
        let own = json!({"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}});
        let rule = json!([{"id": "own", "audience": {"kind": "anyone"}, "columns": null, "where": own,
            "actions": ["read", "update", "delete"]}]);
        let rules: Vec<Rule> = serde_json::from_value(rule).unwrap();
        engine.set_rules(&project, &Access::Owner, "notes", rules).await.unwrap();
        (engine, project, recorded)
    }

    async fn on_sqlite(rows: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteRows::open(SqliteOptions::new(directory.path())).unwrap();
        let (engine, project, recorded) = Self::prepared(Arc::new(store)).await;
        let path = directory.path().join("0").join(format!("{}.sqlite3", project.id));
        let connection = Connection::open(path).unwrap();
        let source = format!(
            "(WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < {rows}) SELECT n FROM c)"
        );
        let padded = format!("printf('r%07d', n * 7919 % {rows})");
        let now = "'2026-01-01T00:00:00.000000Z'";
        connection.execute_batch(&filling("\"notes\"", &source, rows, now, &padded)).unwrap();
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection
            .create_scalar_function("qala_match", 2, flags, move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(Some(true))
            })
            .unwrap();
        let database = Database::Sqlite { connection: Box::new(connection), asked, _directory: directory };
        Self { engine, project, recorded, rows, database }
    }

    async fn on_postgres(rows: u64) -> Self {
        let options = pg_options();
        let store = PgRows::connect(&options).await.unwrap();
        let (engine, project, recorded) = Self::prepared(Arc::new(store)).await;
        let mut connection = PgConnection::connect(&options.url).await.unwrap();
        let table = format!("\"data_{}\".\"notes\"", project.id);
        let source = format!("generate_series(0::bigint, {}) AS n", rows - 1);
        let padded = format!("'r' || lpad((n * 7919 % {rows})::text, 7, '0')");
        let fill = filling(&table, &source, rows, "now()", &padded);
        // The server itself collects statistics only some time after so many rows were written.
        for sql in [fill, format!("VACUUM ANALYZE {table}")] {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        }
        Self { engine, project, recorded, rows, database: Database::Postgres(Box::new(connection)) }
    }

    async fn list(&self, access: &Access, query: &str) -> Option<String> {
        let options = ReadOptions::default();
        let page = self.engine.list(&self.project, access, "notes", query, &options).await;
        page.unwrap_or_else(|error| panic!("{query}: {error:?}")).next_cursor
    }

    /// Returns the cursor after the first page.
    async fn cursor(&self, access: &Access, order: &str, filter: &str) -> String {
        let query = format!("{filter}&order={order}&cursor=&limit={PAGE}&select=id");
        self.list(access, &query).await.unwrap_or_else(|| panic!("no page after {query}"))
    }

    /// Measures the last statement of the engine.
    async fn cost(&mut self) -> Cost {
        let (sql, params) = self.recorded.take_statements().pop().unwrap();
        match &mut self.database {
            Database::Sqlite { connection, asked, .. } => {
                asked.store(0, Ordering::Relaxed);
                let cost = sqlite_cost(connection, &sql, &params);
                Cost { asked: asked.load(Ordering::Relaxed), ..cost }
            }
            Database::Postgres(connection) => postgres_cost(connection, &sql, &params).await,
        }
    }

    /// Measures each kind of page.
    async fn pages(&mut self) -> Vec<(String, Cost)> {
        let mut costs = Vec::new();
        let rows = self.rows;
        for order in ["qty", "qty.desc", "qty.nullsfirst", "qty.desc.nullslast"] {
            let descending = order.contains("desc");
            // Half of the values are before the middle.
            let way = if descending { "lte" } else { "gte" };
            let mut places = vec![("first", String::new())];
            let middle =
                if rows > 100 { format!("qty={way}.{}", rows / 2) } else { "id=not.is.null".to_owned() };
            places.push(("middle", self.cursor(&Access::Owner, order, &middle).await));
            if rows > 100 {
                // A page and a half before the end.
                let near = if descending { 2 * PAGE } else { rows - 2 * PAGE };
                let near = self.cursor(&Access::Owner, order, &format!("qty={way}.{near}")).await;
                places.push(("last values", near));
                places.push(("nulls", self.cursor(&Access::Owner, order, "qty=is.null").await));
            }
            for (place, cursor) in places {
                let query = format!("order={order}&cursor={cursor}&limit={PAGE}");
                self.list(&Access::Owner, &query).await;
                costs.push((format!("{order}, {place}"), self.cost().await));
            }
        }
        costs
    }

    /// Measures filters of a caller who sees few rows.
    async fn filters(&mut self) -> Vec<(String, Cost)> {
        let someone = Access::Person(Person { subject: "u0".into(), ..Person::default() });
        let mut costs = Vec::new();
        for query in [
            "title=match.^note",
            "title=match.^note&order=qty&limit=10",
            "title=match.^note&order=qty&cursor=&limit=10",
            "or=(title.match.^note,qty.gt.5)&order=id&limit=10",
            "title=match.^note&qty=gte.0",
            "select=count()&title=match.^note",
        ] {
            self.list(&someone, query).await;
            costs.push((query.to_owned(), self.cost().await));
        }
        let cursor = self.cursor(&someone, "qty", "title=match.^note").await;
        self.list(&someone, &format!("title=match.^note&order=qty&cursor={cursor}&limit=5")).await;
        costs.push(("the next page of the walk".to_owned(), self.cost().await));
        let options = WriteOptions { max_affected: Some(0), ..WriteOptions::default() };
        let change = "title=match.^note&select=id";
        // Refused, since it touches too many rows, so that the rows stay the same.
        let _ = self.engine.update(&self.project, &someone, "notes", change, br#"{"qty":1}"#, &options).await;
        costs.push((format!("PATCH {change}"), self.cost().await));
        costs
    }
}

fn sqlite_cost(connection: &Connection, sql: &str, params: &[Value]) -> Cost {
    connection.execute_batch("BEGIN").unwrap();
    let mut nodes = Vec::new();
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    bind(&mut explain, params);
    let mut found = explain.raw_query();
    while let Some(row) = found.next().unwrap() {
        let detail: String = row.get(3).unwrap();
        if detail.starts_with("SEARCH") || detail.starts_with("SCAN") || detail.contains("TEMP B-TREE") {
            nodes.push(detail.replace("SEARCH notes USING ", "").replace("(subquery-", "("));
        }
    }
    drop(found);
    let mut statement = connection.prepare(sql).unwrap();
    let begun = Instant::now();
    bind(&mut statement, params);
    let mut found = statement.raw_query();
    while found.next().unwrap().is_some() {}
    drop(found);
    let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
    let status = |what| u64::try_from(statement.get_status(what)).unwrap();
    let cost = Cost {
        nodes,
        visited: status(StatementStatus::VmStep),
        sorted: status(StatementStatus::Sort),
        milliseconds,
        ..Cost::default()
    };
    drop((explain, statement));
    connection.execute_batch("ROLLBACK").unwrap();
    cost
}

async fn postgres_cost(connection: &mut PgConnection, sql: &str, params: &[Value]) -> Cost {
    let mut transaction = connection.begin().await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {}", inlined(sql, params));
    // The first run fills the cache.
    sqlx::raw_sql(AssertSqlSafe(explain.clone())).execute(&mut *transaction).await.unwrap();
    let plan = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_one(&mut *transaction).await.unwrap();
    let plan: String = plan.try_get_unchecked(0).unwrap();
    transaction.rollback().await.unwrap();
    let plan: Json = serde_json::from_str(&plan).unwrap();
    let mut cost = Cost { milliseconds: plan[0]["Execution Time"].as_f64().unwrap(), ..Cost::default() };
    let root = &plan[0]["Plan"];
    cost.pages = root["Shared Hit Blocks"].as_u64().unwrap() + root["Shared Read Blocks"].as_u64().unwrap();
    postgres_nodes(root, &mut cost);
    cost
}

/// Adds up the nodes of a plan.
fn postgres_nodes(node: &Json, cost: &mut Cost) {
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    let rows = |name: &str| (number(name) * number("Actual Loops")).round() as u64;
    let kind = node["Node Type"].as_str().unwrap_or_default();
    if node["Relation Name"] == "notes" && kind != "ModifyTable" && number("Actual Loops") > 0.0 {
        cost.visited += ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"]
            .iter()
            .map(|name| rows(name))
            .sum::<u64>();
        let index = node["Index Name"].as_str().unwrap_or_default();
        cost.nodes.push(format!("{kind} {index}").trim().to_owned());
        if let Some(filter) = node["Filter"].as_str() {
            // The caller's tests come after the policy.
            assert!(!filter.contains('~') || filter.contains("CASE WHEN"), "{filter}");
        }
    }
    if kind == "Bitmap Index Scan" {
        cost.nodes.push(format!("{kind} {}", node["Index Name"].as_str().unwrap_or_default()));
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        if kind.contains("Sort") {
            cost.sorted = cost.sorted.max((child["Actual Rows"].as_f64().unwrap_or_default()) as u64);
        }
        postgres_nodes(child, cost);
    }
}

fn describe_costs(costs: &[(String, Cost)]) -> String {
    let mut text = String::new();
    for (what, cost) in costs {
        let Cost { nodes, visited, asked, pages, sorted, milliseconds } = cost;
        writeln!(
            text,
            "| `{what}` | {} | {visited} | {asked} | {pages} | {sorted} | {milliseconds:.2} |",
            nodes.join(", ")
        )
        .unwrap();
    }
    text
}

/// Numbers of rows: few, and a thousand times as many.
const SIZES: [u64; 2] = [20, 20_000];

/// Measures the same statements among few rows and among many.
async fn costs_of(
    on_postgres: bool,
    take: impl AsyncFn(&mut Table) -> Vec<(String, Cost)>,
) -> [Vec<(String, Cost)>; 2] {
    let mut costs = [Vec::new(), Vec::new()];
    for (rows, costs) in SIZES.into_iter().zip(&mut costs) {
        let mut table =
            if on_postgres { Table::on_postgres(rows).await } else { Table::on_sqlite(rows).await };
        *costs = take(&mut table).await;
    }
    costs
}

async fn pages_cost_the_same(on_postgres: bool) {
    let [few, many] = costs_of(on_postgres, async |table| table.pages().await).await;
    let most = few.iter().map(|(_, cost)| cost.visited).max().unwrap();
    assert_eq!(many.len(), 16);
    for (what, cost) in &many {
        // Twice a page: the values of one segment and the nulls of the next, or rows that tie.
        let most = if on_postgres { 2 * PAGE } else { most * 3 / 2 };
        assert!(cost.visited <= most, "{what}: {cost:?}, at most {most}");
        assert!(cost.sorted <= PAGE && (on_postgres || cost.sorted == 0), "{what}: {cost:?}");
        let by_index = |node: &String| node.contains("_notes_ix1") || node.starts_with("SCAN (");
        assert!(cost.nodes.iter().all(by_index), "{what}: {cost:?}");
    }
}

async fn filters_meet_the_rows_that_rules_show(on_postgres: bool) {
    let [few, many] = costs_of(on_postgres, async |table| table.filters().await).await;
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        // PostgreSQL first finds the rows of a change and then changes them. A page has up to three parts.
        let most = if on_postgres { 3 * OWN } else { few.visited * 3 / 2 };
        assert!(many.visited <= most, "{what}: {many:?}, at most {most}");
        assert!(many.asked <= OWN, "{what}: evaluated on hidden rows: {many:?}");
        let by_owner = |node: &String| node.contains("_notes_ix2");
        assert!(many.nodes.iter().any(by_owner), "{what}: {many:?}");
        assert!(
            !many.nodes.iter().any(|node| node.starts_with("Seq Scan") || node.starts_with("SCAN notes")),
            "{what}: {many:?}"
        );
    }
    // Without an index, the policy is evaluated on every row, but the caller's tests on no more rows than before.
    let [few, many] = costs_of(on_postgres, async |table| {
        table.engine.drop_index(&table.project, &Access::Owner, "notes", "ix2").await.unwrap();
        table.filters().await
    })
    .await;
    for (what, cost) in few.iter().chain(&many) {
        assert!(cost.asked <= OWN, "{what}: evaluated on hidden rows: {cost:?}");
    }
    assert!(many[0].1.visited >= SIZES[1], "{:?}", many[0]);
}

#[tokio::test]
async fn pages_with_cursors_cost_the_same_on_sqlite() {
    pages_cost_the_same(false).await;
}

#[tokio::test]
async fn pages_with_cursors_cost_the_same_on_postgres() {
    pages_cost_the_same(true).await;
}

#[tokio::test]
async fn filters_meet_the_rows_that_rules_show_on_sqlite() {
    filters_meet_the_rows_that_rules_show(false).await;
}

#[tokio::test]
async fn filters_meet_the_rows_that_rules_show_on_postgres() {
    filters_meet_the_rows_that_rules_show(true).await;
}

#[tokio::test]
#[ignore = "takes a minute: it makes a million rows on each database"]
async fn figures() {
    for rows in [20, 1_000_000] {
        for on_postgres in [false, true] {
            let mut table =
                if on_postgres { Table::on_postgres(rows).await } else { Table::on_sqlite(rows).await };
            let name = if on_postgres { "PostgreSQL" } else { "SQLite" };
            println!("{name}, {rows} rows\n{}", describe_costs(&table.pages().await));
            println!("{}", describe_costs(&table.filters().await));
            table.engine.drop_project(&table.project).await.unwrap();
        }
    }
}
