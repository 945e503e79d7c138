//! A process of a compared program, with a fresh directory.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

/// File for the output of the program, in its directory.
const LOG: &str = "log.txt";
/// Bytes of the log that an error shows.
const LOG_TAIL_BYTES: usize = 4000;

/// Interval at which processor time is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Processor time per interval that counts as idle, such as timers, in hundredths of a second.
const IDLE_TICKS: u64 = 1;
/// Time without work after which the program counts as idle.
const IDLE_PERIOD: Duration = Duration::from_millis(700);
/// Limit for the work that a load leaves.
const IDLE_DEADLINE: Duration = Duration::from_secs(600);

/// A running program with its descendants. Dropping it kills them all.
pub(super) struct PeerProcess {
    child: Child,
    group: Pid,
    folder: TempDir,
}

/// Returns a command for the program in a directory, with no environment variable of this process except `PATH`.
pub(super) fn isolated_command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear().env("HOME", folder).env("NODE_ENV", "production");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null());
    command
}

/// Runs a command to its end and returns its output.
pub(super) async fn run_to_output(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .await
        .with_context(|| format!("cannot start {:?}", command.as_std().get_program()))?;
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(
        output.status.success(),
        "{:?} ended with {}:\n{printed}{errors}",
        command.as_std(),
        output.status
    );
    Ok(printed.into_owned())
}

/// Returns the version of a program: the last word of the first line.
pub(super) async fn version(program: &Path, folder: &Path) -> Result<String> {
    let output = run_to_output(isolated_command(program, folder).arg("--version")).await?;
    parse_version(&output).with_context(|| format!("no version in {output:?}"))
}

fn parse_version(output: &str) -> Option<String> {
    let word = output.lines().next()?.split_whitespace().last()?;
    Some(word.trim_start_matches('v').to_owned())
}

/// Returns a free port.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl PeerProcess {
    /// Starts the program. `folder` is removed with it.
    pub(super) fn start(command: &mut Command, folder: TempDir) -> Result<Self> {
        let log = File::create(folder.path().join(LOG))?;
        command.stdout(log.try_clone()?).stderr(log).process_group(0);
        let child =
            command.spawn().with_context(|| format!("cannot start {:?}", command.as_std().get_program()))?;
        let id = child.id().context("the process has no id")?;
        let group = Pid::from_raw(id.cast_signed()).context("the process id is 0")?;
        Ok(Self { child, group, folder })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Fails if the program has ended.
    pub(super) fn check_running(&mut self) -> Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        let log = fs::read_to_string(self.folder.path().join(LOG)).unwrap_or_default();
        let from = log.floor_char_boundary(log.len().saturating_sub(LOG_TAIL_BYTES));
        bail!("the program ended with {status}:\n{}", &log[from..])
    }

    /// Waits until the program is idle, and returns the time at which it was last busy.
    pub(super) async fn wait_until_idle(&mut self) -> Result<Instant> {
        let deadline = Instant::now() + IDLE_DEADLINE;
        let (mut busy_at, mut before) = (Instant::now(), self.cpu_time()?);
        while busy_at.elapsed() < IDLE_PERIOD {
            ensure!(Instant::now() < deadline, "the program is still busy after {IDLE_DEADLINE:?}");
            self.check_running()?;
            sleep(POLL_INTERVAL).await;
            let time = self.cpu_time()?;
            if time.saturating_sub(before) > IDLE_TICKS {
                busy_at = Instant::now();
            }
            before = time;
        }
        Ok(busy_at)
    }

    /// Processor time of the program and its descendants, in hundredths of a second.
    fn cpu_time(&self) -> Result<u64> {
        let mut time = 0;
        for entry in fs::read_dir("/proc")? {
            // A process may end between being listed and being read.
            let Ok(stat) = fs::read_to_string(entry?.path().join("stat")) else { continue };
            if let Some((group, spent)) = parse_group_and_cpu_time(&stat)
                && group == self.group.as_raw_pid()
            {
                time += spent;
            }
        }
        Ok(time)
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        // They may have ended already.
        let _gone = kill_process_group(self.group, Signal::KILL);
    }
}

/// Returns the group of a process, and the processor time of it and of its children that have ended
/// (`proc_pid_stat(5)`).
fn parse_group_and_cpu_time(stat: &str) -> Option<(i32, u64)> {
    // The name is in parentheses and may contain parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>());
    Some((fields.get(2)?.parse().ok()?, times.sum::<Result<u64, _>>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_last_word_of_the_first_line() {
        assert_eq!(parse_version("webhook version 2.8.0\n").as_deref(), Some("2.8.0"));
        assert_eq!(parse_version("Node-RED v4.1.15\nNode.js v20.20.2\n").as_deref(), Some("4.1.15"));
        assert_eq!(parse_version(""), None);
    }

    #[test]
    fn time_includes_that_of_ended_children() {
        let stat = "71 (a) b) S 1 70 70 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 11 0 5 6 7";
        assert_eq!(parse_group_and_cpu_time(stat), Some((70, 127)));
        assert_eq!(parse_group_and_cpu_time("71 (a) S 1 70"), None);
    }

    #[tokio::test]
    async fn descendants_are_measured_and_killed_with_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let work = "(n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done); sleep 600 & wait";
        let mut shell = isolated_command(Path::new("/bin/sh"), folder.path());
        let mut process = PeerProcess::start(shell.args(["-c", work]), folder).unwrap();
        process.wait_until_idle().await.unwrap();
        assert!(process.cpu_time().unwrap() > IDLE_TICKS);
        let group = process.group;
        process.child.start_kill().unwrap();
        process.child.wait().await.unwrap();
        assert!(process.check_running().is_err());
        drop(process);
        let ended = ::tests::eventually("all have ended", async || {
            ensure!(rustix::process::test_kill_process_group(group).is_err(), "some still run");
            Ok(())
        });
        ended.await.unwrap();
    }
}
