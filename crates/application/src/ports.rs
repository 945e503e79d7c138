//! The store of the application as one trait object.

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

/// Read ports of the people in workspaces.
pub trait WorkspacePeopleRead:
    AuditRead + InvitesRead + JoinDomainsRead + MembersRead + PeopleRead + Send + Sync
{
}

impl<T> WorkspacePeopleRead for T where
    T: AuditRead + InvitesRead + JoinDomainsRead + MembersRead + PeopleRead + Send + Sync
{
}

/// Write ports of the people in workspaces.
pub trait WorkspacePeopleTx: InvitesTx + JoinDomainsTx + MembersTx + PeopleTx {}

impl<T> WorkspacePeopleTx for T where T: InvitesTx + JoinDomainsTx + MembersTx + PeopleTx {}

/// Read ports of all domains.
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

/// Write ports of all domains, in one transaction.
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

/// The store: reads and transactions. Every type that implements the domains' ports implements it.
#[async_trait]
pub trait Store: StoreRead {
    /// Begins a transaction.
    ///
    /// # Errors
    /// [`StoreError`] if there is no connection to be had.
    async fn begin(&self) -> Result<Box<dyn Tx>, StoreError>;

    /// Checks that the store responds and its schema is up to date.
    ///
    /// # Errors
    /// [`StoreError`] if it does not.
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
