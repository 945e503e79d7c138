//! One invocation as the parent sees it: a job goes out, lines and host calls come in, answers go out, until the
//! worker is done, gone, or out of time. The answer comes at the end, or before it in pieces.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use process_snapshot::Priority;
use runs::engine::{
    ApprovalQuestion, DataCall, Failure, FailureCode, Host, HostError, InvocationLimits, LogLevel,
};
use serde_json::value::RawValue;
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    engine::MAX_CPU,
    pool::{BusyGuard, WorkerLease},
    protocol::{
        CANCEL_GRACE, FromWorker, HostCall, HostCallOutput, Job, JobResult, LONG_COMPUTATION, MAX_CHUNK,
        MAX_LOG_LINE, Outcome, ResponseHead, STREAM_WINDOW, Task, ToWorker, encode_frame, truncate_text,
    },
    worker_process::WorkerProcess,
};

/// Host calls of one invocation that are under way at once; the others wait.
const MAX_CONCURRENT_CALLS: usize = 6;
/// Bytes of answers not yet written at which no further call is started.
const MAX_UNWRITTEN_BYTES: usize = 16 << 20;
/// Bytes of calls that wait.
const MAX_QUEUED_CALL_BYTES: usize = 32 << 20;

/// How soon the processor time of a worker is looked at again at the earliest.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Time between two looks at a long computation: it is charged, and its workspace's share is checked.
const LONG_COMPUTATION_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Why a process cannot be used again.
pub(crate) enum WorkerLoss {
    /// It did not stop at its wall limit.
    WallTimeExceeded,
    /// It did not stop at its limit of processor time.
    CpuTimeExceeded,
    /// It ended, or said something that no worker says.
    Broken,
}

type CompletedCall = (u32, Result<HostCallOutput, HostError>);

/// What a worker says that its parent's caller must hear.
pub(crate) enum ExchangeEvent {
    /// An answer begins whose body comes in pieces. Only then come pieces and an end.
    Head(ResponseHead),
    /// The next bytes of the body.
    Chunk(Bytes),
    /// The body is complete.
    BodyEnd,
    /// The job is done.
    Completed(JobResult),
}

/// How far an answer is, and so what the worker may say next.
enum ResponseStage {
    /// The job is too long to be sent.
    Unsendable,
    /// Nothing was answered yet; whether it may be in pieces.
    Pending { may_stream: bool },
    /// The body comes.
    Streaming {
        /// Bytes that were sent and not taken yet.
        unacknowledged: u32,
        /// Bytes that may still come in all.
        remaining: u64,
        /// Whether the worker was told that nobody wants more.
        is_cancelled: bool,
    },
    /// The body is complete.
    BodyComplete,
}

/// One job of a process.
pub(crate) struct Exchange {
    pub(crate) process: WorkerProcess,
    /// Until the code waits for the outside.
    busy: Option<BusyGuard>,
    pub(crate) limits: InvocationLimits,
    host: Arc<dyn Host>,
    grace: Duration,
    /// When it is stopped, whatever it does.
    wall_deadline: Instant,
    cpu: CpuBudget,
    /// Rings when one of the two may be reached, or the job may have become a long computation.
    next_check: Pin<Box<Sleep>>,
    stage: ResponseStage,
    log_lines: u32,
    call_count: u32,
    queued_calls: VecDeque<(u32, HostCall)>,
    queued_call_bytes: usize,
    running_calls: FuturesUnordered<BoxFuture<'static, CompletedCall>>,
}

/// The processor time of a job.
struct CpuBudget {
    /// What the process had used before.
    used_before: Option<Duration>,
    /// What it may use, with the grace.
    limit: Duration,
}

impl Exchange {
    /// Has `process` begin a job.
    pub(crate) fn start(
        (mut process, at_work): (WorkerProcess, Option<BusyGuard>),
        job: Job,
        (limits, grace): (InvocationLimits, Duration),
        host: Arc<dyn Host>,
    ) -> Self {
        let (wall, most) = (Instant::now() + limits.wall_time + grace, limits.cpu_time.min(MAX_CPU) + grace);
        // A thread uses at most the time that passes.
        let overdue = Box::pin(sleep_until(wall.min(Instant::now() + most.min(LONG_COMPUTATION))));
        let cpu = CpuBudget { used_before: process.charge_cpu_time(), limit: most };
        let may_stream = matches!(job.task, Task::Fetch(_));
        let is_sent = queue_message(&mut process, &ToWorker::Invoke(Box::new(job)));
        Self {
            process,
            busy: at_work,
            limits,
            host,
            grace,
            wall_deadline: wall,
            cpu,
            next_check: overdue,
            stage: if is_sent { ResponseStage::Pending { may_stream } } else { ResponseStage::Unsendable },
            log_lines: 0,
            call_count: 0,
            queued_calls: VecDeque::new(),
            queued_call_bytes: 0,
            running_calls: FuturesUnordered::new(),
        }
    }

