//! Bodies of responses: whole if all of it is there, or as it comes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use connections::{
    GateHost, OutboundBody, Refusal,
    scrub::{Scrubber, StreamScrubber},
};
use futures::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::{
    credential::scrub_chunk,
    error::{refusal, timeout as timed_out, too_large},
};

/// Bytes up to which an announced body is waited for: as a whole it costs less than a stream.
const MAX_SHORT_BODY: u64 = 64 << 10;
/// Bytes that are gathered before the rest is streamed.
const MAX_GATHERED: usize = 256 << 10;
/// Time in which a body is gathered: most follow their headers at once.
const GATHERING_TIME: Duration = Duration::from_millis(3);

/// The bounds of a body.
#[derive(Clone, Copy)]
pub(crate) struct BodyBounds {
    pub(crate) max_bytes: usize,
    pub(crate) deadline: Instant,
}

/// A body that was read to its end, or as far as it has come.
pub(crate) enum Arrived {
    Complete(Bytes),
    Partial(PartialBody),
}

/// A body of which a part has come.
pub(crate) struct PartialBody {
    host: GateHost,
    response: reqwest::Response,
    bounds: BodyBounds,
    begun: BytesMut,
}

/// Reads a body as far as it comes within [`GATHERING_TIME`], or to its end if it is announced as a short one.
pub(crate) async fn read_arrived(
    host: &GateHost,
    mut response: reqwest::Response,
    bounds: BodyBounds,
) -> Result<Arrived, Refusal> {
    let is_short = response.content_length().is_some_and(|length| length <= MAX_SHORT_BODY);
    let until = if is_short { bounds.deadline } else { Instant::now() + GATHERING_TIME };
    let mut begun = BytesMut::new();
    loop {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                extend(host, &mut begun, &chunk, bounds.max_bytes)?;
                if begun.len() < MAX_GATHERED {
                    continue;
                }
            }
            Ok(Ok(None)) => return Ok(Arrived::Complete(begun.freeze())),
            Ok(Err(error)) => return Err(refusal(host, &error)),
            Err(_) if is_short => return Err(timed_out(host)),
            Err(_) => {}
        }
        return Ok(Arrived::Partial(PartialBody { host: host.clone(), response, bounds, begun }));
    }
}

fn extend(host: &GateHost, body: &mut BytesMut, chunk: &[u8], max: usize) -> Result<(), Refusal> {
    if body.len() + chunk.len() > max {
        return Err(too_large(host, "a too long body"));
    }
    body.extend_from_slice(chunk);
    Ok(())
}

impl PartialBody {
    /// Waits for the rest of the body.
    pub(crate) async fn read_to_end(mut self) -> Result<Bytes, Refusal> {
        while let Some(chunk) = self.response.chunk().await.map_err(|error| refusal(&self.host, &error))? {
            extend(&self.host, &mut self.begun, &chunk, self.bounds.max_bytes)?;
        }
        Ok(self.begun.freeze())
    }

    /// Returns the body in pieces, without the secrets that the scrubber finds.
    pub(crate) fn into_stream(mut self, scrubber: Option<Scrubber>) -> OutboundBody {
        let begun = self.begun.split().freeze();
        let left = self.bounds.max_bytes - begun.len();
        let (PartialBody { host, response, bounds, .. }, scrubber) =
            (self, scrubber.map(Scrubber::into_stream));
        let state = Pieces { host, response, deadline: bounds.deadline, left, begun: Some(begun), scrubber };
        let pieces = stream::try_unfold(state, |mut pieces| async move {
            Ok(pieces.next().await?.map(|piece| (piece, pieces)))
        });
        OutboundBody::Stream(pieces.boxed())
    }
}

/// The rest of a body, as it comes.
struct Pieces {
    host: GateHost,
    response: reqwest::Response,
    deadline: Instant,
    /// Bytes that may come.
    left: usize,
    /// Bytes that came before.
    begun: Option<Bytes>,
    scrubber: Option<StreamScrubber>,
}

impl Pieces {
    /// Returns the next bytes, which are not empty; none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let Some(received) = self.receive().await? else {
                // What was held back is no secret, as nothing follows it.
                let rest = self.scrubber.take().map(StreamScrubber::finish).unwrap_or_default();
                return Ok((!rest.is_empty()).then(|| rest.into()));
            };
            let piece = match self.scrubber.take() {
                None => received,
                Some(scrubber) => {
                    let (scrubber, piece) = scrub_chunk(&self.host, scrubber, received).await?;
                    self.scrubber = Some(scrubber);
                    piece
                }
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, Refusal> {
        if let Some(begun) = self.begun.take().filter(|begun| !begun.is_empty()) {
            return Ok(Some(begun));
        }
        let next = timeout_at(self.deadline, self.response.chunk()).await;
        let Some(chunk) =
            next.map_err(|_| timed_out(&self.host))?.map_err(|error| refusal(&self.host, &error))?
        else {
            return Ok(None);
        };
        self.left =
            self.left.checked_sub(chunk.len()).ok_or_else(|| too_large(&self.host, "a too long body"))?;
        Ok(Some(chunk))
    }
}
