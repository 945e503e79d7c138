//! Rechecks the DNS records that verify join domains, because domains change hands.

use std::{sync::Arc, time::Duration};

use kernel::{Caller, Clock, Context, Id, Randomness, Transactions};
use tokio_util::sync::CancellationToken;
use workspace::{
    WorkspaceError,
    join_domains::{DnsCheck, JoinDomain, JoinDomainsRead, JoinDomainsTx, TxtResolver, recheck_join_domain},
    members::MembersTx,
};

use crate::run_at_interval;

/// Time between searches for domains that are due for a recheck.
const CHECK_INTERVAL: Duration = Duration::from_secs(600);
/// Maximum number of domains per search; the rest wait for the next.
const BATCH: u32 = 50;

/// Rechecks join domains whose verification is due.
///
/// Every node may run one: whichever writes second finds the domain checked already and changes nothing.
pub struct DomainChecks<S> {
    store: S,
    dns: Arc<dyn TxtResolver>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
}

impl<S> DomainChecks<S>
where
    S: JoinDomainsRead + Transactions<Tx: MembersTx + JoinDomainsTx>,
{
    /// Creates a worker over a store and a DNS resolver.
    #[must_use]
    pub fn new(
        store: S,
        dns: Arc<dyn TxtResolver>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Randomness>,
    ) -> Self {
        Self { store, dns, clock, random }
    }

    /// Checks the domains that are due every ten minutes, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(CHECK_INTERVAL, shutdown, || async {
            if let Err(error) = self.check_due_domains().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot check join domains");
            }
        })
        .await;
    }

    async fn check_due_domains(&self) -> Result<(), WorkspaceError> {
        for domain in self.store.due_join_domains(self.clock.now(), BATCH).await? {
            self.check(&domain).await?;
        }
        Ok(())
    }

    async fn check(&self, domain: &JoinDomain) -> Result<(), WorkspaceError> {
        let finding = match self.dns.lookup_txt(&domain.record_host()).await {
            Ok(records) if domain.is_verified_by(&records) => DnsCheck::Found,
            Ok(_) => DnsCheck::Missing,
            Err(_) => DnsCheck::Unreachable,
        };
        let now = self.clock.now();
        let caller = Caller::System("domain-checks");
        let request = Id::generate(&*self.random, now);
        let ctx = Context::new(caller, now, request, None, Arc::clone(&self.random));
        let mut tx = self.store.begin().await?;
        let lapsed = recheck_join_domain(&mut tx, &ctx, domain, finding).await?;
        kernel::UnitOfWork::commit(Box::new(tx)).await?;
        if lapsed {
            tracing::warn!(workspace = %domain.workspace, domain = %domain.domain, "join domain is no longer verified");
        }
        Ok(())
    }
}

impl<S> std::fmt::Debug for DomainChecks<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DomainChecks").finish_non_exhaustive()
    }
}
