//! Bodies of responses: whole if all of it is there, or as it comes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use connections::{
    GateHost, OutboundBody, Refusal,
    outbound::SearchAccount,
    scrub::{Scrubber, StreamScrubber},
};
use futures::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::{
    content_coding::{Coding, Decoder},
    error::{refusal, timeout as timed_out, too_large},
    search::{scrub_body, scrub_chunk},
};

/// Bytes up to which an announced body is waited for: as a whole it costs less than a stream.
const MAX_SHORT_BODY: u64 = 64 << 10;
/// Bytes that are gathered before the rest is streamed.
const MAX_GATHERED: usize = 256 << 10;
/// Decoded bytes that are gathered before the rest is streamed. Whoever sends a short body decides how many there are, so
/// they are fewer.
const MAX_GATHERED_DECODED: usize = 64 << 10;
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
    response: reqwest::Response,
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
        return Ok(Arrived::Partial(PartialBody { response, begun }));
    }
}

fn extend(host: &GateHost, body: &mut BytesMut, chunk: &[u8], max: usize) -> Result<(), Refusal> {
    if body.len() + chunk.len() > max {
        return Err(too_large(host, "a too long body"));
    }
    body.extend_from_slice(chunk);
    Ok(())
}

/// The states of a body on its way to the code.
pub(crate) struct Passage {
    pub(crate) coding: Coding,
    /// Finds secrets; none if the request had none.
    pub(crate) scrubber: Option<Scrubber>,
    /// Account of the search.
    pub(crate) account: SearchAccount,
}

/// A body for the code.
pub(crate) struct PassedBody {
    pub(crate) body: OutboundBody,
    /// `true` if it may have another length than the one that was announced.
    pub(crate) is_changed: bool,
}

/// Decodes a body, and takes secrets out of it. What is longer than [`MAX_GATHERED_DECODED`] once it is decoded comes in
/// pieces, so that a short body that decompresses to a long one takes no more memory than any other.
pub(crate) async fn pass(
    host: &GateHost,
    bounds: BodyBounds,
    arrived: Arrived,
    Passage { coding, scrubber, account }: Passage,
) -> Result<PassedBody, Refusal> {
    let (coded, rest) = match arrived {
        // A response to HEAD has the headers of a body, and none.
        Arrived::Complete(body) if coding == Coding::Identity || body.is_empty() => {
            let Some(scrubber) = scrubber else {
                return Ok(PassedBody { body: body.into(), is_changed: false });
            };
            let (scrubbed, is_changed) = scrub_body((host, &account), &scrubber, body).await?;
            return Ok(PassedBody { body: scrubbed.into(), is_changed });
        }
        Arrived::Complete(body) => (body, None),
        Arrived::Partial(body) => (body.begun.freeze(), Some(body.response)),
    };
    let left = bounds.max_bytes.saturating_sub(coded.len());
    let mut pieces = Pieces {
        host: host.clone(),
        is_ended: rest.is_none(),
        response: rest,
        deadline: bounds.deadline,
        left,
        received: coded,
        decoder: Decoder::new(coding),
        decodable: bounds.max_bytes,
        decoded: Bytes::new(),
        scrubber: None,
        account: account.clone(),
    };
    let is_changed = scrubber.is_some() || coding != Coding::Identity;
    if pieces.response.is_none() {
        let mut gathered = Vec::new();
        loop {
            let Some(piece) = pieces.decode().await? else {
                let body = Bytes::from(gathered);
                let body = match scrubber {
                    Some(scrubber) => scrub_body((host, &account), &scrubber, body).await?.0,
                    None => body,
                };
                return Ok(PassedBody { body: body.into(), is_changed });
            };
            gathered.extend_from_slice(&piece);
            if gathered.len() > MAX_GATHERED_DECODED {
                break;
            }
        }
        gathered.shrink_to_fit();
        pieces.decoded = gathered.into();
    }
    pieces.scrubber = scrubber.map(Scrubber::into_stream);
    let pieces = stream::try_unfold(pieces, |mut pieces| async move {
        Ok(pieces.next().await?.map(|piece| (piece, pieces)))
    });
    Ok(PassedBody { body: OutboundBody::Stream(pieces.boxed()), is_changed })
}

/// The rest of a body, as it comes.
struct Pieces {
    host: GateHost,
    /// None if all of it has come.
    response: Option<reqwest::Response>,
    is_ended: bool,
    deadline: Instant,
    /// Bytes that may come.
    left: usize,
    /// Bytes that came, and were not decoded.
    received: Bytes,
    /// None for a body that is not coded, and at the end.
    decoder: Option<Decoder>,
    /// Bytes to which the body may decompress.
    decodable: usize,
    /// Bytes that were decoded before.
    decoded: Bytes,
    scrubber: Option<StreamScrubber>,
    account: SearchAccount,
}

impl Pieces {
    /// Returns the next bytes, which are not empty; none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let decoded = std::mem::take(&mut self.decoded);
            let decoded = if decoded.is_empty() { self.decode().await? } else { Some(decoded) };
            let Some(decoded) = decoded else {
                // What was held back is no secret, as nothing follows it.
                let rest = self.scrubber.take().map(StreamScrubber::finish).unwrap_or_default();
                return Ok((!rest.is_empty()).then(|| rest.into()));
            };
            let piece = match self.scrubber.take() {
                None => decoded,
                Some(scrubber) => {
                    let (scrubber, piece) =
                        scrub_chunk((&self.host, &self.account), scrubber, decoded).await?;
                    self.scrubber = Some(scrubber);
                    piece
                }
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    /// Returns the next decoded bytes, which are not empty; none at the end.
    async fn decode(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            if self.received.is_empty() {
                match self.receive().await? {
                    Some(received) => self.received = received,
                    None => self.is_ended = true,
                }
            }
            let decoded = match (&mut self.decoder, self.is_ended && self.received.is_empty()) {
                (None, true) => return Ok(None),
                (None, false) => std::mem::take(&mut self.received),
                (Some(decoder), false) => decoder.decode(&self.host, &mut self.received)?,
                (Some(_), true) => {
                    let Some(decoder) = self.decoder.take() else { return Ok(None) };
                    decoder.finish(&self.host)?
                }
            };
            if !decoded.is_empty() {
                self.decodable = self
                    .decodable
                    .checked_sub(decoded.len())
                    .ok_or_else(|| too_large(&self.host, "a too long body"))?;
                return Ok(Some(decoded));
            }
        }
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, Refusal> {
        let Some(response) = &mut self.response else { return Ok(None) };
        let next = timeout_at(self.deadline, response.chunk()).await;
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
