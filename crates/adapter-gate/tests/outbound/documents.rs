//! Metadata documents of agent clients, with forged DNS responses.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use adapter_gate::{ClientMetadataFetcher, Resolve};
use async_trait::async_trait;
use connections::GateHost;
use identity::oauth::{ClientDocumentFetcher as _, clients::DocumentError};

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
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id).await else {
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
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id).await else {
        panic!("it was fetched")
    };
    assert_eq!(what, "the port must be 443");
}
