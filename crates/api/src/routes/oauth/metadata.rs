//! Metadata that clients read first: of the agent server as a protected resource (RFC 9728), and of the authorization
//! server (RFC 8414).

use axum::{Json, extract::State};
use identity::oauth::resource::mcp_resource_url;
use serde_json::{Value, json};

use super::token::GRANT_TYPES;
use crate::state::Api;

/// Some clients read the metadata at the root, and discard it unless its `resource` is exactly the URL they call. So
/// both paths return that of the agent server.
pub(super) async fn protected_resource(State(api): State<Api>) -> Json<Value> {
    let base = &api.settings().public_url;
    Json(json!({
        "resource": mcp_resource_url(base),
        "authorization_servers": [base],
        "scopes_supported": ["read", "write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Qala",
    }))
}

pub(super) async fn authorization_server(State(api): State<Api>) -> Json<Value> {
    let base = &api.settings().public_url;
    Json(json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "registration_endpoint": format!("{base}/oauth/register"),
        "device_authorization_endpoint": format!("{base}/oauth/device_authorization"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "scopes_supported": ["read", "write"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANT_TYPES,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    }))
}
