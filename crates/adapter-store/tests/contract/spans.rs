//! Spans of the store, as a subscriber sees them.

use std::{
    io,
    sync::{Arc, Mutex},
};

use ::identity::{IdentityRead as _, IdentityTx as _, tokens::Token};
use ::workspace::members::MembersRead as _;
use kernel::{
    Transactions, UnitOfWork as _,
    caller::{Scope, Scopes},
    page::PageRequest,
    token::{Digest, Peppers, TokenHint},
    vault::MasterKeys,
};
use tracing::Instrument as _;
use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

use crate::{
    contract,
    harness::{Database, World, at},
};

const SECRET: &str = "qat_s3cr3t";

/// Lines of a log, one JSON object each.
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

contract!(a_repository_call_is_a_span_of_its_request_with_its_workspace_and_without_secrets);

/// Environment variable with the database's URL, for the process that makes the calls.
const DATABASE: &str = "QALA_TEST_SPANS_DATABASE";

/// Makes the calls in a process of their own: interest in callsites is cached for a whole process, so that a thread of
/// another test that meets one first can turn it off.
async fn a_repository_call_is_a_span_of_its_request_with_its_workspace_and_without_secrets(
    database: Database,
) {
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "spans::spans_of_repository_calls", "--ignored", "--nocapture"])
        .env(DATABASE, &database.url)
        .output()
        .await
        .unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{errors}");
}

/// The process that
/// [`a_repository_call_is_a_span_of_its_request_with_its_workspace_and_without_secrets`] starts.
#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn spans_of_repository_calls() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let world = World::at(&url).await;
    let peppers = Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap());
    let digests: Vec<Digest> = peppers.candidate_digests(SECRET).collect();
    let token = Token {
        id: world.id(),
        workspace: world.workspace,
        user: world.user,
        name: "ci".to_owned(),
        scopes: Scopes::new(&[Scope::Read]).unwrap(),
        hint: TokenHint { prefix: "qat_s3cr".to_owned(), last4: "cr3t".to_owned() },
        created_at: at(0),
        last_used_at: None,
        expires_at: None,
        revoked_at: None,
    };
    let person = world.person("Dana", "dana@example.com", world.id());
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_writer(lines.clone())
        .with_max_level(tracing::Level::TRACE)
        // Not their end: a driver's thread may hold a span for longer than the call takes.
        .with_span_events(FmtSpan::NEW)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    async {
        let mut tx = Transactions::begin(&world.store).await.unwrap();
        tx.insert_user(&person).await.unwrap();
        tx.insert_token(&token, &digests[0]).await.unwrap();
        tx.audit(world.context().audit_entry("session.create"));
        Box::new(tx).commit().await.unwrap();
        assert_eq!(world.store.token_by_digest(&digests).await.unwrap(), Some(token));
        let page = PageRequest { limit: 10, after: None };
        assert_eq!(world.store.tokens(world.workspace, world.user, page).await.unwrap().len(), 1);
        assert_eq!(
            world
                .store
                .members(world.workspace, at(0), PageRequest { limit: 9, after: None })
                .await
                .unwrap()
                .len(),
            1
        );
    }
    .instrument(tracing::info_span!("request", request_id = "req_1"))
    .await;
    drop(guard);

    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let begun: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (name, workspace) in [
        ("Transactions::begin", None),
        ("IdentityTx::insert_token", None),
        ("UnitOfWork::commit", None),
        ("IdentityRead::token_by_digest", None),
        ("IdentityRead::tokens", Some(world.workspace.to_string())),
        ("MembersRead::members", Some(world.workspace.to_string())),
    ] {
        let line = begun.iter().find(|line| line["span"]["name"] == name);
        let line = line.unwrap_or_else(|| panic!("{name} has no span in {text}"));
        assert_eq!(line["span"]["workspace"].as_str().map(str::to_owned), workspace, "{line}");
        assert_eq!(line["spans"][0]["request_id"], "req_1", "{line}");
    }
    let digest: String = digests[0].as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [SECRET, "dana@example.com", "qat_s3cr", &digest, &digest.to_uppercase()] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}
