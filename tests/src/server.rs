//! A real server: the binary as a process, on data of its own.

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

use crate::{Client, Database, database::PostgresDatabase};

/// A cold start on a loaded machine, migrations included.
const START_DEADLINE: Duration = Duration::from_secs(60);

/// The server promises ten seconds.
const STOP_DEADLINE: Duration = Duration::from_secs(15);

/// 32 bytes for the master key, the same for all nodes of a system.
const MASTER_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// A running server. Dropping it kills the process and removes its data; while a test is failing it prints the log.
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    data: ServerData,
    base_url: String,
    process: Option<Child>,
    log: Arc<ProcessLog>,
}

/// How to start a server; [`Server::with`] begins one.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    database: Database,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    binary: Option<PathBuf>,
    is_dev_login_enabled: bool,
    is_other_release: bool,
}

/// What outlives the process. The fields go in this order, after the process.
#[derive(Debug)]
struct ServerData {
    folder: TempDir,
    database_url: Option<String>,
    /// Shared by the nodes of a system; the last one drops it.
    postgres: Option<Arc<PostgresDatabase>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StartupState {
    Starting,
    Listening(String),
    Ended,
}

/// Everything the process said.
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

    /// Starts it without the development sign-in.
    #[must_use]
    pub fn without_dev_login(self) -> Self {
        Self { is_dev_login_enabled: false, ..self }
    }

    /// Takes this binary instead of the one that `QALA_BIN` names.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = Some(binary.into());
        self
    }

    /// Compares no response with the description, since the binary is of another release.
    #[must_use]
    pub fn of_another_release(self) -> Self {
        Self { is_other_release: true, ..self }
    }

    /// Starts the server on fresh data and waits until it listens.
    ///
    /// # Errors
    ///
    /// When there is no binary or no PostgreSQL, or the server does not come up; its log is in the error.
    pub async fn start(self) -> Result<Server> {
        let postgres = match &self.database {
            Database::Postgres => Some(Arc::new(PostgresDatabase::create(&self.find_binary()?).await?)),
            Database::Sqlite | Database::Existing(_) => None,
        };
        let database_url = match &self.database {
            Database::Existing(url) => Some(url.clone()),
            Database::Sqlite | Database::Postgres => postgres.as_ref().map(|database| database.url()),
        };
        Server::start_with_data(self, ServerData { folder: create_data_dir()?, database_url, postgres }).await
    }

    /// Starts the server on SQLite data that is there, such as a backup. The folder is removed with the server.
    ///
    /// # Errors
    ///
    /// As [`ServerOptions::start`].
    pub async fn start_on_existing_data(self, folder: TempDir) -> Result<Server> {
        Server::start_with_data(self, ServerData { folder, database_url: None, postgres: None }).await
    }

    fn find_binary(&self) -> Result<PathBuf> {
        let named = self.binary.clone().or_else(|| env::var_os("QALA_BIN").map(PathBuf::from));
        let binary = match named {
            Some(binary) => binary,
            // target/debug/deps/suite-0123 stands beside target/debug/qala.
            None => {
                env::current_exe()?.ancestors().nth(2).context("a test program has a folder")?.join("qala")
            }
        };
        if !binary.is_file() {
            bail!("no qala binary at {}: run `cargo xtask test`, or set QALA_BIN", binary.display());
        }
        Ok(binary)
    }
}

impl Server {
    /// Starts a server with default options on fresh data.
    ///
    /// # Errors
    ///
    /// As [`ServerOptions::start`].
    pub async fn start(database: Database) -> Result<Self> {
        Self::with(database).start().await
    }

