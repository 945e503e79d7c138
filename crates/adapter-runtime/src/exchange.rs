//! One invocation as the parent sees it. The parent sends a job, receives log lines and host calls, and sends the results of
//! the calls, until the worker completes the job, ends or exceeds a limit. The response is part of the last message, or comes
//! before it in chunks.

mod host_calls;
mod request_bodies;
mod response_bodies;
mod worker_loss;

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use process_snapshot::Priority;
use runs::engine::{BundleDigest, Failure, Host, HostError, InvocationLimits, LogLevel};
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    pool::{BusyGuard, WorkerLease},
    protocol::{
        CANCEL_GRACE, FromWorker, HostCall, HostCallOutput, Job, JobResult, LONG_COMPUTATION, MAX_CHUNK,
        MAX_CPU, MAX_LOG_LINE, Outcome, ResponseHead, STREAM_WINDOW, Task, ToWorker, truncate_text,
    },
    worker_process::WorkerProcess,
};
use host_calls::{CallResult, call_size, collect_body, execute_call, host_error};
use request_bodies::RequestBodies;
use response_bodies::ResponseBodies;

pub(crate) use worker_loss::{WorkerLoss, lost_worker_failure};

/// Host calls of one invocation that run at once; the others wait.
const MAX_CONCURRENT_CALLS: usize = 6;
/// Bytes waiting to be written to the worker at which no further call is started.
const MAX_UNWRITTEN_BYTES: usize = 16 << 20;
/// Bytes of waiting calls, at most.
const MAX_QUEUED_CALL_BYTES: usize = 32 << 20;

/// Least time between two looks at a worker's processor time.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Most time between two looks at a long computation. Each look charges its processor time and checks its share.
const LONG_COMPUTATION_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The number of a call, and its result unless it was cancelled.
type EndedCall = (u32, Option<Result<CallResult, HostError>>);

/// A step of the response.
pub(crate) enum ExchangeEvent {
    /// Begins a streamed response. Only after it come chunks and the end of the body.
    Head(ResponseHead),
    /// The next bytes of the body.
    Chunk(Bytes),
    /// Ends the body.
    BodyEnd,
    /// Ends the job.
    Completed(JobResult),
}

/// The stage of the response, which decides what the worker may send next.
enum ResponseStage {
    /// The job does not fit into a frame.
    Unsendable,
    /// Before the response. Only the response to a `fetch` may be streamed.
    Pending { may_stream: bool },
    /// After the head of a streamed response.
    Streaming {
        /// Bytes that were received and not acknowledged; at most [`STREAM_WINDOW`].
        unacknowledged: u32,
        /// Bytes that the rest of the body may have.
        remaining: u64,
        /// True if the worker was asked to stop.
        is_cancelled: bool,
    },
    /// After the body of a streamed response.
    BodyComplete,
}

/// One job of a process.
pub(crate) struct Exchange {
    pub(crate) process: WorkerProcess,
    /// Dropped when the code begins to wait for the outside.
    busy: Option<BusyGuard>,
    pub(crate) limits: InvocationLimits,
    host: Arc<dyn Host>,
    grace: Duration,
    /// The time at which the worker is stopped, whatever it does.
    wall_deadline: Instant,
    cpu: CpuBudget,
    /// Elapses when a limit may be reached, or the job may have become a long computation.
    next_check: Pin<Box<Sleep>>,
    stage: ResponseStage,
    log_lines: u32,
    call_count: u32,
    queued_calls: VecDeque<(u32, HostCall)>,
    queued_call_bytes: usize,
    running_calls: FuturesUnordered<BoxFuture<'static, EndedCall>>,
    /// Stop the running calls, by their numbers.
    abort_handles: Vec<(u32, AbortHandle)>,
    cancellation_count: u32,
    request_bodies: RequestBodies,
    response_bodies: ResponseBodies,
}

/// The processor time of a job.
struct CpuBudget {
    /// Processor time of the process before the job; `None` if it was gone already.
    used_before: Option<Duration>,
    /// Processor time that the job may use, with the grace.
    limit: Duration,
}

