//! What one invocation has asked of the outside: lines of log, host calls in flight, timers.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeSet, HashMap, HashSet},
    process,
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use kernel::{Randomness, SystemRandomness};
use runs::engine::{FailureCode, LogLevel};

use super::pipe::Pipe;
use crate::protocol::{
    Fault, FromWorker, Head, HostCall, JobLimits, MAX_LINE, MAX_PIECE, PARTING, WINDOW, cut,
};

/// The state behind the functions lent to the prelude, which outlive an invocation.
pub(super) struct Session {
    pipe: Rc<RefCell<Pipe>>,
    limits: Cell<JobLimits>,
    lines: Cell<u32>,
    dropped: Cell<u32>,
    calls: Cell<u32>,
    in_flight: RefCell<HashSet<u32>>,
    timers: RefCell<Timers>,
    random: RefCell<Vec<u8>>,
    sending: RefCell<Sending>,
}

/// A streamed answer on its way.
#[derive(Default)]
struct Sending {
    /// Bytes that may be sent now.
    room: usize,
    /// Bytes that may be sent in all, from now on.
    left: u64,
    /// Whether the code waits for room.
    waits: bool,
    /// Whether something was sent since the pipe was last flushed.
    unflushed: bool,
    /// Whether the body would become longer than it may.
    too_much: bool,
    /// Whether nobody wants more.
    hung_up: bool,
}

/// What became of a chunk.
pub(super) enum Sent {
    /// So many bytes of it are on their way; none when there is nothing of it left.
    Bytes(usize),
    /// There is no room.
    Nothing,
    /// The body would become longer than it may.
    TooMuch,
}

#[derive(Default)]
struct Timers {
    queue: BTreeSet<(Instant, u32)>,
    due: HashMap<u32, Instant>,
}

thread_local! {
    /// Numbers of host calls are never used twice in a process, so that a late answer meets no other call.
    static LAST_CALL: Cell<u32> = const { Cell::new(0) };
}

impl Session {
    pub(super) fn new(pipe: Rc<RefCell<Pipe>>, limits: JobLimits) -> Rc<Self> {
        Rc::new(Self {
            pipe,
            limits: Cell::new(limits),
            lines: Cell::new(0),
            dropped: Cell::new(0),
            calls: Cell::new(0),
            in_flight: RefCell::default(),
            timers: RefCell::default(),
            random: RefCell::default(),
            sending: RefCell::default(),
        })
    }

    /// Forgets the invocation before, and starts the next.
    pub(super) fn start(&self, limits: JobLimits) {
        self.limits.set(limits);
        self.lines.set(0);
        self.dropped.set(0);
        self.calls.set(0);
        self.in_flight.take();
        self.timers.take();
        self.random.take();
        self.sending.take();
    }

    /// Sends to the parent; without a parent there is nothing left to do.
    fn send(&self, message: &FromWorker) -> bool {
        self.pipe.borrow_mut().send(message).unwrap_or_else(|_| process::exit(0))
    }

    pub(super) fn log(&self, level: LogLevel, mut message: String) {
        if self.lines.get() >= self.limits.get().log_lines {
            self.dropped.set(self.dropped.get().saturating_add(1));
            return;
        }
        self.lines.set(self.lines.get() + 1);
        cut(&mut message, MAX_LINE);
        self.send(&FromWorker::Log { level, message });
    }

    /// Tells how many lines were dropped, if any.
    pub(super) fn close_log(&self) {
        if self.dropped.get() > 0 {
            let message = format!("{} more lines of log were dropped", self.dropped.get());
            self.send(&FromWorker::Log { level: LogLevel::Warn, message });
        }
    }

    /// Starts a host call. Gives its number, 0 when there were too many, -1 when it is too large.
    pub(super) fn call(&self, call: HostCall) -> i32 {
        if self.calls.get() >= self.limits.get().host_calls {
            return 0;
        }
        self.calls.set(self.calls.get() + 1);
        let id = LAST_CALL.get() % (i32::MAX as u32) + 1;
        LAST_CALL.set(id);
        if !self.send(&FromWorker::Call { id, call }) {
            return -1;
        }
        self.in_flight.borrow_mut().insert(id);
        id.cast_signed()
    }

    /// Begins a streamed answer.
    pub(super) fn send_head(&self, head: Head) -> bool {
        *self.sending.borrow_mut() = Sending {
            room: WINDOW as usize,
            left: self.limits.get().streamed,
            unflushed: true,
            ..Sending::default()
        };
        self.send(&FromWorker::Head(head))
    }

    /// Whether anything of a body can be sent; if not, the code will wait.
    pub(super) fn has_room(&self) -> bool {
        let mut sending = self.sending.borrow_mut();
        sending.waits = sending.room == 0;
        !sending.waits
    }

