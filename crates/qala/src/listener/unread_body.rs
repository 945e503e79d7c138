//! The rest of a body that nobody reads, such as that of a request that is refused by its head.
//!
//! Hyper closes the connection after the response to such a request unless the rest of the body has arrived by then, and the
//! response does not say so. A client that sends the head and the body one after the other may use the connection again and
//! find it closed. So the rest of a small body is read before the response is sent, and the response says if the connection
//! is closed after it (RFC 9112, section 9.6).

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::http::{
    HeaderValue, Request, Response,
    header::{CONNECTION, EXPECT},
};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::timeout;

/// Bytes that are read although nobody wants them; at most.
const MAX_UNREAD: u64 = 64 << 10;
/// Time for these to arrive.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(1);

/// A request's body. If it is dropped before its end, the rest goes to [`UnreadBody`].
pub(super) struct WatchedBody<B> {
    body: Option<B>,
    rest: Option<Arc<Mutex<Option<B>>>>,
}

/// The rest of a request's body, once the request is answered.
pub(super) struct UnreadBody<B> {
    rest: Arc<Mutex<Option<B>>>,
    /// The client sends the body only after an interim response, which reading it would cause.
    is_announced: bool,
}

/// Watches the body of a request; none if there is no body.
pub(super) fn watch<B: Body>(request: Request<B>) -> (Request<WatchedBody<B>>, Option<UnreadBody<B>>) {
    if request.body().is_end_stream() {
        return (request.map(|body| WatchedBody { body: Some(body), rest: None }), None);
    }
    let rest = Arc::new(Mutex::new(None));
    let is_announced = request.headers().contains_key(EXPECT);
    let unread = UnreadBody { rest: Arc::clone(&rest), is_announced };
    (request.map(|body| WatchedBody { body: Some(body), rest: Some(rest) }), Some(unread))
}

impl<B: Body<Data = Bytes> + Unpin> UnreadBody<B> {
    /// Reads the rest of the body, or lets the response say that the connection is closed.
    pub(super) async fn settle<R>(self, response: &mut Response<R>) {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut rest) = rest.filter(|rest| !rest.is_end_stream()) else { return };
        let is_small = rest.size_hint().lower() <= MAX_UNREAD && !self.is_announced;
        if !is_small || !timeout(UNREAD_TIMEOUT, discard(&mut rest)).await.unwrap_or(false) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads a body to its end; returns false if it is too long or breaks off.
async fn discard<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> bool {
    let mut count = 0;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        let Ok(frame) = frame else { return false };
        count += frame.data_ref().map_or(0, Bytes::len) as u64;
        if count > MAX_UNREAD {
            return false;
        }
    }
    true
}

impl<B: Body + Unpin> Body for WatchedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for WatchedBody<B> {
    fn drop(&mut self) {
        if let Some(rest) = &self.rest {
            *rest.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, convert::Infallible};

    use super::*;

    /// A body of chunks, of which `None` never arrives.
    struct Chunks(VecDeque<Option<usize>>);

    impl Body for Chunks {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.front() {
                None => Poll::Ready(None),
                Some(None) => Poll::Pending,
                Some(&Some(length)) => {
                    self.0.pop_front();
                    Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0; length])))))
                }
            }
        }

        fn is_end_stream(&self) -> bool {
            self.0.is_empty()
        }
    }

    /// Whether the connection is closed after a response, before which so many chunks were read.
    async fn closes(chunks: &[Option<usize>], read: usize, expects: bool) -> bool {
        let mut request = Request::new(Chunks(chunks.iter().copied().collect()));
        if expects {
            request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        }
        let (request, unread) = watch(request);
        let mut body = request.into_body();
        for _ in 0..read {
            poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await.unwrap().unwrap();
        }
        drop(body);
        let mut response = Response::new(());
        if let Some(unread) = unread {
            unread.settle(&mut response).await;
        }
        response.headers().get(CONNECTION).is_some_and(|value| value == "close")
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_rest_is_read_and_otherwise_the_response_says_close() {
        const MAX: usize = MAX_UNREAD as usize;
        for (chunks, read, expects, expected) in [
            (&[][..], 0, false, false),
            (&[Some(10), Some(10)], 0, false, false),
            (&[Some(10), Some(10)], 2, false, false),
            (&[Some(MAX)], 0, false, false),
            (&[Some(MAX), Some(1)], 0, false, true),
            (&[Some(MAX), Some(1)], 1, false, false),
            (&[Some(10), None], 0, false, true),
            (&[Some(10)], 0, true, true),
            (&[Some(10)], 1, true, false),
        ] {
            assert_eq!(closes(chunks, read, expects).await, expected, "{chunks:?} {read} {expects}");
        }
    }

    #[tokio::test]
    async fn a_body_that_is_still_read_after_the_response_is_left_alone() {
        let (request, unread) = watch(Request::new(Chunks([Some(10)].into())));
        let mut response = Response::new(());
        unread.unwrap().settle(&mut response).await;
        assert!(response.headers().is_empty());
        drop(request);
    }
}
