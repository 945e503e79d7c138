//! Agent clients whose id is the URL of a client metadata document. The documents are served here over TLS on loopback,
//! from which a server that listens on loopback may fetch them.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Database, REDIRECT_URI, Reply, Server, TokenPair};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

/// A site that serves configured documents.
struct ClientMetadataServer {
    base: String,
    ca_certificate: PathBuf,
    responses: Arc<Mutex<Vec<(String, CannedResponse)>>>,
    request_count: Arc<AtomicUsize>,
    _folder: TempDir,
}

#[derive(Clone)]
struct CannedResponse {
    head: String,
    body: String,
    delay: Duration,
}

impl CannedResponse {
    fn json(body: &Value) -> Self {
        Self {
            head: "200 OK\r\nContent-Type: application/json".to_owned(),
            body: body.to_string(),
            delay: Duration::ZERO,
        }
    }
}

impl ClientMetadataServer {
    async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])?.self_signed(&key)?;
        let authority = folder.path().join("authority.pem");
        std::fs::write(&authority, certificate.pem())?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?,
            )?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("https://127.0.0.1:{}", listener.local_addr()?.port());
        let responses: Arc<Mutex<Vec<(String, CannedResponse)>>> = Arc::default();
        let request_count = Arc::new(AtomicUsize::new(0));
        let (acceptor, known, count) =
            (TlsAcceptor::from(Arc::new(config)), Arc::clone(&responses), Arc::clone(&request_count));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, known, count) = (acceptor.clone(), Arc::clone(&known), Arc::clone(&count));
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        match stream.read_u8().await {
                            Ok(byte) => head.push(byte),
                            Err(_) => return,
                        }
                    }
                    count.fetch_add(1, Ordering::SeqCst);
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let known = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    let response =
                        known.into_iter().rev().find(|(at, _)| *at == path).map(|(_, response)| response);
                    let Some(response) = response else { return };
                    tokio::time::sleep(response.delay).await;
                    let text = format!(
                        "HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                        response.head,
                        response.body.len(),
                        response.body
                    );
                    // The client may close the connection early.
                    let _gone = stream.write_all(text.as_bytes()).await;
                    let _gone = stream.shutdown().await;
                });
            }
        });
        Ok(Self { base, ca_certificate: authority, responses, request_count, _folder: folder })
    }

    fn client_id(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn add_response(&self, path: &str, response: CannedResponse) {
        self.responses.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), response));
    }

    /// Returns a valid document.
    fn client_metadata(&self, path: &str) -> Value {
        json!({"client_id": self.client_id(path), "client_name": "Claude", "redirect_uris": [REDIRECT_URI]})
    }

    async fn start_qala(&self) -> Result<Server> {
        let authority = self.ca_certificate.to_str().context("no plain path")?;
        Server::with(Database::Sqlite).env("SSL_CERT_FILE", authority).start().await
    }
}

async fn start_authorization(server: &Server, id: &str) -> Result<Reply> {
    let client: Client = server.client();
    let agent = client.agent_with_client_id(id);
    client.authorize(&agent.authorization_parameters(&[])).await
}

#[tokio::test]
async fn a_client_with_a_metadata_document_signs_in() -> Result<()> {
    let site = ClientMetadataServer::start().await?;
    let server = site.start_qala().await?;
    let aru = server.sign_in("aru@example.test").await?;
    let workspace = aru.create_workspace("Home").await?;
    let mut document = site.client_metadata("/client.json");
    document["redirect_uris"] = json!([REDIRECT_URI, "cursor://unsafe/and/left/out"]);
    document["grant_types"] = json!(["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"]);
    site.add_response("/client.json", CannedResponse::json(&document));
    let agent = aru.agent_with_client_id(&site.client_id("/client.json"));

    let id = agent.start_authorization(&[]).await?;
    let view = aru.get(&format!("/v1/oauth/authorizations/{id}")).await?.ok()?;
    assert_eq!(view["client"]["kind"], "metadata");
    assert_eq!(view["client"]["host"], "127.0.0.1");
    assert_eq!(view["client"]["recognized"], Value::Null, "the name is not the host");

    // A later change of the document does not change a pending authorization request.
    document["client_id"] = json!("https://evil.example/client.json");
    document["redirect_uris"] = json!(["https://evil.example/"]);
    site.add_response("/client.json", CannedResponse::json(&document));
    let allow = json!({"decision": "allow", "workspaceId": workspace.id, "access": "read"});
    let next = aru.decide_authorization(&id, &allow).await?.string_at("/redirectTo")?;
    assert!(next.starts_with(REDIRECT_URI), "{next}");
    let code = tests::query_parameter(&next, "code")?.context("no code")?;
    let tokens = TokenPair::from_reply(&agent.exchange(&code).await?)?;
    let me = aru.with_bearer(&tokens.access).get("/v1/tokens/self").await?.ok()?;
    assert_eq!(me["oauth"]["clientKind"], "metadata");
    TokenPair::from_reply(&agent.refresh(&tokens.refresh).await?)?;
    assert_eq!(site.request_count.load(Ordering::SeqCst), 1, "the document must be cached");
    Ok(())
}

