//! An answer that comes in pieces: a task drives its invocation to the end, whether or not anybody reads, and the
//! reader's stream takes what has come.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt as _, Stream, StreamExt as _};
use runs::engine::{Failure, FailureCode, StreamedResponse};
use tokio::sync::{Notify, oneshot};

use crate::{
    engine::complete_job,
    exchange::{Exchange, ExchangeEvent, WorkerLoss, lost_worker_failure},
    pool::{StreamPermit, WorkerLease},
    protocol::{ResponseHead, STREAM_WINDOW, VersionKey},
};

/// Bytes that were taken at which the worker is told; it goes on all the same until the window is full.
const WINDOW_UPDATE_THRESHOLD: u32 = STREAM_WINDOW / 4;

/// Lets an invocation go on that has begun to answer.
pub(crate) fn start_streaming(
    exchange: Exchange,
    places: (WorkerLease, StreamPermit),
    version: VersionKey,
    head: ResponseHead,
) -> StreamedResponse {
    let buffer = Arc::new(BodyBuffer::default());
    let (end_sender, end) = oneshot::channel();
    tokio::spawn(drive_exchange(exchange, places, version, BodyWriter(Arc::clone(&buffer)), end_sender));
    let ResponseHead { status, headers } = head;
    let end = async move { end.await.unwrap_or_else(|_| Err(interrupted_failure())) };
    StreamedResponse { status, headers, body: BodyReader(buffer).boxed(), completion: end.boxed() }
}

/// What has come and was not taken; at most a window of it, however small the pieces were.
#[derive(Default)]
struct BodyBuffer {
    state: Mutex<BodyState>,
    /// Rings when the reader took something or went away.
    reader_progress: Notify,
}

#[derive(Default)]
struct BodyState {
    bytes: BytesMut,
    /// Bytes that were taken, and the worker was not told of.
    unacknowledged: u32,
    result: Option<Result<(), Failure>>,
    reader_waker: Option<Waker>,
    is_reader_gone: bool,
}

impl BodyBuffer {
    fn state(&self) -> MutexGuard<'_, BodyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task's end. However the task ends, the reader hears of it.
struct BodyWriter(Arc<BodyBuffer>);

impl BodyWriter {
    fn push(&self, piece: &[u8]) {
        let mut state = self.0.state();
        if !state.is_reader_gone {
            state.bytes.extend_from_slice(piece);
        }
        wake_reader(state);
    }

    /// The first end is the one that counts.
    fn finish(&self, how: Result<(), Failure>) {
        let mut state = self.0.state();
        state.result.get_or_insert(how);
        wake_reader(state);
    }

    /// Bytes that the worker is to be told of, and whether the reader is gone.
    fn take_reader_progress(&self) -> (Option<u32>, bool) {
        let mut state = self.0.state();
        let taken = (state.unacknowledged >= WINDOW_UPDATE_THRESHOLD)
            .then(|| std::mem::take(&mut state.unacknowledged));
        (taken, state.is_reader_gone)
    }
}

fn wake_reader(mut state: MutexGuard<'_, BodyState>) {
    let reader = state.reader_waker.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        self.finish(Err(interrupted_failure()));
    }
}

/// The reader's end.
struct BodyReader(Arc<BodyBuffer>);

impl Stream for BodyReader {
    type Item = Result<Bytes, Failure>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.state();
        if !state.bytes.is_empty() {
            let bytes = state.bytes.split().freeze();
            state.unacknowledged += u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            drop(state);
            self.0.reader_progress.notify_one();
            return Poll::Ready(Some(Ok(bytes)));
        }
        match &mut state.result {
            None => {
                state.reader_waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(how) => Poll::Ready(std::mem::replace(how, Ok(())).err().map(Err)),
        }
    }
}

impl Drop for BodyReader {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_reader_gone = true;
        state.bytes = BytesMut::new();
        drop(state);
        self.0.reader_progress.notify_one();
    }
}

/// Serves the worker to the end of its job. Should nobody want to hear of that end, it is stopped at once: dropping the
/// process kills it.
async fn drive_exchange(
    mut exchange: Exchange,
    (lease, _place): (WorkerLease, StreamPermit),
    version: VersionKey,
    writer: BodyWriter,
    mut end_sender: oneshot::Sender<Result<(), Failure>>,
) {
    let mut hung_up = false;
    let done = loop {
        tokio::select! {
            biased;
            () = end_sender.closed() => return,
            () = writer.0.reader_progress.notified() => {
                let (taken, gone) = writer.take_reader_progress();
                if gone && !hung_up {
                    hung_up = true;
                    exchange.cancel_stream();
                } else if let Some(taken) = taken {
                    exchange.acknowledge(taken);
                }
            }
            heard = exchange.next_event() => match heard {
                Ok(ExchangeEvent::Chunk(piece)) => writer.push(&piece),
                Ok(ExchangeEvent::BodyEnd) => writer.finish(Ok(())),
                Ok(ExchangeEvent::Completed(done)) => break Ok(done),
                // There was a head already.
                Ok(ExchangeEvent::Head(_)) => break Err(WorkerLoss::Broken),
                Err(lost) => break Err(lost),
            },
        }
    };
    let result = match done {
        Ok(done) => complete_job(exchange, lease, version, done).map(drop),
        Err(lost) => {
            let limits = exchange.limits;
            Err(lost_worker_failure(&exchange.process, &lease, lost, &limits).await)
        }
    };
    writer.finish(result.clone());
    // Nobody wants to know any more.
    let _ = end_sender.send(result);
}

/// The server stops, or gave the invocation up.
fn interrupted_failure() -> Failure {
    let message = "the answer was cut off".to_owned();
    Failure { code: FailureCode::WorkerLost, message, host_code: None }
}
