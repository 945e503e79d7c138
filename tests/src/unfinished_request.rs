//! A request whose last byte is sent later.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    Reply,
    contract::{self, ReceivedResponse, SentRequest},
};

/// The interim response by which a server asks for a body (RFC 9110, section 10.1.1).
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Time after which the server takes a body for late, which is a quarter of a second, and then some.
const LATE: Duration = Duration::from_millis(600);

/// Covers a run on a loaded machine, for whose end the response to a call of a tool waits.
const READ_TIMEOUT: Duration = Duration::from_secs(40);

/// A request that the server has admitted, and of whose body it awaits the last byte.
#[derive(Debug)]
pub struct UnfinishedRequest {
    stream: TcpStream,
    sent_request: SentRequest,
}

impl UnfinishedRequest {
    /// Sends all but the last byte. The server asks for the body once it has admitted the caller.
    pub(crate) async fn send(base_url: &str, sent_request: SentRequest) -> Result<Self> {
        let address = base_url.strip_prefix("http://").context("no address")?;
        let (_, begin) = sent_request.body.split_last().context("a request without a body")?;
        let mut head = format!(
            "{} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: {}\r\n",
            sent_request.request_line(),
            sent_request.body.len()
        );
        for (name, value) in &sent_request.headers {
            head.push_str(&format!("{name}: {}\r\n", value.to_str()?));
        }
        head.push_str("\r\n");
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(head.as_bytes()).await?;
        let mut interim = [0; CONTINUE.len()];
        timeout(READ_TIMEOUT, stream.read_exact(&mut interim)).await.context("no response")??;
        ensure!(
            interim == CONTINUE,
            "{}: {:?} came before the body",
            sent_request.request_line(),
            String::from_utf8_lossy(&interim)
        );
        stream.write_all(begin).await?;
        Ok(Self { stream, sent_request })
    }

    /// Sends the last byte, so late that the server notices, and reads the response.
    pub async fn finish(mut self) -> Result<Reply> {
        sleep(LATE).await;
        let (last, _) = self.sent_request.body.split_last().context("a request without a body")?;
        self.stream.write_all(&[*last]).await?;
        let mut response = Vec::new();
        timeout(READ_TIMEOUT, self.stream.read_to_end(&mut response)).await.context("no response")??;
        let reply = parse_response(self.sent_request.request_line(), &response)?;
        let received =
            ReceivedResponse { status: reply.status, headers: &reply.headers, body: Some(&reply.body) };
        contract::check(&self.sent_request, received).with_context(|| reply.to_string())?;
        Ok(reply)
    }
}

/// Parses a response that was read to the end of its connection.
fn parse_response(request_line: String, response: &[u8]) -> Result<Reply> {
    let head = memchr::memmem::find(response, b"\r\n\r\n").context("no head")?;
    let body = &response[head + 4..];
    let mut lines = std::str::from_utf8(&response[..head])?.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').with_context(|| line.to_owned())?;
        headers.append(
            HeaderName::from_bytes(name.as_bytes())?,
            HeaderValue::from_bytes(value.trim().as_bytes())?,
        );
    }
    let is_chunked = headers.contains_key(header::TRANSFER_ENCODING);
    let body = if is_chunked { join_chunks(body)? } else { Bytes::copy_from_slice(body) };
    Ok(Reply { request_line, status: StatusCode::from_bytes(status.as_bytes())?, headers, body })
}

/// Joins the chunks of a body (RFC 9112, section 7.1).
fn join_chunks(mut body: &[u8]) -> Result<Bytes> {
    let mut joined = Vec::new();
    loop {
        let line = memchr::memmem::find(body, b"\r\n").context("no length of a chunk")?;
        let length = usize::from_str_radix(std::str::from_utf8(&body[..line])?, 16)?;
        if length == 0 {
            return Ok(joined.into());
        }
        let begin = line + 2;
        joined.extend(body.get(begin..begin + length).context("a chunk is incomplete")?);
        body = body.get(begin + length + 2..).context("a chunk is incomplete")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_parsed_with_its_headers_and_body() {
        let text = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nx-request-id: a:b\r\n\r\n{}";
        let reply = parse_response("POST /".to_owned(), text.as_bytes()).unwrap();
        assert_eq!((reply.status.as_u16(), &reply.body[..]), (401, &b"{}"[..]));
        assert_eq!(reply.header("x-request-id"), Some("a:b"));
        let chunked =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{\"\r\n2\r\n\"}\r\n0\r\n\r\n";
        let reply = parse_response("POST /".to_owned(), chunked.as_bytes()).unwrap();
        assert_eq!(&reply.body[..], b"{\"\"}");
        parse_response("POST /".to_owned(), &chunked.as_bytes()[..60]).unwrap_err();
    }
}
