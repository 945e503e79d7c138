//! Suggested fixes. A fix that contradicts the stored facts is never suggested.

use kernel::id::{ConnectionId, VersionId};

use super::{Cause, RunFacts};

/// A fix that a person can apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// Set up a connection again.
    Reconnect(Option<ConnectionId>),
    /// Allow the app to reach this host.
    AllowEgress(String),
    /// Replay the run unchanged.
    Retry,
    /// Change the code.
    EditApp,
    /// Roll back to the version that last succeeded.
    Rollback {
        /// Id of the version.
        version: VersionId,
        /// Number of the version, if it is known.
        number: Option<u32>,
    },
    /// Set up models or their budget.
    ConfigureModels,
    /// Move to a larger plan or a larger server.
    IncreaseCapacity,
}

impl Fix {
    /// Returns the name on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Reconnect(_) => "reconnect",
            Self::AllowEgress(_) => "allow_egress",
            Self::Retry => "retry",
            Self::EditApp => "edit_app",
            Self::Rollback { .. } => "rollback",
            Self::ConfigureModels => "models",
            Self::IncreaseCapacity => "capacity",
        }
    }
}

/// Returns the fix for a cause, if there is one.
pub(super) fn find_fix(facts: &RunFacts, cause: Cause) -> Option<Fix> {
    match cause {
        Cause::Waiting | Cause::Retrying | Cause::Running | Cause::AwaitsApproval | Cause::Succeeded => None,
        Cause::HostUndeclared | Cause::GateClosed | Cause::MethodDenied => Some(egress_fix(facts)),
        Cause::SecretMissing | Cause::AuthRejected => {
            let through = facts.find_failed_request().is_some_and(|request| request.connection.is_some());
            // Without a connection, the credentials are in the code.
            if through || cause == Cause::SecretMissing {
                Some(Fix::Reconnect(facts.connection))
            } else {
                Some(Fix::EditApp)
            }
        }
        Cause::Quota => Some(Fix::IncreaseCapacity),
        Cause::AiBudget | Cause::AiSetup => Some(Fix::ConfigureModels),
        Cause::UpstreamTimeout
        | Cause::RateLimited
        | Cause::UpstreamFailed
        | Cause::Platform
        | Cause::Cancelled
        | Cause::ApprovalRefused
        | Cause::ApprovalExpired => Some(Fix::Retry),
        Cause::PrivateAddress
        | Cause::RequestRefused
        | Cause::Timeout
        | Cause::UncaughtException
        | Cause::MemoryExceeded
        | Cause::CpuExceeded
        | Cause::OutputTooLarge
        | Cause::NeverSettled
        | Cause::HandlerMissing
        | Cause::InvalidCode => Some(find_rollback(facts).unwrap_or(Fix::EditApp)),
        Cause::NotRunnable | Cause::Unknown => None,
    }
}

/// Returns a fix for a refused host: allow it if it is still closed to the app, retry if it is open by now.
fn egress_fix(facts: &RunFacts) -> Fix {
    let host = facts.find_failed_request().and_then(|request| request.host.clone());
    match (host, facts.host) {
        (Some(host), Some(standing))
            if standing.is_declarable && !(standing.is_declared && standing.is_gate_open) =>
        {
            Fix::AllowEgress(host)
        }
        (Some(_), Some(standing)) if standing.is_declared && standing.is_gate_open => Fix::Retry,
        _ => Fix::EditApp,
    }
}

/// Returns a rollback to the version that last succeeded, if that is another version that can still run, and the one
/// that failed is current.
fn find_rollback(facts: &RunFacts) -> Option<Fix> {
    let failed = facts.run.version.as_ref().filter(|version| version.is_current)?;
    let (version, number) = facts.last_good_version.filter(|(good, _)| *good != failed.id)?;
    Some(Fix::Rollback { version, number })
}

/// Returns the host that a change of the manifest could let the app reach.
pub(super) fn find_suggested_host(facts: &RunFacts, cause: Cause) -> Option<String> {
    let by_manifest = matches!(cause, Cause::HostUndeclared | Cause::MethodDenied | Cause::GateClosed);
    let standing = facts.host.filter(|standing| standing.is_declarable && !standing.is_declared)?;
    let host = facts.find_failed_request()?.host.clone()?;
    (by_manifest && !standing.is_declared).then_some(host)
}
