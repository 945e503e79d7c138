//! Agent clients' documents, and resolvers that lie about where they are.

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

/// Answers with these addresses, and counts how often it was asked.
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
    let fetcher =
        ClientMetadataFetcher::with_resolver(loopback, Arc::clone(&liar) as Arc<dyn Resolve>).unwrap();
    let id = "https://agent.example/client.json".parse().unwrap();
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id).await else {
        panic!("{addresses:?}")
    };
    (what, liar.1.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_dialled() {
    for addresses in [
        &["169.254.169.254"][..],
        &["127.0.0.1"],
        &["10.1.2.3"],
        &["::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a9fe:a9fe"],
        &["fe80::1"],
        // A good address beside a bad one is no better.
        &["93.184.215.14", "192.168.0.1"],
    ] {
        let (what, asked) = refusal(false, addresses).await;
        assert_eq!(
            (what.as_str(), asked),
            ("it leads to an address that may not be dialled", 1),
            "{addresses:?}"
        );
    }
    let (what, _) = refusal(true, &["127.0.0.1", "10.0.0.1"]).await;
    assert_eq!(what, "it leads to an address that may not be dialled");
    let (what, _) = refusal(false, &[]).await;
    assert_eq!(what, "the name has no address");
}

#[tokio::test]
async fn the_name_is_asked_for_once_and_its_answer_dialled() {
    // Nothing listens there; a second look at the name would be counted.
    let (what, asked) = refusal(true, &["127.0.0.1"]).await;
    assert!(!what.contains("may not be dialled"), "{what}");
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn only_the_port_of_https_is_asked_outside() {
    let liar = Arc::new(FakeResolver(vec!["93.184.215.14".parse().unwrap()], AtomicUsize::new(0)));
    let fetcher = ClientMetadataFetcher::with_resolver(false, liar).unwrap();
    let id = "https://agent.example:22/client.json".parse().unwrap();
    let Err(DocumentError::Unreachable(what)) = fetcher.fetch_client(&id).await else {
        panic!("it was asked")
    };
    assert_eq!(what, "only port 443 is asked");
}
