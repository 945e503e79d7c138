//! A reader of Server-Sent Events, as strict as the standard (WHATWG HTML §9.2.6).

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
    /// The number to come back with.
    pub id: Option<u64>,
    /// Its name; none for a block that dispatches nothing.
    pub event: Option<String>,
    /// What it says.
    pub data: Value,
    /// After how many milliseconds to come back.
    pub retry: Option<u64>,
    /// Whether it is nothing but a sign of life.
    pub is_comment: bool,
}

/// A stream that is being read.
#[derive(Debug)]
pub struct EventStream {
    /// The head of the answer.
    pub headers: HeaderMap,
    body: Incoming,
    text: String,
    blocks: VecDeque<StreamEvent>,
}

impl EventStream {
    pub(crate) fn new(headers: HeaderMap, body: Incoming) -> Self {
        Self { headers, body, text: String::new(), blocks: VecDeque::new() }
    }

    /// The next block; none when the stream has ended.
    ///
    /// # Errors
    ///
    /// When it breaks, says nothing for very long, or something that is not of the format.
    pub async fn next_block(&mut self) -> Result<Option<StreamEvent>> {
        loop {
            if let Some(block) = self.blocks.pop_front() {
                return Ok(Some(block));
            }
            let frame = timeout(READ_TIMEOUT, self.body.frame()).await.context("the stream says nothing")?;
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

    /// The next event with a name.
    ///
    /// # Errors
    ///
    /// When there is none.
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
            _ => bail!("a stream has no field {field:?}"),
        }
    }
    Ok(event)
}
