//! An answer whose body is read as it comes.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// A body on its way. Whoever drops it closes the connection.
#[derive(Debug)]
pub struct StreamingReply {
    /// The status of the answer.
    pub status: StatusCode,
    /// The head of the answer.
    pub headers: HeaderMap,
    body: Incoming,
}

impl StreamingReply {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, body }
    }

    /// What comes next; none at a clean end.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or nothing comes for very long.
    pub async fn next_chunk(&mut self) -> Result<Option<String>> {
        let frame = timeout(READ_TIMEOUT, self.body.frame()).await.context("nothing comes")?;
        let Some(frame) = frame else { return Ok(None) };
        let bytes = frame?.into_data().unwrap_or_default();
        Ok(Some(String::from_utf8(bytes.to_vec())?))
    }

    /// Reads until this much has come; what follows comes later.
    ///
    /// # Errors
    ///
    /// As [`next_chunk`](Self::next_chunk), or when something else comes.
    pub async fn expect_text(&mut self, text: &str) -> Result<()> {
        let mut seen = String::new();
        while seen.len() < text.len() {
            seen += &self.next_chunk().await?.with_context(|| format!("the body ended after {seen:?}"))?;
        }
        anyhow::ensure!(seen == text, "{seen:?} is not {text:?}");
        Ok(())
    }

    /// Reads to the end: how many bytes came, and whether the end was clean.
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
