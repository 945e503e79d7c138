//! A database of an earlier release: what it held reads as before, and its code is moved.

use std::collections::BTreeMap;

use ::apps::{
    AppsRead as _, Category, Manifest,
    drafts::DraftsRead as _,
    storage::{CodeUpkeep as _, StoredCodeRead as _},
};
use ::imports::{
    Format, Report,
    imports::{ImportNeeds, ImportStatus, ImportsRead as _},
    report::{ReportTrigger, Totals, TriggerKind},
};
use ::runs::agent_tools::AgentToolsRead as _;
use ::workspace::audit_log::{AuditFilter, AuditRead as _};
use adapter_store::Store;
use chrono::TimeDelta;
use kernel::{
    Id,
    id::{Kind, kind},
    page::PageRequest,
};
use migrations::migrate_until;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement, Value};
use uuid::Uuid;

use crate::harness::{Database, at, connect};

/// First migration that the earlier release does not have.
const FIRST_NEW: &str = "m0064_change_effects";

const USER: u128 = 0x0193_0000_0000_7000_8000_0000_0000_0001;
const WORKSPACE: u128 = USER + 1;
const APP: u128 = USER + 2;
const VERSION: u128 = USER + 3;
const AUTOMATION: u128 = USER + 4;
const TOOL: u128 = USER + 5;
const IMPORT: u128 = USER + 6;
const GONE: u128 = USER + 7;
const GUEST: u128 = USER + 8;
const ENTRY: u128 = USER + 0x100;

fn id<K: Kind>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

fn uuid(number: u128) -> Value {
    Value::from(Uuid::from_u128(number))
}

fn report() -> Report {
    let trigger = ReportTrigger { kind: TriggerKind::Schedule, cron: None, timezone: None, item_id: None };
    Report {
        v: 1,
        format: Format::NodeRed,
        name: "Standup".to_owned(),
        trigger,
        starts: String::new(),
        items: Vec::new(),
        totals: Totals::default(),
        connections: Vec::new(),
        connectors: Vec::new(),
        secrets: Vec::new(),
        warnings: Vec::new(),
        can_create: true,
        facts: Vec::new(),
        sentences: Vec::new(),
    }
}

async fn insert(db: &DatabaseConnection, table: &str, row: Vec<(&str, Value)>) {
    let columns: Vec<&str> = row.iter().map(|(column, _)| *column).collect();
    let values: Vec<String> = (1..=row.len()).map(|number| format!("${number}")).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), values.join(", "));
    let values: Vec<Value> = row.into_iter().map(|(_, value)| value).collect();
    let statement = Statement::from_sql_and_values(db.get_database_backend(), sql, values);
    db.execute_raw(statement).await.unwrap();
}

fn text(text: impl Into<String>) -> Value {
    Value::from(text.into())
}

fn manifest() -> Manifest {
    Manifest::minimal("Invoices", "Sends invoices.", "workshop", Category::Money)
}

fn files() -> BTreeMap<String, String> {
    BTreeMap::from([("main.js".to_owned(), "export default {} // \u{1f331} \\".to_owned())])
}