    /// Serves the worker until it says something of the answer. Whoever stops waiting for that may wait again.
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
                    if let Some(heard) = self.handle_message(message)? {
                        return Ok(heard);
                    }
                }
                written = process.stdin.write_buf(&mut process.outgoing), if !process.outgoing.is_empty() => {
                    if written.is_err() {
                        // The worker is gone; its output tells when.
                        process.outgoing.clear();
                    }
                }
                Some((call, result)) = self.running_calls.next() => queue_call_result(process, call, result),
            }
        }
    }

    /// Which limit the worker did not keep by itself; if none, when to look again.
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
            // It is gone; its output tells.
            None => self.wall_deadline - now,
        };
        self.next_check.as_mut().reset(self.wall_deadline.min(now + left));
        None
    }

    /// Tells the worker that bytes of the body were taken.
    pub(crate) fn acknowledge(&mut self, count: u32) {
        if let ResponseStage::Streaming { unacknowledged: untaken, .. } = &mut self.stage {
            *untaken = untaken.saturating_sub(count);
            queue_message(&mut self.process, &ToWorker::WindowUpdate(count));
        }
    }

    /// Tells the worker that nobody wants more of the body, and leaves it a short time; a body that is complete is
    /// nobody's concern any more.
    pub(crate) fn cancel_stream(&mut self) {
        if let ResponseStage::Streaming { is_cancelled: hung_up, .. } = &mut self.stage {
            *hung_up = true;
            queue_message(&mut self.process, &ToWorker::CancelStream);
            let soon = Instant::now() + CANCEL_GRACE + self.grace;
            self.wall_deadline = self.wall_deadline.min(soon);
            if self.wall_deadline < self.next_check.deadline() {
                self.next_check.as_mut().reset(self.wall_deadline);
            }
        }
    }
}

/// Puts a message on its way; `false` when it is too long.
fn queue_message(process: &mut WorkerProcess, message: &ToWorker) -> bool {
    let mut frames = Vec::new();
    let put = encode_frame(&mut frames, message);
    process.outgoing.extend_from_slice(&frames);
    put
}

fn queue_call_result(process: &mut WorkerProcess, call: u32, result: Result<HostCallOutput, HostError>) {
    if !queue_message(process, &ToWorker::CallResult { call, result }) {
        let error = host_error("response_too_large", "the answer is too large");
        queue_message(process, &ToWorker::CallResult { call, result: Err(error) });
    }
}

impl Exchange {
    /// Takes one message. A worker that exceeds what it enforces itself is not to be trusted further.
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
                self.queued_calls.push_back((id, call));
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
                let ResponseStage::Streaming { unacknowledged: untaken, remaining: left, .. } =
                    &mut self.stage
                else {
                    return Err(WorkerLoss::Broken);
                };
                let count = u32::try_from(bytes.len()).map_err(|_| WorkerLoss::Broken)?;
                *untaken = untaken.saturating_add(count);
                *left = left.checked_sub(count.into()).ok_or(WorkerLoss::Broken)?;
                if bytes.is_empty() || bytes.len() > MAX_CHUNK || *untaken > STREAM_WINDOW {
                    return Err(WorkerLoss::Broken);
                }
                Ok(Some(ExchangeEvent::Chunk(bytes)))
            }
            FromWorker::BodyEnd => {
                let ResponseStage::Streaming { .. } = self.stage else { return Err(WorkerLoss::Broken) };
                self.stage = ResponseStage::BodyComplete;
                Ok(Some(ExchangeEvent::BodyEnd))
            }
            FromWorker::Completed(done) => {
                let fits = match (&self.stage, &done.result) {
                    (_, Err(_)) => true,
                    (ResponseStage::Pending { .. }, Ok(outcome)) => !matches!(outcome, Outcome::Streamed),
                    (ResponseStage::Streaming { is_cancelled: hung_up, .. }, Ok(Outcome::Streamed)) => {
                        *hung_up
                    }
                    (ResponseStage::BodyComplete, Ok(outcome)) => matches!(outcome, Outcome::Streamed),
                    (ResponseStage::Unsendable | ResponseStage::Streaming { .. }, Ok(_)) => false,
                };
                if fits { Ok(Some(ExchangeEvent::Completed(done))) } else { Err(WorkerLoss::Broken) }
            }
            FromWorker::Ready(_) => Err(WorkerLoss::Broken),
        }
    }

    fn forward_log_line(&mut self, level: LogLevel, mut message: String) -> Result<(), WorkerLoss> {
        self.log_lines += 1;
        // One line more tells how many were dropped.
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
            let host = Arc::clone(&self.host);
            self.running_calls.push(async move { (id, execute_call(&*host, call).await) }.boxed());
        }
    }
}

