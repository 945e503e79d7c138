//! Query plans of SQLite: no frequent query reads a whole table.

mod many_apps;
mod prepared_anew;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use ::apps::{
    App, AppsRead as _, AppsTx as _, Category, Manifest, VersionKind, changes::ChangesRead as _,
    manifest::EgressPermission, versions::VersionContent,
};
use ::connections::{Gate, GateReader as _, GateStatus, GateTx as _, app_secrets::AppSecretReader as _};
use ::identity::{
    IdentityRead as _, IdentityTx as _, User, oauth::OAuthRead as _, ports::TokenUsageWriter as _,
};
use ::observability::{
    AppMetrics, EventFeed as _, HealthRead as _, LogQuery, LogRead as _, MetricsLog as _, MetricsRead as _,
    NotificationQueue as _, NotificationsRead as _, Resolution,
    feed::{FeedQuery, Topic},
    logs::EventLinesQuery,
    metrics::{MetricsEntry, MetricsQuery},
    notifications::{Notification, NotificationSubject},
};
use ::projects::{ProjectsRead as _, ports::TrafficLog as _};
use ::runs::{
    Automation, AutomationStatus, RunsRead as _, RunsTx as _, Trigger, Webhook,
    agent_tools::{AgentToolsRead as _, ToolName},
    automations::occurrences::OccurrencesRead as _,
    dead_letters::{DeadLetterFilter, DeadLettersRead as _},
    ports::ScheduleStore as _,
    queue::{AttemptOutcome, FinishedRun, LEASE, RunQueue as _},
    quota::HeldRunsStore as _,
    runs::RunFilter,
    webhooks::{AcceptCall, AcceptOutcome, DedupKey, Proof, RefusedCallsLog as _, WebhookStore as _},
};
use ::workspace::{
    Plan, Workspace, WorkspaceRead as _, WorkspaceTx as _,
    audit_log::{ActorFilter, AuditFilter, AuditRead as _},
    invites::InvitesRead as _,
    join_domains::JoinDomainsRead as _,
    members::{MemberPosition, MembersRead as _},
    workspaces::{Currency, Profile, TeamSize},
};
use kernel::{
    Caller, Context, Id, SeededRandomness, Timestamp, UnitOfWork as _,
    authority::{Role, Sharing, Visibility},
    id::{AppId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};
use sea_orm::{ConnectionTrait as _, Statement};

use crate::{Store, StoreTx, connect, group_commit::GroupCommit, pool::WriteLock};

/// Log of the statements that a store has sent.
#[derive(Clone, Default)]
struct StatementLog(Arc<Mutex<Vec<Statement>>>);

impl StatementLog {
    fn take(&self) -> Vec<Statement> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Opens a store on an empty database, with a log of what it sends.
async fn open_recording(folder: &tempfile::TempDir) -> (Store, StatementLog) {
    let url = format!("sqlite://{}", folder.path().join("qala.db").display()).parse().unwrap();
    let mut connections = connect::connect(&url, connect::IfMissing::Create).await.unwrap();
    connect::migrate(&connections).await.unwrap();
    let sent = StatementLog::default();
    for db in [&mut connections.read, &mut connections.write] {
        let sent = sent.clone();
        db.set_metric_callback(move |info| sent.0.lock().unwrap().push(info.statement.clone()));
    }
    // Over the pool, so that the group commit's statements are seen too.
    let work = Arc::default();
    let bells = Arc::default();
    let hot = GroupCommit::on_pool(&connections.write, &work, &bells);
    (Store::from_parts(connections, WriteLock::unrestricted(), hot, work, bells), sent)
}

/// Returns SQLite's plan of each of these statements, a line a table.
async fn query_plans(store: &Store, statements: Vec<Statement>) -> Vec<(String, Vec<String>)> {
    let mut plans = Vec::new();
    for statement in statements {
        let sql = statement.sql.clone();
        let explain = Statement { sql: format!("EXPLAIN QUERY PLAN {sql}"), ..statement };
        let rows = store.read().query_all_raw(explain).await.unwrap();
        plans.push((sql, rows.iter().map(|row| row.try_get_by_index(3).unwrap()).collect()));
    }
    plans
}

/// Everything that was sent since the last look finds its rows by an index or a primary key.
async fn assert_found_by_index(store: &Store, sent: &StatementLog, what: &str, index: &str) {
    let plans = query_plans(store, sent.take()).await;
    // The questions about plans were sent as well.
    sent.take();
    assert!(!plans.is_empty(), "{what} sent nothing");
    for (sql, plan) in &plans {
        for line in plan {
            // Lists that stand in the statement itself are no tables.
            let of_statement = line.ends_with("CONSTANT ROW")
                || line.ends_with("CONSTANT ROWS")
                || line.ends_with("VALUES CLAUSE")
                || ["SCAN used", "SCAN done", "SCAN next", "SCAN d", "SCAN feed", "SCAN found LEFT-JOIN"]
                    .contains(&line.as_str())
                || line.starts_with("SCAN turn")
                // The latest runs of one automation, at most 12.
                || line == "SCAN latest"
                // The newest notifications of a workspace, at most 1,000.
                || line == "SCAN newest"
                // Holds the runs that nodes are at work at, which are few.
                || line == "SCAN run_queue USING INDEX run_queue_leased"
                // Holds the held runs, at most 1,000 of a workspace.
                || line == "SCAN run_queue USING COVERING INDEX run_queue_held"
                // Holds the automations that wait for an event, and is looked into for one of them.
                || (line.ends_with("COVERING INDEX automations_by_event") && sql.ends_with("LIMIT 1"));
            assert!(!line.starts_with("SCAN") || of_statement, "{what}: {line} in\n{sql}\n{plan:#?}");
        }
    }
    let found = plans.iter().flat_map(|(_, plan)| plan).any(|line| {
        line.contains(&format!("USING INDEX {index}"))
            || line.contains(&format!("USING COVERING INDEX {index}"))
            || (index == "PRIMARY KEY" && line.contains("USING PRIMARY KEY"))
    });
    assert!(found, "{what} does not use {index}: {plans:#?}");
}

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

struct World {
    context: Context,
    user: UserId,
    workspace: WorkspaceId,
    app: AppId,
}

impl World {
    fn new() -> Self {
        let random = Arc::new(SeededRandomness::new(3));
        let request = Id::generate(&*random, now());
        let context = Context::new(Caller::System("test"), now(), request, None, random);
        Self { user: context.new_id(), workspace: context.new_id(), app: context.new_id(), context }
    }

    async fn commit(&self, mut tx: StoreTx) {
        tx.audit(self.context.audit_entry("session.create"));
        Box::new(tx).commit().await.unwrap();
    }

    fn app(&self) -> App {
        App {
            id: self.app,
            workspace: self.workspace,
            slug: "invoices".to_owned(),
            name: "Invoices".to_owned(),
            description: String::new(),
            archetype: "workshop".to_owned(),
            category: Category::Money,
            sharing: Sharing::Team,
            is_paused: false,
            is_in_review: false,
            current_version: None,
            created_by: self.user,
            created_at: now(),
        }
    }

    /// A person, a workspace, an app with a version and a gate, and an automation with a webhook.
    async fn seed(&self, store: &Store) -> Webhook {
        let id = &self.context;
        let user = User {
            id: self.user,
            name: "Aru".to_owned(),
            email: "aru@example.com".parse().unwrap(),
            created_at: now(),
        };
        let workspace = Workspace {
            id: self.workspace,
            slug: "acme".to_owned(),
            name: "Acme".to_owned(),
            profile: Profile::Global,
            team_size: TeamSize::Solo,
            intents: Vec::new(),
            locale: kernel::Locale::En,
            timezone: "UTC".to_owned(),
            currency: Currency::Eur,
            hourly_cost_minor: 1,
            plan: Plan::Free,
            created_at: now(),
        };
        let mut manifest = Manifest::minimal("Invoices", "Sends invoices.", "workshop", Category::Money);
        manifest.permissions.egress.push(EgressPermission::new("api.example.com", None));
        let version = ::apps::AppVersion {
            id: id.new_id(),
            app: self.app,
            workspace: self.workspace,
            number: 1,
            created_at: now(),
            created_by: self.user,
            bundle_hash: String::new(),
            trust_score: 100,
            handlers: None,
            kind: VersionKind::Edit,
            summary: "First".to_owned(),
            base: None,
            created_by_name: None,
            is_runnable: true,
            built_from: None,
        };
        let gate = Gate {
            id: id.new_id(),
            workspace: self.workspace,
            name: "Api".to_owned(),
            host: "api.example.com".parse().unwrap(),
            methods: Vec::new(),
            connection: None,
            status: GateStatus::Open,
            created_at: now(),
        };
        let automation = Automation {
            id: id.new_id(),
            workspace: self.workspace,
            app: self.app,
            name: "Hook".to_owned(),
            trigger: Trigger::Webhook,
            status: AutomationStatus::Active,
            max_concurrency: Some(2),
            retries: 0,
            next_run_at: None,
            created_by: self.user,
            created_at: now(),
        };
        let webhook = Webhook {
            id: id.new_id(),
            automation: automation.id,
            workspace: self.workspace,
            proof: Proof::None,
            is_enabled: true,
            per_minute: 60,
            created_at: now(),
            updated_at: now(),
        };
        let content = VersionContent { manifest, files: BTreeMap::new() };
        let mut tx = store.begin().await.unwrap();
        tx.insert_user(&user).await.unwrap();
        tx.insert_workspace(&workspace).await.unwrap();
        tx.insert_member(self.workspace, self.user, Role::Owner, now()).await.unwrap();
        tx.insert_app(&self.app()).await.unwrap();
        tx.insert_version(&version, &content).await.unwrap();
        tx.update_app(&App { current_version: Some(version.id), ..self.app() }).await.unwrap();
        tx.insert_gate(&gate).await.unwrap();
        tx.insert_automation(&automation).await.unwrap();
        tx.upsert_webhook(&webhook).await.unwrap();
        self.commit(tx).await;
        webhook
    }

    async fn accept(&self, store: &Store, webhook: &Webhook) -> AcceptOutcome {
        let state = store.webhook_snapshot(webhook.id, true).await.unwrap().unwrap();
        let call = AcceptCall {
            hook: webhook.id,
            revisions: state.revisions,
            workspace: self.workspace,
            automation: webhook.automation,
            app: self.app,
            trigger: state.trigger,
            run: self.context.new_id(),
            delivery: self.context.new_id(),
            keys: vec![DedupKey { digest: [1; 32], expires_at: now() + LEASE }],
            signature: None,
            input: serde_json::value::RawValue::from_string("1".to_owned()).unwrap(),
            bytes: 1,
            is_sample: false,
            at: now(),
            max_concurrency: state.max_concurrency,
            runs_per_month: state.runs_per_month,
            audit: None,
            may_start: true,
        };
        store.accept(call).await.unwrap()
    }
}

#[tokio::test]
async fn what_is_asked_often_is_found_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let (store, sent) = open_recording(&folder).await;
    let world = World::new();
    let webhook = world.seed(&store).await;
    sent.take();
    let check = async |what: &str, index: &str| assert_found_by_index(&store, &sent, what, index).await;
    let digests = [Digest::from_slice(&[1; 36]).unwrap(), Digest::from_slice(&[2; 36]).unwrap()];
    let page = PageRequest { limit: 50, after: Some(world.context.new_id::<kernel::id::kind::Run>().uuid()) };
    let first = PageRequest { after: None, ..page };
    let shared = Visibility::Shared { user: Some(world.user), sharing_levels: &[Sharing::Team] };
    let (workspace, app) = (world.workspace, world.app);

    store.webhook_snapshot(webhook.id, true).await.unwrap();
    check("a webhook's look-up", "PRIMARY KEY").await;
    assert_eq!(world.accept(&store, &webhook).await, AcceptOutcome::Accepted);
    check("accepting a call", "PRIMARY KEY").await;
    assert!(matches!(world.accept(&store, &webhook).await, AcceptOutcome::Duplicate { .. }));
    check("a call's key", "PRIMARY KEY").await;

    let node = world.context.new_id();
    let run = store
        .claim(node, runs::queue::ClaimLimit::with_total(8), Arc::new(now()))
        .await
        .unwrap()
        .pop()
        .unwrap();
    check("claiming", "run_queue_turns").await;
    let share = kernel::ShareId::from(world.user);
    let without_room =
        runs::queue::ClaimLimit::with_shares(8, 8, std::collections::HashMap::from([(share, 0)]));
    assert!(store.claim(node, without_room, Arc::new(now())).await.unwrap().is_empty());
    check("claiming beside those without room", "run_queue_turns").await;
    store.extend_leases(node, &[run.id], now()).await.unwrap();
    check("extending", "PRIMARY KEY").await;
    store.release_expired_leases(now()).await.unwrap();
    check("lost leases", "run_queue_leased").await;
    let finished = FinishedRun {
        id: run.id,
        workspace,
        app,
        automation: run.automation,
        attempt: 1,
        at: now(),
        started_at: now(),
        outcome: AttemptOutcome::Succeeded,
        minutes_saved: 0.0,
        result: None,
        steps: Vec::new(),
        lines: Vec::new(),
    };
    assert!(store.finish(node, finished).await.unwrap());
    check("finishing", "run_queue_by_automation").await;
    store.due_automations(now(), 10).await.unwrap();
    check("due schedules", "automations_due").await;

    store.run(workspace, run.id).await.unwrap();
    check("a run", "PRIMARY KEY").await;
    for visible in [Visibility::All, shared] {
        store.runs(workspace, visible, RunFilter::default(), page).await.unwrap();
        check("a workspace's runs", "runs_by_workspace").await;
    }
    for visible in [Visibility::All, shared] {
        let filter = RunFilter { from: Some(now()), to: Some(now()), ..RunFilter::default() };
        store.runs(workspace, visible, filter, page).await.unwrap();
        check("a workspace's runs of a time", "runs_by_workspace").await;
        let bar = std::time::Duration::from_secs(60);
        store.run_histogram(workspace, visible, filter, bar, 20_000).await.unwrap();
        check("a workspace's runs by time", "runs_by_workspace").await;
        store.open_changes(workspace, world.user, visible, now()).await.unwrap();
        check("the open plans of a person", "app_changes_by_owner").await;
    }
    for visible in [Visibility::All, shared] {
        let of_app = RunFilter { app: Some(app), ..RunFilter::default() };
        store.runs(workspace, visible, of_app, page).await.unwrap();
        check("the runs of an app", "runs_by_app").await;
        let of_automation = RunFilter { automation: Some(webhook.automation), ..RunFilter::default() };
        store.runs(workspace, visible, of_automation, page).await.unwrap();
        check("the runs of an automation", "runs_by_automation").await;
        for replayed in [true, false] {
            let filter = RunFilter { replayed: Some(replayed), ..of_app };
            store.runs(workspace, visible, filter, page).await.unwrap();
            check("the runs of an app by whether they were replayed", "runs_by_replay").await;
        }
    }
    store.latest_runs(&[webhook.automation, webhook.automation], 12).await.unwrap();
    check("the latest runs of automations", "runs_by_automation").await;
    store.refused_calls(workspace, webhook.id, now()).await.unwrap();
    check("refused calls of a webhook", "PRIMARY KEY").await;
    store.queue_health(workspace, now()).await.unwrap();
    check("the queue's health", "runs_by_finish").await;
    for visible in [Visibility::All, shared] {
        store.dead_letters(workspace, visible, DeadLetterFilter::default(), page).await.unwrap();
        check("a workspace's dead letters", "dead_letters_by_workspace").await;
    }
    store.count_open_dead_letters(workspace).await.unwrap();
    check("open dead letters", "dead_letters_open_by_app").await;
    store.app_health(workspace, &[app], now()).await.unwrap();
    check("the health of an app", "PRIMARY KEY").await;
    for visible in [Visibility::All, shared] {
        store.workspace_health(workspace, visible, now()).await.unwrap();
        check("the health of a workspace", "apps_by_workspace").await;
        store.app_names(workspace, visible, 10).await.unwrap();
        check("the names of apps", "apps_by_workspace").await;
        store.automation_names(workspace, visible, 10).await.unwrap();
        check("the names of automations", "automations_by_workspace").await;
    }
    store.occurrences(workspace, webhook.automation, page).await.unwrap();
    check("the moments of a schedule", "occurrences_by_automation").await;
    store.deliveries(workspace, webhook.id, 20).await.unwrap();
    check("a webhook's deliveries", "deliveries_by_webhook").await;
    let lines = LogQuery {
        level: None,
        source: None,
        text: Some("x".to_owned()),
        run: None,
        before: Some(9),
        limit: 200,
    };
    store.log_lines(workspace, app, &lines).await.unwrap();
    check("an app's lines", "log_lines_by_app").await;
    store.log_lines(workspace, app, &LogQuery { run: Some(run.id), ..lines }).await.unwrap();
    check("a run's lines", "log_lines_by_").await;

    let minute = Resolution::Minute.start_of(now());
    let entry =
        |minute| MetricsEntry { workspace, app, minute, metrics: AppMetrics::default(), has_responded: true };
    for _ in 0..2 {
        store.add_metrics(node, &[entry(minute), entry(minute + Resolution::Minute.length())]).await.unwrap();
        check("writing metrics", "PRIMARY KEY").await;
    }
    for resolution in Resolution::ALL {
        store.app_metrics(workspace, app, MetricsQuery::new(resolution, minute, 96)).await.unwrap();
        check("an app's metrics", "PRIMARY KEY").await;
    }
    store.delete_expired_metrics(now()).await.unwrap();
    check("expired metrics", "app_metrics_by_time").await;

    for role in [Role::Owner, Role::Member] {
        let caller = kernel::testing::session_of(world.user);
        let reader = kernel::testing::member(&kernel::testing::context(caller, now()), workspace, role);
        for topic in [Topic::All, Topic::Outcomes, Topic::AppLog(app)] {
            store.feed(&reader, FeedQuery { after: 0, topic, limit: 100 }).await.unwrap();
            check("a workspace's feed", "PRIMARY KEY").await;
        }
    }
    for (run, index) in [(Some(run.id), "log_lines_by_run"), (None, "log_lines_of_answers")] {
        let lines = EventLinesQuery { seq: 1, run, after: 0, limit: 200 };
        store.event_log_lines(workspace, app, lines).await.unwrap();
        check("the lines of an event", index).await;
    }
    for role in [Role::Owner, Role::Viewer] {
        let caller = kernel::testing::session_of(world.user);
        let reader = kernel::testing::member(&kernel::testing::context(caller, now()), workspace, role);
        store.notifications(&reader, PageRequest { limit: 50, after: Some(9) }).await.unwrap();
        check("a workspace's notifications", "PRIMARY KEY").await;
        let position = store.read_position(&reader).await.unwrap().unwrap();
        store.count_unread_notifications(&reader, position, 100).await.unwrap();
        check("unread notifications", "PRIMARY KEY").await;
    }
    let told = Notification {
        workspace,
        seq: 9,
        at: now(),
        subject: NotificationSubject::App { app, run: run.id },
        code: "timeout".to_owned(),
    };
    store.claim_notifications(20, now(), LEASE).await.unwrap();
    check("notifications to plan", "notifications_to_plan").await;
    store.email_facts(&told, now()).await.unwrap();
    check("what was e-mailed lately", "notifications_by_hour").await;
    store.plan_deliveries(&told, &[]).await.unwrap();
    check("the end of a plan", "PRIMARY KEY").await;
    store.claim_deliveries(20, now(), LEASE).await.unwrap();
    check("due deliveries of notifications", "notification_deliveries_due").await;
    store.session_by_digest(&digests).await.unwrap();
    check("a session", "sqlite_autoindex_sessions_").await;
    store.token_by_digest(&digests).await.unwrap();
    check("a token", "sqlite_autoindex_tokens_").await;
    store.touch_tokens(&[(world.context.new_id(), now())]).await.unwrap();
    check("a token's use", "PRIMARY KEY").await;
    store.tokens(workspace, world.user, PageRequest { limit: 50, after: None }).await.unwrap();
    check("a person's tokens", "tokens_by_owner").await;
    store.project_key_by_digest(&digests).await.unwrap();
    check("a project's key", "sqlite_autoindex_project_keys_").await;
    store.membership(workspace, world.user).await.unwrap();
    check("a membership", "PRIMARY KEY").await;
    store.workspaces_of(world.user, now()).await.unwrap();
    check("a person's workspaces", "members_by_user").await;
    store.open_gates(workspace).await.unwrap();
    check("open gates", "gates_by_workspace").await;
    store.list(workspace, now(), first).await.unwrap();
    check("refusals of gates", "PRIMARY KEY").await;
    store.list(workspace, now(), page).await.unwrap();
    check("gates", "gates_by_workspace").await;
    let name = "KEY".parse().unwrap();
    store.find_app_secret(workspace, app, &name).await.unwrap();
    check("a secret of an app", "PRIMARY KEY").await;
    store.clear_app_secrets(workspace, app).await.unwrap();
    check("an app's secrets in clear", "PRIMARY KEY").await;
    store.list_app_secrets(workspace, app).await.unwrap();
    check("an app's secrets", "PRIMARY KEY").await;
    store.rollbacks(workspace, app, 50).await.unwrap();
    check("an app's rollbacks", "app_rollbacks_by_app").await;
    store.agent_tools(workspace, world.user, Visibility::All, now()).await.unwrap();
    check("a workspace's tools", "agent_tools_by_name").await;
    store.agent_tool(workspace, webhook.automation, world.user, now()).await.unwrap();
    check("the tool of an automation", "agent_tools_by_automation").await;
    store.automation_of_tool(workspace, &ToolName::parse("tool").unwrap()).await.unwrap();
    check("a tool by its name", "agent_tools_by_name").await;
    store.tool_app(workspace, app).await.unwrap();
    check("the permissions of an app", "PRIMARY KEY").await;
    store.run_result(workspace, run.id).await.unwrap();
    check("the result of a run", "sqlite_autoindex_run_results_").await;
    store.workspaces_with_held_runs().await.unwrap();
    check("workspaces with held runs", "run_queue_held").await;
    store.release_held_runs(workspace, now()).await.unwrap();
    check("held runs", "run_queue_held").await;
    let of = |action: Option<&str>, actor| AuditFilter {
        action: action.map(str::to_owned),
        actor,
        ..AuditFilter::default()
    };
    for filter in
        [of(None, None), of(None, Some(ActorFilter::Person(world.user))), of(None, Some(ActorFilter::Agents))]
    {
        store.audit_records(workspace, &filter, page).await.unwrap();
        check("a workspace's audit log", "audit_log_by_workspace").await;
    }
    store.audit_records(workspace, &of(Some("member.join"), None), page).await.unwrap();
    check("an action in the audit log", "audit_log_by_action").await;
    let target = AuditFilter { target: Some(app.to_string()), ..AuditFilter::default() };
    store.audit_records(workspace, &target, page).await.unwrap();
    check("an object in the audit log", "audit_log_by_target").await;
    let of_app = AuditFilter { app: Some(app), ..AuditFilter::default() };
    store.audit_records(workspace, &of_app, page).await.unwrap();
    check("the history of an app", "audit_log_by_app").await;
    let targets = [app.to_string(), run.id.to_string(), webhook.id.to_string(), world.user.to_string()];
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    store.audited_objects(workspace, &targets).await.unwrap();
    check("the objects of audit entries", "PRIMARY KEY").await;
    store.audit_actions(workspace).await.unwrap();
    check("the actions in the audit log", "audit_log_by_action").await;
    for after in [None, Some(MemberPosition { role: Role::Builder, joined_at: now(), user: world.user })] {
        store.members(workspace, now(), PageRequest { limit: 50, after }).await.unwrap();
        check("a workspace's members", "members_by_rank").await;
    }
    for page in [first, page] {
        store.invites(workspace, page).await.unwrap();
        check("a workspace's invites", "invites_by_workspace").await;
        store.oauth_grants(workspace, world.user, page).await.unwrap();
        check("a person's grants", "oauth_grants_by_owner").await;
        store.workspace_page(world.user, now(), page).await.unwrap();
        check("a page of a person's workspaces", "members_by_user").await;
    }
    for after in [None, Some(7)] {
        store.project_requests(world.context.new_id(), PageRequest { limit: 50, after }).await.unwrap();
        check("a project's requests", "project_requests_by_project").await;
    }
    store.find_invite_by_digest(&digests).await.unwrap();
    check("an invite", "sqlite_autoindex_invites_").await;
    store.join_suggestion(&"example.com".parse().unwrap(), world.user, now()).await.unwrap();
    check("a suggestion to join", "join_domains_verified").await;
    store.due_join_domains(now(), 10).await.unwrap();
    check("domains to look at", "join_domains_due").await;
}
