//! Bodies of responses to the code that are still coming. The code asks for one part after the other, so that what it does not
//! read stays with the service.

use std::collections::HashMap;

use bytes::Bytes;
use futures::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::{BoxStream, FuturesUnordered},
};
use runs::engine::HostError;

use crate::protocol::MAX_CHUNK;

/// Bodies of one invocation that are streamed at a time. The rest is read to its end at once, so that bodies which nobody
/// reads block no other request.
const MAX_OPEN: usize = 16;
/// Bytes of one part, at most.
const MAX_PART: usize = 4 * MAX_CHUNK;

pub(super) type BodyStream = BoxStream<'static, Result<Bytes, HostError>>;

/// A body between two parts.
struct Source {
    pieces: BodyStream,
    /// The rest of a piece that was longer than a part.
    rest: Bytes,
}

type Read = Option<(u32, Source, Option<Result<Bytes, HostError>>)>;

#[derive(Default)]
pub(super) struct ResponseBodies {
    idle: HashMap<u32, Source>,
    /// Bodies of which a part is awaited.
    reading: HashMap<u32, AbortHandle>,
    reads: FuturesUnordered<BoxFuture<'static, Read>>,
}

impl ResponseBodies {
    /// Keeps the body of a call's response. Gives it back if there are too many.
    pub(super) fn open(&mut self, call: u32, pieces: BodyStream) -> Option<BodyStream> {
        if self.idle.len() + self.reading.len() >= MAX_OPEN {
            return Some(pieces);
        }
        self.idle.insert(call, Source { pieces, rest: Bytes::new() });
        None
    }

    /// Begins to read the next part. Returns false if the call has no body between two parts.
    pub(super) fn read(&mut self, call: u32) -> bool {
        let Some(mut source) = self.idle.remove(&call) else { return false };
        let (handle, registration) = AbortHandle::new_pair();
        self.reading.insert(call, handle);
        let next = async move {
            let mut piece = Some(Ok(std::mem::take(&mut source.rest)));
            while matches!(&piece, Some(Ok(bytes)) if bytes.is_empty()) {
                piece = source.pieces.next().await;
            }
            (call, source, piece)
        };
        self.reads.push(Abortable::new(next, registration).map(Result::ok).boxed());
        true
    }

    /// Stops the body of a call, if there is one.
    pub(super) fn cancel(&mut self, call: u32) {
        self.idle.remove(&call);
        if let Some(handle) = self.reading.remove(&call) {
            // The next poll of the reads drops the body.
            handle.abort();
        }
    }

    /// Returns true if a part is awaited.
    pub(super) fn is_reading(&self) -> bool {
        !self.reads.is_empty()
    }

    /// Waits for the next part of any body; it is empty at the end of its body. Returns `None` if a read was cancelled. Cancel
    /// safe.
    pub(super) async fn next_part(&mut self) -> Option<(u32, Result<Bytes, HostError>)> {
        let (call, mut source, piece) = self.reads.next().await??;
        // It was cancelled after it had ended.
        self.reading.remove(&call)?;
        let Some(Ok(mut piece)) = piece else {
            return Some((call, piece.unwrap_or_else(|| Ok(Bytes::new()))));
        };
        source.rest = piece.split_off(piece.len().min(MAX_PART));
        self.idle.insert(call, source);
        Some((call, Ok(piece)))
    }
}
