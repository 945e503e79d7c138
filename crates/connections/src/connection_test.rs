//! The test of a connection: one harmless request, and what the service says to it.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Timestamp;

use crate::{
    InvalidInput, RefusalCode,
    catalogue::{CatalogueEntry, TestKind, find_connector},
    connection::Connection,
    gates::Method,
    last_check::LastCheck,
};

pub use crate::last_check::Checked;

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionTestResult {
    /// Whether the connection works; none if the service could not be asked.
    pub ok: Option<bool>,
    /// How it was tested.
    pub checked: Checked,
    /// Status of the response.
    pub status: Option<u16>,
    /// Time from the request to the response.
    pub latency: Option<Duration>,
    /// Stable reason, if it does not work or could not be asked.
    pub reason: Option<&'static str>,
}

impl ConnectionTestResult {
    /// Only the form was checked, and is right.
    pub const FORM_IS_RIGHT: Self =
        Self { ok: Some(true), checked: Checked::Format, status: None, latency: None, reason: None };

    /// No request is harmless, and the stored secret does not open or does not suit `auth`.
    #[must_use]
    pub fn secret_unavailable() -> Self {
        let reason = Some(RefusalCode::SecretUnavailable.as_str());
        Self { ok: Some(false), reason, ..Self::FORM_IS_RIGHT }
    }

    /// Returns the result of a request that was refused, or got no response.
    #[must_use]
    pub fn refused(code: RefusalCode, latency: Option<Duration>) -> Self {
        let could_not_ask = matches!(
            code,
            RefusalCode::DnsFailed
                | RefusalCode::UpstreamFailed
                | RefusalCode::TlsFailed
                | RefusalCode::Timeout
                | RefusalCode::RateLimited
        );
        let ok = (!could_not_ask).then_some(false);
        Self { ok, checked: Checked::Gate, status: None, latency, reason: Some(code.as_str()) }
    }

    /// Returns what is kept of a test of `connection` that ended at `at`.
    #[must_use]
    pub fn kept(&self, connection: &Connection, at: Timestamp) -> LastCheck {
        LastCheck {
            revision: connection.revision,
            at,
            checked: self.checked,
            ok: self.ok,
            status: self.status,
            latency_ms: self.latency_ms(),
            reason: self.reason.map(str::to_owned),
        }
    }

    /// Returns the milliseconds until the response.
    #[must_use]
    pub fn latency_ms(&self) -> Option<u64> {
        self.latency.map(|latency| latency.as_millis().try_into().unwrap_or(u64::MAX))
    }
}

/// The request of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestRequest {
    /// GET of this path below the base URL; `has_body_errors` as in [`judge_test`](crate::health::judge_test).
    Get {
        /// Path, with an optional query.
        path: String,
        /// Whether the service reports errors with status 200.
        has_body_errors: bool,
    },
    /// A request to the token endpoint.
    Token,
    /// None: only the form of the secret is checked.
    None,
}

impl TestRequest {
    /// Returns the request that tests a connection.
    #[must_use]
    pub fn of(connection: &Connection) -> Self {
        let http = &connection.http;
        let entry =
            find_connector(&connection.connector).and_then(|entry: &CatalogueEntry| entry.http.as_ref());
        let get = || match http.test_path.clone().filter(|_| http.testable) {
            Some(path) => Self::Get { path, has_body_errors: entry.is_some_and(|entry| entry.body_errors) },
            None if http.auth.token_url().is_some() => Self::Token,
            None => Self::None,
        };
        match entry.map(|entry| entry.check) {
            None | Some(TestKind::Gate) => get(),
            Some(TestKind::Token) => Self::Token,
            Some(TestKind::Format) => Self::None,
        }
    }

    /// Returns the connection as a test sees it: it may GET, whatever apps may do.
    #[must_use]
    pub fn allowing_get(mut connection: Connection) -> Connection {
        if !connection.http.methods.contains(&Method::Get) {
            connection.http.methods.push(Method::Get);
        }
        connection
    }
}

/// Tests connections.
#[async_trait]
pub trait ConnectionTester: Send + Sync {
    /// Sends one harmless request through the gate, and records what it says about the connection's health.
    async fn test(&self, connection: Connection) -> ConnectionTestResult;

    /// Checks that the ports of a connection that is to be stored, and of its token endpoint, may be called.
    ///
    /// # Errors
    /// [`InvalidInput`] about the address.
    fn check_ports(&self, connection: &Connection) -> Result<(), InvalidInput>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_connection;

    #[test]
    fn the_test_path_is_asked_for_unless_no_request_is_harmless() {
        let mut connection = http_connection(1, "https://api.example.com");
        connection.http.test_path = Some("/me".to_owned());
        let get = TestRequest::Get { path: "/me".to_owned(), has_body_errors: false };
        assert_eq!(TestRequest::of(&connection), get);
        connection.http.testable = false;
        assert_eq!(TestRequest::of(&connection), TestRequest::None);
        "incoming_webhook".clone_into(&mut connection.connector);
        connection.http.testable = true;
        assert_eq!(TestRequest::of(&connection), TestRequest::None);
    }

    #[test]
    fn a_service_that_could_not_be_asked_did_not_fail() {
        for (code, ok) in [
            (RefusalCode::DnsFailed, None),
            (RefusalCode::Timeout, None),
            (RefusalCode::PrivateAddress, Some(false)),
            (RefusalCode::NotConnected, Some(false)),
            (RefusalCode::SecretUnavailable, Some(false)),
            (RefusalCode::AuthRejected, Some(false)),
        ] {
            let result = ConnectionTestResult::refused(code, None);
            assert_eq!((result.ok, result.reason), (ok, Some(code.as_str())));
        }
    }
}