    /// Sends the first bytes of what is left of a chunk, as many as there is room for.
    pub(super) fn send_piece(&self, rest: &[u8]) -> Sent {
        if rest.is_empty() {
            return Sent::Bytes(0);
        }
        if !self.has_room() {
            return Sent::Nothing;
        }
        let mut sending = self.sending.borrow_mut();
        if rest.len() as u64 > sending.left {
            sending.too_much = true;
            return Sent::TooMuch;
        }
        let count = rest.len().min(sending.room).min(MAX_PIECE);
        sending.room -= count;
        sending.left -= count as u64;
        sending.unflushed = true;
        drop(sending);
        self.send(&FromWorker::Piece(Bytes::copy_from_slice(&rest[..count])));
        Sent::Bytes(count)
    }

    /// Ends the body.
    pub(super) fn send_end(&self) {
        self.sending.borrow_mut().unflushed = true;
        self.send(&FromWorker::End);
    }

    /// Gives room back; whether the code waited for some.
    pub(super) fn taken(&self, count: u32) -> bool {
        let mut sending = self.sending.borrow_mut();
        sending.room = (sending.room + count as usize).min(WINDOW as usize);
        std::mem::take(&mut sending.waits)
    }

    /// Nobody wants more of the body.
    pub(super) fn hang_up(&self) {
        let mut sending = self.sending.borrow_mut();
        sending.waits = false;
        sending.hung_up = true;
    }

    /// What was sent of a body reaches the visitor now, however long the code goes on.
    pub(super) fn hand_over(&self) {
        if std::mem::take(&mut self.sending.borrow_mut().unflushed) && self.pipe.borrow_mut().flush().is_err()
        {
            process::exit(0);
        }
    }

    /// Why a streamed answer was no good, and what its limits make of a fault.
    pub(super) fn sending_fault(&self, fault: Option<Fault>) -> Option<Fault> {
        let sending = self.sending.borrow();
        let timeout = |message: String| Some(Fault::new(FailureCode::Timeout, message));
        match fault {
            Some(fault) if fault.code == FailureCode::Timeout && sending.hung_up => {
                timeout(format!("the code went on for {} s after the visitor had gone", PARTING.as_secs()))
            }
            Some(fault) if fault.code == FailureCode::Timeout && sending.waits => {
                timeout(format!("{}: the visitor had not taken what was sent before", fault.message))
            }
            None if sending.too_much => {
                let most = self.limits.get().streamed;
                let message = format!("the code streamed more than the {most} bytes that are allowed");
                Some(Fault::new(FailureCode::OutputTooLarge, message))
            }
            other => other,
        }
    }

    /// Whether this very invocation waits for the call.
    pub(super) fn finish_call(&self, id: u32) -> bool {
        self.in_flight.borrow_mut().remove(&id)
    }

    pub(super) fn arm(&self, id: u32, wait: f64) {
        let wait = Duration::try_from_secs_f64(wait / 1000.0).unwrap_or_default();
        let Some(due) = Instant::now().checked_add(wait) else { return };
        let mut timers = self.timers.borrow_mut();
        if let Some(old) = timers.due.insert(id, due) {
            timers.queue.remove(&(old, id));
        }
        timers.queue.insert((due, id));
    }

    pub(super) fn disarm(&self, id: u32) {
        let mut timers = self.timers.borrow_mut();
        if let Some(due) = timers.due.remove(&id) {
            timers.queue.remove(&(due, id));
        }
    }

    /// Takes the first timer whose time has come.
    pub(super) fn due_timer(&self) -> Option<u32> {
        let mut timers = self.timers.borrow_mut();
        let (due, id) = *timers.queue.first()?;
        if due > Instant::now() {
            return None;
        }
        timers.queue.pop_first();
        timers.due.remove(&id);
        Some(id)
    }

    /// When something may happen next: nothing will, the latest moment to look again.
    pub(super) fn next_event(&self, wall: Instant) -> Option<Instant> {
        let timer = self.timers.borrow().queue.first().map(|(due, _)| *due);
        match timer {
            Some(due) => Some(due.min(wall)),
            None if self.in_flight.borrow().is_empty() && !self.sending.borrow().waits => None,
            None => Some(wall),
        }
    }

    pub(super) fn random_bytes(&self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        SystemRandomness.fill(&mut bytes);
        bytes
    }

    /// From 0 to below 1, of the system's randomness.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub(super) fn random_number(&self) -> f64 {
        let mut pool = self.random.borrow_mut();
        if pool.len() < 8 {
            *pool = self.random_bytes(512);
        }
        let at = pool.len() - 8;
        let bits = pool.split_off(at).into_iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(byte));
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}
