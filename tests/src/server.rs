//! A server for a test: the real binary as a process, with its own data.

use std::{
    env,
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal};
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};
use tempfile::TempDir;
use tokio::{sync::watch, task::spawn_blocking, time::timeout};

use crate::{
    Client, Database,
    database::{self, PostgresDatabase, SQLITE_FILE},
};

/// Covers a cold start on a loaded machine, including migrations.
const START_DEADLINE: Duration = Duration::from_secs(60);

/// The server guarantees ten seconds.
const STOP_DEADLINE: Duration = Duration::from_secs(15);

/// The master key, 32 bytes, which all nodes of a system share.
const MASTER_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// A running server. Dropping it kills the process and removes its data; if the test panics, it prints the log.
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    data: ServerData,
    base_url: String,
    process: Option<Child>,
    log: Arc<ProcessLog>,
}

/// Options of a server that is yet to be started; see [`Server::with`].
#[derive(Debug, Clone)]
pub struct ServerOptions {
    database: Database,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    binary: Option<PathBuf>,
    is_dev_login_enabled: bool,
    is_other_release: bool,
    has_schema: bool,
}

/// Data that outlives the process. The fields are dropped in this order, after the process has ended.
#[derive(Debug)]
struct ServerData {
    folder: TempDir,
    database_url: Option<String>,
    /// Shared by the nodes of a system; the last node drops it.
    postgres: Option<Arc<PostgresDatabase>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StartupState {
    Starting,
    Listening(String),
    Ended,
}

/// Output of the process.
#[derive(Debug, Default)]
struct ProcessLog(Mutex<String>);

impl ProcessLog {
    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push_line(&self, line: &str) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.push_str(line);
        log.push('\n');
    }
}

impl ServerOptions {
    /// Adds an argument of `qala serve`.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments of `qala serve`.
    #[must_use]
    pub fn args<const N: usize>(self, args: [&str; N]) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of the server's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Turns the development sign-in off.
    #[must_use]
    pub fn without_dev_login(self) -> Self {
        Self { is_dev_login_enabled: false, ..self }
    }

    /// Uses this binary instead of `QALA_BIN`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = Some(binary.into());
        self
    }

    /// Turns checks against the description off, because the binary is of another release.
    #[must_use]
    pub fn of_another_release(self) -> Self {
        Self { is_other_release: true, ..self }
    }

    /// Starts on an empty data directory: the first start brings the schema up to date.
    #[must_use]
    pub fn without_schema(self) -> Self {
        Self { has_schema: false, ..self }
    }

    /// Starts the server on fresh data and waits until it listens. If it does not, the error has its log.
    pub async fn start(self) -> Result<Server> {
        let postgres = match &self.database {
            Database::Postgres => Some(Arc::new(PostgresDatabase::create(&self.find_binary()?).await?)),
            Database::Sqlite | Database::Existing(_) => None,
        };
        let database_url = match &self.database {
            Database::Existing(url) => Some(url.clone()),
            Database::Sqlite | Database::Postgres => postgres.as_ref().map(|database| database.url()),
        };
        let folder = create_data_dir()?;
        // Another binary may have other migrations.
        if self.database == Database::Sqlite && self.has_schema && self.binary.is_none() {
            database::create_sqlite_database(&self.find_binary()?, folder.path()).await?;
        }
        Server::start_with_data(self, ServerData { folder, database_url, postgres }).await
    }

    /// Starts the server on existing SQLite data, such as a backup. The folder is removed with the server.
    pub async fn start_on_existing_data(self, folder: TempDir) -> Result<Server> {
        Server::start_with_data(self, ServerData { folder, database_url: None, postgres: None }).await
    }

    fn find_binary(&self) -> Result<PathBuf> {
        self.binary.clone().map_or_else(find_binary, existing_file)
    }
}

/// Returns the binary that the tests start: `QALA_BIN`, or the one that was built beside them.
pub fn find_binary() -> Result<PathBuf> {
    existing_file(match env::var_os("QALA_BIN") {
        Some(binary) => binary.into(),
        // The test program is target/debug/deps/suite-0123; the binary is target/debug/qala.
        None => {
            env::current_exe()?.ancestors().nth(2).context("the test program has no folder")?.join("qala")
        }
    })
}

fn existing_file(binary: PathBuf) -> Result<PathBuf> {
    if !binary.is_file() {
        bail!("no qala binary at {}: run `cargo xtask test`, or set QALA_BIN", binary.display());
    }
    Ok(binary)
}

impl Server {
    /// Starts a server with default options on fresh data.
    pub async fn start(database: Database) -> Result<Self> {
        Self::with(database).start().await
    }

