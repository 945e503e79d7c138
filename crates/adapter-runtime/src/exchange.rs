//! One invocation as the parent sees it: a job goes out, lines and host calls come in, answers go out, until the
//! worker is done, gone, or out of time. The answer comes at the end, or before it in pieces.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use runs::engine::{DataCall, Failure, FailureCode, Host, HostError, Limits, LogLevel, Question};
use serde_json::value::RawValue;
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    child::Priority,
    engine::MAX_CPU,
    pool::{AtWork, Lease},
    process::Process,
    protocol::{
        Done, FromWorker, Head, HostCall, Job, LONG, MAX_LINE, MAX_PIECE, Outcome, PARTING, Settled, Task,
        ToWorker, WINDOW, cut, put_frame,
    },
};

/// Host calls of one invocation that are under way at once; the others wait.
const CALLS_AT_ONCE: usize = 6;
/// Bytes of answers not yet written at which no further call is started.
const ANSWERS_AT_ONCE: usize = 16 << 20;
/// Bytes of calls that wait.
const WAITING_BYTES: usize = 32 << 20;

/// How soon the processor time of a worker is looked at again at the earliest.
const LOOK: Duration = Duration::from_millis(20);

/// Time between two looks at a long computation: it is charged, and its workspace's share is checked.
const SHARE: Duration = Duration::from_millis(100);

/// Why a process cannot be used again.
pub(crate) enum Lost {
    /// It did not stop at its wall limit.
    Overdue,
    /// It did not stop at its limit of processor time.
    Spent,
    /// It ended, or said something that no worker says.
    Gone,
}

type Answer = (u32, Result<Settled, HostError>);

/// What a worker says that its parent's caller must hear.
pub(crate) enum Heard {
    /// An answer begins whose body comes in pieces. Only then come pieces and an end.
    Head(Head),
    /// The next bytes of the body.
    Piece(Bytes),
    /// The body is complete.
    End,
    /// The job is done.
    Done(Done),
}

/// How far an answer is, and so what the worker may say next.
enum Stage {
    /// The job is too long to be sent.
    Never,
    /// Nothing was answered yet; whether it may be in pieces.
    Begun { may_stream: bool },
    /// The body comes.
    Streaming {
        /// Bytes that were sent and not taken yet.
        untaken: u32,
        /// Bytes that may still come in all.
        left: u64,
        /// Whether the worker was told that nobody wants more.
        hung_up: bool,
    },
    /// The body is complete.
    Ended,
}

/// One job of a process.
pub(crate) struct Exchange {
    pub(crate) process: Process,
    /// Until the code waits for the outside.
    at_work: Option<AtWork>,
    pub(crate) limits: Limits,
    host: Arc<dyn Host>,
    grace: Duration,
    /// When it is stopped, whatever it does.
    wall: Instant,
    cpu: Cpu,
    /// Rings when one of the two may be reached, or the job may have become a long computation.
    overdue: Pin<Box<Sleep>>,
    stage: Stage,
    lines: u32,
    calls: u32,
    waiting: VecDeque<(u32, HostCall)>,
    waiting_bytes: usize,
    running: FuturesUnordered<BoxFuture<'static, Answer>>,
}

/// The processor time of a job.
struct Cpu {
    /// What the process had used before.
    before: Option<Duration>,
    /// What it may use, with the grace.
    most: Duration,
}

impl Exchange {
    /// Has `process` begin a job.
    pub(crate) fn begin(
        (mut process, at_work): (Process, Option<AtWork>),
        job: Job,
        (limits, grace): (Limits, Duration),
        host: Arc<dyn Host>,
    ) -> Self {
        let (wall, most) = (Instant::now() + limits.wall + grace, limits.cpu.min(MAX_CPU) + grace);
        // A thread uses at most the time that passes.
        let overdue = Box::pin(sleep_until(wall.min(Instant::now() + most.min(LONG))));
        let cpu = Cpu { before: process.charge(), most };
        let may_stream = matches!(job.task, Task::Fetch(_));
        let begun = say(&mut process, &ToWorker::Invoke(Box::new(job)));
        Self {
            process,
            at_work,
            limits,
            host,
            grace,
            wall,
            cpu,
            overdue,
            stage: if begun { Stage::Begun { may_stream } } else { Stage::Never },
            lines: 0,
            calls: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            running: FuturesUnordered::new(),
        }
    }

