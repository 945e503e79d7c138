//! Harness of the black-box tests of Qala: the real binary on a real database, called over HTTP.
//!
//! The suites are the modules of `tests/tests/suite`; this crate has what they share. A test takes a [`Server`], signs
//! a person in, and asserts on responses:
//!
//! ```ignore
//! tests::on_both! {
//!     async fn a_token_describes_itself(server: Server) -> Result<()> {
//!         let aigerim = server.sign_in("aigerim@example.test").await?;
//!         let workspace = aigerim.create_workspace("Tulpar").await?;
//!         let token = aigerim.create_token(&workspace.id, &["read"]).await?;
//!         aigerim.with_bearer(&token).get("/v1/tokens/self").await?.assert_status(200);
//!         Ok(())
//!     }
//! }
//! ```
//!
//! A failure on the way to the point of a test is an `Err`; what the test is about is an assertion.

#![expect(missing_docs, reason = "the harness has no outside users; comments say what names do not")]

mod agents;
mod apps;
mod authorization_server;
mod backend;
mod browser;
mod client;
mod contract;
mod database;
mod database_access;
mod dns;
mod echo_service;
mod event_stream;
mod eventually;
mod issuer;
mod loopback;
mod mail;
mod members;
mod passkey;
mod pooler;
mod process_memory;
mod reply;
mod schema;
mod server;
mod smtp;
mod snapshot;
mod streaming_reply;
mod unfinished_request;
mod webhooks;

pub use agents::{
    Agent, CODE_CHALLENGE, CODE_VERIFIER, REDIRECT_URI, TokenPair, encode_form, query_parameter,
};
pub use apps::{AutomationFixture, LogLine};
pub use authorization_server::{AuthorizationServer, OAUTH_APP_SECRET, write_oauth_app};
pub use backend::{BackendProject, identity_settings, person_token};
pub use browser::Browser;
pub use client::{Client, Request, Workspace};
pub use database::Database;
pub use dns::DnsServer;
pub use echo_service::{ECHO_HOST, ECHO_TOKEN, EchoService};
pub use event_stream::{EventStream, StreamEvent};
pub use eventually::{eventually, eventually_within};
pub use issuer::{HmacKey, Issuer, IssuerBehaviour, IssuerFailure};
pub use loopback::LoopbackListener;
pub use mail::Mail;
pub use members::invite_token;
pub use passkey::Passkey;
pub use pooler::Pooler;
pub use process_memory::MemorySnapshot;
pub use reply::Reply;
pub use schema::schema_example;
pub use server::{Server, ServerOptions, find_binary, on_database, on_server};
pub use smtp::MailServer;
pub use snapshot::compare_snapshot;
pub use streaming_reply::StreamingReply;
pub use unfinished_request::UnfinishedRequest;
pub use webhooks::{Webhook, hub_signature, service_signature, unix_time};

/// Turns each `async fn name(server: Server) -> Result<()>` into two tests, `name::sqlite` and `name::postgres`.
///
/// Arguments of the server go first: `args: ["--no-rate-limits"];`. Without PostgreSQL the second test fails; it is
/// never skipped. Run the tests with `cargo xtask test`.
#[macro_export]
macro_rules! on_both {
    (
        args: $args:tt;
        $( $(#[$meta:meta])* async fn $name:ident($($server:ident)+ : Server) -> $result:ty $body:block )+
    ) => { $(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "a short test may use nothing of its file")]
            use super::*;

            async fn check($($server)+ : $crate::Server) -> $result $body

            #[tokio::test]
            async fn sqlite() -> $result {
                $crate::on_server($crate::Server::with($crate::Database::Sqlite).args($args), check).await
            }

            #[tokio::test]
            async fn postgres() -> $result {
                $crate::on_server($crate::Server::with($crate::Database::Postgres).args($args), check).await
            }
        }
    )+ };
    ($($tests:tt)+) => { $crate::on_both! { args: []; $($tests)+ } };
}
