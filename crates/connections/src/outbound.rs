//! The port through which permitted requests leave.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{EgressPermit, Refusal};

/// What goes out beside the URL and method, which the [`EgressPermit`] holds.
#[derive(Debug, Clone, Default)]
pub struct OutboundRequest {
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundResponse {
    /// 200 to 599.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

/// The way out.
#[async_trait]
pub trait OutboundClient: Send + Sync {
    /// Sends one request that was permitted.
    ///
    /// # Errors
    /// Why it did not go out, or why nothing came back.
    async fn send(&self, request: OutboundRequest, permit: EgressPermit)
    -> Result<OutboundResponse, Refusal>;
}
