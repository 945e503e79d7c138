//! Metadata documents of agent clients, with forged DNS responses.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adapter_gate::{ClientMetadataFetcher, Resolve};
use async_trait::async_trait;
use connections::GateHost;
use identity::oauth::{ClientDocumentFetcher as _, clients::DocumentError};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::Instant,
};

/// Resolves to these addresses, and counts the lookups.
struct FakeResolver(Vec<IpAddr>, AtomicUsize);

#[async_trait]
impl Resolve for FakeResolver {
    async fn resolve(&self, _: &GateHost) -> io::Result<Vec<IpAddr>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.clone())
    }
}

async fn refusal(loopback: bool, addresses: &[&str]) -> (String, usize) {
    let liar =
        Arc::new(FakeResolver(addresses.iter().map(|it| it.parse().unwrap()).collect(), AtomicUsize::new(0)));
    let fetcher = ClientMetadataFetcher::new(loopback, Arc::clone(&liar) as Arc<dyn Resolve>).unwrap();
    let id = "https://agent.example/client.json".parse().unwrap();
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id, None).await else {
        panic!("{addresses:?}")
    };
    (what, liar.1.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused() {
    for addresses in [
        &["169.254.169.254"][..],
        &["127.0.0.1"],
        &["10.1.2.3"],
        &["::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a9fe:a9fe"],
        &["fe80::1"],
        // An allowed address beside a blocked one does not help.
        &["93.184.215.14", "192.168.0.1"],
    ] {
        let (what, asked) = refusal(false, addresses).await;
        assert_eq!(
            (what.as_str(), asked),
            ("the host resolves to an address that is not public", 1),
            "{addresses:?}"
        );
    }
    let (what, _) = refusal(true, &["127.0.0.1", "10.0.0.1"]).await;
    assert_eq!(what, "the host resolves to an address that is not public");
    let (what, _) = refusal(false, &[]).await;
    assert_eq!(what, "the name has no address");
}

#[tokio::test]
async fn the_name_is_resolved_once_and_that_address_is_used() {
    // Nothing listens there; a second lookup would be counted.
    let (what, asked) = refusal(true, &["127.0.0.1"]).await;
    assert!(!what.contains("not public"), "{what}");
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn only_port_443_is_allowed_outside_of_loopback() {
    let liar = Arc::new(FakeResolver(vec!["93.184.215.14".parse().unwrap()], AtomicUsize::new(0)));
    let fetcher = ClientMetadataFetcher::new(false, liar).unwrap();
    let id = "https://agent.example:22/client.json".parse().unwrap();
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id, None).await else {
        panic!("it was fetched")
    };
    assert_eq!(what, "the port must be 443");
}

/// Never resolves names that begin with `slow`, and reports each name that it is asked for.
struct SlowResolver(UnboundedSender<String>);

#[async_trait]
impl Resolve for SlowResolver {
    async fn resolve(&self, host: &GateHost) -> io::Result<Vec<IpAddr>> {
        self.0.send(host.as_str().to_owned()).unwrap();
        if host.as_str().starts_with("slow") {
            std::future::pending::<()>().await;
        }
        Ok(Vec::new())
    }
}

fn slow_fetcher() -> (Arc<ClientMetadataFetcher>, UnboundedReceiver<String>) {
    let (asked, receiver) = unbounded_channel();
    (Arc::new(ClientMetadataFetcher::new(false, Arc::new(SlowResolver(asked))).unwrap()), receiver)
}

fn fetch(
    fetcher: &Arc<ClientMetadataFetcher>,
    host: &str,
    path: usize,
    network: &str,
) -> tokio::task::JoinHandle<DocumentError> {
    let id = format!("https://{host}/{path}").parse().unwrap();
    let (fetcher, network) = (Arc::clone(fetcher), network.parse().unwrap());
    tokio::spawn(async move { fetcher.fetch_client(&id, Some(network)).await.unwrap_err() })
}

#[tokio::test]
async fn one_network_or_host_keeps_nobody_else_waiting() {
    let (fetcher, mut asked) = slow_fetcher();
    // One network asks many hosts, and several networks ask one host.
    for number in 0..20 {
        fetch(&fetcher, &format!("slow{number}.example"), 1, "192.0.2.1");
        fetch(&fetcher, "slow.example", number, &format!("198.51.100.{number}"));
    }
    for _ in 0..4 {
        asked.recv().await.unwrap();
    }
    // The network that is at its limit asks for a document that others want.
    fetch(&fetcher, "agent.example", 1, "192.0.2.1");
    tokio::task::yield_now().await;
    let refused = fetch(&fetcher, "agent.example", 1, "203.0.113.1").await.unwrap();
    assert!(
        matches!(&refused, DocumentError::Unreachable(what) if what == "the name has no address"),
        "{refused}"
    );
    assert_eq!(asked.recv().await.unwrap(), "agent.example");
    assert!(asked.try_recv().is_err(), "no network and no host has more than its share");
}

/// Somebody has so many networks and hosts that all places are theirs.
#[tokio::test(start_paused = true)]
async fn slow_hosts_of_many_networks_give_way_after_a_second() {
    let (fetcher, mut asked) = slow_fetcher();
    let fetch_slowly =
        |number: usize| fetch(&fetcher, &format!("slow{number}.example"), 1, &format!("198.51.100.{number}"));
    let mut slow: Vec<_> = (0..16).map(fetch_slowly).collect();
    for _ in 0..16 {
        asked.recv().await.unwrap();
    }
    slow.extend((16..20).map(fetch_slowly));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    let refused = fetch(&fetcher, "agent.example", 1, "203.0.113.1").await.unwrap();
    assert!(matches!(refused, DocumentError::Unreachable(_)), "{refused}");
    assert_eq!(
        begun.elapsed().as_millis(),
        900,
        "the others who waited had only as many of the places as they are"
    );
    let mut given_way = 0;
    for fetch in slow {
        let failure = fetch.await.unwrap();
        given_way += usize::from(matches!(failure, DocumentError::Busy));
    }
    assert_eq!(given_way, 5, "as many as others waited");
}
