//! A fresh database for each test, and the things that most tests need in it.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use ::apps::{App, AppVersion, AppsTx as _, Category, Manifest, VersionKind, versions::VersionContent};
use ::identity::{IdentityTx as _, User};
use ::workspace::{
    Plan, Workspace, WorkspaceTx as _,
    workspaces::{Currency, Profile, TeamSize},
};
use adapter_store::{DatabaseUrl, Store, StoreTx};
use kernel::{
    Caller, Context, Id, SeededRandomness, StoreError, Timestamp, UnitOfWork as _,
    authority::{Member, Role, Sharing},
    id::{AppId, Kind, NodeId, RunId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
    testing::{context, id, session_of},
};
use migrations::SchemaStatus;
use runs::{
    Automation, AutomationStatus, Run, RunsRead as _, RunsTx as _, Trigger, TriggerKind, Webhook,
    queue::{AttemptOutcome, ClaimedRun, FinishedRun, NewRun, RunQueue as _},
    webhooks::{AcceptCall, DedupKey, Proof, RefusedDelivery, WebhookSnapshot, WebhookStore as _},
};
use sea_orm::{ConnectOptions, ConnectionTrait as _, DatabaseConnection, Statement, Value};
use tokio::{select, sync::OnceCell};

/// Returns an owner, who may receive everything.
pub(crate) fn reader(workspace: WorkspaceId) -> Member {
    member(workspace, id(900), Role::Owner)
}

pub(crate) fn member(workspace: WorkspaceId, user: UserId, role: Role) -> Member {
    kernel::testing::member(&context(session_of(user), at(0)), workspace, role)
}

/// One test's database; gone when it is dropped.
pub(crate) struct Database {
    pub(crate) url: String,
    cleanup: Cleanup,
}

enum Cleanup {
    /// Somebody else's, who outlives this.
    Borrowed,
    Sqlite {
        _folder: tempfile::TempDir,
    },
    Postgres {
        cluster: String,
        name: String,
    },
}

impl Database {
    pub(crate) fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// A file that is not there yet.
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("qala.db").display());
        Self { url, cleanup: Cleanup::Sqlite { _folder: folder } }
    }

    /// A copy of a migrated template.
    pub(crate) async fn postgres() -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let template = TEMPLATE
            .get_or_init(|| async {
                let template = Self::named("template", None).await;
                let db = connect(&template.url).await;
                SchemaStatus::load(&db).await.unwrap().migrate(&db).await.unwrap();
                db.close().await.unwrap();
                let Cleanup::Postgres { name, .. } = &template.cleanup else { unreachable!() };
                let name = name.clone();
                // It serves every test of this process; it goes with the cluster.
                std::mem::forget(template);
                name
            })
            .await;
        Self::named("test", Some(template)).await
    }

    /// A database without any table.
    pub(crate) async fn empty_postgres() -> Self {
        Self::named("empty", None).await
    }

    async fn named(what: &str, template: Option<&str>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let cluster = std::env::var("QALA_TEST_POSTGRES_URL")
            .expect("QALA_TEST_POSTGRES_URL names no PostgreSQL to test on: run `cargo xtask test`");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("qala_store_{what}_{}_{number}", std::process::id());
        let admin = connect(&cluster).await;
        // A cluster that outlives a test run may hold what a killed program of the same number left.
        execute(&admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        let template = template.unwrap_or("template0");
        execute(&admin, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        admin.close().await.unwrap();
        let (server, _) = cluster.rsplit_once('/').expect("the URL names a database");
        Self { url: format!("{server}/{name}"), cleanup: Cleanup::Postgres { cluster, name } }
    }

    pub(crate) async fn open(&self) -> Store {
        let url: DatabaseUrl = self.url.parse().unwrap();
        Store::open(&url).await.unwrap()
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let Self::Postgres { cluster, name } = self else { return };
        let (cluster, name) = (cluster.clone(), name.clone());
        // The test's own runtime may be on its way out, so this has one of its own.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let admin = connect(&cluster).await;
                execute(&admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
            });
        });
        // What is left behind goes with the cluster.
        drop(dropping.join());
    }
}

pub(crate) async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false).acquire_timeout(Duration::from_secs(30));
    sea_orm::Database::connect(options).await.expect("the database of the tests answers")
}

pub(crate) async fn execute(db: &DatabaseConnection, sql: &str) {
    db.execute_unprepared(sql).await.unwrap();
}

/// The moment at which every test begins, moved by so many milliseconds.
pub(crate) fn at(millis: i64) -> Timestamp {
    let start: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
    start + chrono::TimeDelta::milliseconds(millis)
}

