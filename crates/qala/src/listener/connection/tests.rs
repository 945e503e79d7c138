use std::sync::Mutex;

use axum::body::{Body, to_bytes};
use hyper::{Request, Response, body::Body as _, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::*;

/// Requests that a server got: method, URL, one header field, body.
type Asked = Vec<(String, String, String, String)>;

/// Returns the requests that hyper reads from a connection sent in pieces, with or without [`Connection`] in between.
async fn asked(pieces: &[&[u8]], ours: bool) -> Asked {
    let asked: Mutex<Asked> = Mutex::default();
    let head_report = Arc::new(HeadReport::default());
    let asked_so_far = &asked;
    let service = service_fn(|request: Request<Incoming>| {
        head_report.report(request.body().size_hint().exact());
        let (head, body) = request.into_parts();
        async move {
            let body = to_bytes(Body::new(body), usize::MAX).await;
            let field =
                head.headers.get("x").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            // A body that breaks off ends the connection; its request still counts.
            let body =
                body.map_or_else(|_| "broken".to_owned(), |body| String::from_utf8_lossy(&body).into_owned());
            let (method, uri) = (head.method.to_string(), head.uri.to_string());
            asked_so_far.lock().unwrap().push((method, uri, field.unwrap_or_default(), body));
            Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
        }
    });
    let (mut theirs, stream) = duplex(1 << 20);
    let http = hyper::server::conn::http1::Builder::new();
    let serve = async {
        let served = match ours {
            true => {
                let stream = Connection::new(stream, Arc::clone(&head_report));
                http.serve_connection(TokioIo::new(stream), service).await
            }
            false => http.serve_connection(TokioIo::new(stream), service).await,
        };
        drop(served);
    };
    let send = async {
        for piece in pieces {
            // The server may have closed the connection.
            let _ = theirs.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        // Closing now would cut off requests still in progress.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        let _ = theirs.shutdown().await;
        let mut responses = Vec::new();
        let _ = theirs.read_to_end(&mut responses).await;
    };
    tokio::join!(serve, send);
    asked.into_inner().unwrap()
}

fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Cuts a stream into pieces of these sizes, in turn.
fn cut<'b>(mut bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*size).clamp(1, bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

#[test]
fn raw_characters_are_encoded_in_every_request_of_a_connection() {
    let sent = concat!(
        "GET /1?a->b HTTP/1.1\r\nX: <a>\r\n\r\n",
        "POST /2?a->>\"b\" HTTP/1.1\r\nContent-Length: 24\r\n\r\nGET /no?a>b HTTP/1.1\r\n\r\n",
        "\r\n\r\nPOST /3<`é> HTTP/1.1\nTransfer-Encoding: chunked\n\n",
        "17\r\nGET /no?a>b HTTP/1.1\r\n\n\r\n1\r\n>\r\n0\r\n\r\n",
        "GET /4?{}|\\^[]>'(*) HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "POST /5?> HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /6?> HTTP/1.1\r\n\r\n",
    );
    let row = |method: &str, uri: &str, field: &str, body: &str| {
        (method.to_owned(), uri.to_owned(), field.to_owned(), body.to_owned())
    };
    let expected = [
        row("GET", "/1?a-%3Eb", "<a>", ""),
        row("POST", "/2?a-%3E%3E%22b%22", "", "GET /no?a>b HTTP/1.1\r\n\r\n"),
        row("POST", "/3%3C%60%C3%A9%3E", "", "GET /no?a>b HTTP/1.1\r\n\n>"),
        row("GET", "/4?{}|\\^[]%3E'(*)", "", ""),
        row("POST", "/5?%3E", "", ""),
        row("GET", "/6?%3E", "", ""),
    ];
    for size in [usize::MAX, 1, 2, 3, 7, 16, 40, 100] {
        let pieces = cut(sent.as_bytes(), &[size]);
        assert_eq!(on_one_thread(asked(&pieces, true)), expected, "in pieces of {size}");
    }
}

#[test]
fn nothing_is_rewritten_after_an_unusual_body() {
    // After each of these nothing is rewritten any more, and hyper refuses what it refuses.
    for body in ["1;a=b\r\nx\r\n0\r\n\r\n", "0\r\nA: b\r\n\r\n", "1\nx\n0\n\n", "1 \r\nx\r\n0\r\n\r\n"] {
        let sent = format!(
            "POST /1?> HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}GET /2 HTTP/1.1\r\n\r\nGET /3?> HTTP/1.1\r\n\r\n"
        );
        let ours = on_one_thread(asked(&[sent.as_bytes()], true));
        let theirs = on_one_thread(asked(&[sent.replace("1?>", "1?%3E").as_bytes()], false));
        assert_eq!(ours, theirs, "{body:?}");
        assert!(ours.iter().all(|asked| !asked.1.starts_with("/3")), "{ours:?}");
    }
}

/// Parts of requests, well-formed and not, to be combined in any order. `~` stands for a raw character.
const TOKENS: &[&str] = &[
    "GET /~ HTTP/1.1\r\n",
    "POST /a?b-~~c HTTP/1.1\r\n",
    "GET /~ HTTP/1.1\r\n\r\n",
    "POST /~~~ HTTP/1.1\r\nContent-Length: 21\r\n\r\nGET /~ HTTP/1.1\r\n\r\n12",
    "POST /~ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length: +5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: chunked, gzip\r\n",
    "Transfer-Encoding : chunked\r\n",
    "X: ~\r\n",
    " folded: ~\r\n",
    "Connection: close\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: x\r\nConnection: upgrade\r\n",
    "CONNECT a:1 HTTP/1.1\r\n",
    "GET /~ HTTP/1.0\r\n",
    "GET ~\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\n\n",
    "\r",
    "5\r\n~ello\r\n",
    "0\r\n\r\n",
    "0\r\nX: ~\r\n\r\n",
    "3;~=1\r\na~c\r\n",
    "3\na~c\n",
    "~",
    "hello",
    " ",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// For any input, the requests read through [`Connection`] are the first of those that hyper alone reads when
    /// letters stand for the raw characters. No request comes from another's body; none is changed except for the
    /// encoding.
    #[test]
    fn no_request_begins_where_hyper_sees_none(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 1..14),
        sizes in prop::collection::vec(1..60_usize, 1..6),
        whole: bool,
    ) {
        let sent = tokens.concat();
        let sizes = if whole { vec![usize::MAX] } else { sizes };
        let (raw, letters) = (sent.replace('~', ">"), sent.replace('~', "Q"));
        let ours = on_one_thread(asked(&cut(raw.as_bytes(), &sizes), true));
        let theirs = on_one_thread(asked(&cut(letters.as_bytes(), &sizes), false));
        let ours: Asked = ours
            .into_iter()
            .map(|(method, uri, field, body)| {
                (method, uri.replace("%3E", "Q").replace('>', "Q"), field.replace('>', "Q"), body.replace('>', "Q"))
            })
            .collect();
        let theirs: Asked = theirs
            .into_iter()
            .map(|(method, uri, field, body)| {
                (method, uri.replace('>', "Q"), field.replace('>', "Q"), body.replace('>', "Q"))
            })
            .collect();
        prop_assert!(theirs.starts_with(&ours), "{sent:?}\n{ours:#?}\n{theirs:#?}");
    }

    /// Without raw characters, [`Connection`] changes nothing at all.
    #[test]
    fn a_stream_without_raw_characters_is_unchanged(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 1..14),
        sizes in prop::collection::vec(1..60_usize, 1..6),
    ) {
        let sent = tokens.concat().replace('~', "Q");
        let pieces = cut(sent.as_bytes(), &sizes);
        let ours = on_one_thread(asked(&pieces, true));
        prop_assert_eq!(ours, on_one_thread(asked(&pieces, false)), "{:?}", sent);
    }
}

async fn written_response(stream: (DuplexStream, DuplexStream), any: bool, first: &str) -> String {
    let (mut theirs, ours) = stream;
    let head_report = Arc::new(HeadReport::default());
    if any {
        head_report.report(Some(0));
    }
    let mut ours = Connection::new(ours, head_report);
    ours.write_all(first.as_bytes()).await.unwrap();
    ours.shutdown().await.unwrap();
    let mut read = String::new();
    theirs.read_to_string(&mut read).await.unwrap();
    read
}

#[tokio::test]
async fn only_a_bare_refusal_by_hyper_gets_the_envelope() {
    let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
    for (any, first) in [(false, bare), (true, bare), (false, "HTTP/1.1 100 Continue\r\n\r\n")] {
        let read = written_response(duplex(64 << 10), any, first).await;
        let replaced = !any && first == bare;
        assert_eq!(read.contains(r#""code":"headers_too_large""#), replaced, "{read}");
        assert_eq!(read == first, !replaced);
    }
}
