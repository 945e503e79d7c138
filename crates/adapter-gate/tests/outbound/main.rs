//! Tests of outbound requests, against servers that respond as each test wants; one program.

#![allow(clippy::allow_attributes, clippy::unwrap_used, clippy::panic, reason = "tests say so by failing")]

mod connection;
mod documents;
mod gate;
mod representations;
mod secrets;
mod spans;
mod streams;
mod tokens;

use connections::{OutboundBody, OutboundResponse, Refusal};

/// Waits for the whole body of a response.
async fn whole(result: Result<OutboundResponse, Refusal>) -> Result<OutboundResponse, Refusal> {
    let response = result?;
    Ok(OutboundResponse { body: response.body.collect().await?.into(), ..response })
}

/// Returns the body of a response as text, which [`whole`] has waited for.
fn text(response: &OutboundResponse) -> String {
    let OutboundBody::Complete(body) = &response.body else { panic!("the body is still coming") };
    String::from_utf8(body.to_vec()).unwrap()
}
