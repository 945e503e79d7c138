//! The process that owns a throwaway cluster. It says `ready URL` on standard output once, and ends PostgreSQL and
//! removes its files when standard input closes.

use std::{
    collections::VecDeque,
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

/// What PostgreSQL logs once it takes connections (with `lc_messages = C`).
const READY_MESSAGE: &str = "database system is ready to accept connections";

/// Another program may take the free port between our looking and PostgreSQL's binding.
const PORT_ATTEMPTS: usize = 5;

/// Room for the last words of a server that did not start.
const LOG_TAIL_LINES: usize = 40;

const SETTINGS: [&str; 5] = [
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "lc_messages=C",
    "log_min_messages=error",
    "logging_collector=off",
];

/// Fast instead of durable, where it cannot change what a test sees: `synchronous_commit` keeps its default.
const NON_DURABLE_SETTINGS: [&str; 2] = ["fsync=off", "full_page_writes=off"];

enum Event {
    /// Nobody needs the cluster any more.
    OwnerExited,
    /// PostgreSQL takes connections.
    Ready,
    /// PostgreSQL closed its log: it is gone.
    Exited { log_tail: Vec<String> },
}

/// Runs a cluster from the server programs in `binaries` until standard input closes.
pub fn run(binaries: &Path, durability: Durability) -> Result<()> {
    let (events, receiver) = mpsc::channel();
    let owner = events.clone();
    thread::spawn(move || {
        // Whatever ends the reading, the owner is gone; and then the receiver may be gone as well.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = owner.send(Event::OwnerExited);
    });

    let cluster = Cluster::create(binaries)?;
    let mut is_ready_announced = false;
    for _ in 0..PORT_ATTEMPTS {
        let port = free_port()?;
        let mut server = cluster.start(port, durability)?;
        let log = server.stderr.take().context("the server has a standard error")?;
        let server_events = events.clone();
        thread::spawn(move || read_log(log, &server_events));
        loop {
            match receiver.recv()? {
                // Again after a crash that it recovered from: the owner knows, and reads no more.
                Event::Ready if is_ready_announced => {}
                Event::Ready => {
                    is_ready_announced = true;
                    println!("{READY_PREFIX}postgres://postgres@127.0.0.1:{port}/postgres");
                    io::stdout().flush()?;
                }
                Event::OwnerExited => return stop(server),
                Event::Exited { log_tail: last_words } => {
                    server.wait()?;
                    if last_words.iter().any(|line| line.contains("could not bind")) {
                        break;
                    }
                    bail!("PostgreSQL ended by itself:\n{}", last_words.join("\n"));
                }
            }
        }
    }
    bail!("PostgreSQL found no free port in {PORT_ATTEMPTS} attempts")
}

/// The files of one cluster and the account it runs under; dropping it removes the files.
struct Cluster {
    folder: TempDir,
    binaries: PathBuf,
    account: Option<String>,
}

impl Cluster {
    fn create(binaries: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("qala-postgres-").tempdir()?;
        let account = if shell::is_root() { Some(unprivileged_account()?) } else { None };
        if let Some(account) = &account {
            shell::run(Command::new("chown").arg(account).arg(folder.path()))?;
        }
        let cluster = Self { folder, binaries: binaries.to_owned(), account };
        cluster.initialise()?;
        Ok(cluster)
    }

    fn initialise(&self) -> Result<()> {
        // Trust is safe here: the cluster listens on loopback only and holds nothing but test data.
        let mut initdb = self.program("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
        initdb.args(["--no-sync", "--no-instructions", "--pgdata"]).arg(self.data_dir());
        let output = initdb.output().context("cannot start initdb")?;
        if !output.status.success() {
            bail!("initdb ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    fn start(&self, port: u16, durability: Durability) -> Result<Child> {
        let mut postgres = self.program("postgres");
        postgres.arg("-D").arg(self.data_dir());
        let ours =
            [format!("port={port}"), format!("unix_socket_directories={}", self.folder.path().display())];
        let fast = match durability {
            Durability::None => &NON_DURABLE_SETTINGS[..],
            Durability::Full => &[],
        };
        let settings = SETTINGS.iter().chain(fast).copied().chain(ours.iter().map(String::as_str));
        settings.for_each(|setting| {
            postgres.args(["-c", setting]);
        });
        postgres.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        postgres.spawn().context("cannot start postgres")
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A server program, under the cluster's account and tied to our life.
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

/// PostgreSQL refuses to run as root.
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
        .context("PostgreSQL refuses to run as root, and no other account could be made")?;
    Ok("qala-tests".to_owned())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Reads the server's log to its end, keeping the last lines.
fn read_log(log: ChildStderr, events: &mpsc::Sender<Event>) {
    let mut last_words = VecDeque::new();
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        if line.contains(READY_MESSAGE) {
            let _ = events.send(Event::Ready);
        }
        if last_words.len() == LOG_TAIL_LINES {
            last_words.pop_front();
        }
        last_words.push_back(line);
    }
    let _ = events.send(Event::Exited { log_tail: last_words.into() });
}

/// Immediate shutdown: nothing in the cluster is worth a checkpoint.
fn stop(mut server: Child) -> Result<()> {
    let id = Pid::from_child(&server);
    rustix::process::kill_process(id, Signal::QUIT).context("cannot stop PostgreSQL")?;
    server.wait()?;
    Ok(())
}
