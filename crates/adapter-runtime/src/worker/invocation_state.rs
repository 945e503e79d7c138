//! The state of one invocation towards the outside: log lines, host calls, timers and the streamed response.

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

use super::{held_values::HeldValues, parent_pipe::ParentPipe};
use crate::protocol::{
    CANCEL_GRACE, Fault, FromWorker, HostCall, JobLimits, MAX_CHUNK, MAX_LOG_LINE, MAX_REQUEST_BODY,
    ResponseHead, STREAM_WINDOW, truncate_text,
};

/// The state behind the native functions, which outlive an invocation.
pub(super) struct InvocationState {
    pipe: Rc<RefCell<ParentPipe>>,
    limits: Cell<JobLimits>,
    log_lines: Cell<u32>,
    dropped_log_lines: Cell<u32>,
    call_count: Cell<u32>,
    calls_in_flight: RefCell<HashSet<u32>>,
    /// Calls whose response has a body that is still coming.
    open_bodies: RefCell<HashSet<u32>>,
    /// Bytes that bodies of requests may still have, by their calls.
    request_bodies: RefCell<HashMap<u32, usize>>,
    timers: RefCell<Timers>,
    random_pool: RefCell<Vec<u8>>,
    stream: RefCell<ResponseStream>,
    /// Values that the native functions keep for objects of the code.
    pub(super) held_values: HeldValues,
}

/// A streamed response.
#[derive(Default)]
struct ResponseStream {
    /// Bytes that may be sent now.
    window: usize,
    /// Bytes that the rest of the body may have.
    remaining: u64,
    /// True if the code waits for the window to open.
    is_waiting: bool,
    /// True if something was sent since the pipe was last flushed.
    needs_flush: bool,
    /// True if the code tried to send more than `remaining` bytes.
    is_over_limit: bool,
    /// True if the reader is gone.
    is_cancelled: bool,
}

/// The result of stream a chunk.
pub(super) enum SendOutcome {
    /// Bytes of it that were sent; 0 if nothing of it is left.
    Bytes(usize),
    /// The window is full.
    WindowFull,
    /// The body would exceed its limit.
    LimitExceeded,
}

#[derive(Default)]
struct Timers {
    queue: BTreeSet<(Instant, u32)>,
    due: HashMap<u32, Instant>,
}

thread_local! {
    /// The id of the last host call. Ids are not used twice in a process, so that a late result settles no other call.
    static LAST_CALL: Cell<u32> = const { Cell::new(0) };
}

impl InvocationState {
    pub(super) fn new(pipe: Rc<RefCell<ParentPipe>>, limits: JobLimits) -> Rc<Self> {
        Rc::new(Self {
            pipe,
            limits: Cell::new(limits),
            log_lines: Cell::new(0),
            dropped_log_lines: Cell::new(0),
            call_count: Cell::new(0),
            calls_in_flight: RefCell::default(),
            open_bodies: RefCell::default(),
            request_bodies: RefCell::default(),
            timers: RefCell::default(),
            random_pool: RefCell::default(),
            stream: RefCell::default(),
            held_values: HeldValues::default(),
        })
    }

    /// Clears the state for the next invocation.
    pub(super) fn reset(&self, limits: JobLimits) {
        self.limits.set(limits);
        self.log_lines.set(0);
        self.dropped_log_lines.set(0);
        self.call_count.set(0);
        self.calls_in_flight.take();
        self.open_bodies.take();
        self.request_bodies.take();
        self.timers.take();
        self.random_pool.take();
        self.stream.take();
        self.held_values.clear();
    }

    /// Sends a message, and ends the process if the parent is gone. Returns false if it is too long for a frame.
    fn send(&self, message: &FromWorker) -> bool {
        self.pipe.borrow_mut().send(message).unwrap_or_else(|_| process::exit(0))
    }

    pub(super) fn log(&self, level: LogLevel, mut message: String) {
        if self.log_lines.get() >= self.limits.get().log_lines {
            self.dropped_log_lines.set(self.dropped_log_lines.get().saturating_add(1));
            return;
        }
        self.log_lines.set(self.log_lines.get() + 1);
        truncate_text(&mut message, MAX_LOG_LINE);
        self.send(&FromWorker::Log { level, message });
    }

