//! One invocation as the parent sees it: a job goes out, lines and host calls come in, answers go out, until the
//! worker is done, gone, or out of time.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use runs::engine::{DataCall, Failure, FailureCode, Host, HostError, Limits, LogLevel, Question};
use serde_json::value::RawValue;
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, sleep_until},
};

use crate::{
    process::Process,
    protocol::{Done, FromWorker, HostCall, Job, MAX_LINE, Settled, ToWorker, cut, put_frame},
};

/// Host calls of one invocation that are under way at once; the others wait.
const CALLS_AT_ONCE: usize = 6;
/// Bytes of answers not yet written at which no further call is started.
const ANSWERS_AT_ONCE: usize = 16 << 20;
/// Bytes of calls that wait.
const WAITING_BYTES: usize = 32 << 20;

/// Why a process cannot be used again.
pub(crate) enum Lost {
    /// It did not stop at its wall limit.
    Overdue,
    /// It ended, or said something that no worker says.
    Gone,
}

type Answer = (u32, Result<Settled, HostError>);

struct Exchange<'a> {
    host: Arc<dyn Host>,
    limits: &'a Limits,
    lines: u32,
    calls: u32,
    waiting: VecDeque<(u32, HostCall)>,
    waiting_bytes: usize,
    running: FuturesUnordered<BoxFuture<'static, Answer>>,
}

/// Has `process` do one job.
pub(crate) async fn exchange(
    process: &mut Process,
    job: Job,
    limits: &Limits,
    grace: Duration,
    host: Arc<dyn Host>,
) -> Result<Done, Lost> {
    let deadline = Instant::now() + limits.wall + grace;
    let mut frames = Vec::new();
    if !put_frame(&mut frames, &ToWorker::Invoke(Box::new(job))) {
        return Err(Lost::Gone);
    }
    process.outgoing.extend_from_slice(&frames);
    let mut exchange = Exchange {
        host,
        limits,
        lines: 0,
        calls: 0,
        waiting: VecDeque::new(),
        waiting_bytes: 0,
        running: FuturesUnordered::new(),
    };
    let overdue = sleep_until(deadline);
    tokio::pin!(overdue);
    loop {
        exchange.start_waiting(process.outgoing.len());
        tokio::select! {
            biased;
            () = &mut overdue => return Err(Lost::Overdue),
            frame = process.frames.next() => {
                let frame = frame.and_then(Result::ok).ok_or(Lost::Gone)?;
                let message = postcard::from_bytes(&frame).map_err(|_| Lost::Gone)?;
                if let Some(done) = exchange.hear(message)? {
                    return Ok(done);
                }
            }
            written = process.stdin.write_buf(&mut process.outgoing), if !process.outgoing.is_empty() => {
                if written.is_err() {
                    // The worker is gone; its output tells when.
                    process.outgoing.clear();
                }
            }
            Some((call, result)) = exchange.running.next() => answer(process, call, result),
        }
    }
}

fn answer(process: &mut Process, call: u32, result: Result<Settled, HostError>) {
    let mut frames = Vec::new();
    if !put_frame(&mut frames, &ToWorker::Settle { call, result }) {
        let error = refusal("response_too_large", "the answer is too large");
        put_frame(&mut frames, &ToWorker::Settle { call, result: Err(error) });
    }
    process.outgoing.extend_from_slice(&frames);
}

impl Exchange<'_> {
    /// Takes one message. A worker that exceeds what it enforces itself is not to be trusted further.
    fn hear(&mut self, message: FromWorker) -> Result<Option<Done>, Lost> {
        match message {
            FromWorker::Done(done) => Ok(Some(done)),
            FromWorker::Log { level, message } => {
                self.log(level, message)?;
                Ok(None)
            }
            FromWorker::Call { id, call } => {
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

    fn start_waiting(&mut self, unwritten: usize) {
        while self.running.len() < CALLS_AT_ONCE && unwritten < ANSWERS_AT_ONCE {
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
pub(crate) async fn mourn(process: &mut Process, lost: Lost, limits: &Limits) -> Failure {
    let fail = |code, message| Failure { code, message, host_code: None };
    let worker = process.id();
    match lost {
        Lost::Overdue => {
            tracing::info!(worker, "a worker was killed at its wall limit");
            fail(FailureCode::Timeout, format!("the code took longer than {} ms", limits.wall.as_millis()))
        }
        Lost::Gone => {
            let status = process.ended().await;
            let status =
                status.map_or_else(|| "it broke the protocol".to_owned(), |status| status.to_string());
            tracing::warn!(worker, status, "a worker was lost");
            fail(FailureCode::WorkerLost, format!("the process that ran the code was lost: {status}"))
        }
    }
}
