//! The fork server: a process with a runtime that is ready, of which each worker is a copy.
//!
//! To start a program, link it, build the runtime and compile the prelude takes far longer than to copy a process that has
//! done so, and copies share the memory that none of them writes to. The fork server runs no app code.

use std::{io::IoSliceMut, mem::MaybeUninit, os::fd::OwnedFd};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send},
    stdio::{dup2_stdin, dup2_stdout, stdin},
    thread::set_name,
};

use super::ffi;
use crate::protocol::FORK_FAILED;

/// The parent is gone, or speaks no sense.
pub(super) struct Disconnected;

/// Copies this process for each order that comes in on stdin, until the parent hangs up. Comes back in each copy, with
/// the pipes of its order as stdin and stdout.
pub(super) fn serve() -> Result<(), Disconnected> {
    // What a list of processes shows.
    let _ = set_name(c"app-forkserver");
    loop {
        let Some([input, output]) = receive_request()? else { continue };
        let Ok(copy) = ffi::fork_sibling() else {
            send_pid(FORK_FAILED)?;
            continue;
        };
        match copy {
            Some(process) => send_pid(process)?,
            None => {
                let _ = set_name(c"app-worker");
                // From here on the descriptor of the orders is the original's alone.
                dup2_stdin(input).and_then(|()| dup2_stdout(output)).map_err(|_| Disconnected)?;
                return Ok(());
            }
        }
    }
}

/// The pipes of the next order; none when a signal came first.
fn receive_request() -> Result<Option<[OwnedFd; 2]>, Disconnected> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    match recvmsg(stdin(), &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty()) {
        Ok(message) if message.bytes == 1 => {}
        Err(Errno::INTR) => return Ok(None),
        Ok(_) | Err(_) => return Err(Disconnected),
    }
    let pipes = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(pipes) => Some(pipes),
        _ => None,
    });
    pipes.flatten().collect::<Vec<_>>().try_into().map(Some).map_err(|_| Disconnected)
}

fn send_pid(process: i32) -> Result<(), Disconnected> {
    send(stdin(), &process.to_ne_bytes(), SendFlags::NOSIGNAL).map(drop).map_err(|_| Disconnected)
}
