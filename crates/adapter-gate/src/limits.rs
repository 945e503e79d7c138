//! How long and how much.

use std::time::Duration;

/// Bounds of one request.
#[derive(Debug, Clone, Copy)]
pub struct EgressLimits {
    /// To connect, TLS included.
    pub connect_timeout: Duration,
    /// From sending to the first byte of the answer.
    pub first_byte_timeout: Duration,
    /// From start to end, redirects included.
    pub total_timeout: Duration,
    /// Bytes of the request's body.
    pub max_request_body: usize,
    /// Bytes of the answer's body.
    pub max_response_body: usize,
    /// Bytes of the answer's headers.
    pub max_response_headers: usize,
    /// Redirects that are followed.
    pub max_redirects: u32,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(30),
            max_request_body: 1 << 20,
            max_response_body: 10 << 20,
            max_response_headers: connections::egress::MAX_HEADERS_BYTES,
            max_redirects: 3,
        }
    }
}
