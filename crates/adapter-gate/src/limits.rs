//! Limits on time and size.

use std::time::Duration;

/// Limits of one outbound request.
#[derive(Debug, Clone, Copy)]
pub struct EgressLimits {
    /// Time to connect, including TLS.
    pub connect_timeout: Duration,
    /// Time to the first byte of the response, `connect_timeout` included. A body that is streamed has only `total_timeout`.
    pub first_byte_timeout: Duration,
    /// Time from start to end, including redirects.
    pub total_timeout: Duration,
    /// Size of the request's body, in bytes.
    pub max_request_body: usize,
    /// Size of the response's body, in bytes.
    pub max_response_body: usize,
    /// Size of the response's headers, in bytes.
    pub max_response_headers: usize,
    /// Number of redirects that are followed.
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