    /// Logs the number of dropped lines, if there are any.
    pub(super) fn report_dropped_lines(&self) {
        if self.dropped_log_lines.get() > 0 {
            let message = format!("{} more lines of log were dropped", self.dropped_log_lines.get());
            self.send(&FromWorker::Log { level: LogLevel::Warn, message });
        }
    }

    /// Starts a host call. Returns its id, 0 if there were too many, -1 if it is too large.
    pub(super) fn start_call(&self, call: HostCall) -> i32 {
        if self.call_count.get() >= self.limits.get().host_calls {
            return 0;
        }
        self.call_count.set(self.call_count.get() + 1);
        let id = LAST_CALL.get() % (i32::MAX as u32) + 1;
        LAST_CALL.set(id);
        if matches!(call, HostCall::Fetch { is_streamed: true, .. }) {
            self.request_bodies.borrow_mut().insert(id, MAX_REQUEST_BODY);
        }
        if !self.send(&FromWorker::Call { id, call }) {
            return -1;
        }
        self.calls_in_flight.borrow_mut().insert(id);
        id.cast_signed()
    }

    /// Stops a host call that is on its way, or the body of its response.
    pub(super) fn cancel_call(&self, id: u32) {
        self.request_bodies.borrow_mut().remove(&id);
        let (is_waiting, has_body) = (self.finish_call(id), self.end_body(id));
        if is_waiting || has_body {
            self.send(&FromWorker::CancelCall(id));
        }
    }

    /// Sends a part of a request's body. Returns false if the body would be longer than [`MAX_REQUEST_BODY`].
    pub(super) fn send_request_part(&self, id: u32, bytes: &[u8]) -> bool {
        let mut bodies = self.request_bodies.borrow_mut();
        let Some(left) = bodies.get_mut(&id) else { return true };
        let Some(rest) = left.checked_sub(bytes.len()) else { return false };
        *left = rest;
        drop(bodies);
        for part in bytes.chunks(MAX_CHUNK) {
            self.send(&FromWorker::RequestPart { call: id, bytes: Bytes::copy_from_slice(part) });
        }
        true
    }

    /// Ends a request's body.
    pub(super) fn end_request(&self, id: u32) {
        if self.request_bodies.borrow_mut().remove(&id).is_some() {
            self.send(&FromWorker::RequestEnd(id));
        }
    }

    /// Records that the body of a response is still coming.
    pub(super) fn begin_body(&self, id: u32) {
        self.open_bodies.borrow_mut().insert(id);
    }

    /// Asks for the next part of a response's body, if there is one.
    pub(super) fn read_body(&self, id: u32) {
        if self.open_bodies.borrow().contains(&id) && self.calls_in_flight.borrow_mut().insert(id) {
            self.send(&FromWorker::ReadBody(id));
        }
    }

    /// Records that the body of a response has ended. Returns false if it had before.
    pub(super) fn end_body(&self, id: u32) -> bool {
        self.open_bodies.borrow_mut().remove(&id)
    }

    /// Begins a streamed response. Returns false if the head is too long for a frame.
    pub(super) fn send_head(&self, head: ResponseHead) -> bool {
        *self.stream.borrow_mut() = ResponseStream {
            window: STREAM_WINDOW as usize,
            remaining: self.limits.get().streamed,
            needs_flush: true,
            ..ResponseStream::default()
        };
        self.send(&FromWorker::Head(head))
    }

    /// Returns true if something of the body can be sent; otherwise records that the code waits.
    pub(super) fn has_window(&self) -> bool {
        let mut stream = self.stream.borrow_mut();
        stream.is_waiting = stream.window == 0;
        !stream.is_waiting
    }

    /// Sends the first of the `length` bytes left of a chunk, as many as fit into the window; `copy` returns that many.
    pub(super) fn send_chunk(&self, length: usize, copy: impl FnOnce(usize) -> Vec<u8>) -> SendOutcome {
        if length == 0 {
            return SendOutcome::Bytes(0);
        }
        if !self.has_window() {
            return SendOutcome::WindowFull;
        }
        let mut stream = self.stream.borrow_mut();
        if length as u64 > stream.remaining {
            stream.is_over_limit = true;
            return SendOutcome::LimitExceeded;
        }
        let count = length.min(stream.window).min(MAX_CHUNK);
        stream.window -= count;
        stream.remaining -= count as u64;
        stream.needs_flush = true;
        drop(stream);
        self.send(&FromWorker::Chunk(Bytes::from(copy(count))));
        SendOutcome::Bytes(count)
    }

