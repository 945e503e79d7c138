//! Bodies of requests: whole, or sent as the code writes them.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use connections::{OutboundBody, Refusal, RefusalCode};
use futures::{StreamExt as _, stream::BoxStream};
use reqwest::RequestBuilder;

/// A body that is sent.
pub(crate) enum RequestBody {
    Complete(Bytes),
    Stream(BoxStream<'static, Result<Bytes, Refusal>>),
}

/// The refusal at which a streamed body broke off.
#[derive(Clone, Default)]
pub(crate) struct BodyFailure(Arc<Mutex<Option<Refusal>>>);

impl BodyFailure {
    pub(crate) fn take(&self) -> Option<Refusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps a refusal, and returns the error that makes the HTTP library abort the request.
    fn set(&self, refusal: Refusal) -> Aborted {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refusal);
        Aborted
    }
}

/// The error of a body that broke off, as the HTTP library gets it.
#[derive(Debug)]
struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body of the request broke off")
    }
}

impl std::error::Error for Aborted {}

impl RequestBody {
    /// Takes the body of a request, of at most `max` bytes.
    ///
    /// # Errors
    /// [`RefusalCode::RequestTooLarge`] for a longer one. A streamed body is refused when it exceeds `max`.
    pub(crate) fn new(body: OutboundBody, max: usize) -> Result<Self, Refusal> {
        match body {
            OutboundBody::Complete(body) if body.len() > max => Err(too_large(max)),
            OutboundBody::Complete(body) => Ok(Self::Complete(body)),
            OutboundBody::Stream(pieces) => {
                let mut left = max;
                let bounded = pieces.map(move |piece| {
                    let piece = piece?;
                    left = left.checked_sub(piece.len()).ok_or_else(|| too_large(max))?;
                    Ok(piece)
                });
                Ok(Self::Stream(bounded.boxed()))
            }
        }
    }

    /// Returns the body for one request, and leaves what a redirect repeats: only requests without a body follow one.
    pub(crate) fn take(&mut self) -> Self {
        match self {
            Self::Complete(body) => Self::Complete(body.clone()),
            Self::Stream(_) => std::mem::replace(self, Self::Complete(Bytes::new())),
        }
    }

    /// Adds the body to a request. The failure has a refusal once a streamed body broke off.
    pub(crate) fn attach_to(self, request: RequestBuilder) -> (RequestBuilder, BodyFailure) {
        let failure = BodyFailure::default();
        let request = match self {
            Self::Complete(body) if body.is_empty() => request,
            Self::Complete(body) => request.body(body),
            Self::Stream(pieces) => {
                let broken = failure.clone();
                let pieces = pieces.map(move |piece| piece.map_err(|refusal| broken.set(refusal)));
                request.body(reqwest::Body::wrap_stream(pieces))
            }
        };
        (request, failure)
    }
}

fn too_large(max: usize) -> Refusal {
    Refusal::new(RefusalCode::RequestTooLarge, format!("the body is longer than {max} bytes"))
}
