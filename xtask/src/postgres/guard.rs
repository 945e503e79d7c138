//! The process that owns a throwaway cluster. It prints `ready URL` once; when its standard input closes, it stops
//! PostgreSQL and removes the files.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc,
    thread,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use super::{Durability, READY_PREFIX};
use crate::shell;

/// Message that PostgreSQL logs when it accepts connections (with `lc_messages = C`).
const READY_MESSAGE: &str = "database system is ready to accept connections";

/// More than one, because another program may take the free port before PostgreSQL binds it.
const PORT_ATTEMPTS: usize = 5;

/// Number of log lines that are kept to explain why a server did not start.
const LOG_TAIL_LINES: usize = 40;

const SETTINGS: [&str; 5] = [
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "lc_messages=C",
    "log_min_messages=error",
    "logging_collector=off",
];

/// Settings that trade durability for speed without effects that a test could see; `synchronous_commit` keeps its
/// default.
const NON_DURABLE_SETTINGS: [&str; 2] = ["fsync=off", "full_page_writes=off"];

/// Statements are counted where a test or a scene of the bench turns `pg_stat_statements.track` on.
const STATISTICS_SETTINGS: &str =
    "shared_preload_libraries = pg_stat_statements\npg_stat_statements.track = none\n";

/// File system in memory. Creating and dropping the database of each test means hundreds of files, which an ext4 file system
/// finds no inodes for as quickly.
const MEMORY: &str = "/dev/shm";

/// Bytes that must be free there: a full run of the tests needs a third.
const MIN_MEMORY: u64 = 3 << 30;

enum Event {
    /// Standard input was closed.
    OwnerExited,
    /// PostgreSQL accepts connections.
    Ready,
    /// PostgreSQL closed its log, so it has ended.
    Exited { log_tail: Vec<String> },
}

/// Runs a cluster from the server programs in `binaries` until standard input closes.
pub fn run(binaries: &Path, durability: Durability) -> Result<()> {
    let (events, receiver) = mpsc::channel();
    let owner = events.clone();
    thread::spawn(move || {
        // Any result of the read means that the owner has exited, and by then the receiver may be dropped too.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = owner.send(Event::OwnerExited);
    });

    let cluster = Cluster::create(binaries, durability)?;
    let mut is_ready_announced = false;
    for _ in 0..PORT_ATTEMPTS {
        let port = free_port()?;
        let mut server = cluster.start(port, durability)?;
        let log = server.stderr.take().context("the server has no standard error")?;
        let server_events = events.clone();
        thread::spawn(move || read_log(log, &server_events));
        loop {
            match receiver.recv()? {
                // PostgreSQL repeats it after it has recovered from a crash. The owner reads only one line.
                Event::Ready if is_ready_announced => {}
                Event::Ready => {
                    is_ready_announced = true;
                    println!("{READY_PREFIX}postgres://postgres@127.0.0.1:{port}/postgres");
                    io::stdout().flush()?;
                }
                Event::OwnerExited => return stop(server),
                Event::Exited { log_tail } => {
                    server.wait()?;
                    if log_tail.iter().any(|line| line.contains("could not bind")) {
                        break;
                    }
                    bail!("PostgreSQL ended by itself:\n{}", log_tail.join("\n"));
                }
            }
        }
    }
    bail!("PostgreSQL found no free port in {PORT_ATTEMPTS} attempts")
}

/// The files of a cluster and the account that it runs under. Dropping it removes the files.
struct Cluster {
    folder: TempDir,
    binaries: PathBuf,
    account: Option<String>,
}

impl Cluster {
    fn create(binaries: &Path, durability: Durability) -> Result<Self> {
        let parent = match durability {
            Durability::None if has_room_in_memory() => PathBuf::from(MEMORY),
            Durability::None | Durability::Full => std::env::temp_dir(),
        };
        let folder = tempfile::Builder::new().prefix("qala-postgres-").tempdir_in(parent)?;
        let account = if shell::is_root() { Some(unprivileged_account()?) } else { None };
        if let Some(account) = &account {
            shell::run(Command::new("chown").arg(account).arg(folder.path()))?;
        }
        let cluster = Self { folder, binaries: binaries.to_owned(), account };
        cluster.initialise()?;
        Ok(cluster)
    }

