//! The worker's ends of the two pipes: frames to the parent, with a buffer, and frames from it, with a deadline.

use std::time::{Duration, Instant};

use process_snapshot::without_yielding;
use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
    stdio::{stdin, stdout},
};

use crate::protocol::{FromWorker, MAX_FRAME, ToWorker};

/// Bytes of buffered output at which it is written.
const FLUSH_THRESHOLD: usize = 64 << 10;
/// Age of buffered output at which code that computes is interrupted to write it: the parent may have to kill the process, and a
/// person may be reading the log.
const MAX_BUFFERED: Duration = Duration::from_millis(100);

/// The pipes between worker and parent.
#[derive(Default)]
pub(super) struct ParentPipe {
    input: Vec<u8>,
    input_start: usize,
    output: Vec<u8>,
    /// Time at which the oldest bytes of `output` were added.
    buffered_since: Option<Instant>,
}

/// The error of a parent that is gone or breaks the protocol.
#[derive(Debug)]
pub(super) struct Disconnected;

impl ParentPipe {
    /// Appends a message to the buffer. Returns false if it is too long for a frame.
    pub(super) fn send(&mut self, message: &FromWorker) -> Result<bool, Disconnected> {
        let fits = message.encode(&mut self.output);
        self.buffered_since.get_or_insert_with(Instant::now);
        if self.output.len() >= FLUSH_THRESHOLD {
            self.flush()?;
        }
        Ok(fits)
    }

    pub(super) fn flush(&mut self) -> Result<(), Disconnected> {
        let mut rest = self.output.as_slice();
        while !rest.is_empty() {
            match without_yielding(|| write(stdout(), rest)) {
                Ok(0) => return Err(Disconnected),
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(Disconnected),
            }
        }
        self.output.clear();
        self.buffered_since = None;
        // One large message must not hold memory for ever.
        self.output.shrink_to(FLUSH_THRESHOLD * 2);
        Ok(())
    }

    /// Flushes output that has been buffered for long.
    pub(super) fn flush_overdue(&mut self) {
        if self.buffered_since.is_some_and(|since| since.elapsed() >= MAX_BUFFERED) {
            // A parent that is gone is noticed by the next message.
            let _ = self.flush();
        }
    }

    /// Flushes, and waits for the next message; `None` if `deadline` comes first.
    pub(super) fn receive(&mut self, deadline: Option<Instant>) -> Result<Option<ToWorker>, Disconnected> {
        self.flush()?;
        loop {
            if let Some(message) = self.decode_next()? {
                return Ok(Some(message));
            }
            if let Some(deadline) = deadline
                && !without_yielding(|| wait_readable(deadline))?
            {
                return Ok(None);
            }
            self.read_more()?;
        }
    }

    fn decode_next(&mut self) -> Result<Option<ToWorker>, Disconnected> {
        let pending = &self.input[self.input_start..];
        let Some((prefix, rest)) = pending.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > MAX_FRAME {
            return Err(Disconnected);
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(frame).map_err(|_| Disconnected)?;
        self.input_start += 4 + length;
        if self.input_start == self.input.len() {
            self.input_start = 0;
            self.input.clear();
            self.input.shrink_to(FLUSH_THRESHOLD * 2);
        }
        Ok(Some(message))
    }

    fn read_more(&mut self) -> Result<(), Disconnected> {
        if self.input_start > 0 {
            self.input.drain(..self.input_start);
            self.input_start = 0;
        }
        self.input.reserve(FLUSH_THRESHOLD);
        loop {
            match without_yielding(|| read(stdin(), spare_capacity(&mut self.input))) {
                Ok(0) => return Err(Disconnected),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Disconnected),
            }
        }
    }
}

/// Waits until stdin is readable. Returns false if `deadline` comes first.
fn wait_readable(deadline: Instant) -> Result<bool, Disconnected> {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let wait = Timespec::try_from(left).map_err(|_| Disconnected)?;
        match poll(&mut fds, Some(&wait)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(_) => return Err(Disconnected),
        }
    }
}
