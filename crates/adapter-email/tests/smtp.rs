//! The transport against a scripted server, whose replies decide if an e-mail is retried.

#![allow(clippy::allow_attributes, clippy::unwrap_used, reason = "tests say so by failing")]

use std::sync::Arc;

use adapter_email::{SmtpMailTransport, SmtpUrl};
use kernel::{
    Id, SystemClock,
    mail::{DeliveryError, MailTransport as _, RenderedEmail},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};
use uuid::Uuid;

/// Accepts one connection; replies with `reply` to the command that starts with `at`. Returns what it received.
async fn conversation(listener: &TcpListener, at: &str, reply: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (read, mut write) = stream.split();
    let mut lines = BufReader::new(read).lines();
    let mut heard = String::new();
    let mut in_data = false;
    write.write_all(b"220 test\r\n").await.unwrap();
    while let Ok(Some(line)) = lines.next_line().await {
        heard.push_str(&line);
        heard.push('\n');
        let response = match line.as_str() {
            "." if in_data => {
                in_data = false;
                if at == "." { reply } else { "250 kept" }
            }
            _ if in_data => continue,
            line if line.starts_with(at) => reply,
            "DATA" => {
                in_data = true;
                "354 go on"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        write.write_all(format!("{response}\r\n").as_bytes()).await.unwrap();
    }
    heard
}

async fn deliver(at: &str, reply: &str) -> (Result<(), DeliveryError>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: SmtpUrl = format!("smtp://{}", listener.local_addr().unwrap()).parse().unwrap();
    let transport = SmtpMailTransport::new(&url, "Qala <qala@example.com>", Arc::new(SystemClock)).unwrap();
    let content = RenderedEmail {
        to: "aru@example.org".to_owned(),
        subject: "Қош келдіңіз".to_owned(),
        text: "code 123456".to_owned(),
        html: "<p>code 123456</p>".to_owned(),
    };
    let send = async {
        let result = transport.deliver(Id::from_uuid(Uuid::from_u128(7)), &content).await;
        drop(transport);
        result
    };
    tokio::join!(send, conversation(&listener, at, reply))
}

#[tokio::test]
async fn an_email_arrives_whole_with_its_id() {
    let (result, heard) = deliver("nothing", "").await;
    result.unwrap();
    for part in [
        "MAIL FROM:<qala@example.com>",
        "RCPT TO:<aru@example.org>",
        "Message-ID: <mail_00000000000000000000000007@example.com>",
        "Auto-Submitted: auto-generated",
        "multipart/alternative",
        "code 123456",
    ] {
        assert!(heard.contains(part), "{part} is missing in\n{heard}");
    }
}

#[tokio::test]
async fn a_reply_decides_on_a_retry_and_is_not_repeated() {
    for (at, reply, permanent) in [
        ("RCPT", "550 5.1.1 no aru@example.org here", true),
        ("RCPT", "451 4.7.1 aru@example.org is grey, come back", false),
        ("MAIL", "421 4.3.2 closing", false),
        (".", "554 5.6.0 I read 123456 and will not", true),
    ] {
        let (result, _) = deliver(at, reply).await;
        let error = result.unwrap_err();
        assert_eq!(matches!(error, DeliveryError::Permanent(_)), permanent, "{reply}: {error}");
        assert!(!error.to_string().contains("aru") && !error.to_string().contains("123456"), "{error}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_transient_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: SmtpUrl = format!("smtp://{}", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let transport = SmtpMailTransport::new(&url, "qala@example.com", Arc::new(SystemClock)).unwrap();
    assert!(matches!(transport.test_connection().await, Err(DeliveryError::Transient(_))));
    assert!(SmtpMailTransport::new(&url, "nobody", Arc::new(SystemClock)).is_err());
}
