use std::{collections::BTreeMap, pin::Pin, sync::Mutex, time::Duration};

use apps::{App, AppVersion, AppsRead, Manifest, VersionKind, access::Grant, versions::VersionContent};
use backend_data::{
    Catalog, Column, ColumnType, Dialect, ProjectRef, RowStore, StoreError as RowsError, Table,
    store::{Answer, Import, Place, Read, SchemaChange, Write},
};
use connections::{
    Gate, GateReader, GateStatus, OutboundRequest, OutboundResponse, Permit, Refusal, RefusalCode,
    gates::{GateView, Method},
};
use kernel::{
    Id, SeededRandomness, Timestamp,
    authority::{AppFact, AppRights, Visibility},
    clock::ManualClock,
    events::RefusedCall,
    id::{GateId, ProjectId, RunId, UserId},
    page::PageRequest,
    token::Digest,
};
use mockall::mock;
use observability::LogSink;
use projects::{Project, ProjectFact, ProjectKey, ProjectsRead, projects::ProjectSummary};
use runs::{
    TriggerKind,
    engine::{DataCall, Handlers, Host, HostError, HttpResponse},
};
use serde_json::{json, value::RawValue};
use uuid::Uuid;

use super::*;

mock! {
    Store {}

    #[async_trait]
    impl AppsRead for Store {
        async fn app_fact(&self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError>;
        async fn app_by_slug(&self, slug: &str) -> Result<Option<App>, StoreError>;
        async fn app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<App>, StoreError>;
        async fn apps(
            &self,
            workspace: WorkspaceId,
            user: UserId,
            visible: Visibility,
            page: PageRequest,
        ) -> Result<Vec<(App, AppRights)>, StoreError>;
        async fn versions(
            &self,
            workspace: WorkspaceId,
            app: AppId,
            page: PageRequest,
        ) -> Result<Vec<AppVersion>, StoreError>;
        async fn version(
            &self,
            workspace: WorkspaceId,
            app: AppId,
            version: VersionId,
        ) -> Result<Option<(AppVersion, VersionContent)>, StoreError>;
        async fn grants(&self, workspace: WorkspaceId, app: AppId) -> Result<Vec<Grant>, StoreError>;
    }

    #[async_trait]
    impl GateReader for Store {
        async fn list(&self, workspace: WorkspaceId, since: Timestamp) -> Result<Vec<GateView>, StoreError>;
        async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError>;
        async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError>;
    }

    #[async_trait]
    impl LogSink for Store {
        async fn append_log(
            &self,
            workspace: WorkspaceId,
            app: AppId,
            lines: Vec<NewLogLine>,
            refused: Vec<RefusedCall>,
        ) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ProjectsRead for Store {
        async fn project_fact(&self, project: ProjectId) -> Result<Option<ProjectFact>, StoreError>;
        async fn project(
            &self,
            workspace: WorkspaceId,
            project: ProjectId,
        ) -> Result<Option<ProjectSummary>, StoreError>;
        async fn project_by_key(&self, project: ProjectId) -> Result<Option<Project>, StoreError>;
        async fn projects(&self, workspace: WorkspaceId) -> Result<Vec<ProjectSummary>, StoreError>;
        async fn project_keys(
            &self,
            workspace: WorkspaceId,
            project: ProjectId,
        ) -> Result<Vec<ProjectKey>, StoreError>;
        async fn project_key_by_digest(&self, digests: &[Digest]) -> Result<Option<ProjectKey>, StoreError>;
    }
}

type Script = dyn Fn(Invocation, Arc<dyn Host>) -> Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send>>
    + Send
    + Sync;

/// An engine whose app code is a closure.
struct Scripted(Box<Script>);

#[async_trait]
impl Engine for Scripted {
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<Output, Failure> {
        (self.0)(invocation, host).await
    }

    async fn check(&self, _: WorkspaceId, _: Arc<engine::Bundle>) -> Result<Handlers, Failure> {
        Ok(Handlers { scheduled: true, fetch: true })
    }
}

/// Rows of the tables `notes` and `secrets`: every read and write gives one row.
struct Rows;

#[async_trait]
impl RowStore for Rows {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
    fn place(&self, _: &ProjectRef) -> Place {
        Place { prefix: String::new(), guard: None }
    }
    async fn create_project(&self, _: &ProjectRef) -> Result<(), RowsError> {
        Ok(())
    }
    async fn drop_project(&self, _: &ProjectRef) -> Result<(), RowsError> {
        Ok(())
    }
    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, RowsError> {
        assert_eq!(project.id.as_str(), id::<kernel::id::kind::Project>(7).to_string());
        let column = |name: &str, kind| Column { name: name.into(), kind, nullable: false, system: true };
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
    async fn change(&self, _: &ProjectRef, _: SchemaChange) -> Result<(), RowsError> {
        Ok(())
    }
    async fn read(&self, _: &ProjectRef, read: Read) -> Result<Answer, RowsError> {
        let missing = format!("{:?}", read.params).contains("missing");
        let (body, rows) = if missing { ("[]", 0) } else { (r#"[{"id":"1"}]"#, 1) };
        Ok(answer(body, rows))
    }
    async fn write(&self, _: &ProjectRef, _: Write) -> Result<Answer, RowsError> {
        Ok(answer(r#"[{"id":"1"}]"#, 1))
    }
    async fn write_all(&self, project: &ProjectRef, writes: Vec<Write>) -> Result<Vec<Answer>, RowsError> {
        let mut answers = Vec::with_capacity(writes.len());
        for write in writes {
            answers.push(self.write(project, write).await?);
        }
        Ok(answers)
    }
    async fn import(&self, _: &ProjectRef, _: Import) -> Result<u64, RowsError> {
        Err(RowsError::Stale)
    }
}

fn answer(body: &str, rows: u64) -> Answer {
    Answer { body: body.into(), rows, total: None, inserted: None, keys: None }
}

/// The outside: `slow.example.com` answers nothing, the others 200.
#[derive(Default)]
struct Web(Mutex<Vec<String>>);

#[async_trait]
impl Outbound for Web {
    async fn send(&self, request: OutboundRequest, permit: Permit) -> Result<OutboundResponse, Refusal> {
        self.0.lock().unwrap().push(permit.url().to_string());
        tokio::time::sleep(Duration::from_millis(34)).await;
        if permit.host().as_str() == "slow.example.com" {
            return Err(Refusal::new(RefusalCode::Timeout, "slow.example.com took too long"));
        }
        Ok(OutboundResponse { status: 200, headers: Vec::new(), body: request.body })
    }
}

fn id<K>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

fn start() -> Timestamp {
    "2026-11-21T09:00:00Z".parse().unwrap()
}

fn manifest() -> Manifest {
    let value = json!({
        "name": "Notes", "description": "keeps notes", "archetype": "workshop", "category": "data",
        "permissions": {
            "data": [
                {"name": "notes", "projectId": id::<kernel::id::kind::Project>(7), "access": "write", "tables": ["notes"]},
                {"name": "readonly", "projectId": id::<kernel::id::kind::Project>(7), "access": "read"},
                {"name": "foreign", "projectId": id::<kernel::id::kind::Project>(8), "access": "write"},
            ],
            "connectors": [{"name": "crm", "connectionId": id::<kernel::id::kind::Connection>(9)}],
            "egress": [{"host": "api.example.com", "methods": ["GET"]}, {"host": "slow.example.com"}],
        },
        "roi": {"manualMinutesPerRun": 12.5},
    });
    Manifest::parse(&value).unwrap()
}

fn version() -> (AppVersion, VersionContent) {
    let version = AppVersion {
        id: id(3),
        app: id(2),
        workspace: id(1),
        number: 1,
        created_at: start(),
        created_by: id(4),
        bundle_hash: String::new(),
        trust_score: 100,
        kind: VersionKind::Edit,
        summary: "first".into(),
        base: None,
        created_by_name: None,
    };
    let files = BTreeMap::from([("main.js".to_owned(), "export default {}".to_owned())]);
    (version, VersionContent { manifest: manifest(), files })
}

fn gate(host: &str) -> Gate {
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

/// A store with the app, its version and gates; the projects are only of workspace 1, and number 7 alone.
fn store() -> MockStore {
    let mut store = MockStore::new();
    store.expect_version().times(..=1).returning(|workspace, app, version_id| {
        let known = (workspace, app, version_id) == (id(1), id(2), id(3));
        Ok(known.then(version))
    });
    store.expect_project().returning(|workspace, project| {
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
    });
    store
        .expect_open_gates()
        .times(..=1)
        .returning(|_| Ok(vec![gate("api.example.com"), gate("slow.example.com")]));
    store
}

fn executor<W>(
    store: MockStore,
    script: impl Fn(Invocation, Arc<dyn Host>) -> W + Send + Sync + 'static,
) -> Executor
where
    W: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    let outside = Outside {
        engine: Arc::new(Scripted(Box::new(move |invocation, host| Box::pin(script(invocation, host))))),
        rows: Arc::new(backend_data::Engine::with_system(Arc::new(Rows))),
        outbound: Arc::new(Web::default()),
        reads: Arc::new(store),
        clock: Arc::new(ManualClock::new(start())),
        random: Arc::new(SeededRandomness::new(1)),
    };
    Executor::new(outside, ExecutorSettings::default())
}

fn claimed() -> ClaimedRun {
    ClaimedRun {
        id: id::<kernel::id::kind::Run>(6) as RunId,
        workspace: id(1),
        app: id(2),
        standing: AppStanding::Ready,
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

fn nothing() -> Result<Output, Failure> {
    Ok(Output::Scheduled(RawValue::NULL.to_owned()))
}

/// App code that does not catch what the host says.
fn uncaught(error: HostError) -> Failure {
    Failure { code: FailureCode::AppError, message: error.to_string(), host_code: Some(error.code) }
}

fn request(method: &str, url: &str) -> HttpRequest {
    HttpRequest { method: method.into(), url: url.into(), headers: Vec::new(), body: bytes::Bytes::new() }
}

fn labels(finished: &FinishedRun) -> Vec<(&str, StepStatus, Option<&str>)> {
    finished.steps.iter().map(|it| (it.label.as_str(), it.status, it.detail.as_deref())).collect()
}

fn code(conclusion: &Conclusion) -> &str {
    match conclusion {
        Conclusion::Succeeded => "ok",
        Conclusion::Failed(fault) | Conclusion::Blocked(fault) | Conclusion::Retry { fault, .. } => {
            &fault.code
        }
        Conclusion::Wait { .. } => "waits",
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_asks_is_stopped_until_it_is_answered() {
    use runs::{approvals::Answer, engine::Question};
    let asks = || {
        executor(store(), async |_, host: Arc<dyn Host>| {
            let question = |title: &str| Question { title: title.to_owned(), detail: None };
            let refused = host.approval(question("")).await.unwrap_err();
            assert_eq!(refused.code, "approval_unavailable");
            let answer = host.approval(question("Pay?")).await.unwrap();
            host.log(engine::LogLevel::Info, answer.get().to_owned());
            nothing()
        })
    };
    let finished = asks().run(claimed()).await;
    let Conclusion::Wait { number, question, .. } = &finished.conclusion else {
        panic!("{:?}", finished.conclusion)
    };
    assert_eq!((*number, question.title.as_str()), (0, "Pay?"));
    assert_eq!(finished.steps[0].status, StepStatus::Waiting);
    let answers = vec![Answer { approved: true, expired: false }];
    let finished = asks().run(ClaimedRun { answers, attempt: 2, ..claimed() }).await;
    assert_eq!(finished.conclusion, Conclusion::Succeeded);
    assert_eq!(finished.lines[0].message, r#"{"approved":true,"expired":false}"#);
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_what_it_said_did_and_saved() {
    let executor = executor(store(), async |invocation: Invocation, host: Arc<dyn Host>| {
        let Entry::Scheduled(event) = &invocation.entry else { panic!("not a run") };
        assert_eq!((event.trigger.as_str(), event.data.get(), event.attempt), ("webhook", r#"{"id":1}"#, 1));
        assert_eq!(invocation.bindings.data, ["notes", "readonly"], "a foreign project is not there");
        assert_eq!(invocation.bindings.connections, ["crm"]);
        host.log(engine::LogLevel::Info, "begun".into());
        let answer = host.fetch(request("GET", "https://api.example.com/v1?key=secret")).await;
        assert_eq!(answer.unwrap().status, 200);
        let rows = RawValue::from_string(r#"{"id":"1"}"#.into()).unwrap();
        let inserted = host.data("notes", DataCall::Insert { table: "notes".into(), rows }).await.unwrap();
        assert_eq!(inserted.get(), r#"[{"id":"1"}]"#);
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.conclusion, Conclusion::Succeeded);
    assert_eq!(finished.minutes_saved, 12.5);
    let steps = [
        ("Run main.js", StepStatus::Ok, None),
        ("GET api.example.com", StepStatus::Ok, Some("200")),
        ("Insert into notes", StepStatus::Ok, Some("1 row")),
    ];
    assert_eq!(labels(&finished), steps);
    let lines: Vec<_> = finished.lines.iter().map(|line| (line.by_gate, line.message.as_str())).collect();
    assert_eq!(lines, [(false, "begun"), (true, "GET api.example.com allowed 200 34 ms")]);
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_is_asked_for_once() {
    // The store's expectations allow one look at the version and, in one run, one at the gates.
    let executor = executor(store(), async |_, host: Arc<dyn Host>| {
        for _ in 0..3 {
            host.fetch(request("GET", "https://api.example.com/")).await.map_err(uncaught)?;
        }
        nothing()
    });
    assert_eq!(executor.run(claimed()).await.conclusion, Conclusion::Succeeded);
}

#[tokio::test]
async fn a_failure_is_tried_again_until_the_retries_are_used_up() {
    let executor = executor(store(), async |_, _| Err(fail(FailureCode::AppError, "main.js:1: no")));
    let finished = executor.run(claimed()).await;
    let Conclusion::Retry { at, fault } = &finished.conclusion else { panic!("{:?}", finished.conclusion) };
    assert_eq!(fault.code, "app_error");
    assert!((1000..1500).contains(&(*at - start()).num_milliseconds()));
    assert_eq!(labels(&finished), [("Run main.js", StepStatus::Failed, Some("app_error"))]);
    assert_eq!(finished.minutes_saved, 0.0);
    let finished = executor.run(ClaimedRun { attempt: 2, ..claimed() }).await;
    assert!(matches!(finished.conclusion, Conclusion::Failed(_)));
}

#[tokio::test(start_paused = true)]
async fn what_a_rule_refused_blocks_unless_the_code_caught_it() {
    for (url, method, expected, blocked) in [
        ("https://evil.example/?secret", "GET", "egress_denied", true),
        ("https://api.example.com/", "DELETE", "method_denied", true),
        ("http://169.254.169.254/latest", "GET", "private_address", true),
        // The other side failed; that is no rule.
        ("https://slow.example.com/", "GET", "app_error", false),
    ] {
        let executor = executor(store(), move |_, host: Arc<dyn Host>| async move {
            host.fetch(request(method, url)).await.map_err(uncaught)?;
            nothing()
        });
        let finished = executor.run(claimed()).await;
        assert_eq!(code(&finished.conclusion), expected, "{url}");
        assert_eq!(matches!(finished.conclusion, Conclusion::Blocked(_)), blocked, "{url}");
        assert!(finished.lines.iter().all(|line| line.by_gate && !line.message.contains("secret")));
        let status = if blocked { StepStatus::Blocked } else { StepStatus::Failed };
        assert_eq!(finished.steps[1].status, status);
    }
    let catches = executor(store(), async |_, host: Arc<dyn Host>| {
        drop(host.fetch(request("GET", "https://evil.example/")).await);
        // The code claims a refusal that the gate never made.
        Err(Failure { host_code: Some("private_address".into()), ..fail(FailureCode::AppError, "no") })
    });
    let finished = catches.run(ClaimedRun { retries: 0, ..claimed() }).await;
    assert_eq!(code(&finished.conclusion), "app_error");
    assert!(finished.lines[0].message.starts_with("GET evil.example refused egress_denied "));
}

#[tokio::test]
async fn rows_stay_within_scopes_and_tables() {
    let executor = executor(store(), async |_, host: Arc<dyn Host>| {
        let select = |table: &str| DataCall::Select { table: table.into(), query: String::new() };
        let delete = DataCall::Delete { table: "notes".into(), query: "id=eq.1".into() };
        for (binding, call, expected) in [
            ("notes", select("notes"), "ok"),
            ("notes", select("secrets"), "table_not_found"),
            ("notes", select("nowhere"), "table_not_found"),
            ("notes", DataCall::Delete { table: "notes".into(), query: String::new() }, "filter_required"),
            ("notes", delete.clone(), "ok"),
            ("readonly", select("secrets"), "ok"),
            ("readonly", delete, "forbidden"),
            ("foreign", select("notes"), "project_not_found"),
        ] {
            let text = format!("{binding} {call:?}");
            let answer = host.data(binding, call).await;
            assert_eq!(answer.map_or_else(|error| error.code, |_| "ok".into()), expected, "{text}");
        }
        let get = |id: &str| DataCall::Get { table: "notes".into(), id: id.into() };
        assert_eq!(host.data("notes", get("1")).await.unwrap().get(), r#"{"id":"1"}"#);
        assert_eq!(host.data("notes", get("missing")).await.unwrap().get(), "null");
        let error = host.connection_fetch("crm", request("GET", "/me")).await.unwrap_err();
        assert_eq!(error.code, "not_connected");
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.conclusion, Conclusion::Succeeded);
    assert!(finished.lines[0].message.starts_with("GET through crm refused not_connected "));
}

#[tokio::test]
async fn steps_are_bounded() {
    let executor = executor(store(), async |_, host: Arc<dyn Host>| {
        for _ in 0..60 {
            let select = DataCall::Select { table: "notes".into(), query: String::new() };
            host.data("notes", select).await.map_err(uncaught)?;
        }
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(finished.steps.len(), record::MAX_STEPS);
    assert_eq!(finished.steps[49].label, "12 more calls");
}

#[tokio::test]
async fn what_cannot_run_is_not_run() {
    let never = |_, _| async { panic!("it ran") };
    let run = async |store: MockStore, run: ClaimedRun| {
        let finished = executor(store, never).run(run).await;
        assert!(matches!(finished.conclusion, Conclusion::Failed(_)));
        assert!(finished.steps.is_empty());
        code(&finished.conclusion).to_owned()
    };
    assert_eq!(run(store(), ClaimedRun { version: None, ..claimed() }).await, "no_version");
    assert_eq!(run(store(), ClaimedRun { version: Some(id(99)), ..claimed() }).await, "no_version");
    assert_eq!(run(store(), ClaimedRun { attempt: 6, ..claimed() }).await, "lease_lost");
    let paused = ClaimedRun { standing: AppStanding::Paused, ..claimed() };
    assert_eq!(run(store(), paused).await, "app_paused");
    let gone = ClaimedRun { standing: AppStanding::Gone, ..claimed() };
    assert_eq!(run(store(), gone).await, "app_deleted");
}

#[tokio::test]
async fn our_own_troubles_do_not_cost_the_app_its_retries() {
    let mut away = MockStore::new();
    away.expect_version().returning(|_, _, _| Err(StoreError::Unavailable("away".into())));
    let executor = executor(away, |_, _| async { panic!("it ran") });
    let finished = executor.run(ClaimedRun { retries: 0, ..claimed() }).await;
    assert!(matches!(finished.conclusion, Conclusion::Retry { .. }), "{:?}", finished.conclusion);
}

#[tokio::test]
async fn an_answer_over_http_leaves_its_lines_in_the_log() {
    let mut store = store();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&kept);
    store.expect_append_log().returning(move |_, _, lines, _| {
        sink.lock().unwrap().extend(lines.into_iter().map(|line| (line.source, line.message)));
        Ok(())
    });
    let executor = executor(store, async |invocation: Invocation, host: Arc<dyn Host>| {
        let Entry::Fetch(request) = invocation.entry else { panic!("not a request") };
        host.log(engine::LogLevel::Warn, "asked".into());
        if request.method == "POST" {
            return Err(fail(FailureCode::AppError, "main.js:1: no"));
        }
        Ok(Output::Response(HttpResponse { status: 201, headers: Vec::new(), body: request.body }))
    });
    let serve = async |method, version: VersionId| {
        executor.serve(id(1), id(2), version, request(method, "https://notes.example.com/")).await
    };
    let answer = serve("GET", id(3)).await.unwrap();
    assert!(matches!(answer, runs::serve::Answer::Whole(HttpResponse { status: 201, .. })), "{answer:?}");
    assert_eq!(serve("POST", id(3)).await.unwrap_err().code, FailureCode::AppError);
    executor.flush().await;
    let expected = [
        (LogSource::App, "asked".to_owned()),
        (LogSource::App, "asked".to_owned()),
        (LogSource::Platform, "app_error: main.js:1: no".to_owned()),
    ];
    let mut kept = kept.lock().unwrap().clone();
    kept.sort_by_key(|(source, _)| *source);
    assert_eq!(kept, expected);
}

/// The lines that an app's log was given.
fn lines_kept(store: &mut MockStore) -> Arc<Mutex<Vec<String>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&kept);
    store.expect_append_log().returning(move |_, _, lines, _| {
        sink.lock().unwrap().extend(lines.into_iter().map(|line| line.message));
        Ok(())
    });
    kept
}

#[tokio::test]
async fn a_streamed_answer_leaves_its_lines_at_its_end() {
    let mut store = store();
    let kept = lines_kept(&mut store);
    let (ends, end) = tokio::sync::oneshot::channel();
    let end = Mutex::new(Some(end));
    let executor = executor(store, move |_, host: Arc<dyn Host>| {
        let end = end.lock().unwrap().take().unwrap();
        async move {
            host.log(engine::LogLevel::Info, "begun".into());
            let end = async move {
                let result = end.await.unwrap();
                host.log(engine::LogLevel::Info, "late".into());
                result
            };
            let body = Box::pin(futures::stream::empty());
            Ok(Output::Streamed(Streamed { status: 200, headers: Vec::new(), body, end: Box::pin(end) }))
        }
    });
    let request = request("GET", "https://notes.example.com/");
    let answer = executor.serve(id(1), id(2), id(3), request).await.unwrap();
    // The visitor goes, and the code goes on.
    drop(answer);
    assert!(kept.lock().unwrap().is_empty());
    ends.send(Err(fail(FailureCode::Timeout, "too long"))).unwrap();
    executor.flush().await;
    assert_eq!(*kept.lock().unwrap(), ["begun", "late", "timeout: too long"]);
}

#[tokio::test]
async fn a_stop_cuts_streamed_answers_off_and_keeps_their_lines() {
    let mut store = store();
    let kept = lines_kept(&mut store);
    let executor = executor(store, async |_, host: Arc<dyn Host>| {
        host.log(engine::LogLevel::Info, "begun".into());
        let (body, end) = (Box::pin(futures::stream::pending()), Box::pin(std::future::pending()));
        Ok(Output::Streamed(Streamed { status: 200, headers: Vec::new(), body, end }))
    });
    let request = request("GET", "https://notes.example.com/");
    let _answer = executor.serve(id(1), id(2), id(3), request).await.unwrap();
    executor.cut_streams();
    executor.flush().await;
    assert_eq!(*kept.lock().unwrap(), ["begun", "overloaded: the server stopped before the end"]);
}