    fn initialise(&self) -> Result<()> {
        // Trust authentication is safe: the cluster listens on loopback only and has nothing but test data.
        let mut initdb = self.program("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
        initdb.args(["--no-sync", "--no-instructions", "--pgdata"]).arg(self.data_dir());
        let output = initdb.output().context("cannot start initdb")?;
        if !output.status.success() {
            bail!("initdb ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        if self.has_statistics() {
            // In the file, since nothing overrules an argument of the program.
            let mut settings = File::options().append(true).open(self.data_dir().join("postgresql.conf"))?;
            settings.write_all(STATISTICS_SETTINGS.as_bytes())?;
        }
        Ok(())
    }

    fn start(&self, port: u16, durability: Durability) -> Result<Child> {
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data_dir());
        let cluster_settings =
            [format!("port={port}"), format!("unix_socket_directories={}", self.folder.path().display())];
        let durability_settings = match durability {
            Durability::None => &NON_DURABLE_SETTINGS[..],
            Durability::Full => &[],
        };
        let settings = SETTINGS
            .iter()
            .chain(durability_settings)
            .copied()
            .chain(cluster_settings.iter().map(String::as_str));
        settings.for_each(|setting| {
            postgres.args(["-c", setting]);
        });
        postgres.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        postgres.spawn().context("cannot start postgres")
    }

    /// True if this PostgreSQL has the extension that counts statements.
    fn has_statistics(&self) -> bool {
        // The folder may have links to the programs of another one, where the libraries are.
        let program = self.binaries.join("postgres").canonicalize();
        program.is_ok_and(|program| program.with_file_name("../lib/pg_stat_statements.so").exists())
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns a command for a server program that runs under the cluster's account and ends with this process.
    fn program(&self, name: &str) -> Command {
        let path = self.binaries.join(name);
        let mut command = match (&self.account, shell::find_program("setpriv")) {
            (Some(account), _) => {
                let mut setpriv = Command::new("setpriv");
                setpriv.arg(format!("--reuid={account}")).arg(format!("--regid={account}"));
                setpriv.args(["--init-groups", "--pdeathsig=QUIT", "--"]).arg(path);
                setpriv
            }
            (None, Some(setpriv)) => {
                let mut setpriv = Command::new(setpriv);
                setpriv.args(["--pdeathsig=QUIT", "--"]).arg(path);
                setpriv
            }
            (None, None) => Command::new(path),
        };
        command.current_dir(self.folder.path());
        command
    }
}

/// True if a cluster fits into [`MEMORY`], which is small in some containers and does not exist on every system.
fn has_room_in_memory() -> bool {
    rustix::fs::statvfs(MEMORY).is_ok_and(|memory| memory.f_bavail * memory.f_frsize >= MIN_MEMORY)
}

/// Returns an account for PostgreSQL, which refuses to run as root.
fn unprivileged_account() -> Result<String> {
    if shell::find_program("setpriv").is_none() {
        bail!(
            "PostgreSQL refuses to run as root, and there is no `setpriv` (package util-linux) to drop to another account"
        );
    }
    for account in ["postgres", "qala-tests"] {
        if Command::new("id").arg(account).stdout(Stdio::null()).stderr(Stdio::null()).status()?.success() {
            return Ok(account.to_owned());
        }
    }
    shell::run(Command::new("useradd").args(["--system", "--user-group", "--no-create-home", "qala-tests"]))
        .context("PostgreSQL refuses to run as root, and no other account could be created")?;
    Ok("qala-tests".to_owned())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Reads the server's log to its end and keeps the last lines.
fn read_log(log: ChildStderr, events: &mpsc::Sender<Event>) {
    let mut log_tail = VecDeque::new();
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        if line.contains(READY_MESSAGE) {
            let _ = events.send(Event::Ready);
        }
        if log_tail.len() == LOG_TAIL_LINES {
            log_tail.pop_front();
        }
        log_tail.push_back(line);
    }
    let _ = events.send(Event::Exited { log_tail: log_tail.into() });
}

/// Stops PostgreSQL immediately, without a checkpoint, since the data is thrown away.
fn stop(mut server: Child) -> Result<()> {
    let id = Pid::from_child(&server);
    rustix::process::kill_process(id, Signal::QUIT).context("cannot stop PostgreSQL")?;
    server.wait()?;
    Ok(())
}
