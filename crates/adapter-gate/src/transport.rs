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
    request_body::RequestBody,
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
        body: RequestBody,
    ) -> Result<reqwest::Response, Refusal> {
        let host = permit.host();
        let client = self.clients.get_or_build(permit, address).map_err(|error| refusal(host, &error))?;
        let request = client.request(to_http_method(permit.method()), url).headers(headers);
        // A streamed body takes the time that the code takes, which only the total limit bounds. The client limits the time
        // to connect by itself, inside this time: it does not tell when it has connected.
        let first_byte = match &body {
            RequestBody::Complete(_) => self.limits.first_byte_timeout,
            RequestBody::Stream(_) => self.limits.total_timeout,
        };
        let (request, failure) = body.attach_to(request);
        match timeout(first_byte, request.send()).await {
            Ok(sent) => sent.map_err(|error| failure.take().unwrap_or_else(|| refusal(host, &error))),
            Err(_) => Err(timed_out(host)),
        }
    }

    /// Refuses a response whose headers are too long, or that announces a body of more than `max_body` bytes.
    pub(crate) fn check_response(
        &self,
        host: &GateHost,
        response: &reqwest::Response,
        max_body: usize,
    ) -> Result<(), Refusal> {
        let size: usize =
            response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size > self.limits.max_response_headers {
            return Err(too_large(host, "too long headers"));
        }
        let promised = response.content_length().unwrap_or_default();
        if promised > max_body as u64 {
            return Err(too_large(host, "a too long body"));
        }
        Ok(())
    }

    /// Reads the body of a response that [`check_response`](Self::check_response) accepts.
    pub(crate) async fn read_body(
        &self,
        host: &GateHost,
        mut response: reqwest::Response,
        max_body: usize,
    ) -> Result<Bytes, Refusal> {
        self.check_response(host, &response, max_body)?;
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

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use async_trait::async_trait;
    use connections::{
        EgressPolicy, Gate, GateStatus, RefusalCode, authorize_egress,
        egress::{AllowedHost, DeclaredEgress},
    };
    use kernel::{Id, Timestamp};
    use tokio::{net::TcpListener, time::Instant};
    use uuid::Uuid;

    use super::*;

    const HOST: &str = "upstream.example";

    struct Loopback;

    #[async_trait]
    impl Resolve for Loopback {
        async fn resolve(&self, _: &GateHost) -> io::Result<Vec<IpAddr>> {
            Ok(vec![IpAddr::from([127, 0, 0, 1])])
        }
    }

    fn permit(port: u16) -> EgressPermit {
        let gate = Gate {
            id: Id::from_uuid(Uuid::from_u128(1)),
            workspace: Id::from_uuid(Uuid::from_u128(2)),
            name: "Upstream".to_owned(),
            host: HOST.parse().unwrap(),
            methods: vec![Method::Get],
            connection: None,
            status: GateStatus::Open,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let policy = EgressPolicy {
            declared: vec![DeclaredEgress::parse(HOST).unwrap()],
            gates: vec![gate],
            allowed_hosts: vec![AllowedHost::new(
                HOST.parse().unwrap(),
                port,
                "127.0.0.0/8".parse().unwrap(),
            )],
            ..EgressPolicy::default()
        };
        authorize_egress(&format!("http://{HOST}:{port}/"), "GET", &Arc::new(policy)).unwrap()
    }

    #[tokio::test]
    async fn the_time_to_connect_is_a_part_of_that_to_the_first_byte() {
        let limits = EgressLimits {
            connect_timeout: Duration::from_secs(30),
            first_byte_timeout: Duration::from_millis(200),
            ..EgressLimits::default()
        };
        let transport = Transport::new(limits, Arc::new(Loopback)).unwrap();
        // Takes connections, and never responds.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let permit = permit(listener.local_addr().unwrap().port());
        let address = transport.resolve(&permit).await.unwrap();
        let body = RequestBody::Complete(Bytes::new());
        let begun = Instant::now();
        let sent = transport.dispatch(&permit, address, permit.url().clone(), HeaderMap::new(), body).await;
        assert_eq!(sent.unwrap_err().code, RefusalCode::Timeout);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
