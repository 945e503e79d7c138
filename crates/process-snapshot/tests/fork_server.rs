//! The fork server with a real program, which each test starts for itself.

#![allow(clippy::allow_attributes, clippy::unwrap_used, reason = "tests say so by failing")]

use std::{
    os::fd::{AsFd as _, OwnedFd},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use process_snapshot::{ForkServer, ForkedProcess};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe,
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(20);

fn fork_server(argument: &str) -> ForkServer {
    ForkServer::new(program(), vec![argument.into()])
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_process-snapshot-worker"))
}

/// A worker that has told who it is.
struct Worker {
    child: process_snapshot::ChildProcess,
    stdin: pipe::Sender,
    stdout: BufReader<pipe::Receiver>,
    /// Its process id, its parent's, and its fork server's.
    ids: [Pid; 3],
}

impl Worker {
    async fn fork(server: &mut ForkServer) -> Self {
        let ForkedProcess { child, stdin, stdout } = server.fork().unwrap();
        let mut stdout = BufReader::new(stdout);
        let ids = parse_ids(&read_line(&mut stdout).await);
        Self { child, stdin, stdout, ids }
    }

    fn server(&self) -> Pid {
        self.ids[2]
    }

    async fn echoes(&mut self) -> bool {
        self.stdin.write_all(b"hello\n").await.unwrap();
        read_line(&mut self.stdout).await == "hello\n"
    }
}

async fn read_line(stdout: &mut BufReader<pipe::Receiver>) -> String {
    let mut line = String::new();
    timeout(LIMIT, stdout.read_line(&mut line)).await.unwrap().unwrap();
    line
}

fn parse_ids(line: &str) -> [Pid; 3] {
    let ids: Vec<_> = line.split_whitespace().map(|id| Pid::from_raw(id.parse().unwrap()).unwrap()).collect();
    ids.try_into().unwrap()
}

/// A descriptor that becomes readable once the process has ended.
fn open(process: Pid) -> OwnedFd {
    pidfd_open(process, PidfdFlags::empty()).unwrap()
}

fn has_ended(process: &OwnedFd) -> bool {
    let limit = Timespec::try_from(LIMIT).unwrap();
    poll(&mut [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

#[tokio::test]
async fn workers_are_children_of_this_process_and_copies_of_one_server() {
    let mut server = fork_server("serve");
    let mut workers = [Worker::fork(&mut server).await, Worker::fork(&mut server).await];
    for worker in &mut workers {
        assert_eq!(worker.ids[0].as_raw_nonzero().get(), worker.child.pid());
        assert_eq!(worker.ids[1], getpid());
        assert!(worker.child.is_alive() && worker.child.cpu_time().is_some());
        assert!(worker.echoes().await);
    }
    assert_eq!(workers[0].server(), workers[1].server());
    assert_ne!(workers[0].ids[0], workers[1].ids[0]);
}

#[tokio::test]
async fn a_recycled_server_is_another_process_and_its_workers_live_on() {
    let mut server = fork_server("serve");
    let mut before = Worker::fork(&mut server).await;
    let first = open(before.server());
    server.recycle();
    assert!(has_ended(&first));
    let after = Worker::fork(&mut server).await;
    assert_ne!(before.server(), after.server());
    assert!(before.echoes().await && before.child.is_alive());
}

#[tokio::test]
async fn a_server_that_was_killed_is_replaced_and_its_workers_live_on() {
    let mut server = fork_server("serve");
    let mut orphan = Worker::fork(&mut server).await;
    let first = open(orphan.server());
    kill_process(orphan.server(), Signal::KILL).unwrap();
    assert!(has_ended(&first));
    let next = Worker::fork(&mut server).await;
    assert_ne!(orphan.server(), next.server());
    assert!(orphan.echoes().await && orphan.child.is_alive());
}

#[tokio::test]
async fn a_dropped_server_ends_and_its_workers_live_on() {
    let mut server = fork_server("serve");
    let mut worker = Worker::fork(&mut server).await;
    let process = open(worker.server());
    drop(server);
    assert!(has_ended(&process));
    assert!(worker.echoes().await);
}

#[tokio::test]
async fn a_dropped_worker_is_killed() {
    let mut server = fork_server("serve");
    let worker = Worker::fork(&mut server).await;
    let process = open(worker.ids[0]);
    drop(worker);
    assert!(has_ended(&process));
}

#[tokio::test]
async fn a_workers_exit_code_is_told() {
    let mut server = fork_server("serve");
    let mut worker = Worker::fork(&mut server).await;
    worker.stdin.write_all(b"exit 7\n").await.unwrap();
    assert_eq!(read_line(&mut worker.stdout).await, "", "its output ends");
    assert_eq!(worker.child.wait_exit_status().await.unwrap().code(), Some(7));
    assert!(!worker.child.is_alive());
}

#[tokio::test]
async fn a_program_that_is_missing_or_ends_at_once_makes_no_worker() {
    let mut missing = ForkServer::new("/nowhere/at/all".into(), Vec::new());
    assert_eq!(missing.fork().err().unwrap().kind(), std::io::ErrorKind::NotFound);
    let mut ends = fork_server("fail");
    assert!(ends.fork().is_err());
    assert!(ends.fork().is_err(), "it is tried again");
}

/// Without a parent-death signal, which the program of the worker sets, both notice the parent's end by their pipes.
#[tokio::test]
async fn server_and_worker_end_with_their_parent() {
    let mut parent = Command::new(program()).arg("parent").stdout(Stdio::piped()).spawn().unwrap();
    let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(parent.stdout.take().unwrap())).unwrap();
    let ids = parse_ids(&read_line(&mut BufReader::new(stdout)).await);
    assert_eq!(ids[1], Pid::from_child(&parent));
    let [worker, server] = [ids[0], ids[2]].map(open);
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(has_ended(&worker) && has_ended(&server));
}
