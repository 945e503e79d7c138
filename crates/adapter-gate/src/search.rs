//! The search for secrets in what services send back, outside of the runtime's threads if it may take long.

use std::{borrow::Cow, time::Instant};

use bytes::{Bytes, BytesMut};
use connections::{
    GateHost, Refusal, RefusalCode,
    outbound::SearchAccount,
    scrub::{Scrubber, StreamScrubber},
};
use runs::fair_share::search_turns;

/// Returns a body without secrets, and whether it had any.
pub(crate) async fn scrub_body(
    (host, account): (&GateHost, &SearchAccount),
    scrubber: &Scrubber,
    body: Bytes,
) -> Result<(Bytes, bool), Refusal> {
    if body.len() <= scrubber.quick_bytes() {
        return Ok(match charged(account, || scrubber.scrub_bytes(&body)) {
            Cow::Owned(scrubbed) => (scrubbed.into(), true),
            Cow::Borrowed(_) => (body, false),
        });
    }
    let (stream, begun) = scrub_chunk((host, account), scrubber.clone().into_stream(), body.clone()).await?;
    let mut scrubbed = BytesMut::from(begun);
    scrubbed.extend_from_slice(&stream.finish());
    let is_changed = scrubbed != body;
    Ok((if is_changed { scrubbed.freeze() } else { body }, is_changed))
}

/// Returns what of a streamed body can go on after a chunk, without secrets.
pub(crate) async fn scrub_chunk(
    (host, account): (&GateHost, &SearchAccount),
    mut scrubber: StreamScrubber,
    chunk: Bytes,
) -> Result<(StreamScrubber, Bytes), Refusal> {
    // The choice depends on lengths alone, and so does the time at which the code gets a piece.
    if chunk.len() <= scrubber.quick_bytes() {
        let piece = charged(account, || scrubber.push(&chunk));
        return Ok((scrubber, piece.into()));
    }
    let mut scrubbed = BytesMut::with_capacity(chunk.len());
    let mut left = chunk;
    while !left.is_empty() {
        let part = left.split_to(left.len().min(scrubber.turn_bytes()));
        let piece;
        (scrubber, piece) = in_turn((host, account), move || {
            let piece = scrubber.push(&part);
            (scrubber, piece)
        })
        .await?;
        scrubbed.extend_from_slice(&piece);
    }
    Ok((scrubber, scrubbed.freeze()))
}

/// Searches in texts that are short one by one, and long together.
pub(crate) async fn scrub_texts<T: Send + 'static>(
    context: (&GateHost, &SearchAccount),
    (scrubber, bytes): (&Scrubber, usize),
    scrub: impl FnOnce(&Scrubber) -> T + Send + 'static,
) -> Result<T, Refusal> {
    if bytes <= scrubber.quick_bytes() {
        return Ok(charged(context.1, || scrub(scrubber)));
    }
    let scrubber = scrubber.clone();
    in_turn(context, move || scrub(&scrubber)).await
}

/// Searches on another thread, once it is the turn of the account's share.
async fn in_turn<T: Send + 'static>(
    (host, account): (&GateHost, &SearchAccount),
    search: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let turn = search_turns().acquire(account.share()).await.map_err(|_| unchecked(host))?;
    let account = account.clone();
    let search = move || {
        let found = charged(&account, search);
        drop(turn);
        found
    };
    tokio::task::spawn_blocking(search).await.map_err(|_| unchecked(host))
}

fn charged<T>(account: &SearchAccount, search: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let found = search();
    account.charge(begun.elapsed());
    found
}

fn unchecked(host: &GateHost) -> Refusal {
    Refusal::new(RefusalCode::UpstreamFailed, format!("the response of {host} cannot be checked"))
}