    /// A server that is yet to be started, for more options.
    #[must_use]
    pub fn with(database: Database) -> ServerOptions {
        ServerOptions {
            database,
            args: Vec::new(),
            environment: Vec::new(),
            binary: None,
            is_dev_login_enabled: true,
            is_other_release: false,
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
        // Each request too, so that a failed test tells what was asked and a test sees what would be logged.
        command.env("QALA_LOG", "info");
        command.env("QALA_MASTER_KEY", MASTER_KEY);
        command.envs(self.options.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.data.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {command:?}"))?;

        let (state_sender, mut state_receiver) = watch::channel(StartupState::Starting);
        let errors = process.stderr.take().map(|errors| {
            let (log, stage) = (Arc::clone(&self.log), state_sender.clone());
            thread::spawn(move || read_output(errors, &log, &stage))
        });
        if let Some(output) = process.stdout.take() {
            let log = Arc::clone(&self.log);
            thread::spawn(move || {
                read_output(output, &log, &state_sender);
                // Why it ended stands in the other one.
                let _ended = errors.map(thread::JoinHandle::join);
                state_sender.send_replace(StartupState::Ended);
            });
        }
        self.process = Some(process);

        let startup =
            timeout(START_DEADLINE, state_receiver.wait_for(|stage| *stage != StartupState::Starting)).await;
        match startup {
            Ok(Ok(stage)) => match &*stage {
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

    /// The program on this server's data, with nothing of the environment's settings.
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

    /// Gives an option another value, from the next start on.
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

    /// Does a task of `qala admin` on the data of the running server.
    ///
    /// # Errors
    ///
    /// When the program does not end well; what it said is in the error.
    pub async fn run_admin(&self, task: &[&str]) -> Result<()> {
        self.run_command("admin", task).await.map(drop)
    }

    /// Runs another command of the program on the data of the running server; what it printed.
    ///
    /// # Errors
    ///
    /// When the program does not end well; what it said is in the error.
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

    /// Runs another command of the program on the data of the running server, however it ends.
    ///
    /// # Errors
    ///
    /// When the program cannot be run.
    pub async fn try_run_command(&self, name: &str, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command(name)?;
        command.args(arguments);
        Ok(spawn_blocking(move || command.output()).await??)
    }

    /// Runs a statement on the control plane's database, behind the server's back.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, or does not like the statement.
    pub async fn execute_static_sql(&self, statement: &'static str) -> Result<()> {
        match self.database_url() {
            Some(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(statement).await?;
            }
            None => {
                let url = format!("sqlite://{}", self.data_dir().join("qala.db").display());
                let mut connection = SqliteConnection::connect(&url).await?;
                connection.execute(statement).await?;
            }
        }
        Ok(())
    }

    /// Where it listens, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The program that it is.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn binary(&self) -> Result<PathBuf> {
        self.options.find_binary()
    }

    /// Its data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.data.folder.path()
    }

    /// The database, when it is not embedded.
    #[must_use]
    pub fn database_url(&self) -> Option<&str> {
        self.data.database_url.as_deref()
    }

    /// The number of its process, while there is one.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Everything it said so far, over restarts.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// A visitor of this server.
    #[must_use]
    pub fn client(&self) -> Client {
        match self.options.is_other_release {
            true => Client::of_another_release(&self.base_url),
            false => Client::new(&self.base_url),
        }
    }

    /// Signs somebody in; see [`Client::sign_in`].
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn sign_in(&self, email: &str) -> Result<Client> {
        self.client().sign_in(email).await
    }

    /// Starts another node of the same system: the same database, a data directory of its own.
    ///
    /// # Errors
    ///
    /// When the database is embedded, or the node does not come up.
    pub async fn start_another_node(&self) -> Result<Self> {
        let Some(database_url) = self.data.database_url.clone() else {
            bail!("an embedded database has one node");
        };
        let postgres = self.data.postgres.clone();
        let data = ServerData { folder: create_data_dir()?, database_url: Some(database_url), postgres };
        Self::start_with_data(self.options.clone(), data).await
    }

    /// Ends the process as a power failure would.
    ///
    /// # Errors
    ///
    /// When the process cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Asks the process to stop (SIGTERM) and waits until it has.
    ///
    /// # Errors
    ///
    /// When it does not stop in time; it is killed then.
    pub async fn stop(&mut self) -> Result<ExitStatus> {
        let mut process = self.process.take().context("the server is not running")?;
        let id = Pid::from_child(&process);
        rustix::process::kill_process(id, Signal::TERM)?;
        let mut ended = spawn_blocking(move || process.wait());
        if let Ok(status) = timeout(STOP_DEADLINE, &mut ended).await {
            return Ok(status??);
        }
        rustix::process::kill_process(id, Signal::KILL)?;
        ended.await??;
        bail!("the server did not stop within {STOP_DEADLINE:?}:\n{}", self.log())
    }

    /// Starts again on the same data and the same port; a process that still runs is stopped first.
    ///
    /// # Errors
    ///
    /// When it does not stop, or does not come up again.
    pub async fn restart(&mut self) -> Result<()> {
        if self.process.is_some() {
            self.stop().await?;
        }
        let listen = self.base_url.strip_prefix("http://").context("the server listened before")?.to_owned();
        self.spawn_process(&listen).await
    }
}

impl Drop for Server {
    #[expect(clippy::print_stderr, reason = "the test harness shows it with the failure")]
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("cannot kill the server: {error}");
        }
        if thread::panicking() {
            eprintln!("--- what the server at {} said ---\n{}---", self.base_url, self.log());
        }
    }
}

/// Runs a test on a fresh server; should it return an error, the server's log is printed beside it.
///
/// # Errors
///
/// When the server does not start, and what the test returns.
pub async fn on_database(database: Database, test: impl AsyncFnOnce(Server) -> Result<()>) -> Result<()> {
    on_server(Server::with(database), test).await
}

/// As [`on_database`], for a server with options of its own.
///
/// # Errors
///
/// When the server does not start, and what the test returns.
#[expect(clippy::print_stderr, reason = "the test harness shows it with the failure")]
pub async fn on_server(options: ServerOptions, test: impl AsyncFnOnce(Server) -> Result<()>) -> Result<()> {
    let server = options.start().await?;
    let log = Arc::clone(&server.log);
    let result = test(server).await;
    if result.is_err() {
        eprintln!("--- what the server said ---\n{}---", log.text());
    }
    result
}

fn create_data_dir() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("qala-test-").tempdir()?)
}

/// Reads a stream of the process to its end, waiting for the line that says where it listens.
fn read_output(stream: impl Read, log: &ProcessLog, stage: &watch::Sender<StartupState>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        log.push_line(&line);
        if let Some(url) = find_listen_url(&line) {
            stage.send_replace(StartupState::Listening(url.to_owned()));
        }
    }
}

/// The one place that knows how the binary says where it listens.
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
    async fn a_binary_that_is_not_there_is_named() {
        let refusal = Server::with(Database::Sqlite).binary("/no/such/qala").start().await.unwrap_err();
        assert!(refusal.to_string().contains("no qala binary at /no/such/qala"), "{refusal}");
    }

    #[tokio::test]
    async fn a_server_that_ends_at_once_is_an_error_with_its_log() {
        let refusal = Server::with(Database::Sqlite).binary("/bin/false").start().await.unwrap_err();
        assert!(refusal.to_string().contains("ended before it listened"), "{refusal}");
    }
}
