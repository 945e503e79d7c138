//! The agent server: tools over the Model Context Protocol, with which an agent inspects its workspace.
//!
//! It speaks both generations of the protocol, the one that begins with `initialize` and the one without a handshake
//! (2026-07-28), and keeps no session in either: every request is independent. The HTTP surface around it authenticates
//! requests; a tool requires the same rights as the API does.

mod server;
mod tools;
mod transport;

use std::sync::Arc;

use application::Application;
use axum::{Router, middleware, routing::any_service};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use server::AgentServer;
pub use transport::SurfaceResponses;
use transport::{MAX_BODY, Transport};

/// Creates the router of the agent server at `/mcp`, to be put behind the authentication of the HTTP surface.
/// It stores the [`Context`](kernel::Context) of each request in its extensions, with a
/// [`LateProof`](application::late_proof::LateProof) that returns the context as of later.
pub fn router(app: &Application, responses: SurfaceResponses) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        // The request middleware compares `Host` and `Origin` with the public URL before it authenticates the caller.
        .disable_allowed_hosts();
    let server = AgentServer::new(app.clone());
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let transport = Transport {
        required_scope: tools::required_scope,
        responses,
        resource_metadata: app.resource_metadata_url(),
    };
    let check = middleware::from_fn_with_state(transport, transport::check_request);
    let agents = any_service(service).layer(check);
    // Clients that take the address for a folder append a slash, which the resource of a token allows too.
    Router::new().route("/mcp", agents.clone()).route("/mcp/", agents)
}
