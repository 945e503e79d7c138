//! Admitting everyone with an e-mail address of an organisation's domain (specification part A, "People and roles").
//!
//! A workspace claims a domain and verifies it by a TXT record. Several workspaces may claim the same domain, but only
//! one at a time has it verified, so a claim alone excludes nobody. The record is checked again every week, since
//! domains change hands.

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

use chrono::TimeDelta;
use kernel::{
    Timestamp,
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
pub use ports::{DnsLookupError, JoinDomainsRead, JoinDomainsTx, JoinSuggestion, TxtResolver};
pub use recheck::recheck_join_domain;

/// Time until a record that was found is checked again.
pub const RECHECK_INTERVAL: TimeDelta = TimeDelta::days(7);
/// Time until a record that was missing is checked again.
pub const RECHECK_INTERVAL_MISSING: TimeDelta = TimeDelta::days(1);
/// Time until the next check after DNS gave no answer.
pub const RECHECK_INTERVAL_UNREACHABLE: TimeDelta = TimeDelta::hours(6);
/// Number of checks in a row without the record after which the domain is no longer verified.
pub const MAX_MISSES: u8 = 3;

/// A role that a join domain can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JoinRole {
    /// Views and runs shared apps.
    Member,
    /// Views apps that are shared with the whole workspace.
    Viewer,
}

kernel::names! {
    JoinRole {
        Member = "member",
        Viewer = "viewer",
    }
}

impl JoinRole {
    /// Returns the role as a [`Role`].
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Member => Role::Member,
            Self::Viewer => Role::Viewer,
        }
    }
}

/// The join domain of a workspace, which has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinDomain {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The domain.
    pub domain: Domain,
    /// Text of the TXT record. It is published, so it is not secret.
    pub verification_record: String,
    /// True if people with an address of the domain join when they sign in.
    pub auto_join: bool,
    /// The role that people get.
    pub role: JoinRole,
    /// Time of the claim.
    pub created_at: Timestamp,
    /// The state of the verification.
    pub state: DomainState,
}

/// The state of a domain's verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainState {
    /// Claimed only; nobody can join by it.
    Pending,
    /// Verified by the record; people can join by it.
    Verified {
        /// Time of the first verification.
        at: Timestamp,
        /// Time of the next check.
        recheck_at: Timestamp,
        /// Number of checks in a row without the record, less than [`MAX_MISSES`].
        misses: u8,
    },
}

impl JoinDomain {
    /// Returns true if people can join by the domain.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        matches!(self.state, DomainState::Verified { .. })
    }

    /// Returns the DNS name of the TXT record.
    #[must_use]
    pub fn record_host(&self) -> String {
        format!("_qala-challenge.{}", self.domain)
    }

    /// Returns true if one of these TXT records verifies the domain.
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
