//! An executor over a fake store, an engine whose app code is a closure, and a fake client for outbound requests.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use apps::{AppVersion, Manifest, VersionKind, versions::VersionContent};
use backend_data::{
    Catalog, Column, ColumnType, Dialect, ProjectRef, RowStore, StoreError as RowsError, Table,
    store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
};
use connections::{
    CredentialSource, EgressPermit, Gate, GateStatus, OutboundBody, OutboundRequest, OutboundResponse,
    Refusal, RefusalCode,
    app_secrets::headers::SecretHeader,
    gates::Method,
    oauth_apps::OauthApp,
    outbound::{
        GrantSource, IssuedToken, OpenedCredential, RevocableToken, SecretSource, TokenError, TokenGrant,
    },
};
use kernel::{
    Id, Locale, RedirectMode, SeededRandomness, Timestamp,
    clock::ManualClock,
    events::RefusedRequest,
    id::{ProjectId, RunId, UserId},
};
use projects::{Project, projects::ProjectSummary};
use runs::{
    TriggerKind,
    engine::{ExportedHandlers, FetchBody, FetchRequest, Host, HostError},
};
use secrecy::ExposeSecret as _;
use serde_json::{json, value::RawValue};
use uuid::Uuid;
use workspace::{
    Plan,
    workspaces::{Currency, Profile, TeamSize, Workspace},
};

use super::{super::*, fake_connections::*};

/// A store with the app, its version and gates; project 7 of workspace 1 is the only project. What may be cached is read
/// once.
#[derive(Default)]
pub(super) struct FakeStore {
    is_unavailable: bool,
    version_was_read: AtomicBool,
    gates_were_read: AtomicBool,
    lines: KeptLines,
}

/// Lines that were appended to the app's log.
pub(super) type KeptLines = Arc<Mutex<Vec<(LogSource, String)>>>;

impl FakeStore {
    /// A store whose database does not respond.
    pub(super) fn unavailable() -> Self {
        Self { is_unavailable: true, ..Self::default() }
    }

    pub(super) fn kept_lines(&self) -> KeptLines {
        Arc::clone(&self.lines)
    }
}

#[async_trait]
impl ExecutorStore for FakeStore {
    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version_id: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        if self.is_unavailable {
            return Err(StoreError::Unavailable("away".into()));
        }
        assert!(!self.version_was_read.swap(true, Ordering::Relaxed), "the version was read again");
        Ok(((workspace, app, version_id) == (id(1), id(2), id(3))).then(version))
    }

    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError> {
        let found = (workspace, project) == (id(1), id(7));
        Ok(found.then(|| ProjectSummary {
            project: Project {
                id: project,
                workspace,
                name: "Rows".into(),
                slug: "rows".into(),
                description: String::new(),
                shard: 0,
                settings: projects::Settings::default(),
                created_by: id(4),
                created_at: start(),
            },
            key_count: 0,
        }))
    }

    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        Ok(Some(Workspace {
            id: workspace,
            slug: "rows".into(),
            name: "Rows".into(),
            profile: Profile::Global,
            team_size: TeamSize::Solo,
            intents: Vec::new(),
            locale: Locale::En,
            timezone: "UTC".into(),
            currency: Currency::Usd,
            hourly_cost_minor: 0,
            plan: Plan::Free,
            created_at: start(),
        }))
    }

    async fn workspace_creator(&self, _: WorkspaceId) -> Result<Option<UserId>, StoreError> {
        Ok(Some(id(4)))
    }

    async fn gates(&self, _: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        assert!(!self.gates_were_read.swap(true, Ordering::Relaxed), "the gates were read again");
        Ok(vec![gate("api.example.com"), gate("slow.example.com")])
    }

    async fn append_log(
        &self,
        _: WorkspaceId,
        _: AppId,
        lines: Vec<NewLogLine>,
        _: Vec<RefusedRequest>,
    ) -> Result<(), StoreError> {
        let lines = lines.into_iter().map(|line| (line.source, line.message));
        self.lines.lock().unwrap().extend(lines);
        Ok(())
    }
}

pub(super) type Script = dyn Fn(Invocation, Arc<dyn Host>) -> Pin<Box<dyn Future<Output = Result<HandlerOutput, Failure>> + Send>>
    + Send
    + Sync;

/// An engine whose app code is a closure.
pub(super) struct ScriptedEngine(Box<Script>);

#[async_trait]
impl Engine for ScriptedEngine {
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<HandlerOutput, Failure> {
        (self.0)(invocation, host).await
    }

    async fn check(
        &self,
        _: WorkspaceId,
        _: Option<UserId>,
        _: Arc<engine::Bundle>,
    ) -> Result<ExportedHandlers, Failure> {
        Ok(ExportedHandlers { scheduled: true, fetch: true })
    }
}

