//! Long responses in chunks. Copying megabytes into a socket blocks a thread of the runtime for milliseconds, so the
//! task of a long response yields between chunks.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    Error,
    body::{Body, HttpBody},
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Maximum number of bytes of a chunk.
const CHUNK_BYTES: usize = 64 << 10;
/// Number of bytes after which the task yields; a longer response is sent in chunks.
const YIELD_AFTER_BYTES: usize = 4 * CHUNK_BYTES;

/// Splits a long body into chunks; returns a short one unchanged.
pub(crate) fn yield_between_chunks(body: Body) -> Body {
    if body.size_hint().lower() <= YIELD_AFTER_BYTES as u64 {
        return body;
    }
    Body::new(YieldingBody { body, unsent: Bytes::new(), budget: YIELD_AFTER_BYTES })
}

struct YieldingBody {
    body: Body,
    /// Rest of the frame that is being split.
    unsent: Bytes,
    /// Bytes left to send before the task yields.
    budget: usize,
}

impl HttpBody for YieldingBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.unsent.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.unsent = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        if self.budget == 0 {
            self.budget = YIELD_AFTER_BYTES;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = self.unsent.len().min(CHUNK_BYTES).min(self.budget);
        self.budget -= count;
        Poll::Ready(Some(Ok(Frame::data(self.unsent.split_to(count)))))
    }

    fn is_end_stream(&self) -> bool {
        self.unsent.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, mut hint) = (self.unsent.len() as u64, self.body.size_hint());
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, StreamExt as _, poll};
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_long_body_is_sent_completely_and_yields_between_chunks() {
        let bytes: Bytes =
            (0..YIELD_AFTER_BYTES * 3 + 5).map(|n| u8::try_from(n % 251).unwrap()).collect::<Vec<_>>().into();
        let mut body = yield_between_chunks(Body::from(bytes.clone()));
        assert_eq!(body.size_hint().exact(), Some(bytes.len() as u64));
        let (mut seen, mut turns) = (Vec::new(), 1);
        while !body.is_end_stream() {
            match poll!(&mut body.frame()) {
                Poll::Ready(frame) => {
                    let data = frame.unwrap().unwrap().into_data().unwrap();
                    assert!(data.len() <= CHUNK_BYTES);
                    seen.extend_from_slice(&data);
                    assert_eq!(body.size_hint().exact(), Some((bytes.len() - seen.len()) as u64));
                }
                Poll::Pending => turns += 1,
            }
        }
        assert_eq!((seen == bytes, turns), (true, 4));
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_short_body_is_not_split() {
        let frame = yield_between_chunks(Body::from(vec![1; YIELD_AFTER_BYTES])).frame().now_or_never();
        assert_eq!(frame.unwrap().unwrap().unwrap().into_data().unwrap().len(), YIELD_AFTER_BYTES);
        let stream =
            futures::stream::iter([Ok::<_, Error>(Bytes::from(vec![1; YIELD_AFTER_BYTES * 2]))]).boxed();
        let frame = yield_between_chunks(Body::from_stream(stream)).frame().now_or_never();
        assert_eq!(frame.unwrap().unwrap().unwrap().into_data().unwrap().len(), YIELD_AFTER_BYTES * 2);
    }
}
