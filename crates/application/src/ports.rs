//! The store of the application as one trait object.

use apps::{
    AppsRead, AppsTx,
    changes::{ChangesRead, ChangesTx},
    drafts::{DraftsRead, DraftsTx},
    storage::StoredCodeRead,
};
use async_trait::async_trait;
use connections::{
    app_secrets::{AppSecretReader, AppSecretTx},
    calls::CallLog,
    connections::{ConnectionReader, ConnectionTx},
    gates::{ConnectionsTx, GateReader},
};
use identity::{
    IdentityRead, IdentityTx,
    oauth::{OAuthRead, OAuthTx},
    people::{PeopleRead, PeopleTx},
};
use imports::imports::{ImportsRead, ImportsTx};
use kernel::{StoreError, Transactions, authority::AuthorityTx};
use observability::{EventFeed, HealthRead, LogRead, LogSink, NotificationsRead, NotificationsTx};
use projects::{ProjectsRead, ProjectsTx, ports::TrafficLog};
use runs::{
    RunsRead, RunsTx,
    agent_tools::{AgentToolsRead, AgentToolsTx},
    approvals::{ApprovalsRead, ApprovalsTx},
    automations::occurrences::OccurrencesRead,
    dead_letters::{DeadLettersRead, DeadLettersTx},
    diagnosis::DiagnosisRead,
    webhooks::{RefusedCallsLog, WebhookStore},
};
use workspace::{
    WorkspaceRead, WorkspaceTx,
    audit_log::AuditRead,
    invites::{InvitesRead, InvitesTx},
    join_domains::{JoinDomainsRead, JoinDomainsTx},
    members::{MembersRead, MembersTx},
    workspaces::deletion::DeletionTx,
};

/// Declares a trait that every type with all of the listed traits has.
macro_rules! sum {
    ($(#[$doc:meta])* $name:ident = $($port:ident)+) => {
        $(#[$doc])*
        pub trait $name: $($port +)+ Send + Sync {}

        impl<T: $($port +)+ Send + Sync> $name for T {}
    };
}

sum! {
    /// Read ports of all domains.
    StoreRead =
        AgentToolsRead AppSecretReader ApprovalsRead AppsRead AuditRead CallLog ChangesRead ConnectionReader DeadLettersRead DiagnosisRead DraftsRead EventFeed GateReader HealthRead IdentityRead ImportsRead
        InvitesRead JoinDomainsRead LogRead LogSink MembersRead NotificationsRead OAuthRead OccurrencesRead PeopleRead ProjectsRead RefusedCallsLog RunsRead
        StoredCodeRead TrafficLog WebhookStore WorkspaceRead
}

sum! {
    /// Write ports of all domains, in one transaction.
    Tx =
        AgentToolsTx AppSecretTx ApprovalsTx AppsTx AuthorityTx ChangesTx ConnectionTx ConnectionsTx DeadLettersTx DeletionTx DraftsTx IdentityTx ImportsTx InvitesTx JoinDomainsTx MembersTx NotificationsTx OAuthTx PeopleTx
        ProjectsTx RunsTx WorkspaceTx
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
