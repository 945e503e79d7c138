//! A DNS server for tests, whose TXT records a test publishes and removes.

use std::{
    net::{Ipv4Addr, SocketAddr},
    str::FromStr as _,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use hickory_server::{
    Server,
    proto::rr::{LowerName, Name, RData, Record, RecordType, RrKey, rdata},
    store::in_memory::InMemoryZoneHandler,
    zone_handler::{AxfrPolicy, Catalog, ZoneType},
};
use tokio::net::{TcpListener, UdpSocket};

const TTL: u32 = 60;
const TCP_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one zone over UDP and TCP until it is dropped.
pub struct DnsServer {
    address: SocketAddr,
    zone: Arc<InMemoryZoneHandler>,
    _server: Server<Catalog>,
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

        let mut server = Server::new(catalog);
        let (udp, tcp) = listen().await?;
        let address = udp.local_addr()?;
        server.register_socket(udp);
        server.register_listener(tcp, TCP_TIMEOUT, 4);
        Ok(Self { address, zone: handler, _server: server })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a TXT record to a name.
    pub async fn publish_txt(&self, host: &str, text: &str) -> Result<()> {
        let txt = RData::TXT(rdata::TXT::new(vec![text.to_owned()]));
        let added = self.zone.upsert(Record::from_rdata(parse_name(host)?, TTL, txt), 2).await;
        added.then_some(()).with_context(|| anyhow!("the TXT record of {host} was not added"))
    }

    /// Removes every TXT record of a name.
    pub async fn remove_txt(&self, host: &str) -> Result<()> {
        let key = RrKey::new(LowerName::new(&parse_name(host)?), RecordType::TXT);
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
