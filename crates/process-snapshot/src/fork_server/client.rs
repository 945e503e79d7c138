//! The fork server as its parent sees it.

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

use super::FORK_FAILED;
use crate::child_process::ChildProcess;

/// Time a fork server may take to make a worker, its own start included.
const FORK_TIMEOUT: Duration = Duration::from_secs(10);

/// A worker and the parent's ends of its pipes. Dropping it kills the worker.
pub struct ForkedProcess {
    /// The worker.
    pub child: ChildProcess,
    /// The pipe that the worker reads as its stdin.
    pub stdin: pipe::Sender,
    /// The pipe that the worker writes to as its stdout.
    pub stdout: pipe::Receiver,
}

/// Forks workers from one process of a program, which it starts when the first worker is wanted, and again whenever that
/// process is gone. The program calls [`serve`](crate::serve). Dropping this kills the process; its workers live on.
///
/// The kernel sends a parent-death signal (`PR_SET_PDEATHSIG` of prctl(2)) when the *thread* ends that counts as the
/// parent, so keep the fork server on a thread that lives as long as its workers should.
pub struct ForkServer {
    program: PathBuf,
    arguments: Vec<OsString>,
    server: Option<ServerProcess>,
}

impl ForkServer {
    /// Names the program; nothing is started yet.
    #[must_use]
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, server: None }
    }

    /// Forks a worker. Blocks for at most 10 seconds; must be called inside a tokio runtime with I/O enabled.
    ///
    /// # Errors
    /// If the program cannot be started, ends or is not ready in time, or the kernel lets no further process be made.
    pub fn fork(&mut self) -> io::Result<ForkedProcess> {
        if let Some(server) = &self.server {
            match server.fork() {
                Ok(process) => return Ok(process),
                // It may have been killed while nobody looked.
                Err(error) => tracing::warn!(%error, "the fork server is started again"),
            }
            self.server = None;
        }
        let server = ServerProcess::start(&self.program, &self.arguments)?;
        let process = server.fork()?;
        self.server = Some(server);
        Ok(process)
    }

    /// Kills the process, so that the next worker is forked from another one, whose memory lies at other addresses.
    pub fn recycle(&mut self) {
        self.server = None;
    }
}

/// A process that copies itself. Dropping it kills it.
struct ServerProcess {
    process: process::Child,
    socket: OwnedFd,
}

impl ServerProcess {
    fn start(program: &Path, arguments: &[OsString]) -> io::Result<Self> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // No secret of our environment reaches a worker. `TZ` makes local time UTC without a file of time zones.
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

    fn fork(&self) -> io::Result<ForkedProcess> {
        let ((their_input, our_input), (our_output, their_output)) = (io::pipe()?, io::pipe()?);
        self.send_request(&their_input, &their_output)?;
        let child = ChildProcess::adopt(self.receive_pid()?)?;
        Ok(ForkedProcess {
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
            return Err(io::Error::other("two descriptors do not fit into a message"));
        }
        // The server gets one request at a time, so the socket has room for it.
        retry_on_intr(|| sendmsg(&self.socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    fn receive_pid(&self) -> io::Result<Pid> {
        let wait = Timespec::try_from(FORK_TIMEOUT).map_err(io::Error::other)?;
        let mut replies = [PollFd::new(&self.socket, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut replies, Some(&wait)))? == 0 {
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
        process.ok_or_else(|| io::Error::other("the kernel lets no further process be made"))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // One that has ended already has to be waited for too.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use rustix::net::send;

    use super::*;

    /// A server whose replies are written by the test.
    fn scripted() -> (ServerProcess, OwnedFd) {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        (
            ServerProcess {
                process: Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap(),
                socket,
            },
            theirs,
        )
    }

    #[test]
    fn a_reply_is_a_process_id_or_an_error() {
        let (server, theirs) = scripted();
        let reply = |bytes: &[u8]| {
            send(&theirs, bytes, SendFlags::NOSIGNAL).unwrap();
            server.receive_pid().map(|pid| pid.as_raw_nonzero().get()).map_err(|error| error.to_string())
        };
        assert_eq!(reply(&42_i32.to_ne_bytes()), Ok(42));
        let refused = "the kernel lets no further process be made".to_owned();
        assert_eq!(reply(&FORK_FAILED.to_ne_bytes()), Err(refused));
        assert_eq!(reply(&[1, 2]), Err("the fork server has ended".to_owned()));
        drop(theirs);
        assert_eq!(server.receive_pid().unwrap_err().to_string(), "the fork server has ended");
    }
}
