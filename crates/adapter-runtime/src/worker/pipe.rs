//! The worker's end of the two pipes: buffered frames out, frames in with a deadline.

use std::time::Instant;

use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
    stdio::{stdin, stdout},
};

use super::give_way;
use crate::protocol::{FromWorker, MAX_FRAME, ToWorker};

/// Buffered output is written once it is this long.
const FLUSH_AT: usize = 64 << 10;

/// The pipes to the parent.
#[derive(Default)]
pub(super) struct Pipe {
    input: Vec<u8>,
    start: usize,
    output: Vec<u8>,
}

/// The parent is gone, or speaks no sense.
#[derive(Debug)]
pub(super) struct Hangup;

impl Pipe {
    /// Puts a message into the buffer; `false` when it is too long for a frame.
    pub(super) fn send(&mut self, message: &FromWorker) -> Result<bool, Hangup> {
        let put = message.put(&mut self.output);
        if self.output.len() >= FLUSH_AT {
            self.flush()?;
        }
        Ok(put)
    }

    pub(super) fn flush(&mut self) -> Result<(), Hangup> {
        let mut rest = self.output.as_slice();
        while !rest.is_empty() {
            match give_way::while_waiting(|| write(stdout(), rest)) {
                Ok(0) => return Err(Hangup),
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(Hangup),
            }
        }
        self.output.clear();
        // A large answer must not keep its memory.
        self.output.shrink_to(FLUSH_AT * 2);
        Ok(())
    }

    /// The next message, or nothing when `deadline` comes first. Flushes before it waits.
    pub(super) fn receive(&mut self, deadline: Option<Instant>) -> Result<Option<ToWorker>, Hangup> {
        self.flush()?;
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            if let Some(deadline) = deadline
                && !give_way::while_waiting(|| readable(deadline))?
            {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    fn take(&mut self) -> Result<Option<ToWorker>, Hangup> {
        let pending = &self.input[self.start..];
        let Some((prefix, rest)) = pending.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > MAX_FRAME {
            return Err(Hangup);
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(frame).map_err(|_| Hangup)?;
        self.start += 4 + length;
        if self.start == self.input.len() {
            self.start = 0;
            self.input.clear();
            self.input.shrink_to(FLUSH_AT * 2);
        }
        Ok(Some(message))
    }

    fn fill(&mut self) -> Result<(), Hangup> {
        if self.start > 0 {
            self.input.drain(..self.start);
            self.start = 0;
        }
        self.input.reserve(FLUSH_AT);
        loop {
            match give_way::while_waiting(|| read(stdin(), spare_capacity(&mut self.input))) {
                Ok(0) => return Err(Hangup),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Hangup),
            }
        }
    }
}

/// Waits until there is something to read; false when `deadline` comes first.
fn readable(deadline: Instant) -> Result<bool, Hangup> {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let wait = Timespec::try_from(left).map_err(|_| Hangup)?;
        match poll(&mut fds, Some(&wait)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(_) => return Err(Hangup),
        }
    }
}
