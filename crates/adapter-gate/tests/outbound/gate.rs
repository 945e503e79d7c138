//! The client against a server on loopback, reachable only through an operator's exception, and forged DNS responses.

use std::{
    io::{self, Write as _},
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adapter_gate::{EgressClient, EgressLimits, Resolve};
use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use connections::{
    EgressPermit, EgressPolicy, Gate as Rule, GateHost, GateStatus, OutboundClient as _, OutboundRequest,
    OutboundResponse, Refusal, RefusalCode, authorize_egress,
    egress::{AllowedHost, DeclaredEgress},
    gates::Method,
};
use flate2::{Compression, write::GzEncoder};
use kernel::{Id, RedirectMode, Timestamp};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use uuid::Uuid;

use crate::{text, whole};

pub(crate) const HOST: &str = "upstream.example";

/// Resolves to these addresses in turn, then to the last ones for ever.
pub(crate) struct FakeResolver(Vec<Vec<&'static str>>, AtomicUsize);

impl FakeResolver {
    pub(crate) fn new(responses: &[&[&'static str]]) -> Arc<Self> {
        Arc::new(Self(responses.iter().map(|addresses| addresses.to_vec()).collect(), AtomicUsize::new(0)))
    }
}

#[async_trait]
impl Resolve for FakeResolver {
    async fn resolve(&self, _: &GateHost) -> io::Result<Vec<IpAddr>> {
        let turn = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len() - 1);
        Ok(self.0[turn].iter().map(|address| address.parse().unwrap()).collect())
    }
}

fn policy(allowed: Vec<AllowedHost>) -> Arc<EgressPolicy> {
    let gate = Rule {
        id: Id::from_uuid(Uuid::from_u128(1)),
        workspace: Id::from_uuid(Uuid::from_u128(2)),
        name: "Upstream".into(),
        host: HOST.parse().unwrap(),
        methods: vec![Method::Get, Method::Post],
        connection: None,
        status: GateStatus::Open,
        created_at: Timestamp::UNIX_EPOCH,
    };
    Arc::new(EgressPolicy {
        declared: vec![DeclaredEgress::parse(HOST).unwrap()],
        gates: vec![gate],
        allowed_hosts: allowed,
        ..EgressPolicy::default()
    })
}

pub(crate) fn allowed_loopback(port: u16) -> AllowedHost {
    AllowedHost::new(HOST.parse().unwrap(), port, "127.0.0.0/8".parse().unwrap())
}

pub(crate) fn permit(method: &str, port: u16, path: &str) -> EgressPermit {
    authorize_egress(&format!("http://{HOST}:{port}{path}"), method, &policy(vec![allowed_loopback(port)]))
        .unwrap()
}

/// Limits with times that a busy machine does not reach either.
pub(crate) fn patient_limits() -> EgressLimits {
    let long = Duration::from_secs(120);
    EgressLimits {
        connect_timeout: long,
        first_byte_timeout: long,
        total_timeout: long,
        ..EgressLimits::default()
    }
}

pub(crate) fn egress_client() -> EgressClient {
    EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[&["127.0.0.1"]])).unwrap()
}

/// A client for servers that are too slow.
pub(crate) fn impatient_client() -> EgressClient {
    let limits = EgressLimits {
        connect_timeout: Duration::from_millis(300),
        first_byte_timeout: Duration::from_millis(600),
        total_timeout: Duration::from_millis(1000),
        ..EgressLimits::default()
    };
    EgressClient::with_resolver(limits, FakeResolver::new(&[&["127.0.0.1"]])).unwrap()
}

pub(crate) async fn server() -> u16 {
    async fn echo(request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let text = format!(
            "{} {} host={} x={:?} {}",
            parts.method,
            parts.uri,
            parts.headers["host"].to_str().unwrap(),
            parts.headers.get("x-a"),
            String::from_utf8_lossy(&body)
        );
        ([("set-cookie", "a=b"), ("alt-svc", "h3=\":443\""), ("x-made", "yes")], text).into_response()
    }
    let moved = |to: &'static str| any(move || async move { (StatusCode::FOUND, [(header::LOCATION, to)]) });
    let router = Router::new()
        .route("/echo", any(echo))
        .route("/moved", moved("/echo?hop"))
        .route("/away", moved("http://127.0.0.1:1/"))
        .route("/metadata", moved("http://169.254.169.254/latest/"))
        .route("/loop", moved("/loop"))
        .route("/long", any(|| async { Body::from(vec![b'x'; (10 << 20) + 1]) }))
        .route(
            "/endless",
            any(|| async {
                Body::from_stream(futures::stream::repeat_with(|| Ok::<_, io::Error>(vec![b'x'; 65536])))
            }),
        )
        .route("/headers", any(|| async { [("x-long", "y".repeat(33 << 10))] }))
        .route("/gzip", any(|| async { ([(header::CONTENT_ENCODING, "gzip")], gzip(b"unasked")) }))
        .route("/bomb", any(|| async { ([(header::CONTENT_ENCODING, "gzip")], BOMB.clone()) }))
        .route("/br", any(|| async { ([(header::CONTENT_ENCODING, "br")], "as it is") }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

async fn refusal_code(result: impl Future<Output = Result<OutboundResponse, Refusal>>) -> &'static str {
    whole(result.await).await.map_or_else(|refusal| refusal.code(), |_| "ok")
}

#[tokio::test]
async fn a_permitted_request_goes_out_and_comes_back() {
    let port = server().await;
    let request = OutboundRequest {
        headers: vec![("x-a".into(), "b".into()), ("content-type".into(), "text/plain".into())],
        body: "hi".into(),
        ..Default::default()
    };
    let response = egress_client().send(request, permit("POST", port, "/echo?q=1")).await;
    let response = whole(response).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(text(&response), format!("POST /echo?q=1 host={HOST}:{port} x=Some(\"b\") hi"));
    let names: Vec<_> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"x-made") && !names.contains(&"set-cookie") && !names.contains(&"alt-svc"));
}

#[tokio::test]
async fn any_blocked_address_refuses_the_name() {
    let port = server().await;
    for addresses in [
        &["127.0.0.1"][..],
        &["93.184.215.14", "127.0.0.1"],
        &["93.184.215.14", "::1"],
        &["93.184.215.14", "::ffff:10.0.0.1"],
        &["169.254.169.254"],
        &["64:ff9b::a9fe:a9fe"],
        &["10.0.0.1"],
    ] {
        let gate = EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[addresses])).unwrap();
        let permit =
            authorize_egress(&format!("https://{HOST}/"), "GET", &policy(vec![allowed_loopback(port)]))
                .unwrap();
        assert_eq!(
            refusal_code(gate.send(OutboundRequest::default(), permit)).await,
            "private_address",
            "{addresses:?}"
        );
    }
    // The exception covers its network only, and never a metadata service.
    for addresses in [&["10.0.0.1"][..], &["127.0.0.1", "169.254.169.254"], &["93.184.215.14"]] {
        let gate = EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[addresses])).unwrap();
        let fetched = gate.send(OutboundRequest::default(), permit("GET", port, "/echo"));
        assert_eq!(refusal_code(fetched).await, "private_address", "{addresses:?}");
    }
    let gate = EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[&[]])).unwrap();
    assert_eq!(
        refusal_code(gate.send(OutboundRequest::default(), permit("GET", port, "/"))).await,
        "dns_failed"
    );
}

