//! `qala serve`: builds the adapters, wires the API and the workers, and shuts them down in order.

use std::{
    collections::BTreeMap, io::IsTerminal as _, path::Path, process::ExitCode, sync::Arc, time::Duration,
};

use adapter_dns::DnsTxtResolver;
use adapter_gate::{ClientMetadataFetcher, EgressClient, EgressLimits};
use adapter_jwt::RingJwtVerifier;
use adapter_oidc::OidcIssuers;
use adapter_passkeys::WebauthnRelyingParty;
use adapter_rows::{PgOptions, PgRows, Shards, SqliteOptions, SqliteRows};
use adapter_runtime::{BytecodeDirectory, ConcurrencyLimits, QuickJsEngine, RuntimeConfig};
use adapter_store::Store;
use anyhow::{Context as _, ensure};
use api::{Api, ConsoleEntry, HttpConfig};
use application::{Application, Services, Settings, demo::DemoCall};
use apps::changes::OfflinePlanner;
use backend_data::RowStore;
use connections::{AllowedPorts, OutboundClient};
use identity::{
    oauth::ports::GrantUsageWriter as _,
    passkeys::RelyingParty,
    ports::{SessionUsageWriter as _, TokenUsageWriter as _},
};
use kernel::{
    Clock, Id, Randomness, SystemClock, SystemRandomness,
    id::NodeId,
    mail::Delivery,
    token::Peppers,
    vault::{MasterKeys, Vault},
};
use projects::ports::KeyUsageWriter as _;
use runs::engine::{Engine, InvocationLimits};
use secrecy::{ExposeSecret as _, SecretBox};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use workers::{
    AppMetricsBuffer, AppMetricsWriter, AppSecrets, CallCountWriter, CallCounter, CodeUpkeepWorker,
    ConnectionCredentials, ConnectionCredentialsDeps, Dispatcher, DispatcherOptions, DomainChecks, Executor,
    ExecutorDeps, ExecutorSettings, MailWorker, NotificationWorker, NotificationWorkerDeps, Purger,
    RowChangeReporter, RowChanges, RunReleaser, Scheduler, purger::RowPurge, run_at_interval,
};
use workspace::join_domains::TxtResolver;

use crate::{
    banner,
    cli::{DatabaseArguments, RowsArguments, ServeArguments},
    config::{self, RowsBackend},
    connectors, listener, logging, mail, master_key, oidc, open_file_limit, resolver, serve_lock,
    start_failures,
};

/// Time for which requests and runs may go on after the shutdown began.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(8);
/// Time between searches for audit entries left in the outboxes of projects.
const OUTBOX_INTERVAL: Duration = Duration::from_secs(10);
/// Time between writes of when tokens and keys were last used.
const LAST_USED_INTERVAL: Duration = Duration::from_secs(15);
/// Time between looks for counts of refused calls that are due to be written.
const REFUSED_CALLS_INTERVAL: Duration = Duration::from_secs(5);
/// Time between checks of a paused server for `qala admin resume`.
const RESUME_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Time between evictions of idle counters and deletions of expired data.
const GC_INTERVAL: Duration = Duration::from_secs(60);
/// Time after which the first round of every loop is over.
const START_DURATION: Duration = Duration::from_secs(10);