impl Exchange {
    /// Sends a job to a process. It is stopped at its limits plus `grace`.
    pub(crate) fn start(
        (mut process, busy): (WorkerProcess, Option<BusyGuard>),
        job: Job,
        (limits, grace): (InvocationLimits, Duration),
        host: Arc<dyn Host>,
    ) -> Self {
        let wall_deadline = Instant::now() + limits.wall_time + grace;
        let cpu_limit = limits.cpu_time.min(MAX_CPU) + grace;
        // A worker has one thread, which uses at most the time that passes.
        let first_check = wall_deadline.min(Instant::now() + cpu_limit.min(LONG_COMPUTATION));
        let cpu = CpuBudget { used_before: process.begin_job(Arc::clone(&host)), limit: cpu_limit };
        let may_stream = matches!(job.task, Task::Fetch(_));
        let is_sent = process.queue(&ToWorker::Invoke(Box::new(job)));
        Self {
            process,
            busy,
            limits,
            host,
            grace,
            wall_deadline,
            cpu,
            next_check: Box::pin(sleep_until(first_check)),
            stage: if is_sent { ResponseStage::Pending { may_stream } } else { ResponseStage::Unsendable },
            log_lines: 0,
            call_count: 0,
            queued_calls: VecDeque::new(),
            queued_call_bytes: 0,
            running_calls: FuturesUnordered::new(),
            abort_handles: Vec::new(),
            cancellation_count: 0,
            request_bodies: RequestBodies::default(),
            response_bodies: ResponseBodies::default(),
        }
    }

    /// Serves the worker until the next step of the response. Cancel safe: dropping the future loses nothing.
    pub(crate) async fn next_event(&mut self) -> Result<ExchangeEvent, WorkerLoss> {
        if matches!(self.stage, ResponseStage::Unsendable) {
            return Err(WorkerLoss::Broken);
        }
        loop {
            self.start_queued_calls();
            let process = &mut self.process;
            tokio::select! {
                biased;
                () = &mut self.next_check => match self.check_limits() {
                    Some(lost) => return Err(lost),
                    None => continue,
                },
                frame = process.frames.next() => {
                    let frame = frame.and_then(Result::ok).ok_or(WorkerLoss::Broken)?;
                    let message = FromWorker::decode(&frame.freeze()).ok_or(WorkerLoss::Broken)?;
                    if let Some(event) = self.handle_message(message)? {
                        return Ok(event);
                    }
                }
                written = process.stdin.write_buf(&mut process.outgoing), if !process.outgoing.is_empty() => {
                    if written.is_err() {
                        // The worker is gone; the end of its output reports that.
                        process.outgoing.clear();
                    }
                }
                Some((call, result)) = self.running_calls.next() => {
                    self.abort_handles.retain(|(id, _)| *id != call);
                    match result {
                        Some(Ok(CallResult::Streamed(head, pieces))) => {
                            match self.response_bodies.open(call, pieces) {
                                None => queue_call_result(process, call, Ok(HostCallOutput::Head(head))),
                                Some(pieces) => self.run_call(call, collect_body(head, pieces)),
                            }
                        }
                        Some(Ok(CallResult::Output(output))) => queue_call_result(process, call, Ok(output)),
                        Some(Err(error)) => queue_call_result(process, call, Err(error)),
                        None => {}
                    }
                }
                part = self.response_bodies.next_part(), if self.response_bodies.is_reading() => {
                    if let Some((call, part)) = part {
                        process.queue(&ToWorker::BodyPart { call, part });
                    }
                }
            }
        }
    }

    /// Returns the limit that the worker failed to keep by itself. If there is none, sets the time of the next check.
    fn check_limits(&mut self) -> Option<WorkerLoss> {
        let now = Instant::now();
        if now >= self.wall_deadline {
            return Some(WorkerLoss::WallTimeExceeded);
        }
        let used = self
            .process
            .charge_cpu_time()
            .zip(self.cpu.used_before)
            .map(|(now, before)| now.saturating_sub(before));
        let left = match used {
            Some(used) if used >= self.cpu.limit => return Some(WorkerLoss::CpuTimeExceeded),
            Some(used) if used >= LONG_COMPUTATION => {
                self.process.lower_priority(Priority::Low);
                self.process.enforce_fair_share();
                (self.cpu.limit - used).clamp(MIN_CHECK_INTERVAL, LONG_COMPUTATION_CHECK_INTERVAL)
            }
            Some(used) => (self.cpu.limit.min(LONG_COMPUTATION) - used).max(MIN_CHECK_INTERVAL),
            // It is gone; the end of its output reports that.
            None => self.wall_deadline - now,
        };
        self.next_check.as_mut().reset(self.wall_deadline.min(now + left));
        None
    }

