//! The way out: one request to one checked address, and its response within limits.

use std::{io, net::IpAddr, sync::Arc};

use bytes::{Bytes, BytesMut};
use connections::{EgressPermit, GateHost, Refusal, gates::Method};
use http::HeaderMap;
use tokio::time::timeout;
use url::Url;

use crate::{
    client::ClientCache,
    error::{refusal, timeout as timed_out, too_large},
    limits::EgressLimits,
    resolve::{Resolve, resolve_permitted_address},
};

pub(crate) struct Transport {
    resolver: Arc<dyn Resolve>,
    clients: ClientCache,
    limits: EgressLimits,
}

impl Transport {
    pub(crate) fn new(limits: EgressLimits, resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        Ok(Self { resolver, clients: ClientCache::new(&limits)?, limits })
    }

    /// Returns the address to connect to.
    pub(crate) async fn resolve(&self, permit: &EgressPermit) -> Result<IpAddr, Refusal> {
        resolve_permitted_address(&*self.resolver, permit).await
    }

    /// Sends a complete request to a checked address.
    pub(crate) async fn dispatch(
        &self,
        permit: &EgressPermit,
        address: IpAddr,
        url: Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, Refusal> {
        let host = permit.host();
        let client = self.clients.get_or_build(permit, address).map_err(|error| refusal(host, &error))?;
        let mut request = client.request(to_http_method(permit.method()), url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let first_byte = self.limits.connect_timeout + self.limits.first_byte_timeout;
        match timeout(first_byte, request.send()).await {
            Ok(sent) => sent.map_err(|error| refusal(host, &error)),
            Err(_) => Err(timed_out(host)),
        }
    }

    /// Reads the body of a response, of at most `max_body` bytes, once its headers are found to be short enough.
    pub(crate) async fn read_body(
        &self,
        host: &GateHost,
        mut response: reqwest::Response,
        max_body: usize,
    ) -> Result<Bytes, Refusal> {
        let size: usize =
            response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size > self.limits.max_response_headers {
            return Err(too_large(host, "too long headers"));
        }
        let promised = response.content_length().unwrap_or_default();
        if promised > max_body as u64 {
            return Err(too_large(host, "a too long body"));
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| refusal(host, &error))? {
            if body.len() + chunk.len() > max_body {
                return Err(too_large(host, "a too long body"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

fn to_http_method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
        Method::Options => http::Method::OPTIONS,
    }
}