#[tokio::test]
async fn an_invalid_document_is_rejected() -> Result<()> {
    let site = ClientMetadataServer::start().await?;
    let server = site.start_qala().await?;
    let redirect =
        format!("302 Found\r\nLocation: {}\r\nContent-Type: application/json", site.client_id("/good.json"));
    site.add_response("/good.json", CannedResponse::json(&site.client_metadata("/good.json")));
    for (path, response) in [
        (
            "/redirect.json",
            CannedResponse {
                head: redirect,
                ..CannedResponse::json(&site.client_metadata("/redirect.json"))
            },
        ),
        (
            "/gone.json",
            CannedResponse {
                head: "404 Not Found\r\nContent-Type: application/json".to_owned(),
                ..CannedResponse::json(&site.client_metadata("/gone.json"))
            },
        ),
        (
            "/page.json",
            CannedResponse {
                head: "200 OK\r\nContent-Type: text/html".to_owned(),
                ..CannedResponse::json(&site.client_metadata("/page.json"))
            },
        ),
        ("/other.json", CannedResponse::json(&site.client_metadata("/good.json"))),
        ("/nameless.json", CannedResponse::json(&json!({"redirect_uris": [REDIRECT_URI]}))),
        ("/list.json", CannedResponse::json(&json!([site.client_metadata("/list.json")]))),
        (
            "/unsafe.json",
            CannedResponse::json(
                &json!({"client_id": site.client_id("/unsafe.json"), "redirect_uris": ["http://agent.example/callback"]}),
            ),
        ),
        ("/long.json", {
            let mut document = site.client_metadata("/long.json");
            document["padding"] = json!("a".repeat(6 << 10));
            CannedResponse::json(&document)
        }),
        (
            "/slow.json",
            CannedResponse {
                delay: Duration::from_secs(20),
                ..CannedResponse::json(&site.client_metadata("/slow.json"))
            },
        ),
    ] {
        site.add_response(path, response);
        let reply = start_authorization(&server, &site.client_id(path)).await?;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, None), "{path}");
    }
    // A failure is not cached.
    site.add_response("/gone.json", CannedResponse::json(&site.client_metadata("/gone.json")));
    start_authorization(&server, &site.client_id("/gone.json")).await?.assert_status(303);
    Ok(())
}

#[tokio::test]
async fn no_document_is_fetched_from_a_forbidden_address() -> Result<()> {
    let site = ClientMetadataServer::start().await?;
    let server = site.start_qala().await?;
    let port = site.base.rsplit(':').next().context("no port")?;
    for id in [
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/client.json".to_owned(),
        "https://[::ffff:169.254.169.254]/client.json".to_owned(),
        "https://[fd00::1]/client.json".to_owned(),
        "https://localhost/client.json".to_owned(),
        format!("https://0x7f000001:{port}/client.json"),
        format!("https://2130706433:{port}/client.json"),
        format!("http://127.0.0.1:{port}/client.json"),
        format!("https://user@127.0.0.1:{port}/client.json"),
        format!("https://127.0.0.1:{port}/a/../client.json"),
        format!("https://127.0.0.1:{port}/client.json#x"),
        format!("https://127.0.0.1:{port}/"),
    ] {
        let reply = start_authorization(&server, &id).await?;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, None), "{id}");
    }
    assert_eq!(site.request_count.load(Ordering::SeqCst), 0);
    Ok(())
}

#[tokio::test]
async fn concurrent_requests_share_one_fetch_of_a_document() -> Result<()> {
    let site = ClientMetadataServer::start().await?;
    let server = site.start_qala().await?;
    let response = CannedResponse::json(&site.client_metadata("/client.json"));
    site.add_response("/client.json", CannedResponse { delay: Duration::from_millis(500), ..response });
    let requests: Vec<_> = (0..10)
        .map(|_| {
            let (client, agent) =
                (server.client(), server.client().agent_with_client_id(&site.client_id("/client.json")));
            tokio::spawn(async move { client.authorize(&agent.authorization_parameters(&[])).await })
        })
        .collect();
    for request in requests {
        request.await??.assert_status(303);
    }
    assert_eq!(site.request_count.load(Ordering::SeqCst), 1);
    Ok(())
}
