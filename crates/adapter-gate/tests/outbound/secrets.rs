//! Secrets of apps in headers: the service gets them, and nothing of them comes back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use connections::{
    OutboundClient as _, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    app_secrets::headers::SecretHeader,
    outbound::{SearchAccount, SecretSource},
};
use kernel::ShareId;
use secrecy::SecretString;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    connection::{Opens, SECRET, assert_free_of, bearer, permit as connection_permit, service},
    gate::{egress_client, permit, serve_raw},
    text, whole,
};

/// Opens every name but `MISSING`, and counts.
#[derive(Default)]
pub(crate) struct Secrets(AtomicUsize);

#[async_trait]
impl SecretSource for Secrets {
    async fn open_secret(&self, name: &str) -> Result<SecretString, Refusal> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match name {
            "MISSING" => Err(Refusal::new(RefusalCode::SecretUnavailable, "no value")),
            "LINES" => Ok("a\r\nhost: evil.example".into()),
            _ => Ok(SECRET.into()),
        }
    }
}

fn header(name: &str, prefix: &str, secret: &str) -> SecretHeader {
    SecretHeader { header: name.to_owned(), prefix: prefix.to_owned(), secret: secret.to_owned() }
}

async fn send(
    port: u16,
    path: &str,
    headers: &[SecretHeader],
    own: &[(&str, &str)],
    secrets: &Secrets,
) -> Result<OutboundResponse, Refusal> {
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = OutboundRequest { headers: own, ..OutboundRequest::default() };
    whole(egress_client().send_with_secrets(request, permit("GET", port, path), headers, secrets).await).await
}

#[tokio::test]
async fn the_service_gets_the_secret_and_no_echo_of_it_comes_back() {
    let (port, received) = service().await;
    let headers = [header("authorization", "Bearer ", "KEY"), header("x-key", "", "KEY")];
    for path in ["/plain", "/base64", "/chunks", "/gzip", "/deflate", "/headers", "/v1/moved"] {
        received.lock().unwrap().clear();
        let response = send(port, path, &headers, &[("accept", "*/*")], &Secrets::default()).await.unwrap();
        let got = received.lock().unwrap().last().unwrap().clone();
        assert!(got.contains(&format!("authorization: Bearer {SECRET}\n")), "{path}: {got}");
        assert!(got.contains(&format!("x-key: {SECRET}\n")), "{path}: {got}");
        let text = format!("{:?} {}", response.headers, text(&response));
        assert_free_of(SECRET, &text, path);
        assert!(text.contains("[redacted]"), "{path}: {text}");
    }
}

#[tokio::test]
async fn nothing_is_opened_for_a_request_that_is_refused() {
    let (port, received) = service().await;
    let secrets = Secrets::default();
    let key = [header("x-key", "", "KEY")];
    let code = |result: Result<_, Refusal>| result.map(|_: OutboundResponse| ()).unwrap_err().code;
    // The app has set the header too, or one that is reserved.
    assert_eq!(code(send(port, "/", &key, &[("X-Key", "mine")], &secrets).await), RefusalCode::HeaderDenied);
    assert_eq!(code(send(port, "/", &key, &[("cookie", "a=b")], &secrets).await), RefusalCode::HeaderDenied);
    let through = connection_permit(port, "/v1", bearer(), "/plain");
    let refused =
        egress_client().send_with_secrets(OutboundRequest::default(), through, &key, &secrets).await;
    assert_eq!(code(refused), RefusalCode::SecretUnavailable);
    assert_eq!(secrets.0.load(Ordering::SeqCst), 0);
    // It has no value, or one that no header can have.
    for name in ["MISSING", "LINES"] {
        let refused = send(port, "/", &[header("x-key", "", name)], &[], &secrets).await;
        assert_eq!(code(refused), RefusalCode::SecretUnavailable, "{name}");
    }
    assert_eq!(received.lock().unwrap().len(), 0);
    // A redirect to another origin is not followed.
    assert_eq!(code(send(port, "/v1/away", &key, &[], &secrets).await), RefusalCode::RedirectDenied);
}

/// A long secret that repeats itself, in a body that is searched in several turns, as a whole and in pieces.
#[tokio::test]
async fn a_long_search_leaves_nothing_and_is_charged() {
    let secret = "U".repeat(4_000);
    for is_chunked in [false, true] {
        let port = serve_raw(async move |mut stream: TcpStream| {
            let body = format!("{}|{}|{}", "a".repeat(30_000), "V".repeat(50_000), "U".repeat(3_999));
            let response = if is_chunked {
                format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
            } else {
                format!("content-length: {}\r\n\r\n{body}", body.len())
            };
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{response}").as_bytes()).await.unwrap();
        })
        .await;
        let charged = Arc::new(AtomicUsize::new(0));
        let charges = Arc::clone(&charged);
        let search = SearchAccount::new(ShareId::default(), move |used| {
            charges.fetch_add(usize::try_from(used.as_nanos()).unwrap(), Ordering::SeqCst);
        });
        let request = OutboundRequest { search, ..OutboundRequest::default() };
        let permit = connection_permit(port, "/v1", bearer(), "/");
        let sent = egress_client().send_through_connection(request, permit, &Opens::secret(&secret)).await;
        let body = text(&whole(sent).await.unwrap());
        assert_eq!(body, format!("{}|[redacted]|{}", "a".repeat(30_000), "U".repeat(3_999)), "{is_chunked}");
        assert!(charged.load(Ordering::SeqCst) > 0);
    }
}