    /// Tells the worker that the reader took bytes of the body.
    pub(crate) fn acknowledge(&mut self, count: u32) {
        if let ResponseStage::Streaming { unacknowledged, .. } = &mut self.stage {
            *unacknowledged = unacknowledged.saturating_sub(count);
            self.process.queue(&ToWorker::WindowUpdate(count));
        }
    }

    /// Tells the worker that the reader is gone, and leaves it [`CANCEL_GRACE`]. Does nothing outside of a body.
    pub(crate) fn cancel_stream(&mut self) {
        if let ResponseStage::Streaming { is_cancelled, .. } = &mut self.stage {
            *is_cancelled = true;
            self.process.queue(&ToWorker::CancelStream);
            self.wall_deadline = self.wall_deadline.min(Instant::now() + CANCEL_GRACE + self.grace);
            if self.wall_deadline < self.next_check.deadline() {
                self.next_check.as_mut().reset(self.wall_deadline);
            }
        }
    }
}

fn queue_call_result(process: &mut WorkerProcess, call: u32, result: Result<HostCallOutput, HostError>) {
    if !process.queue(&ToWorker::CallResult { call, result }) {
        let error = host_error("response_too_large", "the answer is too large");
        process.queue(&ToWorker::CallResult { call, result: Err(error) });
    }
}

impl Exchange {
    /// Ends an exchange whose job was completed, and gives the process back unless it should retire.
    pub(crate) fn complete(
        self,
        lease: WorkerLease,
        bundle: BundleDigest,
        completed: JobResult,
    ) -> Result<Outcome, Failure> {
        let mut process = self.process;
        process.end_job(Duration::from_micros(completed.cpu_micros));
        process.record_cached(bundle, completed.is_cached);
        if !completed.should_retire {
            lease.return_worker(process);
        }
        completed.result.map_err(Failure::from)
    }