    /// Returns default options, to be changed before the server is started.
    #[must_use]
    pub fn with(database: Database) -> ServerOptions {
        ServerOptions {
            database,
            args: Vec::new(),
            environment: Vec::new(),
            binary: None,
            is_dev_login_enabled: true,
            is_other_release: false,
            has_schema: true,
        }
    }

    async fn start_with_data(options: ServerOptions, data: ServerData) -> Result<Self> {
        let mut server = Self {
            options,
            data,
            base_url: String::new(),
            process: None,
            log: Arc::new(ProcessLog::default()),
        };
        server.spawn_process("127.0.0.1:0").await?;
        Ok(server)
    }

    async fn spawn_process(&mut self, listen: &str) -> Result<()> {
        let mut command = self.command("serve")?;
        let dev_login = format!("--dev-login={}", self.options.is_dev_login_enabled);
        command.args([&dev_login, "--listen", listen]).args(&self.options.args);
        // Logs requests too, so that the log of a failed test shows them and tests can check what is logged.
        command.env("QALA_LOG", "info");
        command.env("QALA_MASTER_KEY", MASTER_KEY);
        command.envs(self.options.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.data.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {command:?}"))?;

        let (state_sender, mut state_receiver) = watch::channel(StartupState::Starting);
        let errors = process.stderr.take().map(|errors| {
            let (log, state) = (Arc::clone(&self.log), state_sender.clone());
            thread::spawn(move || read_output(errors, &log, &state))
        });
        if let Some(output) = process.stdout.take() {
            let log = Arc::clone(&self.log);
            thread::spawn(move || {
                read_output(output, &log, &state_sender);
                // The reason for an early end is in the error output, so that is read first.
                let _ended = errors.map(thread::JoinHandle::join);
                state_sender.send_replace(StartupState::Ended);
            });
        }
        self.process = Some(process);

        let startup =
            timeout(START_DEADLINE, state_receiver.wait_for(|state| *state != StartupState::Starting)).await;
        match startup {
            Ok(Ok(state)) => match &*state {
                StartupState::Listening(url) => {
                    self.base_url.clone_from(url);
                    Ok(())
                }
                StartupState::Starting | StartupState::Ended => {
                    bail!("the server ended before it listened:\n{}", self.log())
                }
            },
            Ok(Err(_)) => bail!("the server closed its output before it listened:\n{}", self.log()),
            Err(_) => bail!("the server did not listen within {START_DEADLINE:?}:\n{}", self.log()),
        }
    }

    /// Returns a command of the binary with this server's data and without the `QALA_` variables of the environment.
    fn command(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.options.find_binary()?);
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QALA_")) {
            command.env_remove(name);
        }
        command.args([name, "--data-dir"]).arg(self.data.folder.path());
        if let Some(url) = &self.data.database_url {
            command.arg("--database-url").arg(url);
        }
        Ok(command)
    }

    /// Changes the value of an option from the next start on.
    pub fn set_arg(&mut self, name: &str, value: &str) {
        let args = &mut self.options.args;
        if let Some(at) = args.iter().position(|arg| arg == name) {
            args.drain(at..(at + 2).min(args.len()));
        }
        args.extend([name.to_owned(), value.to_owned()]);
    }

    /// Sets a variable of the server's environment, from the next start on.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.options.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Runs a task of `qala admin` on the data of the running server. If it fails, the error has its output.
    pub async fn run_admin(&self, task: &[&str]) -> Result<()> {
        self.run_command("admin", task).await.map(drop)
    }

    /// Runs a command of the binary on the data of the running server and returns its output. If it fails, the error
    /// has its error output.
    pub async fn run_command(&self, name: &str, arguments: &[&str]) -> Result<String> {
        let output = self.try_run_command(name, arguments).await?;
        if !output.status.success() {
            bail!(
                "qala {name} {arguments:?} ended with {}:\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs a command of the binary on the data of the running server, and accepts any exit status.
    pub async fn try_run_command(&self, name: &str, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command(name)?;
        command.args(arguments);
        Ok(spawn_blocking(move || command.output()).await??)
    }

    /// Runs a statement on the control plane's database, bypassing the server.
    pub async fn execute_static_sql(&self, statement: &'static str) -> Result<()> {
        match self.database_url() {
            Some(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(statement).await?;
            }
            None => {
                let url = format!("sqlite://{}", self.data_dir().join(SQLITE_FILE).display());
                let mut connection = SqliteConnection::connect(&url).await?;
                connection.execute(statement).await?;
            }
        }
        Ok(())
    }

    /// The base URL, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Path of the binary that the server runs.
    pub fn binary(&self) -> Result<PathBuf> {
        self.options.find_binary()
    }

    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.data.folder.path()
    }

    /// URL of the PostgreSQL database; `None` with SQLite.
    #[must_use]
    pub fn database_url(&self) -> Option<&str> {
        self.data.database_url.as_deref()
    }

    /// Id of the process, while it runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Output of the process so far, across restarts.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Returns a client without a credential.
    #[must_use]
    pub fn client(&self) -> Client {
        match self.options.is_other_release {
            true => Client::of_another_release(&self.base_url),
            false => Client::new(&self.base_url),
        }
    }

    /// Signs a person in; see [`Client::sign_in`].
    pub async fn sign_in(&self, email: &str) -> Result<Client> {
        self.client().sign_in(email).await
    }

    /// Starts another node of the same system, with the same database and another data directory.
    pub async fn start_another_node(&self) -> Result<Self> {
        let Some(database_url) = self.data.database_url.clone() else {
            bail!("with an embedded database there is only one node");
        };
        let postgres = self.data.postgres.clone();
        let data = ServerData { folder: create_data_dir()?, database_url: Some(database_url), postgres };
        Self::start_with_data(self.options.clone(), data).await
    }

    /// Kills the process (SIGKILL), as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Stops the process (SIGTERM) and returns its exit status. If it does not end in time, it is killed and this
    /// fails.
    pub async fn stop(&mut self) -> Result<ExitStatus> {
        let mut process = self.process.take().context("the server is not running")?;
        let id = Pid::from_child(&process);
        rustix::process::kill_process(id, Signal::TERM)?;
        let mut exit = spawn_blocking(move || process.wait());
        if let Ok(status) = timeout(STOP_DEADLINE, &mut exit).await {
            return Ok(status??);
        }
        rustix::process::kill_process(id, Signal::KILL)?;
        exit.await??;
        bail!("the server did not stop within {STOP_DEADLINE:?}:\n{}", self.log())
    }

    /// Starts the server again with the same data and port. If it is running, it is stopped first.
    pub async fn restart(&mut self) -> Result<()> {
        if self.process.is_some() {
            self.stop().await?;
        }
        let listen = self.base_url.strip_prefix("http://").context("the server never listened")?.to_owned();
        self.spawn_process(&listen).await
    }
}

impl Drop for Server {
    #[expect(clippy::print_stderr, reason = "the test harness shows it with the failed test")]
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("cannot kill the server: {error}");
        }
        if thread::panicking() {
            eprintln!("--- log of the server at {} ---\n{}---", self.base_url, self.log());
        }
    }
}

