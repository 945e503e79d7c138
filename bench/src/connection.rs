//! A keep-alive connection of the load generator.
//!
//! The load generator shares the machine with the measured server, so this does the minimum of HTTP/1.1: it writes a
//! request at once, and reads a response to its end and parses only its status and length.

use std::io::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::{Request, header};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// More headers than any response has.
const MAX_HEADERS: usize = 64;

/// A connection with buffers for a request and a response.
pub(super) struct Connection {
    host: String,
    stream: TcpStream,
    request: Vec<u8>,
    response: Vec<u8>,
}

/// Status and framing of a response.
struct Head {
    status: u16,
    /// Offset of the body.
    head_length: usize,
    body: BodyLength,
}

enum BodyLength {
    Known(usize),
    /// Chunks, the last of which is empty.
    Chunked,
}

impl Connection {
    /// Connects to `host:port`.
    pub(super) async fn open(host: String) -> Result<Self> {
        let stream = TcpStream::connect(&host).await.with_context(|| format!("cannot connect to {host}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { host, stream, request: Vec::new(), response: Vec::new() })
    }

    /// Sends a request, reads the response to its end and returns the size of its body. Fails unless the status is a
    /// success.
    pub(super) async fn send(&mut self, request: &Request<Bytes>) -> Result<usize> {
        self.encode_request(request)?;
        self.stream.write_all(&self.request).await?;
        self.response.clear();
        let head = loop {
            self.fill_buffer().await?;
            if let Some(head) = parse_head(&self.response)? {
                break head;
            }
        };
        let end = match head.body {
            BodyLength::Known(bytes) => head.head_length + bytes,
            BodyLength::Chunked => loop {
                match find_chunked_end(&self.response[head.head_length..])? {
                    Some(end) => break head.head_length + end,
                    None => self.fill_buffer().await?,
                }
            },
        };
        while self.response.len() < end {
            self.fill_buffer().await?;
        }
        ensure!(self.response.len() == end, "the server sent more than one response");
        let body = &self.response[head.head_length..];
        if !(200..300).contains(&head.status) {
            bail!("the server responded {} under load: {}", head.status, String::from_utf8_lossy(body));
        }
        Ok(body.len())
    }

    fn encode_request(&mut self, request: &Request<Bytes>) -> Result<()> {
        let out = &mut self.request;
        out.clear();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        write!(out, "{} {path} HTTP/1.1\r\nhost: {}\r\n", request.method(), self.host)?;
        for (name, value) in request.headers() {
            out.extend_from_slice(name.as_str().as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        if !request.body().is_empty() {
            write!(out, "content-length: {}\r\n", request.body().len())?;
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(request.body());
        Ok(())
    }

    async fn fill_buffer(&mut self) -> Result<()> {
        let bytes = self.stream.read_buf(&mut self.response).await?;
        ensure!(bytes > 0, "the server closed the connection");
        Ok(())
    }
}

fn parse_head(response: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(bytes) = parsed.parse(response)? else { return Ok(None) };
    let find = |name: header::HeaderName| {
        parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name.as_str()))
    };
    let body = match find(header::CONTENT_LENGTH) {
        Some(length) => BodyLength::Known(std::str::from_utf8(length.value)?.trim().parse()?),
        None if find(header::TRANSFER_ENCODING).is_some() => BodyLength::Chunked,
        None => BodyLength::Known(0),
    };
    Ok(Some(Head { status: parsed.code.context("the response has no status")?, head_length: bytes, body }))
}

/// Returns the end of the last chunk; `None` if it has not arrived yet.
fn find_chunked_end(body: &[u8]) -> Result<Option<usize>> {
    let mut at = 0;
    loop {
        let size = httparse::parse_chunk_size(&body[at..]).map_err(|_| anyhow::anyhow!("malformed chunk"))?;
        let httparse::Status::Complete((line, size)) = size else { return Ok(None) };
        // Each chunk ends with CR LF, including the empty one.
        let end = at + line + usize::try_from(size)? + 2;
        if end > body.len() {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(end));
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_response_is_parsed_once_complete() {
        let head = parse_head(b"HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nabc").unwrap().unwrap();
        assert!(matches!(head, Head { status: 202, head_length: 44, body: BodyLength::Known(3) }));
        assert!(parse_head(b"HTTP/1.1 200 OK\r\nContent-").unwrap().is_none());
    }

    #[test]
    fn the_empty_chunk_is_the_last() {
        assert_eq!(find_chunked_end(b"3\r\nabc\r\n0\r\n\r\n").unwrap(), Some(13));
        assert_eq!(find_chunked_end(b"3\r\nabc\r\n0\r\n").unwrap(), None);
        assert_eq!(find_chunked_end(b"3\r\nab").unwrap(), None);
        assert!(find_chunked_end(b"zz\r\n").is_err());
    }
}
