//! A sender that calls webhooks, with signatures.

use std::time::SystemTime;

use anyhow::{Context as _, Result};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{Client, Reply, Request};

/// A webhook and its secret, called without a session.
#[derive(Debug, Clone)]
pub struct Webhook {
    sender: Client,
    /// `/v1/hooks/{id}`
    pub path: String,
    /// Secret for the proof; empty for a webhook without one.
    pub secret: String,
}

impl Client {
    /// Rotates the secret of an automation's webhook and returns the webhook with the new one.
    pub async fn rotate_webhook_secret(&self, automation: &str) -> Result<Webhook> {
        let path = format!("/v1/automations/{automation}/webhook/rotate");
        self.webhook_from_reply(&self.request(Method::POST, &path).send().await?)
    }

    /// Configures the webhook of an automation with a mode and returns it with its secret.
    pub async fn configure_webhook(&self, automation: &str, mode: &str) -> Result<Webhook> {
        let settings = json!({"mode": mode, "confirm": true});
        self.webhook_from_reply(&self.put(&format!("/v1/automations/{automation}/webhook"), &settings).await?)
    }

    fn webhook_from_reply(&self, reply: &Reply) -> Result<Webhook> {
        let address = reply.string_at("/address")?;
        let path = address.find("/v1/hooks/").with_context(|| format!("no URL of a webhook: {reply}"))?;
        let secret = reply.ok()?["secret"].as_str().unwrap_or_default().to_owned();
        Ok(Webhook { sender: self.signed_out(), path: address[path..].to_owned(), secret })
    }
}

impl Webhook {
    /// Returns the webhook with another base URL, such as that of another node.
    #[must_use]
    pub fn with_base_url(&self, base_url: &str) -> Self {
        Self { sender: self.sender.with_base_url(base_url), ..self.clone() }
    }

    /// Returns a call with a body and without a proof.
    pub fn unsigned_request(&self, content_type: &str, body: impl Into<Vec<u8>>) -> Result<Request<'_>> {
        self.sender.request(Method::POST, &self.path).body(content_type, body.into())
    }

    /// Returns a JSON call, signed for a given time.
    pub fn signed_request_at(&self, time: u64, body: &str) -> Result<Request<'_>> {
        let signature = service_signature(&self.secret, &time.to_string(), body.as_bytes());
        self.unsigned_request("application/json", body)?.header(SERVICE_SIGNATURE, &signature)
    }

    /// Returns a JSON call, signed for the current time.
    pub fn signed_request(&self, body: &str) -> Result<Request<'_>> {
        self.signed_request_at(unix_time(), body)
    }

    /// Sends a JSON call, signed for the current time.
    pub async fn send(&self, body: &Value) -> Result<Reply> {
        self.signed_request(&body.to_string())?.send().await
    }
}

const SERVICE_SIGNATURE: http::HeaderName = http::HeaderName::from_static("service-signature");

/// Returns `t=…,v1=hex(hmac_sha256(secret, t + "." + body))`.
#[must_use]
pub fn service_signature(secret: &str, time: &str, body: &[u8]) -> String {
    format!("t={time},v1={}", hmac_hex(secret, &[time.as_bytes(), b".", body]))
}

/// Returns `sha256=hex(hmac_sha256(secret, body))`.
#[must_use]
pub fn hub_signature(secret: &str, body: &[u8]) -> String {
    format!("sha256={}", hmac_hex(secret, &[body]))
}

/// Returns the Unix time of the sender's clock in seconds.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a sender signs its own time")]
pub fn unix_time() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn hmac_hex(secret: &str, parts: &[&[u8]]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_signature_matches_the_example_of_githubs_documentation() {
        let expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(hub_signature("It's a Secret to Everybody", b"Hello, World!"), expected);
    }

    #[test]
    fn a_service_signature_covers_time_and_body() {
        // RFC 4231, test case 2, with the data in two parts.
        let signature = hmac_hex("Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(signature, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(service_signature("a", "12", b"{}").starts_with("t=12,v1="));
    }
}