pub(crate) async fn serve(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    logging::init(arguments.log_format)?;
    open_file_limit::raise_open_file_limit();
    let dev_login = config::is_dev_login_enabled(&arguments)?;
    config::check_rate_limits(&arguments)?;
    ensure!(
        dev_login || arguments.connector_base.is_empty(),
        "--connector-base is for development: it needs --dev-login"
    );
    config::create_data_dir(&arguments.database.data_dir)?;
    let listener = start_failures::explain_bind(TcpListener::bind(arguments.listen).await, arguments.listen)?;
    let bound = listener.local_addr()?;
    let (public_url, console_origin) = config::public_url_and_console_origin(&arguments, bound)?;

    let oidc = oidc::load(arguments.oidc_config.as_deref())?;
    let oauth_apps =
        Arc::new(connectors::load(arguments.connectors_config.as_deref(), &arguments.allowed_hosts)?);

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let random: Arc<dyn Randomness> = Arc::new(SystemRandomness);
    let keys =
        master_key::load(arguments.master_key.as_ref(), &arguments.database.data_dir, dev_login, &*random)?;
    let database_url = config::database_url(&arguments.database)?;
    let shards = config::rows_backends(&arguments.database, &arguments.rows)?;
    let _locks = serve_lock::acquire(&database_url, shards.values())?;
    let option = if arguments.database.database_url.is_some() { "--database-url" } else { "--data-dir" };
    let on_disk =
        |what: &str| format!("{option}: {what}{}", start_failures::full_disk(&arguments.database.data_dir));
    let store = Store::open(&database_url).await.with_context(|| on_disk("cannot open the database"))?;
    // The first write of every start, so that a full or read-only disk is reported here and not to the first caller.
    store.probe_write().await.with_context(|| on_disk("cannot write to the database"))?;
    store.check_or_init_key(&Vault::new(&keys), &*random).await.context("--master-key")?;
    let retired = store.retired_peppers(&Vault::new(&keys)).await?;
    if arguments.paused {
        store.set_paused(true).await?;
    }
    let row_changes = Arc::new(RowChanges::default());
    let rows = backend_data::Engine::with_system(open_rows(&arguments.database, &arguments.rows).await?);
    let rows = Arc::new(rows.with_write_observer(Arc::clone(&row_changes) as _));
    let (mail_transport, delivery) = mail::mail_transport(&arguments, &public_url, Arc::clone(&clock))?;
    let bytecode = bytecode_directory(&keys, &arguments.database.data_dir);
    let engine = start_runtime(arguments.workers, arguments.require_sandbox, bytecode)?;
    if arguments.require_sandbox {
        engine.confinement().await.context("--require-sandbox")?;
    }
    let engine: Arc<dyn Engine> = Arc::new(engine);
    let resolver = resolver::outside_resolver(arguments.dns_server)?;
    let outbound: Arc<dyn OutboundClient> = Arc::new(
        EgressClient::with_resolver(EgressLimits::default(), Arc::clone(&resolver))
            .context("cannot set up TLS")?,
    );
    let credentials = Arc::new(ConnectionCredentials::new(ConnectionCredentialsDeps {
        store: Arc::new(store.clone()),
        vault: Vault::new(&keys),
        outbound: Arc::clone(&outbound),
        oauth_apps: Arc::clone(&oauth_apps),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
    }));
    let calls = Arc::new(CallCounter::default());
    let metrics = Arc::new(AppMetricsBuffer::default());
    let executor = Executor::new(
        ExecutorDeps {
            engine: Arc::clone(&engine),
            rows: Arc::clone(&rows),
            outbound,
            store: Arc::new(store.clone()),
            connections: Arc::new(store.clone()),
            credentials,
            secrets: Arc::new(AppSecrets::new(Arc::new(store.clone()), Vault::new(&keys))),
            calls: Arc::clone(&calls),
            metrics: Arc::clone(&metrics) as _,
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
        },
        ExecutorSettings {
            ports: AllowedPorts::default(),
            allowed_private_hosts: arguments.allowed_hosts.clone(),
            connector_bases: arguments.connector_base.clone(),
            limits: InvocationLimits::default(),
            no_rate_limits: arguments.no_rate_limits,
        },
    );
    let dns: Arc<dyn TxtResolver> =
        Arc::new(DnsTxtResolver::new(arguments.dns_server).context("--dns-server: cannot set up DNS")?);
    let app = Application::new(
        Services {
            store: Arc::new(store.clone()),
            rows: Arc::clone(&rows),
            engine,
            app_server: Arc::new(executor.clone()),
            draft_runner: Arc::new(executor.clone()),
            connection_tester: Arc::new(executor.clone()),
            authorization_servers: Arc::new(executor.clone()),
            change_planner: Arc::new(OfflinePlanner),
            oauth_apps,
            client_documents: Arc::new(
                ClientMetadataFetcher::new(bound.ip().is_loopback(), resolver)
                    .context("cannot set up TLS")?,
            ),
            relying_party: relying_party(&console_origin)?,
            oidc_providers: Arc::new(OidcIssuers::new(oidc).context("--oidc-config")?),
            jwt: Arc::new(RingJwtVerifier),
            txt_resolver: Arc::clone(&dns),
            clock: Arc::clone(&clock),
            random: Arc::clone(&random),
            peppers: Peppers::derive(&keys).with_retired(&retired),
            vault: Vault::new(&keys),
        },
        Settings {
            public_url: public_url.clone(),
            console_origin: console_origin.clone(),
            apps_domain: config::apps_domain(&arguments, &public_url)?,
            delivery,
            dev_login,
            rate_limits: !arguments.no_rate_limits,
            default_plan: arguments.default_plan,
            new_projects_shard: arguments.rows.new_projects_shard,
        },
    );
    let http = HttpConfig {
        trusted_proxies: arguments.trusted_proxies.clone(),
        scratch_dir: arguments.database.data_dir.clone(),
        console: console::entry().map(|console::Entry { head, style, script, preloads }| ConsoleEntry {
            head,
            style,
            script,
            preloads,
        }),
    };

    let shutdown = CancellationToken::new();
    let tasks = TaskTracker::new();
    let node: NodeId = Id::generate(&*random, clock.now());
    let options = DispatcherOptions { slots: arguments.workers.into(), grace: SHUTDOWN_GRACE };
    let dispatcher = Dispatcher::new(
        Arc::new(store.clone()),
        Arc::new(executor.clone()),
        (Arc::clone(&clock), Arc::clone(&random)),
        node,
        options,
    );
    let schedules = Scheduler::new(Arc::new(store.clone()), Arc::clone(&clock), Arc::clone(&random));
    let notifications = NotificationWorker::new(NotificationWorkerDeps {
        queue: Arc::new(store.clone()),
        mail: (delivery == Delivery::Email).then(|| Arc::clone(&mail_transport)),
        console_origin: console_origin.clone(),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
    });
    let mail_worker =
        MailWorker::new(Arc::new(store.clone()), mail_transport, Vault::new(&keys), Arc::clone(&clock));
    let releaser = RunReleaser::new(Arc::new(store.clone()), Arc::clone(&clock));
    let paused = store.is_paused().await?;
    let (work, resumed, stop) = (tasks.clone(), store.clone(), shutdown.clone());
    tasks.spawn(async move {
        if paused && !wait_until_resumed(&resumed, &stop).await {
            return;
        }
        work.spawn(dispatcher.run(stop.clone()));
        work.spawn(schedules.run(stop.clone()));
        work.spawn(releaser.run(stop.clone()));
        work.spawn(mail_worker.run(stop.clone()));
        work.spawn(notifications.run(stop));
    });
    let domains = DomainChecks::new(store.clone(), dns, Arc::clone(&clock), Arc::clone(&random));
    tasks.spawn(domains.run(shutdown.clone()));
    let purger = Purger::new(store.clone(), Arc::clone(&rows) as Arc<dyn RowPurge>, Arc::clone(&clock));
    tasks.spawn(purger.run(shutdown.clone()));
    let upkeep = CodeUpkeepWorker::new(Arc::new(store.clone()), Arc::clone(&clock));
    tasks.spawn(upkeep.run(shutdown.clone()));
    let reporter = RowChangeReporter::new(row_changes, Arc::new(store.clone()), Arc::clone(&clock));
    let call_counts = CallCountWriter::new(calls, Arc::new(store.clone()));
    let metrics = AppMetricsWriter::new(metrics, Arc::new(store.clone()), node);
    // Requests and runs write rows and send requests until the end of the shutdown.
    let end_of_writes = CancellationToken::new();
    let reporter = tokio::spawn(reporter.run(end_of_writes.clone()));
    let call_counts = tokio::spawn(call_counts.run(end_of_writes.clone()));
    let metrics = tokio::spawn(metrics.run(end_of_writes.clone()));
    tasks.spawn(deliver_outboxes(app.clone(), shutdown.clone()));
    tasks.spawn(write_refused_calls(app.clone(), shutdown.clone()));
    tasks.spawn(record_last_used_periodically(app.clone(), store.clone(), shutdown.clone()));
    tasks.spawn(collect_garbage(app.clone(), store.clone(), clock, shutdown.clone()));

    let demo = if dev_login { create_demo(&app).await } else { None };
    banner::print(bound, &public_url, &console_origin, dev_login, demo.as_ref());
    // On a terminal the banner has said so already.
    if !std::io::stderr().is_terminal() {
        tracing::info!(address = %bound, %node, dev_login, "Qala is listening");
    }
    tasks.spawn(release_memory_of_start(shutdown.clone()));
    if paused {
        tracing::warn!("paused: no run, schedule or e-mail starts until `qala admin resume`");
    }
    if let Some(reason) = console::MISSING {
        tracing::warn!(reason, "the web console is not in this build");
    }
    if public_url.starts_with("http://") && arguments.public_url.is_some() && !bound.ip().is_loopback() {
        tracing::warn!(
            "--public-url is plain http: session cookies and tokens cross the network in clear text"
        );
    }
    if !dev_login && delivery == Delivery::DevLog {
        tracing::warn!("no mail server is configured: e-mail is printed to this log");
    }

    tasks.spawn(stop_on_signal(shutdown.clone()));
    tasks.spawn(close_streams(app.clone(), shutdown.clone()));
    let responses =
        mcp::SurfaceResponses { insufficient_scope: api::insufficient_scope, refused: api::refuse_agent };
    let agents = mcp::router(&app, responses);
    let router = api::router(Api::new(app.clone(), http), agents, console::router());
    listener::serve(listener, router, shutdown, SHUTDOWN_GRACE).await;
    tasks.close();
    tasks.wait().await;
    executor.cancel_streams();
    executor.flush().await;
    end_of_writes.cancel();
    reporter.await.context("the reporter of written rows failed")?;
    call_counts.await.context("the writer of counts of requests failed")?;
    metrics.await.context("the writer of metrics of apps failed")?;
    record_last_used(&app, &store).await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Waits until the installation is resumed; returns false if the shutdown came first.
async fn wait_until_resumed(store: &Store, stop: &CancellationToken) -> bool {
    loop {
        tokio::select! {
            () = stop.cancelled() => return false,
            () = tokio::time::sleep(RESUME_POLL_INTERVAL) => {}
        }
        match store.is_paused().await {
            Ok(false) => {
                tracing::info!("resumed: runs, schedules and e-mail start again");
                return true;
            }
            Ok(true) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot check if the installation is still paused"
                );
            }
        }
    }
}