    /// Handles one message. A worker that exceeds a limit that it should have enforced itself counts as broken.
    fn handle_message(&mut self, message: FromWorker) -> Result<Option<ExchangeEvent>, WorkerLoss> {
        match message {
            FromWorker::Log { level, message } => {
                self.forward_log_line(level, message)?;
                Ok(None)
            }
            FromWorker::Call { id, call } => {
                self.busy = None;
                self.call_count += 1;
                if self.call_count > self.limits.host_calls {
                    return Err(WorkerLoss::Broken);
                }
                self.queued_call_bytes += call_size(&call);
                if self.queued_call_bytes > MAX_QUEUED_CALL_BYTES {
                    return Err(WorkerLoss::Broken);
                }
                if matches!(call, HostCall::Fetch { is_streamed: true, .. }) {
                    self.request_bodies.begin(id);
                }
                self.queued_calls.push_back((id, call));
                Ok(None)
            }
            FromWorker::RequestPart { call, bytes } => self.request_bodies.push(call, bytes).map(|()| None),
            FromWorker::RequestEnd(call) => {
                self.request_bodies.finish(call);
                Ok(None)
            }
            FromWorker::ReadBody(call) => {
                self.busy = None;
                if self.response_bodies.read(call) { Ok(None) } else { Err(WorkerLoss::Broken) }
            }
            FromWorker::CancelCall(id) => {
                self.cancellation_count += 1;
                if self.cancellation_count > self.call_count {
                    return Err(WorkerLoss::Broken);
                }
                self.cancel_call(id);
                Ok(None)
            }
            FromWorker::Head(head) => {
                let ResponseStage::Pending { may_stream: true } = self.stage else {
                    return Err(WorkerLoss::Broken);
                };
                if !(200..=599).contains(&head.status) {
                    return Err(WorkerLoss::Broken);
                }
                self.busy = None;
                self.stage = ResponseStage::Streaming {
                    unacknowledged: 0,
                    remaining: self.limits.streamed_bytes,
                    is_cancelled: false,
                };
                Ok(Some(ExchangeEvent::Head(head)))
            }
            FromWorker::Chunk(bytes) => {
                let ResponseStage::Streaming { unacknowledged, remaining, .. } = &mut self.stage else {
                    return Err(WorkerLoss::Broken);
                };
                let count = u32::try_from(bytes.len()).map_err(|_| WorkerLoss::Broken)?;
                *unacknowledged = unacknowledged.saturating_add(count);
                *remaining = remaining.checked_sub(count.into()).ok_or(WorkerLoss::Broken)?;
                if bytes.is_empty() || bytes.len() > MAX_CHUNK || *unacknowledged > STREAM_WINDOW {
                    return Err(WorkerLoss::Broken);
                }
                Ok(Some(ExchangeEvent::Chunk(bytes)))
            }
            FromWorker::BodyEnd => {
                let ResponseStage::Streaming { .. } = self.stage else { return Err(WorkerLoss::Broken) };
                self.stage = ResponseStage::BodyComplete;
                Ok(Some(ExchangeEvent::BodyEnd))
            }
            FromWorker::Completed(completed) => {
                let fits = match (&self.stage, &completed.result) {
                    (_, Err(_)) => true,
                    (ResponseStage::Pending { .. }, Ok(outcome)) => !matches!(outcome, Outcome::Streamed),
                    (ResponseStage::Streaming { is_cancelled, .. }, Ok(Outcome::Streamed)) => *is_cancelled,
                    (ResponseStage::BodyComplete, Ok(outcome)) => matches!(outcome, Outcome::Streamed),
                    (ResponseStage::Unsendable | ResponseStage::Streaming { .. }, Ok(_)) => false,
                };
                if fits { Ok(Some(ExchangeEvent::Completed(completed))) } else { Err(WorkerLoss::Broken) }
            }
            // None of these responds to a job.
            FromWorker::Ready { .. } | FromWorker::TypesStripped | FromWorker::Compiled(_) => {
                Err(WorkerLoss::Broken)
            }
        }
    }

    fn forward_log_line(&mut self, level: LogLevel, mut message: String) -> Result<(), WorkerLoss> {
        self.log_lines += 1;
        // The worker's own line about dropped lines comes on top.
        if self.log_lines > self.limits.log_lines.saturating_add(1) {
            return Err(WorkerLoss::Broken);
        }
        truncate_text(&mut message, MAX_LOG_LINE);
        self.host.log(level, message);
        Ok(())
    }

    fn start_queued_calls(&mut self) {
        while self.running_calls.len() < MAX_CONCURRENT_CALLS
            && self.process.outgoing.len() < MAX_UNWRITTEN_BYTES
        {
            let Some((id, call)) = self.queued_calls.pop_front() else { return };
            self.queued_call_bytes = self.queued_call_bytes.saturating_sub(call_size(&call));
            let (host, body) = (Arc::clone(&self.host), self.request_bodies.take(id));
            self.run_call(id, async move { execute_call(&*host, call, body).await });
        }
    }

    fn run_call(
        &mut self,
        id: u32,
        call: impl Future<Output = Result<CallResult, HostError>> + Send + 'static,
    ) {
        let (handle, registration) = AbortHandle::new_pair();
        self.abort_handles.push((id, handle));
        let running = Abortable::new(call, registration);
        self.running_calls.push(running.map(move |result| (id, result.ok())).boxed());
    }

    /// Stops a call: one that waits is never started, the future of one that runs is dropped, and so is the body of its
    /// response. A call that has ended in the meantime is not known any more.
    fn cancel_call(&mut self, id: u32) {
        self.request_bodies.cancel(id);
        self.response_bodies.cancel(id);
        if let Some(at) = self.queued_calls.iter().position(|(queued, _)| *queued == id) {
            if let Some((_, call)) = self.queued_calls.remove(at) {
                self.queued_call_bytes = self.queued_call_bytes.saturating_sub(call_size(&call));
            }
        } else if let Some((_, handle)) = self.abort_handles.iter().find(|(running, _)| *running == id) {
            // The next poll of the running calls drops the future.
            handle.abort();
        }
    }
}
