//! What the API needs from outside: the store as one thing.

use apps::{AppsRead, AppsTx};
use async_trait::async_trait;
use connections::gates::{ConnectionsTx, GateReader};
use identity::{IdentityRead, IdentityTx};
use kernel::{StoreError, Transactions};
use observability::{LogRead, LogSink};
use projects::{ProjectsRead, ProjectsTx, ports::TrafficLog};
use runs::{RunsRead, RunsTx, webhooks::HookDesk};
use workspace::{WorkspaceRead, WorkspaceTx};

/// Everything that is read.
pub trait Reads:
    AppsRead
    + GateReader
    + HookDesk
    + IdentityRead
    + LogRead
    + LogSink
    + ProjectsRead
    + RunsRead
    + TrafficLog
    + WorkspaceRead
    + Send
    + Sync
{
}

impl<T> Reads for T where
    T: AppsRead
        + GateReader
        + HookDesk
        + IdentityRead
        + LogRead
        + LogSink
        + ProjectsRead
        + RunsRead
        + TrafficLog
        + WorkspaceRead
        + Send
        + Sync
{
}

/// Every domain's writes in one transaction.
pub trait Tx: AppsTx + ConnectionsTx + IdentityTx + ProjectsTx + RunsTx + WorkspaceTx {}

impl<T> Tx for T where T: AppsTx + ConnectionsTx + IdentityTx + ProjectsTx + RunsTx + WorkspaceTx {}

/// The store: everything that is read, and transactions. Whatever implements the domains' ports is one.
#[async_trait]
pub trait Store: Reads {
    /// Begins a transaction.
    async fn begin(&self) -> Result<Box<dyn Tx>, StoreError>;

    /// Whether the store can serve.
    async fn check(&self) -> Result<(), StoreError>;
}

#[async_trait]
impl<S> Store for S
where
    S: Reads + Transactions<Tx: Tx>,
{
    async fn begin(&self) -> Result<Box<dyn Tx>, StoreError> {
        Ok(Box::new(Transactions::begin(self).await?))
    }

    async fn check(&self) -> Result<(), StoreError> {
        Transactions::check(self).await
    }
}
