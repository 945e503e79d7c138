//! How agent clients are let in, and what must not let anybody in.

mod authorization;
mod revocation;
mod tokens;

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{
    Agent, CODE_CHALLENGE, CODE_VERIFIER, Client, REDIRECT_URI, Reply, Server, TokenPair, query_parameter,
};

/// A refusal in OAuth's form: JSON with `error` and a description in ASCII, not kept by anybody.
#[track_caller]
fn assert_oauth_error(reply: &Reply, status: u16, error: &str) {
    reply.assert_status(status);
    let body: Value = reply.json().unwrap_or_default();
    assert_eq!(body["error"], error, "{reply}");
    assert!(body["error_description"].as_str().is_some_and(str::is_ascii), "{reply}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply}");
}

/// Where the browser is sent.
fn redirect_location(reply: &Reply) -> Result<String> {
    reply.assert_status(303);
    Ok(reply.header("location").with_context(|| reply.to_string())?.to_owned())
}

/// A browser is shown a page, and sent nowhere.
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