/// Runs a test on a fresh server. If the test returns an error, the server's log is printed.
pub async fn on_database(database: Database, test: impl AsyncFnOnce(Server) -> Result<()>) -> Result<()> {
    on_server(Server::with(database), test).await
}

/// Like [`on_database`], for a server with other options.
#[expect(clippy::print_stderr, reason = "the test harness shows it with the failed test")]
pub async fn on_server(options: ServerOptions, test: impl AsyncFnOnce(Server) -> Result<()>) -> Result<()> {
    let server = options.start().await?;
    let log = Arc::clone(&server.log);
    let result = test(server).await;
    if result.is_err() {
        eprintln!("--- log of the server ---\n{}---", log.text());
    }
    result
}

fn create_data_dir() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("qala-test-").tempdir()?)
}

/// Copies an output stream of the process to the log, and reports the URL when the process listens.
fn read_output(stream: impl Read, log: &ProcessLog, state: &watch::Sender<StartupState>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        log.push_line(&line);
        if let Some(url) = find_listen_url(&line) {
            state.send_replace(StartupState::Listening(url.to_owned()));
        }
    }
}

/// Finds the URL in the log line that reports it.
fn find_listen_url(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("listening on http://")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".:[]-".contains(c))).unwrap_or(rest.len());
    let start = line.len() - rest.len() - "http://".len();
    line.get(start..start + "http://".len() + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_plain_and_structured_lines() {
        for (line, expected) in [
            ("listening on http://127.0.0.1:4711", Some("http://127.0.0.1:4711")),
            ("INFO qala: listening on http://127.0.0.1:1 workers=2", Some("http://127.0.0.1:1")),
            (r#"{"message":"listening on http://[::1]:7420"}"#, Some("http://[::1]:7420")),
            ("listening on /run/qala.sock", None),
            ("ready", None),
        ] {
            assert_eq!(find_listen_url(line), expected, "{line}");
        }
    }

    #[tokio::test]
    async fn the_error_names_a_missing_binary() {
        let error = Server::with(Database::Sqlite).binary("/no/such/qala").start().await.unwrap_err();
        assert!(error.to_string().contains("no qala binary at /no/such/qala"), "{error}");
    }

    #[tokio::test]
    async fn a_server_that_ends_at_once_is_an_error() {
        let error = Server::with(Database::Sqlite).binary("/bin/false").start().await.unwrap_err();
        assert!(error.to_string().contains("ended before it listened"), "{error}");
    }
}
