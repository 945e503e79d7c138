//! The authorization server for agent clients, and everything that must not give anybody access.

mod authorization;
mod revocation;
mod tokens;

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{
    Agent, CODE_CHALLENGE, CODE_VERIFIER, Client, REDIRECT_URI, Reply, Server, TokenPair, query_parameter,
};

/// Asserts that a response is an OAuth error: JSON with `error` and an ASCII description, and not cacheable.
#[track_caller]
fn assert_oauth_error(reply: &Reply, status: u16, error: &str) {
    reply.assert_status(status);
    let body: Value = reply.json().unwrap_or_default();
    assert_eq!(body["error"], error, "{reply}");
    assert!(body["error_description"].as_str().is_some_and(str::is_ascii), "{reply}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply}");
}

/// Returns the URL that the browser is redirected to.
fn redirect_location(reply: &Reply) -> Result<String> {
    reply.assert_status(303);
    Ok(reply.header("location").with_context(|| reply.to_string())?.to_owned())
}

/// Asserts that the browser is shown a page and not redirected.
#[track_caller]
fn assert_html_page(reply: &Reply, status: u16) {
    reply.assert_status(status);
    assert_eq!(reply.header("location"), None, "{reply}");
    assert!(reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{reply}");
    let policy = reply.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
}

async fn is_token_accepted(client: &Client, token: &str) -> Result<bool> {
    Ok(client.with_bearer(token).get("/v1/tokens/self").await?.status == 200)
}
