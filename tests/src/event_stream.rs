//! A reader of server-sent events that is as strict as the standard (WHATWG HTML, section 9.2.6).

use std::{collections::VecDeque, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use http::HeaderMap;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// One block of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamEvent {
    /// Value to send as `Last-Event-ID` when reconnecting.
    pub id: Option<u64>,
    /// Event name; `None` for a block that dispatches no event.
    pub event: Option<String>,
    pub data: Value,
    /// Milliseconds to wait before reconnecting.
    pub retry: Option<u64>,
    /// True for a comment, which keeps the connection alive.
    pub is_comment: bool,
}

/// An open event stream.
#[derive(Debug)]
pub struct EventStream {
    /// Headers of the response.
    pub headers: HeaderMap,
    body: Incoming,
    text: String,
    blocks: VecDeque<StreamEvent>,
}

impl EventStream {
    pub(crate) fn new(headers: HeaderMap, body: Incoming) -> Self {
        Self { headers, body, text: String::new(), blocks: VecDeque::new() }
    }

    /// Reads the next block; `None` if the stream has ended.
    pub async fn next_block(&mut self) -> Result<Option<StreamEvent>> {
        loop {
            if let Some(block) = self.blocks.pop_front() {
                return Ok(Some(block));
            }
            let frame = timeout(READ_TIMEOUT, self.body.frame()).await.context("the stream is silent")?;
            let Some(frame) = frame else {
                ensure!(self.text.is_empty(), "the stream ended within a block: {:?}", self.text);
                return Ok(None);
            };
            if let Ok(data) = frame?.into_data() {
                self.text.push_str(std::str::from_utf8(&data)?);
            }
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                self.blocks.push_back(parse_block(block)?);
                self.text = rest.to_owned();
            }
        }
    }

    /// Reads blocks until an event with a name.
    pub async fn next_event(&mut self) -> Result<StreamEvent> {
        loop {
            let block = self.next_block().await?.context("the stream ended")?;
            if block.event.is_some() {
                return Ok(block);
            }
        }
    }
}

fn parse_block(block: &str) -> Result<StreamEvent> {
    let mut event = StreamEvent::default();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => event.is_comment = true,
            "id" => event.id = Some(value.parse()?),
            "event" => event.event = Some(value.to_owned()),
            "data" => event.data = serde_json::from_str(value)?,
            "retry" => event.retry = Some(value.parse()?),
            _ => bail!("unknown field {field:?}"),
        }
    }
    Ok(event)
}