/// Opens the row store of every shard, behind one interface.
pub(crate) async fn open_rows(
    database: &DatabaseArguments,
    rows: &RowsArguments,
) -> anyhow::Result<Arc<dyn RowStore>> {
    let statement_limit = Duration::from_secs(rows.rows_time_limit.into());
    let mut stores: BTreeMap<u16, Arc<dyn RowStore>> = BTreeMap::new();
    for (number, location) in config::rows_backends(database, rows)? {
        let closed = || format!("cannot open the rows of shard {number}");
        let store: Arc<dyn RowStore> = match location {
            RowsBackend::Sqlite(directory) => {
                let options =
                    SqliteOptions { statement_timeout: statement_limit, ..SqliteOptions::new(directory) };
                Arc::new(SqliteRows::open(options).with_context(closed)?)
            }
            RowsBackend::Postgres(url) => {
                let options =
                    PgOptions { statement_timeout: statement_limit, ..PgOptions::new(url.expose_secret()) };
                Arc::new(PgRows::connect(&options).await.with_context(closed)?)
            }
        };
        stores.insert(number, store);
    }
    match (stores.len(), stores.pop_first()) {
        // A single shard needs no routing.
        (1, Some((_, store))) => Ok(store),
        (_, first) => {
            stores.extend(first);
            Ok(Arc::new(Shards::new(stores).context("--rows-shards")?))
        }
    }
}

