//! Processes of the measured servers: the processor time and the memory that they use.

use std::{collections::HashMap, fs, ops::Sub, time::Duration};

use ::tests::Server;
use anyhow::{Context as _, Result};
use sqlx::{Connection as _, PgConnection};

/// Clock ticks in a second, as Linux reports them to every program (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Reader of the processor time that a server and its database have used.
pub(super) struct ProcessorMeter {
    server: u32,
    /// The first process of PostgreSQL.
    database: Option<u32>,
}

/// Processor time since the processes started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ProcessorTimes {
    /// Of the server's own process.
    pub(super) server: Duration,
    /// Of the processes that it started, which run the code of apps.
    pub(super) workers: Duration,
    /// Of PostgreSQL.
    pub(super) database: Duration,
}

impl ProcessorMeter {
    /// Returns the meter of a running server.
    pub(super) async fn new(server: &Server) -> Result<Self> {
        let database = match server.database_url() {
            Some(url) => Some(database_process(url).await?),
            None => None,
        };
        Ok(Self { server: server.process_id().context("the server is not running")?, database })
    }

    /// Reads what was used until now.
    pub(super) fn read(&self) -> Result<ProcessorTimes> {
        let all = processes()?;
        let server = ProcessTime::read(self.server)?;
        let workers = descendants(&all, self.server).into_iter().map(with_ended_children).sum::<Duration>();
        let database = self.database.map_or(Duration::ZERO, |first| {
            with_ended_children(first)
                + descendants(&all, first).into_iter().map(with_ended_children).sum::<Duration>()
        });
        Ok(ProcessorTimes { server: server.own, workers: workers + server.ended_children, database })
    }
}

impl Sub for ProcessorTimes {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            server: self.server.saturating_sub(earlier.server),
            workers: self.workers.saturating_sub(earlier.workers),
            database: self.database.saturating_sub(earlier.database),
        }
    }
}

/// Returns the process that started the one that serves a connection.
async fn database_process(url: &str) -> Result<u32> {
    let mut connection = PgConnection::connect(url).await?;
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await?;
    let status = fs::read_to_string(format!("/proc/{backend}/status"))
        .context("PostgreSQL must run on this machine")?;
    let parent = status_field(&status, "PPid").context("the backend has no parent")?;
    Ok(u32::try_from(parent)?)
}

/// Processor time of one process.
#[derive(Debug, Default, PartialEq)]
struct ProcessTime {
    own: Duration,
    /// Of the children that ended, and theirs.
    ended_children: Duration,
}

impl ProcessTime {
    fn read(process: u32) -> Result<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat"))?)
    }

    /// Reads the fields 14 to 17 of `proc_pid_stat(5)`: user and system time, and those of the children.
    fn parse(stat: &str) -> Result<Self> {
        // The name of the program comes before the last parenthesis and may have spaces; it is the second field.
        let (_, fields) = stat.rsplit_once(')').context("the process has no name")?;
        let times = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
        let times = times.collect::<Result<Vec<_>, _>>()?;
        let [user, system, children_user, children_system] = times[..] else {
            anyhow::bail!("the process has no times")
        };
        let seconds = |ticks: f64| Duration::from_secs_f64(ticks.max(0.0) / TICKS);
        Ok(Self { own: seconds(user + system), ended_children: seconds(children_user + children_system) })
    }
}

/// Returns zero for a process that has ended meanwhile, whose time is its parent's then.
fn with_ended_children(process: u32) -> Duration {
    let time = ProcessTime::read(process).unwrap_or_default();
    time.own + time.ended_children
}

/// Returns the parent of each process.
fn processes() -> Result<HashMap<u32, u32>> {
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may end between being listed and being read.
        if let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) {
            parents.insert(id, u32::try_from(status_field(&status, "PPid").unwrap_or(0))?);
        }
    }
    Ok(parents)
}

fn descendants(parents: &HashMap<u32, u32>, root: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(process) = next.pop() {
        let children = parents.iter().filter(|(_, parent)| **parent == process).map(|(id, _)| *id);
        let first = found.len();
        found.extend(children);
        next.extend_from_slice(&found[first..]);
    }
    found
}

/// Returns the resident memory of a process and all its descendants. Shared pages are divided among the processes that
/// share them (`Pss` of `proc_pid_smaps_rollup(5)`).
pub(super) fn resident_bytes(root: u32) -> Result<u64> {
    let tree = [vec![root], descendants(&processes()?, root)].concat();
    Ok(tree.into_iter().map(|process| rollup_bytes(process, "Pss")).sum())
}

/// Returns the memory that a process has written and shares with nobody.
pub(super) fn private_dirty_bytes(process: u32) -> u64 {
    rollup_bytes(process, "Private_Dirty")
}

fn rollup_bytes(process: u32, field: &str) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    status_field(&rollup, field).unwrap_or(0) * 1024
}

fn status_field(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_a_process_status() {
        let status = "Name:\tqala\nPPid:\t12\nVmRSS:\t   20480 kB\n";
        assert_eq!(status_field(status, "PPid"), Some(12));
        assert_eq!(status_field(status, "VmRSS"), Some(20480));
        assert_eq!(status_field(status, "VmSwap"), None);
    }

    #[test]
    fn times_are_read_from_a_process_stat() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 1 2 3 4 150 50 25 75 20 0 9 0 100 0 0";
        let expected = ProcessTime { own: Duration::from_secs(2), ended_children: Duration::from_secs(1) };
        assert_eq!(ProcessTime::parse(stat).unwrap(), expected);
        assert!(ProcessTime::parse("7 (qala) S 1").is_err());
    }

    #[test]
    fn descendants_of_descendants_are_found() {
        let parents = HashMap::from([(2, 1), (3, 2), (4, 2), (5, 4), (6, 1)]);
        let mut found = descendants(&parents, 2);
        found.sort_unstable();
        assert_eq!(found, [3, 4, 5]);
    }

    #[test]
    fn the_memory_of_this_process_is_measured() {
        let process = std::process::id();
        assert!(resident_bytes(process).unwrap() > 100_000);
        assert!(private_dirty_bytes(process) > 100_000);
    }
}
