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
    gate::{egress_client, permit, serve_raw},
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
        assert_eq!(&pieces.next().await.unwrap().unwrap()[..], b"data: ", "{cut}");
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
        assert_eq!(rest, "[redacted]\n\ndata: end", "{cut}");
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
    let refusal = egress_client().send(request, permit("POST", port, "/")).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Timeout);
}