/// Returns where the compiled code of apps is kept over restarts, sealed with a key of the newest master key.
fn bytecode_directory(keys: &MasterKeys, data_dir: &Path) -> Option<BytecodeDirectory> {
    let (_, key) = keys.derive_keys("bytecode").next()?;
    Some(BytecodeDirectory { path: data_dir.join("bytecode"), key: Arc::new(SecretBox::new(Box::new(key))) })
}

pub(crate) fn start_runtime(
    workers: u16,
    require_walls: bool,
    bytecode_directory: Option<BytecodeDirectory>,
) -> anyhow::Result<QuickJsEngine> {
    let config = RuntimeConfig {
        concurrency: ConcurrencyLimits::for_runs(workers.into()),
        require_confinement: require_walls,
        bytecode_directory,
        ..RuntimeConfig::default()
    };
    QuickJsEngine::start(config).context("cannot start the sandbox")
}

/// Returns the relying party for the console's passkeys. Passkeys are bound to a host name: a console at an IP address
/// has none, and requests for passkeys are then refused.
fn relying_party(console_origin: &str) -> anyhow::Result<Option<Arc<dyn RelyingParty>>> {
    match WebauthnRelyingParty::new(&console_origin.parse().context("--console-origin")?) {
        Ok(site) => Ok(Some(Arc::new(site))),
        Err(error) => {
            tracing::debug!(reason = %error, "passkeys are off");
            Ok(None)
        }
    }
}