/// The name resolves to an allowed address first and to a blocked one later; it is resolved only once.
#[tokio::test]
async fn dns_rebinding_does_not_change_the_checked_address() {
    let port = server().await;
    let liar = FakeResolver::new(&[&["127.0.0.1"], &["10.0.0.1"]]);
    let gate = EgressClient::with_resolver(patient_limits(), liar.clone()).unwrap();
    assert_eq!(refusal_code(gate.send(OutboundRequest::default(), permit("GET", port, "/echo"))).await, "ok");
    assert_eq!(liar.1.load(Ordering::SeqCst), 1, "a name is resolved once for a request");
    assert_eq!(
        refusal_code(gate.send(OutboundRequest::default(), permit("GET", port, "/echo"))).await,
        "private_address"
    );

    // A redirect within the origin is checked again.
    let gate = EgressClient::with_resolver(
        patient_limits(),
        FakeResolver::new(&[&["127.0.0.1"], &["169.254.169.254"]]),
    )
    .unwrap();
    assert_eq!(
        refusal_code(gate.send(OutboundRequest::default(), permit("GET", port, "/moved"))).await,
        "private_address"
    );
}

#[tokio::test]
async fn redirects_stay_at_their_origin() {
    let port = server().await;
    let gate = egress_client();
    let fetch = |method, path| gate.send(OutboundRequest::default(), permit(method, port, path));
    let moved = fetch("GET", "/moved").await.unwrap();
    let to = moved.redirected_to.clone();
    assert_eq!(to, Some(format!("http://{HOST}:{port}/echo?hop")));
    assert!(text(&whole(Ok(moved)).await.unwrap()).starts_with("GET /echo?hop"));
    for path in ["/away", "/metadata", "/loop"] {
        assert_eq!(refusal_code(fetch("GET", path)).await, "redirect_denied", "{path}");
    }
    assert_eq!(fetch("POST", "/away").await.unwrap().status, 302);
}