/// Rows of the tables `notes` and `secrets`: every read and write returns one row.
pub(super) struct FakeRowStore;

#[async_trait]
impl RowStore for FakeRowStore {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
    fn table_scope(&self, _: &ProjectRef) -> TableScope {
        TableScope { prefix: String::new(), schema_version_check: None }
    }
    async fn create_project(&self, _: &ProjectRef) -> Result<(), RowsError> {
        Ok(())
    }
    async fn drop_project(&self, _: &ProjectRef) -> Result<(), RowsError> {
        Ok(())
    }
    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, RowsError> {
        assert_eq!(project.id.as_str(), id::<kernel::id::kind::Project>(7).to_string());
        let column = |name: &str, kind| Column {
            name: name.into(),
            kind,
            nullable: false,
            system: true,
            default: None,
        };
        let table = |name: &str| Table {
            indexes: Vec::new(),
            name: name.into(),
            columns: vec![column("id", ColumnType::Text), column("created_at", ColumnType::Timestamp)],
            public_read: false,
            rules: Vec::new(),
            row_count: None,
            created_at: String::new(),
        };
        Ok(Some(Catalog { version: 1, tables: vec![table("notes"), table("secrets")] }))
    }
    async fn apply_schema_change(&self, _: &ProjectRef, _: SchemaChange) -> Result<(), RowsError> {
        Ok(())
    }
    async fn read(&self, _: &ProjectRef, read: Read) -> Result<StatementResult, RowsError> {
        let missing = format!("{:?}", read.params).contains("missing");
        let (body, rows) = if missing { ("[]", 0) } else { (r#"[{"id":"1"}]"#, 1) };
        Ok(statement_result(body, rows))
    }
    async fn write(&self, _: &ProjectRef, _: Write) -> Result<StatementResult, RowsError> {
        Ok(statement_result(r#"[{"id":"1"}]"#, 1))
    }
    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, RowsError> {
        let mut results = Vec::with_capacity(writes.len());
        for write in writes {
            results.push(self.write(project, write).await?);
        }
        Ok(results)
    }
    async fn import(&self, _: &ProjectRef, _: Import) -> Result<u64, RowsError> {
        Err(RowsError::Stale)
    }
    async fn stored_bytes(&self, _: &ProjectRef) -> Result<u64, RowsError> {
        Ok(0)
    }
    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, RowsError> {
        Ok(Vec::new())
    }
    async fn read_outbox(&self, _: &ProjectRef) -> Result<Vec<OutboxRecord>, RowsError> {
        Ok(Vec::new())
    }
    async fn clear_outbox(&self, _: &ProjectRef, _: Vec<String>) -> Result<(), RowsError> {
        Ok(())
    }
}

pub(super) fn statement_result(body: &str, rows: u64) -> StatementResult {
    StatementResult { body: body.into(), rows, total: None, inserted: None, cursor_keys: None }
}

/// Sends nothing: `slow.example.com` times out, other hosts respond with 200. Through a connection, `/reject` gets 401.
#[derive(Default)]
pub(super) struct FakeOutbound {
    /// URLs of requests, with the credential of those through a connection.
    pub(super) sent: Mutex<Vec<String>>,
    /// Responses of token endpoints, the next last. Without one the endpoint is away.
    pub(super) tokens: Mutex<Vec<Result<IssuedToken, TokenError>>>,
}

#[async_trait]
impl OutboundClient for FakeOutbound {
    async fn send(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
    ) -> Result<OutboundResponse, Refusal> {
        self.sent.lock().unwrap().push(permit.url().to_string());
        tokio::time::sleep(Duration::from_millis(34)).await;
        if permit.host().as_str() == "slow.example.com" {
            return Err(Refusal::new(RefusalCode::Timeout, "slow.example.com took too long"));
        }
        Ok(OutboundResponse { status: 200, headers: Vec::new(), body: request.body, redirected_to: None })
    }

    async fn send_with_secrets(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        headers: &[SecretHeader],
        secrets: &dyn SecretSource,
    ) -> Result<OutboundResponse, Refusal> {
        for SecretHeader { header, prefix, secret } in headers {
            let opened = secrets.open_secret(secret).await?;
            let sent = format!("{} with {header}: {prefix}{}", permit.url(), opened.expose_secret());
            self.sent.lock().unwrap().push(sent);
        }
        Ok(OutboundResponse { status: 200, headers: Vec::new(), body: request.body, redirected_to: None })
    }

    async fn send_through_connection(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        credentials: &dyn CredentialSource,
    ) -> Result<OutboundResponse, Refusal> {
        let opened = credentials.open(permit.connection_policy().unwrap()).await?;
        let text = match &opened {
            OpenedCredential::None => "nothing",
            OpenedCredential::Secret(text) | OpenedCredential::AccessToken(text) => text.expose_secret(),
        };
        self.sent.lock().unwrap().push(format!("{} with {text}", permit.url()));
        let status = if permit.url().path().ends_with("/reject") { 401 } else { 200 };
        let body = match permit.url().path().rsplit('/').next() {
            Some("stream") => stream_of([Ok("one"), Ok("two")]),
            Some("broken-stream") => stream_of([Ok("one"), Err("the service broke off")]),
            _ => request.body,
        };
        Ok(OutboundResponse { status, headers: Vec::new(), body, redirected_to: None })
    }

    async fn request_token(
        &self,
        permit: EgressPermit,
        grants: &dyn GrantSource,
        _: Timestamp,
    ) -> Result<IssuedToken, TokenError> {
        let secret = match grants.open_grant(permit.connection_policy().unwrap()).await? {
            TokenGrant::Secret(secret) => secret,
            TokenGrant::RefreshToken(app, token) => {
                assert_eq!(app.client_id, "client-1");
                token
            }
            TokenGrant::Code(..) => panic!("a code"),
        };
        self.sent.lock().unwrap().push(format!("{} with {}", permit.url(), secret.expose_secret()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        let away = || Err(Refusal::new(RefusalCode::UpstreamFailed, "away").into());
        self.tokens.lock().unwrap().pop().unwrap_or_else(away)
    }

    async fn revoke_token(&self, _: EgressPermit, _: OauthApp, _: RevocableToken) -> Result<(), Refusal> {
        unreachable!("no run disconnects")
    }
}

pub(super) fn id<K>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

pub(super) fn start() -> Timestamp {
    "2026-11-21T09:00:00Z".parse().unwrap()
}

pub(super) fn manifest() -> Manifest {
    let value = json!({
        "name": "Notes", "description": "keeps notes", "archetype": "workshop", "category": "data",
        "permissions": {
            "data": [
                {"name": "notes", "projectId": id::<kernel::id::kind::Project>(7), "access": "write", "tables": ["notes"]},
                {"name": "readonly", "projectId": id::<kernel::id::kind::Project>(7), "access": "read"},
                {"name": "foreign", "projectId": id::<kernel::id::kind::Project>(8), "access": "write"},
            ],
            "secrets": [
                {"name": "KEY"}, {"name": "SIGNING", "uses": ["sign", "deriveBits"]}, {"name": "MISSING"},
                {"name": "PLAIN", "clear": true}, {"name": "KEPT", "clear": true},
            ],
            "connectors": [{"name": "crm", "connectionId": id::<kernel::id::kind::Connection>(9)}],
            "egress": [{"host": "api.example.com", "methods": ["GET"]}, {"host": "slow.example.com"}],
        },
        "roi": {"manualMinutesPerRun": 12.5},
    });
    Manifest::parse(&value).unwrap()
}

pub(super) fn version() -> (AppVersion, VersionContent) {
    let version = AppVersion {
        id: id(3),
        app: id(2),
        workspace: id(1),
        number: 1,
        created_at: start(),
        created_by: id(4),
        bundle_hash: String::new(),
        trust_score: 100,
        handlers: None,
        kind: VersionKind::Edit,
        summary: "first".into(),
        base: None,
        created_by_name: None,
        is_runnable: true,
        built_from: None,
    };
    let files = BTreeMap::from([("main.js".to_owned(), "export default {}".to_owned())]);
    (version, VersionContent { manifest: manifest(), files })
}

pub(super) fn gate(host: &str) -> Gate {
    Gate {
        id: id(5),
        workspace: id(1),
        name: host.to_owned(),
        host: host.parse().unwrap(),
        methods: Method::ALL.to_vec(),
        connection: None,
        status: GateStatus::Open,
        created_at: start(),
    }
}

/// An executor without connections.
pub(super) fn executor<W>(
    store: FakeStore,
    script: impl Fn(Invocation, Arc<dyn Host>) -> W + Send + Sync + 'static,
) -> Executor
where
    W: Future<Output = Result<HandlerOutput, Failure>> + Send + 'static,
{
    Fixture::default().executor(store, script)
}

/// Metrics of app 2 as they were recorded.
#[derive(Default)]
pub(super) struct RecordedMetrics(Mutex<Vec<Measurement>>);

impl MetricsRecorder for RecordedMetrics {
    fn record(&self, workspace: WorkspaceId, app: AppId, _: Timestamp, measurement: Measurement) {
        assert_eq!((workspace, app), (id(1), id(2)));
        self.0.lock().unwrap().push(measurement);
    }
}

impl RecordedMetrics {
    pub(super) fn take(&self) -> Vec<Measurement> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// The parts that executors are built on.
pub(super) struct Fixture {
    pub(super) connections: FakeConnections,
    pub(super) outbound: Arc<FakeOutbound>,
    pub(super) calls: Arc<CallCounter>,
    pub(super) metrics: Arc<RecordedMetrics>,
    pub(super) clock: Arc<ManualClock>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            connections: FakeConnections::default(),
            outbound: Arc::default(),
            calls: Arc::default(),
            metrics: Arc::default(),
            clock: Arc::new(ManualClock::new(start())),
        }
    }
}

impl Fixture {
    pub(super) fn credentials(&self) -> Arc<ConnectionCredentials> {
        Arc::new(ConnectionCredentials::new(crate::ConnectionCredentialsDeps {
            store: Arc::new(self.connections.clone()),
            vault: vault(),
            outbound: Arc::clone(&self.outbound) as _,
            clock: Arc::clone(&self.clock) as _,
            oauth_apps: Arc::new(oauth_apps()),
            random: Arc::new(SeededRandomness::new(2)),
        }))
    }

    pub(super) fn executor<W>(
        &self,
        store: FakeStore,
        script: impl Fn(Invocation, Arc<dyn Host>) -> W + Send + Sync + 'static,
    ) -> Executor
    where
        W: Future<Output = Result<HandlerOutput, Failure>> + Send + 'static,
    {
        let outside = ExecutorDeps {
            engine: Arc::new(ScriptedEngine(Box::new(move |invocation, host| {
                Box::pin(script(invocation, host))
            }))),
            rows: Arc::new(backend_data::Engine::with_system(Arc::new(FakeRowStore))),
            outbound: Arc::clone(&self.outbound) as _,
            store: Arc::new(store),
            connections: Arc::new(self.connections.clone()),
            credentials: self.credentials(),
            secrets: Arc::new(crate::AppSecrets::new(Arc::new(self.connections.clone()), vault())),
            calls: Arc::clone(&self.calls),
            metrics: Arc::clone(&self.metrics) as _,
            clock: Arc::clone(&self.clock) as _,
            random: Arc::new(SeededRandomness::new(1)),
        };
        Executor::new(outside, ExecutorSettings::default())
    }
}

pub(super) fn claimed() -> ClaimedRun {
    ClaimedRun {
        id: id::<kernel::id::kind::Run>(6) as RunId,
        workspace: id(1),
        share: kernel::ShareId::of(Some(id(4)), id(1)),
        app: id(2),
        app_availability: AppAvailability::Ready,
        automation: None,
        version: Some(id(3)),
        trigger: TriggerKind::Webhook,
        input: RawValue::from_string(r#"{"id":1}"#.to_owned()).unwrap(),
        scheduled_for: start(),
        started_at: start(),
        attempt: 1,
        retries: 1,
        cron: None,
        answers: Vec::new(),
    }
}

pub(super) fn nothing() -> Result<HandlerOutput, Failure> {
    Ok(HandlerOutput::Scheduled(RawValue::NULL.to_owned()))
}

/// Returns the failure of app code that does not catch an error of the host.
pub(super) fn uncaught(error: HostError) -> Failure {
    Failure { code: FailureCode::AppError, message: error.to_string(), host_code: Some(error.code) }
}

fn stream_of(pieces: [Result<&'static str, &'static str>; 2]) -> OutboundBody {
    let refused = |message| Refusal::new(RefusalCode::UpstreamFailed, message);
    let pieces = pieces.map(|piece| piece.map(Into::into).map_err(refused));
    OutboundBody::Stream(Box::pin(futures::stream::iter(pieces)))
}

/// A request of app code.
pub(super) fn request(method: &str, url: &str) -> FetchRequest {
    let body = FetchBody::Complete(bytes::Bytes::new());
    let redirect = RedirectMode::Follow;
    FetchRequest { method: method.into(), url: url.into(), headers: Vec::new(), body, redirect }
}

/// A request of a visitor.
pub(super) fn visit(method: &str, url: &str) -> HttpRequest {
    HttpRequest { method: method.into(), url: url.into(), headers: Vec::new(), body: bytes::Bytes::new() }
}

pub(super) fn labels(finished: &FinishedRun) -> Vec<(&str, StepStatus, Option<&str>)> {
    finished.steps.iter().map(|it| (it.label.as_str(), it.status, it.detail.as_deref())).collect()
}

pub(super) fn code(conclusion: &AttemptOutcome) -> &str {
    match conclusion {
        AttemptOutcome::Succeeded => "ok",
        AttemptOutcome::Failed(fault)
        | AttemptOutcome::Blocked(fault)
        | AttemptOutcome::Retry { fault, .. } => &fault.code,
        AttemptOutcome::Wait { .. } => "waits",
    }
}