/// Creates the demo call. A failure is logged and does not stop the start.
async fn create_demo(app: &Application) -> Option<DemoCall> {
    match app.demo_call().await {
        Ok(demo) => demo,
        Err(problem) => {
            tracing::warn!(error = &problem as &dyn std::error::Error, "cannot create the demo workspace");
            None
        }
    }
}

async fn deliver_outboxes(app: Application, shutdown: CancellationToken) {
    run_at_interval(OUTBOX_INTERVAL, shutdown, || app.deliver_outboxes()).await;
}

async fn write_refused_calls(app: Application, shutdown: CancellationToken) {
    run_at_interval(REFUSED_CALLS_INTERVAL, shutdown, || async {
        if let Err(error) = app.flush_refused_calls().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot count refused calls of webhooks"
            );
        }
    })
    .await;
}

async fn record_last_used_periodically(app: Application, store: Store, shutdown: CancellationToken) {
    run_at_interval(LAST_USED_INTERVAL, shutdown, || record_last_used(&app, &store)).await;
}

async fn record_last_used(app: &Application, store: &Store) {
    let uses = app.take_last_used();
    let result = async {
        app.flush_traffic().await?;
        store.touch_tokens(&uses.tokens).await?;
        store.touch_keys(&uses.keys).await?;
        store.touch_grants(&uses.grants).await?;
        store.touch_sessions(&uses.sessions).await
    };
    if let Err(error) = result.await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "cannot record when credentials were last used, or the requests to data APIs"
        );
    }
}

async fn collect_garbage(app: Application, store: Store, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
    run_at_interval(GC_INTERVAL, shutdown, || async {
        app.evict_idle();
        if let Err(error) = store.delete_expired(clock.now()).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot delete expired data");
        }
    })
    .await;
}

/// Gives back the memory that only the start needed, for migrations, the description of the API and statements: the allocator
/// keeps it, and it is more than an idle server needs.
async fn release_memory_of_start(shutdown: CancellationToken) {
    if shutdown.run_until_cancelled(tokio::time::sleep(START_DURATION)).await.is_some() {
        drop(tokio::task::spawn_blocking(adapter_runtime::release_free_memory).await);
    }
}

/// Closes event streams, which would otherwise delay the shutdown until the grace period ends.
async fn close_streams(app: Application, shutdown: CancellationToken) {
    shutdown.cancelled().await;
    app.stream_quota().close();
}

async fn stop_on_signal(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("cannot listen for signals; the server stops only when it is killed");
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = shutdown.cancelled() => {}
    }
    tracing::info!("stopping");
    shutdown.cancel();
}
