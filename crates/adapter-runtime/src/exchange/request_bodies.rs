//! Bodies of requests that the code writes while they are sent.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{
    Stream, StreamExt as _,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    ready,
};
use runs::engine::{FetchBody, HostError};

use super::{MAX_QUEUED_CALL_BYTES, host_calls::host_error, worker_loss::WorkerLoss};
use crate::protocol::{MAX_CHUNK, MAX_REQUEST_BODY};

/// Bodies that are being written, by their calls.
#[derive(Default)]
pub(super) struct RequestBodies {
    open: HashMap<u32, Writer>,
    /// Bodies of calls that were not started.
    waiting: HashMap<u32, Reader>,
    /// Bytes that were written and not read.
    unread: Arc<AtomicUsize>,
}

struct Writer {
    sender: UnboundedSender<Option<Bytes>>,
    /// Bytes that the rest may have.
    left: usize,
}

struct Reader {
    /// `None` ends the body. Without it the body is incomplete.
    receiver: UnboundedReceiver<Option<Bytes>>,
    unread: Arc<AtomicUsize>,
    is_complete: bool,
}

impl RequestBodies {
    /// Begins the body of a call.
    pub(super) fn begin(&mut self, call: u32) {
        let (sender, receiver) = unbounded();
        self.open.insert(call, Writer { sender, left: MAX_REQUEST_BODY });
        let reader = Reader { receiver, unread: Arc::clone(&self.unread), is_complete: false };
        self.waiting.insert(call, reader);
    }

    /// Takes the body of a call that is started, if it has one.
    pub(super) fn take(&mut self, call: u32) -> Option<FetchBody> {
        self.waiting.remove(&call).map(|reader| FetchBody::Stream(reader.boxed()))
    }

    /// Adds a part. What comes after the end of its call is dropped.
    pub(super) fn push(&mut self, call: u32, part: Bytes) -> Result<(), WorkerLoss> {
        if part.is_empty() || part.len() > MAX_CHUNK {
            return Err(WorkerLoss::Broken);
        }
        let Some(writer) = self.open.get_mut(&call) else { return Ok(()) };
        writer.left = writer.left.checked_sub(part.len()).ok_or(WorkerLoss::Broken)?;
        let length = part.len();
        if self.unread.fetch_add(length, Ordering::Relaxed) + length > MAX_QUEUED_CALL_BYTES {
            return Err(WorkerLoss::Broken);
        }
        if writer.sender.unbounded_send(Some(part)).is_err() {
            self.unread.fetch_sub(length, Ordering::Relaxed);
            self.open.remove(&call);
        }
        Ok(())
    }

    /// Ends a body.
    pub(super) fn finish(&mut self, call: u32) {
        if let Some(writer) = self.open.remove(&call) {
            // Fails if nobody reads it any more.
            let _ = writer.sender.unbounded_send(None);
        }
    }

    /// Breaks a body off.
    pub(super) fn cancel(&mut self, call: u32) {
        self.waiting.remove(&call);
        self.open.remove(&call);
    }
}

impl Stream for Reader {
    type Item = Result<Bytes, HostError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_complete {
            return Poll::Ready(None);
        }
        let received = ready!(self.receiver.poll_next_unpin(cx));
        Poll::Ready(match received {
            Some(Some(part)) => {
                self.unread.fetch_sub(part.len(), Ordering::Relaxed);
                Some(Ok(part))
            }
            Some(None) => {
                self.is_complete = true;
                None
            }
            None => {
                self.is_complete = true;
                Some(Err(host_error("aborted", "the code did not write the body to its end")))
            }
        })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.receiver.close();
        while let Ok(part) = self.receiver.try_recv() {
            self.unread.fetch_sub(part.map_or(0, |part| part.len()), Ordering::Relaxed);
        }
    }
}