/// The first page, long enough for any test.
pub(crate) const PAGE: PageRequest = PageRequest { limit: 100, after: None };

pub(crate) fn json(text: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(text.to_owned()).unwrap()
}

/// A store with a person, their workspace, and an app in it that runs.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) user: UserId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) app: AppId,
    pub(crate) version: VersionId,
    ids: Ids,
    /// A connection beside the store, to look at rows and to set up what no port does. Dropped before the database.
    raw: DatabaseConnection,
    pub(crate) database: Database,
}

/// Fresh ids that rise in the order in which they are made.
pub(crate) struct Ids {
    random: Arc<SeededRandomness>,
    count: AtomicI64,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Arc::new(SeededRandomness::new(seed)), count: AtomicI64::new(0) }
    }

    pub(crate) fn next<K: Kind>(&self) -> Id<K> {
        Id::generate(&*self.random, at(self.count.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn context(&self) -> Context {
        Context::new(Caller::System("test"), at(0), self.next(), None, self.random.clone())
    }
}

impl World {
    /// A store in `database` with its first things.
    pub(crate) async fn new(database: Database) -> Self {
        let store = database.open().await;
        Self::with_store(database, store).await
    }

    /// The same in the database of another process.
    pub(crate) async fn at(url: &str) -> Self {
        Self::new(Database { url: url.to_owned(), cleanup: Cleanup::Borrowed }).await
    }

    async fn with_store(database: Database, store: Store) -> Self {
        let raw = connect(&database.url).await;
        let ids = Ids::new(7);
        let (user, workspace, app, version) = (ids.next(), ids.next(), ids.next(), ids.next());
        let world = Self { store, user, workspace, app, version, ids, raw, database };
        world.write(async |tx| tx.insert_user(&world.person("Aru", "aru@example.com", user)).await).await;
        world.add_workspace(workspace, "acme").await;
        world.add_app(app, Sharing::Private).await;
        world.add_version(app, version, 1, world.manifest()).await;
        world.publish(app, Some(version), false).await;
        world
    }

    pub(crate) fn id<K: Kind>(&self) -> Id<K> {
        self.ids.next()
    }

    pub(crate) fn context(&self) -> Context {
        self.ids.context()
    }

    /// Writes in one audited transaction.
    pub(crate) async fn try_write<R>(
        &self,
        work: impl AsyncFnOnce(&mut StoreTx) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let mut tx = self.store.begin().await?;
        let result = work(&mut tx).await?;
        tx.audit(self.context().audit_entry("session.create"));
        Box::new(tx).commit().await?;
        Ok(result)
    }

    pub(crate) async fn write<R>(&self, work: impl AsyncFnOnce(&mut StoreTx) -> Result<R, StoreError>) -> R {
        self.try_write(work).await.unwrap()
    }

    /// The first column of the one row that a query finds; `$1`, `$2`, … are the values.
    pub(crate) async fn query_scalar<T: sea_orm::TryGetable>(&self, sql: &str, values: Vec<Value>) -> T {
        let statement = Statement::from_sql_and_values(self.raw.get_database_backend(), sql, values);
        let row = self.raw.query_one_raw(statement).await.unwrap().expect("the query finds a row");
        row.try_get_by_index(0).unwrap()
    }

    pub(crate) async fn count(&self, from: &str) -> i64 {
        self.query_scalar(&format!("SELECT count(*) FROM {from}"), Vec::new()).await
    }

    pub(crate) async fn execute(&self, sql: &str, values: Vec<Value>) {
        let statement = Statement::from_sql_and_values(self.raw.get_database_backend(), sql, values);
        self.raw.execute_raw(statement).await.unwrap();
    }

    /// Ends the connections of stores to this PostgreSQL whose name is like `name`, and with them the time until the server counts
    /// what they read.
    pub(crate) async fn end_connections(&self, name: &str) {
        let ended = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
             WHERE application_name LIKE $1 AND datname = current_database()";
        self.execute(ended, vec![name.into()]).await;
        self.execute("SELECT pg_stat_force_next_flush()", Vec::new()).await;
    }

    pub(crate) fn person(&self, name: &str, email: &str, id: UserId) -> User {
        User { id, name: name.to_owned(), email: email.parse().unwrap(), created_at: at(0) }
    }

    pub(crate) async fn add_person(&self, name: &str) -> UserId {
        let person = self.person(name, &format!("{name}@example.com"), self.id());
        self.write(async |tx| tx.insert_user(&person).await).await;
        person.id
    }

    pub(crate) fn workspace_named(&self, id: WorkspaceId, slug: &str) -> Workspace {
        Workspace {
            id,
            slug: slug.to_owned(),
            name: "Acme".to_owned(),
            profile: Profile::KzStandard,
            team_size: TeamSize::Small,
            intents: Vec::new(),
            locale: kernel::Locale::Kk,
            timezone: "Asia/Almaty".to_owned(),
            currency: Currency::Kzt,
            hourly_cost_minor: 450_000,
            plan: Plan::Sovereign,
            created_at: at(0),
        }
    }

    pub(crate) async fn add_workspace(&self, id: WorkspaceId, slug: &str) {
        let workspace = self.workspace_named(id, slug);
        self.write(async |tx| {
            tx.insert_workspace(&workspace).await?;
            tx.insert_member(id, self.user, Role::Owner, at(0)).await
        })
        .await;
    }

    pub(crate) fn app_of(&self, id: AppId, sharing: Sharing) -> App {
        App {
            id,
            workspace: self.workspace,
            slug: format!("app-{}", id.uuid().simple()),
            name: "Invoices".to_owned(),
            description: "Sends invoices.".to_owned(),
            archetype: "workshop".to_owned(),
            category: Category::Money,
            sharing,
            is_paused: false,
            is_in_review: false,
            current_version: None,
            created_by: self.user,
            created_at: at(0),
        }
    }

    pub(crate) async fn add_app(&self, id: AppId, sharing: Sharing) {
        let app = self.app_of(id, sharing);
        self.write(async |tx| tx.insert_app(&app).await).await;
    }

    pub(crate) fn manifest(&self) -> Manifest {
        Manifest::minimal("Invoices", "Sends invoices.", "workshop", Category::Money)
    }

    pub(crate) fn version_of(&self, app: AppId, id: VersionId, number: u32) -> AppVersion {
        AppVersion {
            id,
            app,
            workspace: self.workspace,
            number,
            created_at: at(i64::from(number)),
            created_by: self.user,
            bundle_hash: "0".repeat(64),
            trust_score: 97,
            handlers: None,
            kind: VersionKind::Edit,
            summary: format!("Change {number}"),
            base: None,
            created_by_name: None,
            is_runnable: true,
            built_from: None,
        }
    }

    pub(crate) async fn add_version(&self, app: AppId, id: VersionId, number: u32, manifest: Manifest) {
        let version = self.version_of(app, id, number);
        let files = BTreeMap::from([("main.js".to_owned(), "export default {}".to_owned())]);
        let content = VersionContent { manifest, files };
        self.write(async |tx| tx.insert_version(&version, &content).await).await;
    }

    /// Writes an app's version and whether it is paused, by the port that does it.
    pub(crate) async fn publish(&self, app: AppId, version: Option<VersionId>, paused: bool) {
        self.write(async |tx| {
            let mut app = tx.app_for_update(self.workspace, app).await?.expect("the app is there");
            app.current_version = version;
            app.is_paused = paused;
            tx.update_app(&app).await
        })
        .await;
    }

    pub(crate) fn automation(&self, trigger: Trigger) -> Automation {
        Automation {
            id: self.id(),
            workspace: self.workspace,
            app: self.app,
            name: "Nightly".to_owned(),
            trigger,
            status: AutomationStatus::Active,
            max_concurrency: None,
            retries: 2,
            next_run_at: None,
            created_by: self.user,
            created_at: at(0),
        }
    }

    pub(crate) fn webhook(&self, automation: &Automation, proof: Proof) -> Webhook {
        Webhook {
            id: self.id(),
            automation: automation.id,
            workspace: automation.workspace,
            proof,
            is_enabled: true,
            per_minute: 60,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    /// An automation with a webhook that takes calls.
    pub(crate) async fn add_webhook_automation(&self, max_concurrency: Option<u16>) -> (Automation, Webhook) {
        let automation = Automation { max_concurrency, ..self.automation(Trigger::Webhook) };
        let webhook = self.webhook(&automation, Proof::None);
        self.write(async |tx| {
            tx.insert_automation(&automation).await?;
            tx.upsert_webhook(&webhook).await
        })
        .await;
        (automation, webhook)
    }

    pub(crate) async fn state(&self, webhook: &Webhook) -> Arc<WebhookSnapshot> {
        self.store.webhook_snapshot(webhook.id, true).await.unwrap().expect("the webhook is there")
    }

    /// A call that is good under `state`, without a key.
    pub(crate) fn call(&self, state: &WebhookSnapshot) -> AcceptCall {
        AcceptCall {
            hook: state.webhook.id,
            revisions: state.revisions,
            workspace: state.webhook.workspace,
            automation: state.webhook.automation,
            app: state.app,
            trigger: state.trigger,
            run: self.id(),
            delivery: self.id(),
            keys: Vec::new(),
            signature: None,
            input: json("{}"),
            bytes: 2,
            is_sample: false,
            at: at(0),
            max_concurrency: state.max_concurrency,
            runs_per_month: state.runs_per_month,
            audit: None,
            may_start: true,
        }
    }

    /// A call that was refused, of which nothing is kept but that.
    pub(crate) fn refused(&self, webhook: &Webhook) -> RefusedDelivery {
        RefusedDelivery {
            id: self.id(),
            hook: webhook.id,
            workspace: webhook.workspace,
            automation: webhook.automation,
            app: self.app,
            code: "automation_paused",
            bytes: 12,
            at: at(3),
            is_sample: false,
            audit: None,
            dead_letter: None,
        }
    }

    /// Runs `operations` against the store such that those of the hot path meet in one batch: an earlier call has to
    /// wait for somebody who changes its automation, and they queue up behind it.
    pub(crate) async fn in_one_batch<T>(&self, operations: impl Future<Output = T>) -> T {
        let (automation, webhook) = self.add_webhook_automation(None).await;
        let first = self.call(&*self.state(&webhook).await);
        let mut tx = self.store.begin().await.unwrap();
        tx.automation_for_update(self.workspace, automation.id).await.unwrap();
        let release = async {
            tokio::time::sleep(Duration::from_millis(400)).await;
            drop(tx);
        };
        let behind = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            operations.await
        };
        let (first, (), result) = tokio::join!(self.store.accept(first), release, behind);
        first.unwrap();
        result
    }

    /// Runs `other` beside an open transaction, which is committed once `other` waits for it or has ended without.
    pub(crate) async fn commit_while_waited_for(&self, tx: StoreTx, other: impl Future<Output = ()>) {
        let mut other = pin!(other);
        let is_over = select! {
            () = &mut other => true,
            () = self.wait_for_lock() => false,
        };
        Box::new(tx).commit().await.unwrap();
        if !is_over {
            other.await;
        }
    }

    /// Returns when a transaction waits for another one. SQLite lets nobody begin to write beside it.
    async fn wait_for_lock(&self) {
        let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while self.database.is_postgres() && self.count(waiting).await == 0 {
            tokio::task::yield_now().await;
        }
    }

    /// A run that a person started.
    pub(crate) fn manual_run(&self, automation: &Automation) -> NewRun {
        NewRun {
            id: self.id(),
            workspace: automation.workspace,
            app: automation.app,
            automation: Some(automation.id),
            trigger: TriggerKind::Manual,
            input: json("null"),
            at: at(0),
            scheduled_for: None,
            max_concurrency: automation.max_concurrency,
            version: None,
            replay_of: None,
            by_agent: false,
            agent: None,
            is_on_hold: false,
        }
    }

    /// Puts a run into the queue that is to start at a moment.
    pub(crate) async fn enqueue(&self, automation: &Automation, start: Timestamp) -> RunId {
        let run = NewRun { at: start, ..self.manual_run(automation) };
        self.write(async |tx| tx.enqueue(&run).await).await;
        run.id
    }

    pub(crate) async fn claim(&self, node: NodeId, limit: u32, now: Timestamp) -> Vec<ClaimedRun> {
        self.store.claim(node, runs::queue::ClaimLimit::with_total(limit), Arc::new(now)).await.unwrap()
    }

    pub(crate) async fn run(&self, run: RunId) -> Run {
        self.store.run(self.workspace, run).await.unwrap().expect("the run is there")
    }

    pub(crate) async fn finish(&self, node: NodeId, run: &ClaimedRun, conclusion: AttemptOutcome) -> bool {
        self.store.finish(node, finished_run(run, conclusion)).await.unwrap()
    }
}

/// The end of an attempt, a second after it was claimed.
pub(crate) fn finished_run(run: &ClaimedRun, conclusion: AttemptOutcome) -> FinishedRun {
    FinishedRun {
        id: run.id,
        workspace: run.workspace,
        app: run.app,
        automation: run.automation,
        attempt: run.attempt,
        at: run.started_at + chrono::TimeDelta::seconds(1),
        started_at: run.started_at,
        outcome: conclusion,
        minutes_saved: 0.0,
        result: None,
        steps: Vec::new(),
        lines: Vec::new(),
    }
}

/// A key that is remembered for a day.
pub(crate) fn key(digest: u8) -> DedupKey {
    DedupKey { digest: [digest; 32], expires_at: at(86_400_000) }
}

pub(crate) fn ids_of(runs: &[ClaimedRun]) -> Vec<RunId> {
    runs.iter().map(|run| run.id).collect()
}