#[tokio::test]
async fn a_request_says_what_becomes_of_redirects() {
    let port = server().await;
    let gate = egress_client();
    let fetch = |redirect, path| {
        gate.send(OutboundRequest { redirect, ..Default::default() }, permit("GET", port, path))
    };
    for path in ["/moved", "/away"] {
        let response = fetch(RedirectMode::Manual, path).await.unwrap();
        assert_eq!((response.status, response.redirected_to), (302, None), "{path}");
        assert!(response.headers.iter().any(|(name, _)| name == "location"), "{path}");
        assert_eq!(refusal_code(fetch(RedirectMode::Error, path)).await, "redirect_denied", "{path}");
    }
    assert_eq!(fetch(RedirectMode::Error, "/echo").await.unwrap().status, 200);
}

/// More than a response may have, compressed. Force it before the request, whose time it would take.
pub(crate) static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![0; 11 << 20]));

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

#[tokio::test]
async fn a_body_that_was_compressed_unasked_is_decompressed() {
    let port = server().await;
    let gate = egress_client();
    let fetch = |path| gate.send(OutboundRequest::default(), permit("GET", port, path));
    for (path, body, coding) in [("/gzip", "unasked", None), ("/br", "as it is", Some("br"))] {
        let response = whole(fetch(path).await).await.unwrap();
        let header = |wanted| response.headers.iter().find(|(name, _)| name == wanted);
        assert_eq!(header("content-encoding").map(|(_, value)| value.as_str()), coding, "{path}");
        assert_eq!(text(&response), body);
    }
    LazyLock::force(&BOMB);
    assert_eq!(refusal_code(fetch("/bomb")).await, "response_too_large");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let port = server().await;
    let gate = egress_client();
    for path in ["/long", "/endless", "/headers"] {
        let fetched = gate.send(OutboundRequest::default(), permit("GET", port, path));
        assert_eq!(refusal_code(fetched).await, "response_too_large", "{path}");
    }
    let request = OutboundRequest { body: vec![0; (1 << 20) + 1].into(), ..Default::default() };
    assert_eq!(refusal_code(gate.send(request, permit("POST", port, "/echo"))).await, "request_too_large");
}

#[tokio::test]
async fn headers_are_checked_before_anything_is_sent() {
    for (name, value) in
        [("x-a", "b\r\nhost: evil"), ("host", "evil"), ("authorization", "x"), ("x\r\ny", "z")]
    {
        let request =
            OutboundRequest { headers: vec![(name.into(), value.into())], ..OutboundRequest::default() };
        assert_eq!(
            refusal_code(egress_client().send(request, permit("GET", 1, "/"))).await,
            "header_denied",
            "{name}"
        );
    }
}

/// Accepts one connection, reads a little, and passes it to `serve`.
pub(crate) async fn serve_raw<F: Future<Output = ()> + Send>(
    serve: impl FnOnce(tokio::net::TcpStream) -> F + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        serve(stream).await;
    });
    port
}

#[tokio::test]
async fn slow_and_broken_servers_are_refused() {
    let silent = serve_raw(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let drip = serve_raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let header_drip = serve_raw(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let nonsense =
        serve_raw(|mut stream| async move { stream.write_all(b"SSH-2.0-x\r\n\r\n").await.unwrap() }).await;
    let cut = serve_raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc").await.unwrap();
    })
    .await;
    let fetch = async |gate: &EgressClient, port| {
        refusal_code(gate.send(OutboundRequest::default(), permit("GET", port, "/"))).await
    };
    let gate = impatient_client();
    for slow in [silent, drip, header_drip] {
        assert_eq!(fetch(&gate, slow).await, "timeout");
    }
    let gate = egress_client();
    for broken in [nonsense, cut, 1] {
        assert_eq!(fetch(&gate, broken).await, "upstream_failed");
    }
}

#[tokio::test]
async fn a_server_without_a_trusted_certificate_is_refused() {
    let plain =
        serve_raw(|mut stream| async move { stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap() })
            .await;
    let permit =
        authorize_egress(&format!("https://{HOST}:{plain}/"), "GET", &policy(vec![allowed_loopback(plain)]))
            .unwrap();
    let refusal = egress_client().send(OutboundRequest::default(), permit).await.unwrap_err();
    assert_eq!(refusal.code, RefusalCode::TlsFailed, "{refusal}");
}

#[tokio::test]
async fn a_pinned_address_is_not_resolved() {
    let port = server().await;
    let pinned: AllowedHost = format!("{HOST}:{port}=127.0.0.1").parse().unwrap();
    assert_eq!(pinned.pinned_address(), Some(SocketAddr::from(([127, 0, 0, 1], port))));
    let permit =
        authorize_egress(&format!("http://{HOST}:{port}/echo"), "GET", &policy(vec![pinned])).unwrap();
    let gate = EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[&[]])).unwrap();
    assert_eq!(refusal_code(gate.send(OutboundRequest::default(), permit)).await, "ok");
}
