//! Bodies that are sent, or come, in pieces.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use connections::{OutboundBody, OutboundClient as _, OutboundRequest, Refusal, RefusalCode};
use futures::{
    StreamExt as _,
    channel::mpsc::{UnboundedSender, unbounded},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Notify, oneshot},
};

use crate::{
    connection::{Opens, SECRET, bearer, permit as connection_permit},
    gate::{egress_client, impatient_client, permit, serve_raw},
};

type Sender = UnboundedSender<Result<Bytes, Refusal>>;

/// A request with a body that the sender writes.
fn streamed_request() -> (OutboundRequest, Sender) {
    let (sender, pieces) = unbounded();
    (OutboundRequest { body: OutboundBody::Stream(pieces.boxed()), ..Default::default() }, sender)
}

fn send_piece(sender: &Sender, piece: &'static str) {
    sender.unbounded_send(Ok(Bytes::from_static(piece.as_bytes()))).unwrap();
}

/// A server that sends a piece, and each further one when it is told to.
async fn serve_pieces(pieces: Vec<String>) -> (u16, Arc<Notify>, oneshot::Receiver<()>) {
    let more = Arc::new(Notify::new());
    let (gone, is_gone) = oneshot::channel();
    let wait = Arc::clone(&more);
    let port = serve_raw(async move |mut stream: TcpStream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
        for piece in pieces {
            let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
            stream.write_all(chunk.as_bytes()).await.unwrap();
            tokio::select! {
                () = wait.notified() => {}
                // Nothing comes from the client but its end.
                _ = stream.read_u8() => {
                    gone.send(()).unwrap();
                    return;
                }
            }
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    })
    .await;
    (port, more, is_gone)
}

#[tokio::test]
async fn a_piece_is_there_before_the_next_is_sent() {
    let (port, more, _) = serve_pieces(vec!["one".into(), "two".into(), "three".into()]).await;
    let response = egress_client().send(OutboundRequest::default(), permit("GET", port, "/")).await.unwrap();
    let OutboundBody::Stream(mut pieces) = response.body else { panic!("the body is not streamed") };
    for piece in ["one", "two", "three"] {
        assert_eq!(&pieces.next().await.unwrap().unwrap()[..], piece.as_bytes());
        more.notify_one();
    }
    assert!(pieces.next().await.is_none());
}

#[tokio::test]
async fn a_body_that_nobody_wants_closes_its_connection() {
    let (port, _, gone) = serve_pieces(vec!["one".into(), "two".into()]).await;
    let response = egress_client().send(OutboundRequest::default(), permit("GET", port, "/")).await.unwrap();
    drop(response);
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_secret_is_found_wherever_a_stream_is_split() {
    for cut in 1..SECRET.len() {
        let (one, two) = SECRET.split_at(cut);
        let pieces = vec![format!("data: {one}"), two.to_owned(), "\n\ndata: end".to_owned()];
        let (port, more, _) = serve_pieces(pieces).await;
        let opens = Opens::secret(SECRET);
        let permit = connection_permit(port, "/v1", bearer(), "/plain");
        let client = egress_client();
        let response =
            client.send_through_connection(OutboundRequest::default(), permit, &opens).await.unwrap();
        let OutboundBody::Stream(mut pieces) = response.body else { panic!("the body is not streamed") };
        let rest = async {
            let mut rest = Vec::new();
            while let Some(piece) = pieces.next().await {
                rest.extend_from_slice(&piece.unwrap());
            }
            String::from_utf8(rest).unwrap()
        };
        let go_on = async {
            for _ in 0..3 {
                more.notify_one();
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let (rest, ()) = tokio::join!(rest, go_on);
        assert_eq!(rest, "data: [redacted]\n\ndata: end", "{cut}");
    }
}

/// Sends pieces through a connection, each once the one before has had its time, and returns what the code gets of each.
async fn lengths_of(pieces: &[String]) -> Vec<usize> {
    let (port, more, _) = serve_pieces(pieces.to_vec()).await;
    let opens = Opens::secret(SECRET);
    let permit = connection_permit(port, "/v1", bearer(), "/plain");
    let response =
        egress_client().send_through_connection(OutboundRequest::default(), permit, &opens).await.unwrap();
    let OutboundBody::Stream(mut body) = response.body else { panic!("the body is not streamed") };
    let mut lengths = Vec::new();
    for _ in pieces {
        let mut length = 0;
        while let Ok(Some(piece)) = tokio::time::timeout(Duration::from_millis(50), body.next()).await {
            length += piece.unwrap().len();
        }
        lengths.push(length);
        more.notify_one();
    }
    lengths
}

#[tokio::test]
async fn the_pieces_of_a_stream_do_not_tell_a_part_of_the_secret() {
    for known in [1, 4, 12, SECRET.len() - 1] {
        let right = &SECRET[..known];
        let wrong = format!("{}#", &right[..known - 1]);
        let pieces =
            |guess: &str| vec![format!("|{guess}"), "\n".repeat(400), format!("|{guess}"), "end".to_owned()];
        let (right, wrong) = (lengths_of(&pieces(right)).await, lengths_of(&pieces(&wrong)).await);
        assert_eq!(right, wrong, "{known}");
        assert!(right[1] > 200, "the stream goes on: {right:?}");
    }
}

/// A server that reports what it reads of one request, to the end of the connection or of the body.
async fn serve_reader() -> (u16, oneshot::Receiver<String>) {
    let (sender, receiver) = oneshot::channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut read, mut buffer) = (String::new(), [0; 4096]);
        while !read.ends_with("\r\n0\r\n\r\n") {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => read.push_str(&String::from_utf8_lossy(&buffer[..count])),
            }
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        let _ = sender.send(read);
    });
    (port, receiver)
}