fn call_size(call: &HostCall) -> usize {
    match call {
        HostCall::Fetch { request, .. } => {
            let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            request.url.len() + headers + request.body.len()
        }
        HostCall::Data { key, values, .. } => key.len() + values.len(),
        HostCall::Approval { title, detail } => title.len() + detail.as_ref().map_or(0, String::len),
    }
}

async fn execute_call(host: &dyn Host, call: HostCall) -> Result<HostCallOutput, HostError> {
    match call {
        HostCall::Fetch { connection: None, request } => {
            host.fetch(request.into()).await.map(|response| HostCallOutput::Response(response.into()))
        }
        HostCall::Fetch { connection: Some(name), request } => host
            .connection_fetch(&name, request.into())
            .await
            .map(|response| HostCallOutput::Response(response.into())),
        HostCall::Data { project, op, table, key, values } => {
            let call = data_call(&op, table, key, values)?;
            host.data(&project, call).await.map(|json| HostCallOutput::Json(json.get().to_owned()))
        }
        HostCall::Approval { title, detail } => {
            let answer = host.approval(ApprovalQuestion { title, detail }).await;
            answer.map(|json| HostCallOutput::Json(json.get().to_owned()))
        }
    }
}

fn data_call(op: &str, table: String, key: String, values: String) -> Result<DataCall, HostError> {
    let json = |text| {
        RawValue::from_string(text).map_err(|_| host_error("invalid_request", "the values are not JSON"))
    };
    Ok(match op {
        "select" => DataCall::Select { table, query: key },
        "get" => DataCall::Get { table, id: key },
        "insert" => DataCall::Insert { table, rows: json(values)? },
        "update" => DataCall::Update { table, query: key, values: json(values)? },
        "delete" => DataCall::Delete { table, query: key },
        _ => return Err(host_error("invalid_request", "there is no such operation")),
    })
}

fn host_error(code: &str, message: &str) -> HostError {
    HostError { code: code.to_owned(), message: message.to_owned() }
}

/// The failure of an invocation whose process was lost.
pub(crate) async fn lost_worker_failure(
    process: &WorkerProcess,
    lease: &WorkerLease,
    lost: WorkerLoss,
    limits: &InvocationLimits,
) -> Failure {
    let fail = |code, message| Failure { code, message, host_code: None };
    let worker = process.pid();
    match lost {
        WorkerLoss::WallTimeExceeded => {
            tracing::info!(worker, "a worker was killed at its wall limit");
            fail(
                FailureCode::Timeout,
                format!("the code took longer than {} ms", limits.wall_time.as_millis()),
            )
        }
        WorkerLoss::CpuTimeExceeded => {
            tracing::info!(worker, "a worker was killed at its limit of processor time");
            let most = limits.cpu_time.min(MAX_CPU).as_millis();
            fail(FailureCode::CpuExceeded, format!("the code used more than {most} ms of processor time"))
        }
        WorkerLoss::Broken => {
            lease.recycle_workers();
            let status = process.wait_exit_status().await;
            let status =
                status.map_or_else(|| "it broke the protocol".to_owned(), |status| status.to_string());
            tracing::warn!(worker, status, "a worker was lost");
            fail(FailureCode::WorkerLost, format!("the process that ran the code was lost: {status}"))
        }
    }
}

#[cfg(test)]
mod tests;
