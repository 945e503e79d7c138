//! A DNS server for tests, whose records a test publishes and removes.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use async_trait::async_trait;
use hickory_server::{
    Server,
    net::runtime::Time,
    proto::rr::{LowerName, Name, RData, Record, RecordType, RrKey, rdata},
    server::{Request, RequestHandler, ResponseHandler, ResponseInfo},
    store::in_memory::InMemoryZoneHandler,
    zone_handler::{AxfrPolicy, Catalog, ZoneType},
};
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::watch,
};

const TTL: u32 = 60;
const TCP_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one zone over UDP and TCP until it is dropped.
pub struct DnsServer {
    address: SocketAddr,
    zone: Arc<InMemoryZoneHandler>,
    asked: Arc<Mutex<Vec<String>>>,
    is_held: watch::Sender<bool>,
    _server: Server<RecordingCatalog>,
}

/// A catalog that notes the questions, and holds its answers back as long as a test asks for it.
struct RecordingCatalog {
    catalog: Catalog,
    asked: Arc<Mutex<Vec<String>>>,
    is_held: watch::Receiver<bool>,
}

#[async_trait]
impl RequestHandler for RecordingCatalog {
    async fn handle_request<R: ResponseHandler, T: Time>(
        &self,
        request: &Request,
        response: R,
    ) -> ResponseInfo {
        if let Ok(asked) = request.request_info() {
            let question = format!("{} {}", asked.query.query_type(), asked.query.name());
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        }
        let mut is_held = self.is_held.clone();
        // The sender lives as long as the server.
        while *is_held.borrow_and_update() {
            if is_held.changed().await.is_err() {
                break;
            }
        }
        self.catalog.handle_request::<R, T>(request, response).await
    }
}

impl DnsServer {
    /// Serves a zone such as `test.`, with nothing but its SOA record. Queries for other zones are refused.
    pub async fn start(zone: &str) -> Result<Self> {
        let origin = Name::from_str(zone)?;
        let mut handler = InMemoryZoneHandler::empty(origin.clone(), ZoneType::Primary, AxfrPolicy::Deny);
        let soa = rdata::SOA::new(origin.clone(), origin.clone(), 1, 60, 60, 60, 1);
        handler.upsert_mut(Record::from_rdata(origin.clone(), TTL, RData::SOA(soa)), 0);
        let handler = Arc::new(handler);
        let mut catalog = Catalog::new();
        catalog.upsert(LowerName::new(&origin), vec![handler.clone()]);

        let asked = Arc::default();
        let (is_held, held) = watch::channel(false);
        let catalog = RecordingCatalog { catalog, asked: Arc::clone(&asked), is_held: held };
        let mut server = Server::new(catalog);
        let (udp, tcp) = listen().await?;
        let address = udp.local_addr()?;
        server.register_socket(udp);
        server.register_listener(tcp, TCP_TIMEOUT, 4);
        Ok(Self { address, zone: handler, asked, is_held, _server: server })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the questions that came since the last call, as in `A www.example.com.`.
    #[must_use]
    pub fn take_questions(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers nothing until [`Self::release`].
    pub fn hold(&self) {
        self.is_held.send_replace(true);
    }

    /// Answers what was held back, and goes on to answer.
    pub fn release(&self) {
        self.is_held.send_replace(false);
    }

    /// Adds a TXT record to a name.
    pub async fn publish_txt(&self, host: &str, text: &str) -> Result<()> {
        self.publish(host, RData::TXT(rdata::TXT::new(vec![text.to_owned()]))).await
    }

    /// Gives a name these addresses, and no others.
    pub async fn publish_addresses(&self, host: &str, addresses: &[IpAddr]) -> Result<()> {
        self.remove(host, RecordType::A).await?;
        self.remove(host, RecordType::AAAA).await?;
        for address in addresses {
            self.publish(host, RData::from(*address)).await?;
        }
        Ok(())
    }

    /// Makes a name an alias of another.
    pub async fn publish_alias(&self, host: &str, target: &str) -> Result<()> {
        self.publish(host, RData::CNAME(rdata::CNAME(parse_name(target)?))).await
    }

    /// Removes every TXT record of a name.
    pub async fn remove_txt(&self, host: &str) -> Result<()> {
        self.remove(host, RecordType::TXT).await
    }

    async fn publish(&self, host: &str, data: RData) -> Result<()> {
        let kind = data.record_type();
        let added = self.zone.upsert(Record::from_rdata(parse_name(host)?, TTL, data), 2).await;
        added.then_some(()).with_context(|| anyhow!("the {kind} record of {host} was not added"))
    }

    async fn remove(&self, host: &str, kind: RecordType) -> Result<()> {
        let key = RrKey::new(LowerName::new(&parse_name(host)?), kind);
        self.zone.records_mut().await.remove(&key);
        Ok(())
    }
}

/// Binds UDP and TCP to the same port. A port that is free for one protocol may be taken for the other, so it retries.
async fn listen() -> Result<(UdpSocket, TcpListener)> {
    let mut attempts = 0;
    loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(error) if attempts == 20 => return Err(error.into()),
            Err(_) => attempts += 1,
        }
    }
}

fn parse_name(host: &str) -> Result<Name> {
    Name::from_str(&format!("{}.", host.trim_end_matches('.'))).with_context(|| host.to_owned())
}

impl std::fmt::Debug for DnsServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DnsServer").field("address", &self.address).finish_non_exhaustive()
    }
}
