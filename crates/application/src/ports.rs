//! What the API needs from outside: the store as one thing.

use apps::{
    AppsRead, AppsTx,
    changes::{ChangesRead, ChangesTx},
};
use async_trait::async_trait;
use connections::gates::{ConnectionsTx, GateReader};
use identity::{
    IdentityRead, IdentityTx,
    oauth::{OAuthRead, OAuthTx},
    people::{PeopleRead, PeopleTx},
};
use kernel::{StoreError, Transactions};
use observability::{EventFeed, LogRead, LogSink};
use projects::{ProjectsRead, ProjectsTx, ports::TrafficLog};
use runs::{
    RunsRead, RunsTx,
    approvals::{ApprovalsRead, ApprovalsTx},
    automations::occurrences::OccurrencesRead,
    dead_letters::{DeadLettersRead, DeadLettersTx},
    diagnosis::DiagnosisRead,
    webhooks::WebhookStore,
};
use workspace::{
    WorkspaceRead, WorkspaceTx,
    audit_log::AuditRead,
    invites::{InvitesRead, InvitesTx},
    join_domains::{JoinDomainsRead, JoinDomainsTx},
    members::{MembersRead, MembersTx},
};

/// What is read of the people in workspaces.
pub trait WorkspacePeopleRead:
    AuditRead + InvitesRead + JoinDomainsRead + MembersRead + PeopleRead + Send + Sync
{
}

impl<T> WorkspacePeopleRead for T where
    T: AuditRead + InvitesRead + JoinDomainsRead + MembersRead + PeopleRead + Send + Sync
{
}

/// What is written of them.
pub trait WorkspacePeopleTx: InvitesTx + JoinDomainsTx + MembersTx + PeopleTx {}

impl<T> WorkspacePeopleTx for T where T: InvitesTx + JoinDomainsTx + MembersTx + PeopleTx {}

/// Everything that is read.
pub trait StoreRead:
    ApprovalsRead
    + AppsRead
    + ChangesRead
    + DeadLettersRead
    + DiagnosisRead
    + EventFeed
    + GateReader
    + WebhookStore
    + IdentityRead
    + LogRead
    + LogSink
    + OAuthRead
    + OccurrencesRead
    + ProjectsRead
    + RunsRead
    + TrafficLog
    + WorkspacePeopleRead
    + WorkspaceRead
    + Send
    + Sync
{
}

impl<T> StoreRead for T where
    T: ApprovalsRead
        + AppsRead
        + ChangesRead
        + DeadLettersRead
        + DiagnosisRead
        + EventFeed
        + GateReader
        + WebhookStore
        + IdentityRead
        + LogRead
        + LogSink
        + OAuthRead
        + OccurrencesRead
        + ProjectsRead
        + RunsRead
        + TrafficLog
        + WorkspacePeopleRead
        + WorkspaceRead
        + Send
        + Sync
{
}

/// Every domain's writes in one transaction.
pub trait Tx:
    ApprovalsTx
    + AppsTx
    + ChangesTx
    + ConnectionsTx
    + DeadLettersTx
    + IdentityTx
    + OAuthTx
    + ProjectsTx
    + RunsTx
    + WorkspacePeopleTx
    + WorkspaceTx
{
}

impl<T> Tx for T where
    T: ApprovalsTx
        + AppsTx
        + ChangesTx
        + ConnectionsTx
        + DeadLettersTx
        + IdentityTx
        + OAuthTx
        + ProjectsTx
        + RunsTx
        + WorkspacePeopleTx
        + WorkspaceTx
{
}

/// The store: everything that is read, and transactions. Whatever implements the domains' ports is one.
#[async_trait]
pub trait Store: StoreRead {
    /// Begins a transaction.
    async fn begin(&self) -> Result<Box<dyn Tx>, StoreError>;

    /// Whether the store can serve.
    async fn check(&self) -> Result<(), StoreError>;
}

#[async_trait]
impl<S> Store for S
where
    S: StoreRead + Transactions<Tx: Tx>,
{
    async fn begin(&self) -> Result<Box<dyn Tx>, StoreError> {
        Ok(Box::new(Transactions::begin(self).await?))
    }

    async fn check(&self) -> Result<(), StoreError> {
        Transactions::check_ready(self).await
    }
}
