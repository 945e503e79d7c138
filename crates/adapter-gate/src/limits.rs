//! How long and how much.

use std::time::Duration;

/// Bounds of one request.
#[derive(Debug, Clone, Copy)]
pub struct GateLimits {
    /// To connect, TLS included.
    pub connect: Duration,
    /// From sending to the first byte of the answer.
    pub first_byte: Duration,
    /// From start to end, redirects included.
    pub total: Duration,
    /// Bytes of the request's body.
    pub request: usize,
    /// Bytes of the answer's body.
    pub response: usize,
    /// Bytes of the answer's headers.
    pub headers: usize,
    /// Redirects that are followed.
    pub redirects: u32,
}

impl Default for GateLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(15),
            total: Duration::from_secs(30),
            request: 1 << 20,
            response: 10 << 20,
            headers: connections::egress::MAX_HEADERS,
            redirects: 3,
        }
    }
}