#[tokio::test]
async fn a_request_is_sent_as_it_is_written() {
    let (port, read) = serve_reader().await;
    let (request, sender) = streamed_request();
    send_piece(&sender, "one");
    send_piece(&sender, "two");
    drop(sender);
    let response = egress_client().send(request, permit("POST", port, "/")).await.unwrap();
    assert_eq!(response.status, 200);
    let read = read.await.unwrap();
    assert!(read.contains("transfer-encoding: chunked") && read.ends_with("\r\n0\r\n\r\n"), "{read}");
    assert!(read.contains("one") && read.contains("two"), "{read}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_sent_as_if_it_were_whole() {
    let (port, read) = serve_reader().await;
    let (request, sender) = streamed_request();
    send_piece(&sender, "one");
    sender.unbounded_send(Err(Refusal::new(RefusalCode::UpstreamFailed, "the code failed"))).unwrap();
    let refusal = egress_client().send(request, permit("POST", port, "/")).await.unwrap_err();
    assert_eq!((refusal.code, refusal.message.as_str()), (RefusalCode::UpstreamFailed, "the code failed"));
    assert!(!read.await.unwrap().ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn a_streamed_request_is_bounded_in_bytes_and_in_time() {
    let (port, read) = serve_reader().await;
    let (request, sender) = streamed_request();
    for _ in 0..3 {
        sender.unbounded_send(Ok(Bytes::from(vec![b'x'; 400_000]))).unwrap();
    }
    let refusal = egress_client().send(request, permit("POST", port, "/")).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::RequestTooLarge);
    assert!(!read.await.unwrap().ends_with("0\r\n\r\n"));
    // Nobody writes on.
    let (port, _read) = serve_reader().await;
    let (request, _sender) = streamed_request();
    let refusal = impatient_client().send(request, permit("POST", port, "/")).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Timeout);
}

#[tokio::test]
async fn a_short_body_that_decompresses_to_a_long_one_comes_in_pieces() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![0; 9_900_000]).unwrap();
    let body = gzip.finish().unwrap();
    assert!(body.len() < 16 << 10, "{}", body.len());
    let serve = || {
        let body = body.clone();
        serve_raw(async move |mut stream: TcpStream| {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.unwrap();
        })
    };
    let opens = Opens::secret(SECRET);
    for is_secret in [false, true] {
        let (port, client) = (serve().await, egress_client());
        let request = OutboundRequest::default();
        let response = if is_secret {
            let permit = connection_permit(port, "/v1", bearer(), "/plain");
            client.send_through_connection(request, permit, &opens).await.unwrap()
        } else {
            client.send(request, permit("GET", port, "/")).await.unwrap()
        };
        assert!(
            !response.headers.iter().any(|(name, _)| name.starts_with("content-")),
            "{:?}",
            response.headers
        );
        let OutboundBody::Stream(mut pieces) = response.body else { panic!("the body is not streamed") };
        let (mut all, mut longest) = (0, 0);
        while let Some(piece) = pieces.next().await {
            let piece = piece.unwrap();
            assert!(piece.iter().all(|byte| *byte == 0));
            (all, longest) = (all + piece.len(), longest.max(piece.len()));
        }
        assert!(all == 9_900_000 && longest <= 340 << 10, "{all} {longest}");
    }
}
