//! Streamed responses. A task drives the invocation to its end, whether or not anybody reads; the reader's stream takes the
//! bytes that have come.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt as _, Stream, StreamExt as _};
use runs::engine::{BundleDigest, Failure, FailureCode, StreamedResponse};
use tokio::sync::{Notify, oneshot};

use crate::{
    exchange::{Exchange, ExchangeEvent, WorkerLoss, lost_worker_failure},
    pool::{StreamPermit, WorkerLease},
    protocol::{ResponseHead, STREAM_WINDOW},
};

/// Bytes that the reader took at which the worker is told. Until then the worker goes on to fill its window.
const WINDOW_UPDATE_THRESHOLD: u32 = STREAM_WINDOW / 4;

/// Continues an invocation whose response has begun, in a task of its own.
pub(crate) fn start_streaming(
    exchange: Exchange,
    permits: (WorkerLease, StreamPermit),
    bundle: BundleDigest,
    head: ResponseHead,
) -> StreamedResponse {
    let buffer = Arc::new(BodyBuffer::default());
    let (sender, completion) = oneshot::channel();
    tokio::spawn(drive_exchange(exchange, permits, bundle, BodyWriter(Arc::clone(&buffer)), sender));
    let ResponseHead { status, headers } = head;
    let completion = async move { completion.await.unwrap_or_else(|_| Err(interrupted_failure())) };
    StreamedResponse { status, headers, body: BodyReader(buffer).boxed(), completion: completion.boxed() }
}

/// Bytes that have come and were not read; at most [`STREAM_WINDOW`] of them, however small the chunks were.
#[derive(Default)]
struct BodyBuffer {
    state: Mutex<BodyState>,
    /// Notified when the reader took bytes or was dropped.
    reader_progress: Notify,
}

#[derive(Default)]
struct BodyState {
    bytes: BytesMut,
    /// Bytes that were read and not yet acknowledged to the worker.
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

/// The task's end of the buffer. Dropping it ends the reader's stream with a failure, unless it was finished.
struct BodyWriter(Arc<BodyBuffer>);

impl BodyWriter {
    fn push(&self, chunk: &[u8]) {
        let mut state = self.0.state();
        if !state.is_reader_gone {
            state.bytes.extend_from_slice(chunk);
        }
        wake_reader(state);
    }

    /// Ends the reader's stream. Only the first call counts.
    fn finish(&self, result: Result<(), Failure>) {
        let mut state = self.0.state();
        state.result.get_or_insert(result);
        wake_reader(state);
    }

    /// Returns the bytes to acknowledge, if they are enough, and true if the reader is gone.
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

/// The reader's end of the buffer.
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
            Some(result) => Poll::Ready(std::mem::replace(result, Ok(())).err().map(Err)),
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

/// Serves the worker to the end of its job. If the receiver of `completion` is dropped, the worker is stopped at once: dropping
/// its process kills it.
async fn drive_exchange(
    mut exchange: Exchange,
    (lease, _permit): (WorkerLease, StreamPermit),
    bundle: BundleDigest,
    writer: BodyWriter,
    mut completion: oneshot::Sender<Result<(), Failure>>,
) {
    let mut is_cancelled = false;
    let completed = loop {
        tokio::select! {
            biased;
            () = completion.closed() => return,
            () = writer.0.reader_progress.notified() => {
                let (taken, is_reader_gone) = writer.take_reader_progress();
                if is_reader_gone && !is_cancelled {
                    is_cancelled = true;
                    exchange.cancel_stream();
                } else if let Some(taken) = taken {
                    exchange.acknowledge(taken);
                }
            }
            event = exchange.next_event() => match event {
                Ok(ExchangeEvent::Chunk(chunk)) => writer.push(&chunk),
                Ok(ExchangeEvent::BodyEnd) => writer.finish(Ok(())),
                Ok(ExchangeEvent::Completed(completed)) => break Ok(completed),
                // A second head.
                Ok(ExchangeEvent::Head(_)) => break Err(WorkerLoss::Broken),
                Err(lost) => break Err(lost),
            },
        }
    };
    let result = match completed {
        Ok(completed) => exchange.complete(lease, bundle, completed).map(drop),
        Err(lost) => {
            let limits = exchange.limits;
            let failure = lost_worker_failure(&exchange.process, &lease, lost, &limits).await;
            // Reports the processor time before the completion resolves.
            drop(exchange);
            Err(failure)
        }
    };
    writer.finish(result.clone());
    // Fails if the receiver was dropped just now.
    let _ = completion.send(result);
}

/// The failure of a response whose task was stopped, as when the server shuts down.
fn interrupted_failure() -> Failure {
    let message = "the answer was cut off".to_owned();
    Failure { code: FailureCode::WorkerLost, message, host_code: None }
}