    /// Serves the worker until it says something of the answer. Whoever stops waiting for that may wait again.
    pub(crate) async fn next(&mut self) -> Result<Heard, Lost> {
        if matches!(self.stage, Stage::Never) {
            return Err(Lost::Gone);
        }
        loop {
            self.start_waiting();
            let process = &mut self.process;
            tokio::select! {
                biased;
                () = &mut self.overdue => match self.exceeded() {
                    Some(lost) => return Err(lost),
                    None => continue,
                },
                frame = process.frames.next() => {
                    let frame = frame.and_then(Result::ok).ok_or(Lost::Gone)?;
                    let message = FromWorker::read(&frame.freeze()).ok_or(Lost::Gone)?;
                    if let Some(heard) = self.hear(message)? {
                        return Ok(heard);
                    }
                }
                written = process.stdin.write_buf(&mut process.outgoing), if !process.outgoing.is_empty() => {
                    if written.is_err() {
                        // The worker is gone; its output tells when.
                        process.outgoing.clear();
                    }
                }
                Some((call, result)) = self.running.next() => answer(process, call, result),
            }
        }
    }

    /// Which limit the worker did not keep by itself; if none, when to look again.
    fn exceeded(&mut self) -> Option<Lost> {
        let now = Instant::now();
        if now >= self.wall {
            return Some(Lost::Overdue);
        }
        let used = self.process.charge().zip(self.cpu.before).map(|(now, before)| now.saturating_sub(before));
        let left = match used {
            Some(used) if used >= self.cpu.most => return Some(Lost::Spent),
            Some(used) if used >= LONG => {
                self.process.lower_priority(Priority::Low);
                self.process.keep_to_share();
                (self.cpu.most - used).clamp(LOOK, SHARE)
            }
            Some(used) => (self.cpu.most.min(LONG) - used).max(LOOK),
            // It is gone; its output tells.
            None => self.wall - now,
        };
        self.overdue.as_mut().reset(self.wall.min(now + left));
        None
    }

    /// Tells the worker that bytes of the body were taken.
    pub(crate) fn taken(&mut self, count: u32) {
        if let Stage::Streaming { untaken, .. } = &mut self.stage {
            *untaken = untaken.saturating_sub(count);
            say(&mut self.process, &ToWorker::Taken(count));
        }
    }

    /// Tells the worker that nobody wants more of the body, and leaves it a short time; a body that is complete is
    /// nobody's concern any more.
    pub(crate) fn hang_up(&mut self) {
        if let Stage::Streaming { hung_up, .. } = &mut self.stage {
            *hung_up = true;
            say(&mut self.process, &ToWorker::HangUp);
            let soon = Instant::now() + PARTING + self.grace;
            self.wall = self.wall.min(soon);
            if self.wall < self.overdue.deadline() {
                self.overdue.as_mut().reset(self.wall);
            }
        }
    }
}

/// Puts a message on its way; `false` when it is too long.
fn say(process: &mut Process, message: &ToWorker) -> bool {
    let mut frames = Vec::new();
    let put = put_frame(&mut frames, message);
    process.outgoing.extend_from_slice(&frames);
    put
}

fn answer(process: &mut Process, call: u32, result: Result<Settled, HostError>) {
    if !say(process, &ToWorker::Settle { call, result }) {
        let error = refusal("response_too_large", "the answer is too large");
        say(process, &ToWorker::Settle { call, result: Err(error) });
    }
}

impl Exchange {
    /// Takes one message. A worker that exceeds what it enforces itself is not to be trusted further.
    fn hear(&mut self, message: FromWorker) -> Result<Option<Heard>, Lost> {
        match message {
            FromWorker::Log { level, message } => {
                self.log(level, message)?;
                Ok(None)
            }
            FromWorker::Call { id, call } => {
                self.at_work = None;
                self.calls += 1;
                if self.calls > self.limits.host_calls {
                    return Err(Lost::Gone);
                }
                self.waiting_bytes += size(&call);
                if self.waiting_bytes > WAITING_BYTES {
                    return Err(Lost::Gone);
                }
                self.waiting.push_back((id, call));
                Ok(None)
            }
            FromWorker::Head(head) => {
                let Stage::Begun { may_stream: true } = self.stage else { return Err(Lost::Gone) };
                if !(200..=599).contains(&head.status) {
                    return Err(Lost::Gone);
                }
                self.at_work = None;
                self.stage = Stage::Streaming { untaken: 0, left: self.limits.streamed, hung_up: false };
                Ok(Some(Heard::Head(head)))
            }
            FromWorker::Piece(bytes) => {
                let Stage::Streaming { untaken, left, .. } = &mut self.stage else { return Err(Lost::Gone) };
                let count = u32::try_from(bytes.len()).map_err(|_| Lost::Gone)?;
                *untaken = untaken.saturating_add(count);
                *left = left.checked_sub(count.into()).ok_or(Lost::Gone)?;
                if bytes.is_empty() || bytes.len() > MAX_PIECE || *untaken > WINDOW {
                    return Err(Lost::Gone);
                }
                Ok(Some(Heard::Piece(bytes)))
            }
            FromWorker::End => {
                let Stage::Streaming { .. } = self.stage else { return Err(Lost::Gone) };
                self.stage = Stage::Ended;
                Ok(Some(Heard::End))
            }
            FromWorker::Done(done) => {
                let fits = match (&self.stage, &done.verdict) {
                    (_, Err(_)) => true,
                    (Stage::Begun { .. }, Ok(outcome)) => !matches!(outcome, Outcome::Streamed),
                    (Stage::Streaming { hung_up, .. }, Ok(Outcome::Streamed)) => *hung_up,
                    (Stage::Ended, Ok(outcome)) => matches!(outcome, Outcome::Streamed),
                    (Stage::Never | Stage::Streaming { .. }, Ok(_)) => false,
                };
                if fits { Ok(Some(Heard::Done(done))) } else { Err(Lost::Gone) }
            }
            FromWorker::Ready(_) => Err(Lost::Gone),
        }
    }

