//! What a person may do about a failure. Nothing is offered that the stored facts speak against.

use kernel::id::{ConnectionId, VersionId};

use super::{Cause, Facts};

/// What a person may do about a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// Set up a connection again.
    Reconnect(Option<ConnectionId>),
    /// Let the app reach this host.
    AllowEgress(String),
    /// Run it again as it was.
    Retry,
    /// Change the code.
    EditApp,
    /// Go back to the version that last succeeded.
    Rollback {
        /// The version.
        version: VersionId,
        /// Its number.
        number: Option<u32>,
    },
    /// Set up models or their budget.
    Models,
    /// Get more room: a larger plan, or a larger server.
    Capacity,
}

impl Fix {
    /// The name on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Reconnect(_) => "reconnect",
            Self::AllowEgress(_) => "allow_egress",
            Self::Retry => "retry",
            Self::EditApp => "edit_app",
            Self::Rollback { .. } => "rollback",
            Self::Models => "models",
            Self::Capacity => "capacity",
        }
    }
}

pub(super) fn of(facts: &Facts, cause: Cause) -> Option<Fix> {
    match cause {
        Cause::Waiting | Cause::Retrying | Cause::AtWork | Cause::AwaitsApproval | Cause::Done => None,
        Cause::HostUndeclared | Cause::GateClosed | Cause::MethodDenied => Some(egress(facts)),
        Cause::SecretMissing | Cause::AuthRejected => {
            let through = facts.request().is_some_and(|request| request.connection.is_some());
            // Without a connection the credentials are in the code.
            if through || cause == Cause::SecretMissing {
                Some(Fix::Reconnect(facts.connection))
            } else {
                Some(Fix::EditApp)
            }
        }
        Cause::Quota => Some(Fix::Capacity),
        Cause::AiBudget | Cause::AiSetup => Some(Fix::Models),
        Cause::UpstreamTimeout
        | Cause::RateLimited
        | Cause::UpstreamFailed
        | Cause::Platform
        | Cause::ApprovalRefused
        | Cause::ApprovalExpired => Some(Fix::Retry),
        Cause::PrivateAddress
        | Cause::RequestRefused
        | Cause::Timeout
        | Cause::Threw
        | Cause::Memory
        | Cause::Cpu
        | Cause::Output
        | Cause::NeverSettled
        | Cause::HandlerMissing
        | Cause::InvalidCode => Some(rollback(facts).unwrap_or(Fix::EditApp)),
        Cause::NotRunnable | Cause::Unknown => None,
    }
}

/// Only a host that is still closed to the app is to be let through; else the run only has to be run again.
fn egress(facts: &Facts) -> Fix {
    let host = facts.request().and_then(|request| request.host.clone());
    match (host, facts.host) {
        (Some(host), Some(standing)) if standing.nameable && !(standing.declared && standing.gate_open) => {
            Fix::AllowEgress(host)
        }
        (Some(_), Some(standing)) if standing.declared && standing.gate_open => Fix::Retry,
        _ => Fix::EditApp,
    }
}

/// Back to the version that last succeeded: if it is another, it is still there, and the one that failed is current.
fn rollback(facts: &Facts) -> Option<Fix> {
    let failed = facts.run.version.as_ref().filter(|version| version.is_current)?;
    let (version, number) = facts.good_version.filter(|(good, _)| *good != failed.id)?;
    Some(Fix::Rollback { version, number })
}

/// The host that a change of the manifest could let the app reach.
pub(super) fn suggestion(facts: &Facts, cause: Cause) -> Option<String> {
    let by_manifest = matches!(cause, Cause::HostUndeclared | Cause::MethodDenied | Cause::GateClosed);
    let standing = facts.host.filter(|standing| standing.nameable && !standing.declared)?;
    let host = facts.request()?.host.clone()?;
    (by_manifest && !standing.declared).then_some(host)
}
