//! Join domains: everybody with an address of a company's domain may come in (specification part A, "People and
//! roles").
//!
//! A workspace claims a domain and proves it by a TXT record. Any number may claim the same; only one at a time has
//! proved it, so a claim alone locks nobody out. A proof is looked at again every week: a domain changes hands.

mod auto_join;
mod change;
mod claim;
mod confirm;
mod delete;
mod dns_check;
mod domain;
mod join;
mod ports;
mod recheck;

use std::str::FromStr;

use chrono::TimeDelta;
use kernel::{
    Problem, Timestamp,
    authority::Role,
    id::{UserId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::members::{Admission, JoinChannel};

pub use auto_join::auto_join;
pub use change::{JoinDomainChange, change_join_domain};
pub use claim::claim_join_domain;
pub use confirm::confirm_join_domain;
pub use delete::delete_join_domain;
pub use dns_check::DnsCheck;
pub use domain::Domain;
pub use join::join_by_domain;
pub use ports::{DnsLookupError, JoinDomainsRead, JoinDomainsTx, JoinSuggestion, JoinTx, TxtResolver};
pub use recheck::recheck_join_domain;

/// How long a proof is believed before it is looked at again.
pub const RECHECK_INTERVAL: TimeDelta = TimeDelta::days(7);
/// How soon a proof that was missing is looked at again.
pub const RECHECK_INTERVAL_MISSING: TimeDelta = TimeDelta::days(1);
/// How soon it is tried again when DNS could not be asked.
pub const RECHECK_INTERVAL_UNREACHABLE: TimeDelta = TimeDelta::hours(6);
/// How often in a row a proof may be missing before the domain is no longer verified.
pub const MAX_MISSES: u8 = 3;

/// What somebody may join as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum JoinRole {
    /// Runs what is shared.
    Member,
    /// Looks at what is shared with the whole workspace.
    Viewer,
}

impl JoinRole {
    /// The role itself.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Member => Role::Member,
            Self::Viewer => Role::Viewer,
        }
    }
}

impl FromStr for JoinRole {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Member, Self::Viewer]
            .into_iter()
            .find(|role| role.role().as_str() == text)
            .ok_or_else(|| Problem::invalid_field("role", "must be member or viewer"))
    }
}

/// A workspace's domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinDomain {
    /// Whose.
    pub workspace: WorkspaceId,
    /// The domain.
    pub domain: Domain,
    /// What the TXT record must hold. It is published, so it is no secret.
    pub verification_record: String,
    /// Whether people of the domain come in by signing in.
    pub auto_join: bool,
    /// As what they come in.
    pub role: JoinRole,
    /// When it was claimed.
    pub created_at: Timestamp,
    /// Whether it was proved.
    pub state: DomainState,
}

/// Whether a domain was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainState {
    /// Claimed only; nobody can join with it.
    Pending,
    /// The record was found.
    Verified {
        /// When for the first time.
        at: Timestamp,
        /// When it is looked at again.
        recheck_at: Timestamp,
        /// How often in a row it was missing.
        misses: u8,
    },
}

impl JoinDomain {
    /// Whether people can join with it.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        matches!(self.state, DomainState::Verified { .. })
    }

    /// The name of the TXT record.
    #[must_use]
    pub fn record_host(&self) -> String {
        format!("_qala-challenge.{}", self.domain)
    }

    /// Whether these records prove it.
    #[must_use]
    pub fn is_verified_by(&self, records: &[String]) -> bool {
        records.iter().any(|record| record.trim() == self.verification_record)
    }

    /// The admission of a person whose address is of this domain.
    fn admission<'a>(&self, user: UserId, email: &'a str, channel: JoinChannel) -> Admission<'a> {
        Admission {
            workspace: self.workspace,
            user,
            email,
            role: self.role.role(),
            access_ends_at: None,
            channel,
        }
    }
}