    /// Ends the body.
    pub(super) fn send_end(&self) {
        self.stream.borrow_mut().needs_flush = true;
        self.send(&FromWorker::BodyEnd);
    }

    /// Opens the window by `count` bytes. Returns true if the code waited for that.
    pub(super) fn extend_window(&self, count: u32) -> bool {
        let mut stream = self.stream.borrow_mut();
        stream.window = (stream.window + count as usize).min(STREAM_WINDOW as usize);
        std::mem::take(&mut stream.is_waiting)
    }

    /// Records that the reader of the body is gone.
    pub(super) fn cancel_stream(&self) {
        let mut stream = self.stream.borrow_mut();
        stream.is_waiting = false;
        stream.is_cancelled = true;
    }

    /// Flushes what was sent of a streamed response, so that it reaches the visitor however long the code goes on.
    pub(super) fn flush_stream(&self) {
        if std::mem::take(&mut self.stream.borrow_mut().needs_flush)
            && self.pipe.borrow_mut().flush().is_err()
        {
            process::exit(0);
        }
    }

    /// Returns the fault of a streamed response: its own, or `fault` with the reason that the stream adds.
    pub(super) fn stream_fault(&self, fault: Option<Fault>) -> Option<Fault> {
        let stream = self.stream.borrow();
        let timeout = |message: String| Some(Fault::new(FailureCode::Timeout, message));
        match fault {
            Some(fault) if fault.code == FailureCode::Timeout && stream.is_cancelled => timeout(format!(
                "the code went on for {} s after the visitor had gone",
                CANCEL_GRACE.as_secs()
            )),
            Some(fault) if fault.code == FailureCode::Timeout && stream.is_waiting => {
                timeout(format!("{}: the visitor had not taken what was sent before", fault.message))
            }
            None if stream.is_over_limit => {
                let most = self.limits.get().streamed;
                let message = format!("the code streamed more than the {most} bytes that are allowed");
                Some(Fault::new(FailureCode::OutputTooLarge, message))
            }
            other => other,
        }
    }

    /// Ends a host call. Returns false if it is not one of this invocation.
    pub(super) fn finish_call(&self, id: u32) -> bool {
        self.calls_in_flight.borrow_mut().remove(&id)
    }

    pub(super) fn set_timer(&self, id: u32, wait: f64) {
        let wait = Duration::try_from_secs_f64(wait / 1000.0).unwrap_or_default();
        let Some(due) = Instant::now().checked_add(wait) else { return };
        let mut timers = self.timers.borrow_mut();
        if let Some(old) = timers.due.insert(id, due) {
            timers.queue.remove(&(old, id));
        }
        timers.queue.insert((due, id));
    }

    pub(super) fn clear_timer(&self, id: u32) {
        let mut timers = self.timers.borrow_mut();
        if let Some(due) = timers.due.remove(&id) {
            timers.queue.remove(&(due, id));
        }
    }

    /// Removes the first timer that is due.
    pub(super) fn pop_due_timer(&self) -> Option<u32> {
        let mut timers = self.timers.borrow_mut();
        let (due, id) = *timers.queue.first()?;
        if due > Instant::now() {
            return None;
        }
        timers.queue.pop_first();
        timers.due.remove(&id);
        Some(id)
    }

    /// Returns the latest time to wait for a message until; `None` if nothing will ever happen.
    pub(super) fn next_wakeup(&self, wall: Instant) -> Option<Instant> {
        let timer = self.timers.borrow().queue.first().map(|(due, _)| *due);
        match timer {
            Some(due) => Some(due.min(wall)),
            None if self.calls_in_flight.borrow().is_empty() && !self.stream.borrow().is_waiting => None,
            None => Some(wall),
        }
    }

    pub(super) fn random_bytes(&self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        SystemRandomness.fill(&mut bytes);
        bytes
    }

    /// Returns a number from 0 to below 1, from the system's randomness.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub(super) fn random_number(&self) -> f64 {
        let mut pool = self.random_pool.borrow_mut();
        if pool.len() < 8 {
            *pool = self.random_bytes(512);
        }
        let at = pool.len() - 8;
        let bits = pool.split_off(at).into_iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(byte));
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}