    fn log(&mut self, level: LogLevel, mut message: String) -> Result<(), Lost> {
        self.lines += 1;
        // One line more tells how many were dropped.
        if self.lines > self.limits.log_lines.saturating_add(1) {
            return Err(Lost::Gone);
        }
        cut(&mut message, MAX_LINE);
        self.host.log(level, message);
        Ok(())
    }

    fn start_waiting(&mut self) {
        while self.running.len() < CALLS_AT_ONCE && self.process.outgoing.len() < ANSWERS_AT_ONCE {
            let Some((id, call)) = self.waiting.pop_front() else { return };
            self.waiting_bytes = self.waiting_bytes.saturating_sub(size(&call));
            let host = Arc::clone(&self.host);
            self.running.push(async move { (id, perform(&*host, call).await) }.boxed());
        }
    }
}

fn size(call: &HostCall) -> usize {
    match call {
        HostCall::Fetch { request, .. } => {
            let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            request.url.len() + headers + request.body.len()
        }
        HostCall::Data { key, values, .. } => key.len() + values.len(),
        HostCall::Approval { title, detail } => title.len() + detail.as_ref().map_or(0, String::len),
    }
}

async fn perform(host: &dyn Host, call: HostCall) -> Result<Settled, HostError> {
    match call {
        HostCall::Fetch { connection: None, request } => {
            host.fetch(request.into()).await.map(|response| Settled::Response(response.into()))
        }
        HostCall::Fetch { connection: Some(name), request } => host
            .connection_fetch(&name, request.into())
            .await
            .map(|response| Settled::Response(response.into())),
        HostCall::Data { project, op, table, key, values } => {
            let call = data_call(&op, table, key, values)?;
            host.data(&project, call).await.map(|json| Settled::Json(json.get().to_owned()))
        }
        HostCall::Approval { title, detail } => {
            let answer = host.approval(Question { title, detail }).await;
            answer.map(|json| Settled::Json(json.get().to_owned()))
        }
    }
}

fn data_call(op: &str, table: String, key: String, values: String) -> Result<DataCall, HostError> {
    let json =
        |text| RawValue::from_string(text).map_err(|_| refusal("invalid_request", "the values are not JSON"));
    Ok(match op {
        "select" => DataCall::Select { table, query: key },
        "get" => DataCall::Get { table, id: key },
        "insert" => DataCall::Insert { table, rows: json(values)? },
        "update" => DataCall::Update { table, query: key, values: json(values)? },
        "delete" => DataCall::Delete { table, query: key },
        _ => return Err(refusal("invalid_request", "there is no such operation")),
    })
}

fn refusal(code: &str, message: &str) -> HostError {
    HostError { code: code.to_owned(), message: message.to_owned() }
}

/// The failure of an invocation whose process was lost.
pub(crate) async fn mourn(process: &Process, lease: &Lease, lost: Lost, limits: &Limits) -> Failure {
    let fail = |code, message| Failure { code, message, host_code: None };
    let worker = process.id();
    match lost {
        Lost::Overdue => {
            tracing::info!(worker, "a worker was killed at its wall limit");
            fail(FailureCode::Timeout, format!("the code took longer than {} ms", limits.wall.as_millis()))
        }
        Lost::Spent => {
            tracing::info!(worker, "a worker was killed at its limit of processor time");
            let most = limits.cpu.min(MAX_CPU).as_millis();
            fail(FailureCode::CpuExceeded, format!("the code used more than {most} ms of processor time"))
        }
        Lost::Gone => {
            lease.renew();
            let status = process.ended().await;
            let status =
                status.map_or_else(|| "it broke the protocol".to_owned(), |status| status.to_string());
            tracing::warn!(worker, status, "a worker was lost");
            fail(FailureCode::WorkerLost, format!("the process that ran the code was lost: {status}"))
        }
    }
}

#[cfg(test)]
mod tests;
