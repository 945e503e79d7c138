//! The port that sends permitted requests.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{EgressPermit, Refusal};

/// The headers and body of a request; its URL and method are in the [`EgressPermit`].
#[derive(Debug, Clone, Default)]
pub struct OutboundRequest {
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
    /// Whole body.
    pub body: Bytes,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundResponse {
    /// Status; 200 to 599.
    pub status: u16,
    /// Headers, in order and with lower-case names.
    pub headers: Vec<(String, String)>,
    /// Whole body.
    pub body: Bytes,
}

/// A client for requests to other hosts.
#[async_trait]
pub trait OutboundClient: Send + Sync {
    /// Sends a permitted request and returns the response.
    ///
    /// # Errors
    /// [`Refusal`] when the request was not sent, or its response not accepted.
    async fn send(&self, request: OutboundRequest, permit: EgressPermit)
    -> Result<OutboundResponse, Refusal>;
}
