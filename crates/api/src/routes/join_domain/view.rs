//! Join domains on the wire.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use identity::User;
use kernel::id::WorkspaceId;
use serde::Serialize;
use utoipa::ToSchema;
use workspace::join_domains::{Domain, DomainState, JoinDomain, JoinRole};

use crate::http::{conditional::Representation, schemas};

/// The join domain of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JoinDomain)]
pub(crate) struct JoinDomainView {
    /// Domain in ASCII form.
    #[schema(required)]
    domain: Option<String>,
    status: JoinDomainStatus,
    /// DNS record that proves ownership.
    #[schema(required)]
    record: Option<RecordView>,
    /// `true` if people of the domain join automatically when they sign in.
    auto_join: bool,
    /// Role of people who join.
    #[schema(value_type = schemas::workspace::JoinRole)]
    role: JoinRole,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    verified_at: Option<DateTime<Utc>>,
    /// Domain of your address, which you could claim; null if the workspace has a domain.
    #[schema(required)]
    suggestion: Option<String>,
}

/// Verification state of a join domain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JoinDomainStatus {
    /// The workspace has no domain.
    None,
    /// The domain is claimed.
    Pending,
    /// The DNS record was found.
    Verified,
}

/// A DNS record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordView {
    #[serde(rename = "type")]
    #[schema(example = "TXT")]
    kind: &'static str,
    host: String,
    value: String,
}

impl Representation for JoinDomainView {}

impl JoinDomainView {
    /// Returns the view of a workspace's domain, which nobody else changes until the transaction ends.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        workspace: WorkspaceId,
        caller: &User,
    ) -> Result<Option<Self>, Problem> {
        tx.lock_members(workspace).await?;
        Ok(Some(Self::of(tx.join_domain_of(workspace).await?, caller)))
    }

    /// Returns the view of a workspace's domain, or a suggestion from the caller's address if there is none.
    pub(super) fn of(domain: Option<JoinDomain>, caller: &User) -> Self {
        let Some(domain) = domain else {
            let suggestion = Domain::from_email(caller.email.as_str());
            return Self {
                domain: None,
                status: JoinDomainStatus::None,
                record: None,
                auto_join: false,
                role: JoinRole::Member,
                verified_at: None,
                suggestion: suggestion.map(|domain| domain.to_string()),
            };
        };
        let (status, verified_at) = match domain.state {
            DomainState::Pending => (JoinDomainStatus::Pending, None),
            DomainState::Verified { at, .. } => (JoinDomainStatus::Verified, Some(at)),
        };
        Self {
            status,
            record: Some(RecordView {
                kind: "TXT",
                host: domain.record_host(),
                value: domain.verification_record,
            }),
            domain: Some(domain.domain.to_string()),
            auto_join: domain.auto_join,
            role: domain.role,
            verified_at,
            suggestion: None,
        }
    }
}
