//! A join domain as it stands on the wire.

use chrono::{DateTime, Utc};
use identity::User;
use serde::Serialize;
use utoipa::ToSchema;
use workspace::join_domains::{Domain, DomainState, JoinDomain, JoinRole};

/// The domain whose people may join a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JoinDomain)]
pub(crate) struct JoinDomainView {
    /// In its ASCII form.
    #[schema(required)]
    domain: Option<String>,
    status: JoinDomainStatus,
    /// The DNS record that proves it.
    #[schema(required)]
    record: Option<RecordView>,
    /// Whether people of the domain come in by signing in.
    auto_join: bool,
    /// As what people come in.
    role: JoinRole,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    verified_at: Option<DateTime<Utc>>,
    /// What the caller could claim, when there is no domain yet.
    #[schema(required)]
    suggestion: Option<String>,
}

/// Whether a domain is proved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JoinDomainStatus {
    /// There is none.
    None,
    /// It is claimed.
    Pending,
    /// Its record was found.
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

impl JoinDomainView {
    /// A workspace's domain; for who has none, the one of the caller's address.
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
