//! A DNS server of a test's own.

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

/// Answers for one zone, over UDP and TCP, until it is dropped.
pub struct DnsServer {
    address: SocketAddr,
    zone: Arc<InMemoryZoneHandler>,
    _server: Server<Catalog>,
}

impl DnsServer {
    /// Serves a zone such as `test.`, without any record but what makes it one. What is of another zone is refused.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
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

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Publishes one more TXT record at a name.
    ///
    /// # Errors
    ///
    /// When the name is none of the zone.
    pub async fn publish_txt(&self, host: &str, text: &str) -> Result<()> {
        let txt = RData::TXT(rdata::TXT::new(vec![text.to_owned()]));
        let added = self.zone.upsert(Record::from_rdata(parse_name(host)?, TTL, txt), 2).await;
        added.then_some(()).with_context(|| anyhow!("{host} was not added"))
    }

    /// Takes every TXT record at a name away.
    ///
    /// # Errors
    ///
    /// When the name is none.
    pub async fn remove_txt(&self, host: &str) -> Result<()> {
        let key = RrKey::new(LowerName::new(&parse_name(host)?), RecordType::TXT);
        self.zone.records_mut().await.remove(&key);
        Ok(())
    }
}

/// One port for both; a port that is free for one may be taken for the other.
async fn listen() -> Result<(UdpSocket, TcpListener)> {
    let mut tries = 0;
    loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(error) if tries == 20 => return Err(error.into()),
            Err(_) => tries += 1,
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
