//! The fork server as its parent sees it: started once, it copies itself for each worker.

use std::{
    ffi::OsString,
    io::{self, IoSlice, PipeReader, PipeWriter},
    mem::MaybeUninit,
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    time::Duration,
};

use rustix::{
    cmsg_space,
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, retry_on_intr},
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType, recv, sendmsg, socketpair,
    },
    process::Pid,
};
use tokio::net::unix::pipe;

use super::{SpawnedWorker, WorkerFactory};
use crate::{child_process::ChildProcess, config::RuntimeConfig, protocol::FORK_FAILED};

/// How long a fork server may take to make a worker, its own start included.
const FORK_TIMEOUT: Duration = Duration::from_secs(10);

/// Copies of one process, until there must be another.
pub(super) struct ForkServer {
    program: PathBuf,
    arguments: Vec<OsString>,
    server: Option<ForkServerProcess>,
}

impl ForkServer {
    pub(super) fn new(config: &RuntimeConfig) -> io::Result<Self> {
        let program = match &config.program {
            Some(program) => program.clone(),
            None => std::env::current_exe()?,
        };
        Ok(Self { program, arguments: config.arguments.clone(), server: None })
    }
}

impl WorkerFactory for ForkServer {
    fn spawn_worker(&mut self) -> io::Result<SpawnedWorker> {
        if let Some(server) = &self.server {
            match server.fork_worker() {
                Ok(newborn) => return Ok(newborn),
                // It may have been killed while nobody looked.
                Err(error) => tracing::warn!(%error, "the fork server is started anew"),
            }
            self.server = None;
        }
        let server = ForkServerProcess::start(&self.program, &self.arguments)?;
        let newborn = server.fork_worker()?;
        self.server = Some(server);
        Ok(newborn)
    }

    fn recycle(&mut self) {
        self.server = None;
    }
}

/// A process that copies itself. Dropping it kills it; the copies stay.
struct ForkServerProcess {
    process: process::Child,
    socket: OwnedFd,
}

impl ForkServerProcess {
    fn start(program: &Path, arguments: &[OsString]) -> io::Result<Self> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // UTC without a file of time zones; nothing else of our environment concerns app code.
        let process = Command::new(program)
            .args(arguments)
            .env_clear()
            .env("TZ", "UTC0")
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { process, socket })
    }

    fn fork_worker(&self) -> io::Result<SpawnedWorker> {
        let ((their_input, our_input), (our_output, their_output)) = (io::pipe()?, io::pipe()?);
        self.send_request(&their_input, &their_output)?;
        let child = ChildProcess::adopt(self.receive_pid()?)?;
        Ok(SpawnedWorker {
            child,
            stdin: pipe::Sender::from_owned_fd(our_input.into())?,
            stdout: pipe::Receiver::from_owned_fd(our_output.into())?,
        })
    }

    fn send_request(&self, input: &PipeReader, output: &PipeWriter) -> io::Result<()> {
        let pipes = [input.as_fd(), output.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&pipes)) {
            return Err(io::Error::other("there is no room for two descriptors"));
        }
        // The other end takes one order at a time, so there is room for it.
        retry_on_intr(|| sendmsg(&self.socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    fn receive_pid(&self) -> io::Result<Pid> {
        let wait = Timespec::try_from(FORK_TIMEOUT).map_err(io::Error::other)?;
        let mut answers = [PollFd::new(&self.socket, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut answers, Some(&wait)))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut process = [0; size_of::<i32>()];
        match retry_on_intr(|| recv(&self.socket, &mut process, RecvFlags::DONTWAIT)) {
            Ok((_, length)) if length == process.len() => {}
            Ok(_) | Err(Errno::CONNRESET) => return Err(io::Error::other("the fork server has ended")),
            Err(error) => return Err(error.into()),
        }
        let process = i32::from_ne_bytes(process);
        let process = if process == FORK_FAILED { None } else { Pid::from_raw(process) };
        process.ok_or_else(|| io::Error::other("the system lets no further process be made"))
    }
}

impl Drop for ForkServerProcess {
    fn drop(&mut self) {
        // One that has ended already is waited for all the same.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
