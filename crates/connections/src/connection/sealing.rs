//! What a stored secret is bound to, and when a change needs it again.

use kernel::id::{ConnectionId, WorkspaceId};

use super::http::HttpConnection;
use crate::{
    auth::{Auth, HeaderName},
    host::GateHost,
    invalid_input::SecretNeed,
};

/// The use of a sealed text of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretPurpose {
    /// The secret that a person gave.
    Secret,
    /// Access tokens that a token endpoint gave out, with their expiry.
    Tokens,
}

kernel::names! {
    SecretPurpose {
        Secret = "connection_secret",
        Tokens = "connection_tokens",
    }
}

/// The parts of the context in which a secret is sealed: workspace, connection, purpose, host and the number of the
/// secret. A ciphertext that was moved to another row, host or number does not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealingContext([String; 5]);

impl SealingContext {
    /// Creates the context of a secret.
    #[must_use]
    pub fn new(
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
        host: &GateHost,
        version: u32,
    ) -> Self {
        Self([
            workspace.to_string(),
            connection.to_string(),
            purpose.as_str().to_owned(),
            host.as_str().to_owned(),
            version.to_string(),
        ])
    }

    /// Returns the parts, for [`Vault::seal`](kernel::vault::Vault::seal) and `open`.
    #[must_use]
    pub fn parts(&self) -> [&str; 5] {
        self.0.each_ref().map(String::as_str)
    }
}

/// Returns why a change needs the secret again: otherwise whoever may edit a connection could send its secret to a host
/// of their own. None if the stored secret serves on.
#[must_use]
pub fn secret_need(before: &HttpConnection, after: &HttpConnection) -> Option<SecretNeed> {
    if !after.auth.needs_secret() {
        return None;
    }
    let origin = |http: &HttpConnection| (http.base_url.host().clone(), http.base_url.port());
    if origin(before) != origin(after) {
        return Some(SecretNeed::NewHost);
    }
    if before.auth.kind() != after.auth.kind() {
        return Some(SecretNeed::NewAuth);
    }
    let token_origin = |auth: &Auth| auth.token_url().map(|url| (url.host().clone(), url.port()));
    if token_origin(&before.auth) != token_origin(&after.auth) {
        return Some(SecretNeed::NewTokenHost);
    }
    if let (Auth::Headers { names: before }, Auth::Headers { names: after }) = (&before.auth, &after.auth)
        && !before.iter().map(HeaderName::as_str).eq(after.iter().map(HeaderName::as_str))
    {
        return Some(SecretNeed::NewAuth);
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{connection::HttpConnectionInput, testing::http_input};

    fn http(base_url: &str, auth: &Value) -> HttpConnection {
        let auth = serde_json::from_value(auth.clone()).unwrap();
        let input = HttpConnectionInput { base_url: base_url.to_owned(), auth, secret: None, ..http_input() };
        input.validate().unwrap().http
    }

    #[test]
    fn the_secret_is_needed_again_wherever_it_could_leave_for() {
        let bearer = json!({"type": "bearer"});
        let key = |name: &str| json!({"type": "api_key", "in": "header", "name": name});
        let service = |url: &str| json!({"type": "service_account", "tokenUrl": url, "scopes": []});
        let headers = |name: &str| json!({"type": "headers", "names": [name]});
        let base = "https://a.example/v1";
        for (before, after, expected) in [
            ((base, bearer.clone()), ("https://a.example/v2", bearer.clone()), None),
            ((base, bearer.clone()), ("https://A.example./", bearer.clone()), None),
            ((base, bearer.clone()), ("https://b.example/v1", bearer.clone()), Some(SecretNeed::NewHost)),
            ((base, bearer.clone()), ("https://a.example:8443/", bearer.clone()), Some(SecretNeed::NewHost)),
            ((base, bearer.clone()), ("https://b.example/v1", json!({"type": "none"})), None),
            ((base, bearer.clone()), (base, key("x-a")), Some(SecretNeed::NewAuth)),
            ((base, json!({"type": "none"})), (base, bearer), Some(SecretNeed::NewAuth)),
            ((base, key("x-a")), (base, key("x-b")), None),
            ((base, headers("a")), (base, headers("b")), Some(SecretNeed::NewAuth)),
            ((base, service("https://t.example/a")), (base, service("https://t.example/b")), None),
            (
                (base, service("https://t.example/")),
                (base, service("https://u.example/")),
                Some(SecretNeed::NewTokenHost),
            ),
        ] {
            assert_eq!(
                secret_need(&http(before.0, &before.1), &http(after.0, &after.1)),
                expected,
                "{after:?}"
            );
        }
    }

    #[test]
    fn every_part_of_the_context_counts() {
        use kernel::testing::id;
        let (a, b): (GateHost, GateHost) = ("a.example".parse().unwrap(), "b.example".parse().unwrap());
        let base = SealingContext::new(id(1), id(2), SecretPurpose::Secret, &a, 1);
        for other in [
            SealingContext::new(id(9), id(2), SecretPurpose::Secret, &a, 1),
            SealingContext::new(id(1), id(9), SecretPurpose::Secret, &a, 1),
            SealingContext::new(id(1), id(2), SecretPurpose::Tokens, &a, 1),
            SealingContext::new(id(1), id(2), SecretPurpose::Secret, &b, 1),
            SealingContext::new(id(1), id(2), SecretPurpose::Secret, &a, 2),
        ] {
            assert_ne!(base, other);
        }
    }
}
