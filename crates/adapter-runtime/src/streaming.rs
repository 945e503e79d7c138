//! An answer that comes in pieces: a task drives its invocation to the end, whether or not anybody reads, and the
//! reader's stream takes what has come.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt as _, Stream, StreamExt as _};
use runs::engine::{Failure, FailureCode, Streamed};
use tokio::sync::{Notify, oneshot};

use crate::{
    engine::finish,
    exchange::{Exchange, Heard, Lost, mourn},
    pool::{Lease, StreamPlace},
    protocol::{Head, Version, WINDOW},
};

/// Bytes that were taken at which the worker is told; it goes on all the same until the window is full.
const TELL_AT: u32 = WINDOW / 4;

/// Lets an invocation go on that has begun to answer.
pub(crate) fn stream(
    exchange: Exchange,
    places: (Lease, StreamPlace),
    version: Version,
    head: Head,
) -> Streamed {
    let pipe = Arc::new(Pipe::default());
    let (told, end) = oneshot::channel();
    tokio::spawn(drive(exchange, places, version, Inlet(Arc::clone(&pipe)), told));
    let Head { status, headers } = head;
    let end = async move { end.await.unwrap_or_else(|_| Err(cut_off())) };
    Streamed { status, headers, body: Outlet(pipe).boxed(), end: end.boxed() }
}

/// What has come and was not taken; at most a window of it, however small the pieces were.
#[derive(Default)]
struct Pipe {
    state: Mutex<State>,
    /// Rings when the reader took something or went away.
    changed: Notify,
}

#[derive(Default)]
struct State {
    bytes: BytesMut,
    /// Bytes that were taken, and the worker was not told of.
    taken: u32,
    ended: Option<Result<(), Failure>>,
    reader: Option<Waker>,
    reader_gone: bool,
}

impl Pipe {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task's end. However the task ends, the reader hears of it.
struct Inlet(Arc<Pipe>);

impl Inlet {
    fn push(&self, piece: &[u8]) {
        let mut state = self.0.state();
        if !state.reader_gone {
            state.bytes.extend_from_slice(piece);
        }
        wake(state);
    }

    /// The first end is the one that counts.
    fn end(&self, how: Result<(), Failure>) {
        let mut state = self.0.state();
        state.ended.get_or_insert(how);
        wake(state);
    }

    /// Bytes that the worker is to be told of, and whether the reader is gone.
    fn look(&self) -> (Option<u32>, bool) {
        let mut state = self.0.state();
        let taken = (state.taken >= TELL_AT).then(|| std::mem::take(&mut state.taken));
        (taken, state.reader_gone)
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.end(Err(cut_off()));
    }
}

/// The reader's end.
struct Outlet(Arc<Pipe>);

impl Stream for Outlet {
    type Item = Result<Bytes, Failure>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.state();
        if !state.bytes.is_empty() {
            let bytes = state.bytes.split().freeze();
            state.taken += u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            drop(state);
            self.0.changed.notify_one();
            return Poll::Ready(Some(Ok(bytes)));
        }
        match &mut state.ended {
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(how) => Poll::Ready(std::mem::replace(how, Ok(())).err().map(Err)),
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.reader_gone = true;
        state.bytes = BytesMut::new();
        drop(state);
        self.0.changed.notify_one();
    }
}

/// Serves the worker to the end of its job. Should nobody want to hear of that end, it is stopped at once: dropping the
/// process kills it.
async fn drive(
    mut exchange: Exchange,
    (lease, _place): (Lease, StreamPlace),
    version: Version,
    inlet: Inlet,
    mut told: oneshot::Sender<Result<(), Failure>>,
) {
    let mut hung_up = false;
    let done = loop {
        tokio::select! {
            biased;
            () = told.closed() => return,
            () = inlet.0.changed.notified() => {
                let (taken, gone) = inlet.look();
                if gone && !hung_up {
                    hung_up = true;
                    exchange.hang_up();
                } else if let Some(taken) = taken {
                    exchange.taken(taken);
                }
            }
            heard = exchange.next() => match heard {
                Ok(Heard::Piece(piece)) => inlet.push(&piece),
                Ok(Heard::End) => inlet.end(Ok(())),
                Ok(Heard::Done(done)) => break Ok(done),
                // There was a head already.
                Ok(Heard::Head(_)) => break Err(Lost::Gone),
                Err(lost) => break Err(lost),
            },
        }
    };
    let result = match done {
        Ok(done) => finish(exchange, lease, version, done).map(drop),
        Err(lost) => {
            let limits = exchange.limits;
            Err(mourn(&exchange.process, &lease, lost, &limits).await)
        }
    };
    inlet.end(result.clone());
    // Nobody wants to know any more.
    let _ = told.send(result);
}

/// The server stops, or gave the invocation up.
fn cut_off() -> Failure {
    let message = "the answer was cut off".to_owned();
    Failure { code: FailureCode::WorkerLost, message, host_code: None }
}