/// Fills a database as the earlier release left it.
async fn fill(db: &DatabaseConnection) {
    migrate_until(db, FIRST_NEW).await.unwrap();
    let (zero, one) = (|| Value::from(0_i64), || Value::from(1_i64));
    for (person, email) in [(USER, "aru@example.com"), (GUEST, "dana@example.com")] {
        let row =
            vec![("id", uuid(person)), ("email", text(email)), ("name", text("Aru")), ("created_at", zero())];
        insert(db, "users", row).await;
    }
    insert(
        db,
        "workspaces",
        vec![
            ("id", uuid(WORKSPACE)),
            ("slug", text("acme")),
            ("name", text("Acme")),
            ("profile", text("global")),
            ("team_size", text("small")),
            ("intents", text("[]")),
            ("locale", text("en")),
            ("timezone", text("UTC")),
            ("currency", text("USD")),
            ("hourly_cost_minor", one()),
            ("plan", text("free")),
            ("revision", one()),
            ("created_at", zero()),
        ],
    )
    .await;
    let files = serde_json::to_string(&files()).unwrap();
    insert(
        db,
        "apps",
        vec![
            ("id", uuid(APP)),
            ("workspace_id", uuid(WORKSPACE)),
            ("slug", text("invoices")),
            ("name", text("Invoices")),
            ("description", text("Sends invoices.")),
            ("archetype", text("workshop")),
            ("category", text("money")),
            ("sharing", text("private")),
            ("paused", Value::from(false)),
            ("current_version_id", uuid(VERSION)),
            ("declares_webhook", Value::from(false)),
            ("created_by", uuid(USER)),
            ("created_at", zero()),
            ("revision", one()),
        ],
    )
    .await;
    insert(
        db,
        "app_versions",
        vec![
            ("id", uuid(VERSION)),
            ("app_id", uuid(APP)),
            ("workspace_id", uuid(WORKSPACE)),
            ("number", one()),
            ("created_at", zero()),
            ("created_by", uuid(USER)),
            ("bundle_hash", text("0".repeat(64))),
            ("trust_score", Value::from(97_i16)),
            ("kind", text("edit")),
            ("summary", text("First")),
            ("manifest", text(serde_json::to_string(&manifest()).unwrap())),
            ("files", text(files.clone())),
            ("permissions_hash", text(manifest().permissions_hash())),
        ],
    )
    .await;
    let edit_only = Value::from(4_i16);
    insert(db, "app_grants", vec![("app_id", uuid(APP)), ("user_id", uuid(GUEST)), ("rights", edit_only)])
        .await;
    insert(
        db,
        "app_drafts",
        vec![
            ("app_id", uuid(APP)),
            ("owner_id", uuid(USER)),
            ("workspace_id", uuid(WORKSPACE)),
            ("files", text(files)),
            ("saved_at", zero()),
            ("expires_at", Value::from(at(1_000_000_000).timestamp_millis())),
        ],
    )
    .await;
    insert(
        db,
        "automations",
        vec![
            ("id", uuid(AUTOMATION)),
            ("workspace_id", uuid(WORKSPACE)),
            ("app_id", uuid(APP)),
            ("name", text("By hand")),
            ("trigger_kind", text("manual")),
            ("status", text("active")),
            ("retries", Value::from(0_i16)),
            ("created_by", uuid(USER)),
            ("created_at", zero()),
            ("revision", one()),
        ],
    )
    .await;
    insert(
        db,
        "agent_tools",
        vec![
            ("id", uuid(TOOL)),
            ("workspace_id", uuid(WORKSPACE)),
            ("app_id", uuid(APP)),
            ("automation_id", uuid(AUTOMATION)),
            ("name", text("send_invoice")),
            ("title", text("Send an invoice")),
            ("description", text("Sends an invoice.")),
            ("input_schema", text(r#"{"type":"object","properties":{}}"#)),
            ("enabled", Value::from(true)),
            ("reviewed_hash", text(manifest().permissions_hash())),
            ("reviewed_at", zero()),
            ("reviewed_by", uuid(USER)),
            ("published_at", zero()),
        ],
    )
    .await;
    insert(
        db,
        "imports",
        vec![
            ("id", uuid(IMPORT)),
            ("workspace_id", uuid(WORKSPACE)),
            ("name", text("Standup")),
            ("format", text("workflow_c")),
            ("status", text("review")),
            ("app_id", uuid(APP)),
            ("automation_id", uuid(GONE)),
            ("report", text(serde_json::to_string(&report()).unwrap())),
            ("needs", text(serde_json::to_string(&ImportNeeds::default()).unwrap())),
            ("created_by", uuid(USER)),
            ("created_at", zero()),
            ("changed_at", zero()),
        ],
    )
    .await;
    for (entry, (target, _)) in audited().into_iter().enumerate() {
        insert(
            db,
            "audit_log",
            vec![
                ("id", uuid(ENTRY + entry as u128)),
                ("at", zero()),
                ("workspace_id", uuid(WORKSPACE)),
                ("actor", text(id::<kind::User>(USER).to_string())),
                ("action", text("app.update")),
                ("target", text(target)),
                ("request_id", uuid(ENTRY)),
            ],
        )
        .await;
    }
}

/// Objects of audit entries, and whether they are the app or belong to it.
fn audited() -> Vec<(String, bool)> {
    vec![
        (id::<kind::App>(APP).to_string(), true),
        (id::<kind::Version>(VERSION).to_string(), true),
        (id::<kind::Automation>(AUTOMATION).to_string(), true),
        (id::<kind::AgentTool>(TOOL).to_string(), true),
        (id::<kind::Import>(IMPORT).to_string(), true),
        (id::<kind::Automation>(GONE).to_string(), false),
        (id::<kind::User>(GUEST).to_string(), false),
        ("acme.example".to_owned(), false),
    ]
}

/// Asserts that the history of the app has what the log says of it and of what belongs to it.
async fn assert_history_of_app(store: &Store) {
    let filter = AuditFilter { app: Some(id(APP)), ..AuditFilter::default() };
    let page = PageRequest { limit: 50, after: None };
    let found = store.audit_records(id(WORKSPACE), &filter, page).await.unwrap();
    let mut targets: Vec<String> = found.into_iter().filter_map(|record| record.target).collect();
    targets.reverse();
    let of_app = audited().into_iter().filter(|(_, is_of_app)| *is_of_app).map(|(target, _)| target);
    assert_eq!(targets, of_app.collect::<Vec<_>>());
}

/// Asserts that everything reads as the earlier release wrote it.
async fn assert_reads_as_before(store: &Store) {
    let app = store.app(id(WORKSPACE), id(APP)).await.unwrap().unwrap();
    assert_eq!((app.name.as_str(), app.current_version), ("Invoices", Some(id(VERSION))));
    assert!(app.is_in_review, "its import waits for a decision");
    let (version, content) = store.version(id(WORKSPACE), id(APP), id(VERSION)).await.unwrap().unwrap();
    assert!(version.is_runnable);
    assert_eq!((content.manifest, content.files), (manifest(), files()));
    let draft = store.draft(id(WORKSPACE), id(APP), id(USER), at(0)).await.unwrap().unwrap();
    assert_eq!(draft.files, files());
    let grants = store.grants(id(WORKSPACE), id(APP)).await.unwrap();
    assert_eq!(
        grants.iter().map(|grant| (grant.user, grant.rights.bits())).collect::<Vec<_>>(),
        [(id(GUEST), 5)]
    );
    let tool = store.agent_tool(id(WORKSPACE), id(AUTOMATION), id(USER), at(0)).await.unwrap().unwrap();
    assert_eq!((tool.tool.id, tool.app_name.as_str()), (id(TOOL), "Invoices"));
    let live = store.tool_app(id(WORKSPACE), id(APP)).await.unwrap().unwrap();
    assert_eq!(
        live.current.map(|(version, hash)| (version, hash.0)),
        Some((id(VERSION), manifest().permissions_hash()))
    );
    let import = store.import(id(IMPORT)).await.unwrap().unwrap();
    assert_eq!((import.status, import.automation), (ImportStatus::Review, None));
    assert_eq!((import.report, import.needs), (report(), ImportNeeds::default()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_earlier_release_left_reads_as_before() {
    for database in [Database::sqlite(), Database::empty_postgres().await] {
        let url = match database.is_postgres() {
            true => database.url.clone(),
            false => format!("{}?mode=rwc", database.url),
        };
        let db = connect(&url).await;
        fill(&db).await;
        let store = database.open().await;
        store.check().await.unwrap();
        assert_reads_as_before(&store).await;
        assert_history_of_app(&store).await;
        assert_eq!(store.stored_code_bytes(id(WORKSPACE)).await.unwrap(), 0);
        for after in [TimeDelta::zero(), TimeDelta::days(1)] {
            while store.keep_up_code(at(0) + after).await.unwrap() {}
        }
        assert_reads_as_before(&store).await;
        assert!(store.stored_code_bytes(id(WORKSPACE)).await.unwrap() > 500);
        // A program of before would start no more.
        let breaking = "SELECT version FROM breaking_migrations";
        let row =
            db.query_one_raw(Statement::from_string(db.get_database_backend(), breaking)).await.unwrap();
        assert_eq!(row.unwrap().try_get_by_index::<String>(0).unwrap(), "m0071_code_files");
        db.close().await.unwrap();
    }
}
