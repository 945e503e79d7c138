//! Spans of outbound requests, as a subscriber sees them.

use std::{
    io,
    sync::{Arc, Mutex},
};

use connections::{
    OutboundClient as _, OutboundRequest,
    auth::{AuthInput, KeyPlace},
};
use tracing_subscriber::{
    EnvFilter,
    fmt::{MakeWriter, format::FmtSpan},
};

use crate::{
    connection::{self, Opens, SECRET, bearer, service},
    gate::{HOST, egress_client, permit, server},
};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn a_request_is_a_span_with_host_and_method_and_without_what_it_carries() {
    let port = server().await;
    let lines = Lines::default();
    // While there is only one dispatcher, a thread of another test that meets a callsite first would turn it off for all.
    let _second =
        tracing::Dispatch::new(tracing_subscriber::fmt().with_max_level(tracing::Level::ERROR).finish());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("adapter_gate=trace"))
        .with_writer(lines.clone())
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let request = OutboundRequest {
        headers: vec![("x-a".into(), "in-a-header".into())],
        body: "in-a-body".into(),
        ..Default::default()
    };
    egress_client().send(request, permit("POST", port, "/echo/in-a-path?key=in-a-query")).await.unwrap();
    egress_client()
        .send(OutboundRequest::default(), permit("GET", port, "/loop?in-a-query"))
        .await
        .unwrap_err();
    drop(guard);

    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for span in [
        format!("egress{{host={HOST} method=POST}}:send_once{{host={HOST} method=POST status=404}}: "),
        format!("egress{{host={HOST} method=GET}}:send_once{{host={HOST} method=GET status=302}}: "),
    ] {
        assert!(text.contains(&span), "{span} is not in {text}");
    }
    assert!(text.contains("redirects too often"), "{text}");
    for secret in ["in-a-header", "in-a-body", "in-a-path", "in-a-query", "/loop"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}

/// Neither this crate nor the HTTP library logs a credential, however much is logged.
#[tokio::test]
async fn a_credential_is_in_no_line_of_the_log() {
    let (port, received) = service().await;
    let lines = Lines::default();
    let _second =
        tracing::Dispatch::new(tracing_subscriber::fmt().with_max_level(tracing::Level::ERROR).finish());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("trace"))
        .with_writer(lines.clone())
        .with_ansi(false)
        .with_span_events(FmtSpan::FULL)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let token = "7201:AAE-path_Token.value~0042";
    let key = AuthInput::ApiKey { place: KeyPlace::Query, name: "key".to_owned(), prefix: None };
    let path_token = AuthInput::PathToken {};
    for (path, auth, secret, target) in [
        ("/v1", bearer(), SECRET, "/plain"),
        ("/v1", key, token, "/plain"),
        ("/bot{secret}", path_token.clone(), token, "/plain"),
        ("/bot{secret}", path_token, token, "/brotli"),
        ("/v1", bearer(), "wrong\r\nkind", "/plain"),
    ] {
        let sent =
            connection::send(connection::permit(port, path, auth, target), &Opens::secret(secret)).await;
        drop(sent);
    }
    drop(guard);
    assert_eq!(received.lock().unwrap().len(), 4);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains(&format!("egress{{host={HOST} method=GET}}")), "{text}");
    for secret in [SECRET, token, "AAE-path_Token", "wrong", "/plain", "/brotli"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}
