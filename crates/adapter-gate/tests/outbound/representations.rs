//! Services that let the request choose the form of what they echo.

use std::sync::atomic::AtomicUsize;

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use connections::{
    AuthInput, OutboundClient as _, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    app_secrets::headers::SecretHeader, outbound::OpenedCredential,
};
use futures::{StreamExt as _, stream};
use tokio::net::TcpListener;

use crate::{
    connection::{Opens, SECRET, assert_free_of, bearer, permit as connection_permit},
    gate::{egress_client, permit},
    secrets::Secrets,
    text, whole,
};

/// Echoes the request as its headers ask: a part of it, or in UTF-16. Below `/v1/always/` it does so unasked, and at a path
/// that ends with `stream` in pieces.
async fn echo(request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let headers: Vec<_> = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let text = headers.join("\n").into_bytes();
    let is_asked = |name: &str, part: &str| {
        path.contains("always")
            || request.headers().get_all(name).iter().any(|value| value.to_str().unwrap().contains(part))
    };
    let is_part = path.contains("range")
        && (is_asked("range", "bytes=")
            || is_asked("request-range", "bytes=")
            || is_asked("x-ms-range", "bytes="));
    let is_wide =
        path.contains("charset") && (is_asked("accept", "utf-16") || is_asked("accept-charset", "utf-16"));
    let (status, content_type, body) = match (is_part, is_wide) {
        (true, _) => {
            let at = text.windows(7).position(|window| window == b"Bearer ").unwrap();
            (StatusCode::PARTIAL_CONTENT, "text/plain", text[at..at + 15].to_vec())
        }
        (_, true) => {
            let units = String::from_utf8(text).unwrap();
            let wide = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
            (StatusCode::OK, "text/plain; charset=utf-16le", wide)
        }
        _ => (StatusCode::OK, "text/plain; charset=utf-8", text),
    };
    let content_type = if path.contains("unlabelled") { "text/plain" } else { content_type };
    let body = if path.ends_with("stream") {
        let pieces: Vec<_> = body.chunks(7).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect();
        Body::from_stream(stream::iter(pieces).then(async |piece| {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            piece
        }))
    } else {
        Body::from(body)
    };
    (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
}

async fn service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(echo)).await });
    port
}

/// Sends a request through a connection, and one with a secret in a header.
async fn send_both(
    port: u16,
    path: &str,
    headers: &[(&str, &str)],
) -> [Result<OutboundResponse, Refusal>; 2] {
    let request = || {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        OutboundRequest { headers, ..Default::default() }
    };
    let client = egress_client();
    let through = connection_permit(port, "/v1", bearer(), path);
    let through = client.send_through_connection(request(), through, &Opens::secret(SECRET)).await;
    let key = SecretHeader {
        header: "authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
        secret: "KEY".to_owned(),
    };
    let plain = permit("GET", port, &format!("/v1{path}"));
    let with_secret = client.send_with_secrets(request(), plain, &[key], &Secrets::default()).await;
    [whole(through).await, whole(with_secret).await]
}

#[tokio::test]
async fn code_does_not_choose_the_form_of_an_echo() {
    let port = service().await;
    for (path, name, value) in [
        ("/range", "Range", "bytes=0-7"),
        ("/range", "range", "bytes=0-7,8-15"),
        ("/range", "Request-Range", "bytes=0-7"),
        ("/range", "x-ms-range", "bytes=0-7"),
        ("/charset", "accept", "application/json;charset=utf-16"),
        ("/charset", "Accept", "text/plain, */*;q=0.1;CHARSET=\"utf-16\""),
        ("/charset", "Accept-Charset", "utf-16"),
    ] {
        for path in [path.to_owned(), format!("{path}/stream")] {
            for response in send_both(port, &path, &[(name, value)]).await {
                let response = response.unwrap();
                assert_eq!(response.status, 200, "{path} {name}: {value}");
                let text = text(&response);
                assert_free_of(SECRET, &text, &path);
                assert!(text.contains("Bearer [redacted]"), "{path} {name}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_form_that_cannot_be_searched_is_refused_unasked() {
    let port = service().await;
    for path in ["/always/range", "/always/range/stream", "/always/charset", "/always/charset/stream"] {
        for response in send_both(port, path, &[]).await {
            let refusal = response.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::UpstreamFailed, "{path}");
            assert!(refusal.message.contains("not searched for secrets"), "{refusal}");
        }
    }
}

#[tokio::test]
async fn a_request_without_a_secret_has_its_range() {
    let port = service().await;
    let headers =
        vec![("range".to_owned(), "bytes=0-7".to_owned()), ("x".to_owned(), "Bearer 0123456789".to_owned())];
    let request = || OutboundRequest { headers: headers.clone(), ..Default::default() };
    let plain = egress_client().send(request(), permit("GET", port, "/range")).await.unwrap();
    assert_eq!((plain.status, text(&plain).as_str()), (206, "Bearer 01234567"));
    let none = Opens(OpenedCredential::None, AtomicUsize::new(0));
    let through = connection_permit(port, "/v1", AuthInput::None {}, "/range");
    let through = egress_client().send_through_connection(request(), through, &none).await.unwrap();
    assert_eq!(through.status, 206);
}
