//! A response whose body is read as it arrives.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// A response with an unread body. Dropping it closes the connection.
#[derive(Debug)]
pub struct StreamingReply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
}

impl StreamingReply {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, body }
    }

    /// Reads the next chunk; `None` at a clean end.
    pub async fn next_chunk(&mut self) -> Result<Option<String>> {
        let frame = timeout(READ_TIMEOUT, self.body.frame()).await.context("no data arrives")?;
        let Some(frame) = frame else { return Ok(None) };
        let bytes = frame?.into_data().unwrap_or_default();
        Ok(Some(String::from_utf8(bytes.to_vec())?))
    }

    /// Reads chunks that together must be exactly this text.
    pub async fn expect_text(&mut self, text: &str) -> Result<()> {
        let mut received = String::new();
        while received.len() < text.len() {
            received +=
                &self.next_chunk().await?.with_context(|| format!("the body ended after {received:?}"))?;
        }
        anyhow::ensure!(received == text, "{received:?} is not {text:?}");
        Ok(())
    }

    /// Reads to the end. Returns the number of bytes and true if the end was clean.
    pub async fn drain(&mut self) -> (usize, bool) {
        let mut count = 0;
        loop {
            match timeout(READ_TIMEOUT, self.body.frame()).await {
                Ok(Some(Ok(frame))) => count += frame.data_ref().map_or(0, bytes::Bytes::len),
                Ok(None) => return (count, true),
                Ok(Some(Err(_))) | Err(_) => return (count, false),
            }
        }
    }
}
