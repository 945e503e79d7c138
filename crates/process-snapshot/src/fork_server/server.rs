//! The process that is copied.

#![expect(unsafe_code, reason = "no safe call makes a sibling process")]

use std::{
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send},
    stdio::{dup2_stdin, dup2_stdout, stdin},
};

use super::FORK_FAILED;
use crate::isolation::has_one_thread;

/// Reasons why a process serves no more.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The parent has closed its end of the socket, or broken the protocol.
    #[error("the parent of the fork server is gone")]
    Disconnected,
    /// The process has several threads, of which a copy would have one.
    #[error("a process with several threads cannot be a fork server")]
    MultiThreaded,
}

/// Copies this process for each request on stdin, until the parent closes the socket. Returns `Ok` in each copy, with the
/// pipes of its request as stdin and stdout. A copy is a child of this process's parent.
///
/// # Errors
/// In the original process, once there is nothing more to serve; and in a copy that cannot take its pipes over.
pub fn serve() -> Result<(), ServeError> {
    if has_one_thread() == Some(false) {
        return Err(ServeError::MultiThreaded);
    }
    let [input, output] = serve_requests(stdin(), fork_sibling)?;
    // Replaces the socket: from here on it is the original's alone.
    dup2_stdin(input).and_then(|()| dup2_stdout(output)).map_err(|_| ServeError::Disconnected)
}

/// Serves requests with `fork`, which returns the process id of a copy, and `None` in the copy. Returns the pipes of the
/// request in a copy.
fn serve_requests(
    socket: BorrowedFd<'_>,
    mut fork: impl FnMut() -> io::Result<Option<i32>>,
) -> Result<[OwnedFd; 2], ServeError> {
    loop {
        let Some(pipes) = receive_request(socket)? else { continue };
        match fork() {
            Ok(None) => return Ok(pipes),
            Ok(Some(process)) => send_reply(socket, process)?,
            Err(_) => send_reply(socket, FORK_FAILED)?,
        }
    }
}

/// Receives the pipes of the next request; `None` if a signal came first.
fn receive_request(socket: BorrowedFd<'_>) -> Result<Option<[OwnedFd; 2]>, ServeError> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    match recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty()) {
        Ok(message) if message.bytes == 1 => {}
        Err(Errno::INTR) => return Ok(None),
        Ok(_) | Err(_) => return Err(ServeError::Disconnected),
    }
    let pipes = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(pipes) => Some(pipes),
        _ => None,
    });
    pipes.flatten().collect::<Vec<_>>().try_into().map(Some).map_err(|_| ServeError::Disconnected)
}

fn send_reply(socket: BorrowedFd<'_>, process: i32) -> Result<(), ServeError> {
    send(socket, &process.to_ne_bytes(), SendFlags::NOSIGNAL).map(drop).map_err(|_| ServeError::Disconnected)
}

/// Copies this process, as a child of its parent. Returns the process id of the copy, and `None` in the copy.
fn fork_sibling() -> io::Result<Option<i32>> {
    // SAFETY: the process has one thread, so the copy has all of it, and no lock that another thread held. The copy goes on
    // on its own copy of the stack. The C library does not learn of it and keeps the thread id of before, which only
    // signals that a thread sends to itself look at: a worker may not send any.
    let process = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_PARENT, 0, 0, 0, 0) };
    match i32::try_from(process) {
        Ok(0) => Ok(None),
        Ok(process) if process > 0 => Ok(Some(process)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::{
        io::IoSlice,
        os::fd::{AsFd as _, AsRawFd as _},
    };

    use rustix::net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SocketFlags, SocketType, recv, sendmsg,
        socketpair,
    };

    use super::*;

    fn sockets() -> [OwnedFd; 2] {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap().into()
    }

    fn request(socket: &OwnedFd, descriptors: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
        sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL).unwrap();
    }

    fn reply(socket: &OwnedFd) -> i32 {
        let mut process = [0; size_of::<i32>()];
        recv(socket, &mut process, RecvFlags::empty()).unwrap();
        i32::from_ne_bytes(process)
    }

    #[test]
    fn a_fork_that_fails_is_told_and_the_next_request_served() {
        let [parent, server] = sockets();
        let (input, output) = io::pipe().unwrap();
        let pipes = [input.as_fd(), output.as_fd()];
        (0..3).for_each(|_| request(&parent, &pipes));
        let mut results = vec![Ok(None), Ok(Some(42)), Err(io::ErrorKind::OutOfMemory.into())];
        let copied = serve_requests(server.as_fd(), || results.pop().unwrap()).unwrap();
        assert_eq!([reply(&parent), reply(&parent)], [FORK_FAILED, 42]);
        assert!(copied.iter().all(|pipe| pipe.as_raw_fd() > 2));
    }

    #[test]
    fn a_parent_that_hangs_up_or_sends_no_pipes_ends_the_service() {
        let none = || -> io::Result<Option<i32>> { panic!("nothing was asked for") };
        let [parent, server] = sockets();
        drop(parent);
        assert!(matches!(serve_requests(server.as_fd(), none), Err(ServeError::Disconnected)));
        let [parent, server] = sockets();
        request(&parent, &[parent.as_fd()]);
        assert!(matches!(serve_requests(server.as_fd(), none), Err(ServeError::Disconnected)));
    }

    #[test]
    fn a_process_with_several_threads_is_no_fork_server() {
        assert!(matches!(serve(), Err(ServeError::MultiThreaded)));
    }
}
