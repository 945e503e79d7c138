//! Finding the cause of a result from the run's code and its requests.

use serde::{Deserialize, Serialize};

use super::RunFacts;
use crate::{RunStatus, runs::CANCELLED};

/// Class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The manifest or the gates do not allow the app to reach a host.
    EgressDenied,
    /// The gate refused the request itself.
    RequestDenied,
    /// A connection or its secret is missing.
    SecretMissing,
    /// The service refused the credentials.
    AuthRejected,
    /// The workspace's plan is used up.
    Quota,
    /// The budget for models is used up.
    AiBudget,
    /// No model is set up.
    AiSetup,
    /// The run or the service took too long.
    Timeout,
    /// The service is called too often.
    ConnectorRateLimited,
    /// The service failed.
    UpstreamFailed,
    /// The code failed.
    CodeError,
    /// The code exceeded a limit of runs.
    LimitExceeded,
    /// The code cannot run at all.
    InvalidCode,
    /// There was nothing to run.
    NotRunnable,
    /// A person refused the approval, or nobody answered.
    ApprovalRefused,
    /// Qala itself failed.
    Platform,
    /// No rule matches.
    Unknown,
}

/// Confidence of the rules in a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The code of the failure names the cause.
    High,
    /// The cause follows from what the gate logged.
    Medium,
    /// The cause is a guess.
    Low,
}

/// Cause of a run's state. Each has sentences of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the sentences in `phrases` say what each means")]
pub enum Cause {
    Waiting,
    Retrying,
    Running,
    AwaitsApproval,
    Succeeded,
    Cancelled,
    HostUndeclared,
    GateClosed,
    MethodDenied,
    PrivateAddress,
    RequestRefused,
    SecretMissing,
    AuthRejected,
    Quota,
    AiBudget,
    AiSetup,
    Timeout,
    UpstreamTimeout,
    RateLimited,
    UpstreamFailed,
    UncaughtException,
    MemoryExceeded,
    CpuExceeded,
    OutputTooLarge,
    NeverSettled,
    HandlerMissing,
    InvalidCode,
    Platform,
    NotRunnable,
    ApprovalRefused,
    ApprovalExpired,
    Unknown,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 32] = [
        Self::Waiting,
        Self::Retrying,
        Self::Running,
        Self::AwaitsApproval,
        Self::Succeeded,
        Self::Cancelled,
        Self::HostUndeclared,
        Self::GateClosed,
        Self::MethodDenied,
        Self::PrivateAddress,
        Self::RequestRefused,
        Self::SecretMissing,
        Self::AuthRejected,
        Self::Quota,
        Self::AiBudget,
        Self::AiSetup,
        Self::Timeout,
        Self::UpstreamTimeout,
        Self::RateLimited,
        Self::UpstreamFailed,
        Self::UncaughtException,
        Self::MemoryExceeded,
        Self::CpuExceeded,
        Self::OutputTooLarge,
        Self::NeverSettled,
        Self::HandlerMissing,
        Self::InvalidCode,
        Self::Platform,
        Self::NotRunnable,
        Self::ApprovalRefused,
        Self::ApprovalExpired,
        Self::Unknown,
    ];

    /// Returns the class; `None` for a cause that is not a failure.
    #[must_use]
    pub fn class(self) -> Option<FailureClass> {
        Some(match self {
            Self::Waiting
            | Self::Retrying
            | Self::Running
            | Self::AwaitsApproval
            | Self::Succeeded
            | Self::Cancelled => return None,
            Self::HostUndeclared | Self::GateClosed | Self::MethodDenied => FailureClass::EgressDenied,
            Self::PrivateAddress | Self::RequestRefused => FailureClass::RequestDenied,
            Self::SecretMissing => FailureClass::SecretMissing,
            Self::AuthRejected => FailureClass::AuthRejected,
            Self::Quota => FailureClass::Quota,
            Self::AiBudget => FailureClass::AiBudget,
            Self::AiSetup => FailureClass::AiSetup,
            Self::Timeout | Self::UpstreamTimeout => FailureClass::Timeout,
            Self::RateLimited => FailureClass::ConnectorRateLimited,
            Self::UpstreamFailed => FailureClass::UpstreamFailed,
            Self::UncaughtException | Self::NeverSettled => FailureClass::CodeError,
            Self::MemoryExceeded | Self::CpuExceeded | Self::OutputTooLarge => FailureClass::LimitExceeded,
            Self::HandlerMissing | Self::InvalidCode => FailureClass::InvalidCode,
            Self::Platform => FailureClass::Platform,
            Self::NotRunnable => FailureClass::NotRunnable,
            Self::ApprovalRefused | Self::ApprovalExpired => FailureClass::ApprovalRefused,
            Self::Unknown => FailureClass::Unknown,
        })
    }
}

/// Returns the cause that a code of a run or request names by itself.
fn cause_of_code(code: &str) -> Option<Cause> {
    Some(match code {
        CANCELLED => Cause::Cancelled,
        "egress_denied" => Cause::HostUndeclared,
        "host_denied" => Cause::GateClosed,
        "method_denied" => Cause::MethodDenied,
        "private_address" => Cause::PrivateAddress,
        "invalid_url" | "path_denied" | "header_denied" | "redirect_denied" => Cause::RequestRefused,
        "not_connected" | "secret_unavailable" => Cause::SecretMissing,
        "auth_rejected" | "expired" => Cause::AuthRejected,
        "quota_reached" => Cause::Quota,
        "ai_budget" | "ai_budget_reached" => Cause::AiBudget,
        "ai_setup" | "ai_not_set_up" => Cause::AiSetup,
        "timeout" => Cause::Timeout,
        "rate_limited" => Cause::RateLimited,
        "dns_failed" | "tls_failed" | "upstream_failed" | "request_too_large" | "response_too_large" => {
            Cause::UpstreamFailed
        }
        "memory_exceeded" => Cause::MemoryExceeded,
        "cpu_exceeded" => Cause::CpuExceeded,
        "output_too_large" => Cause::OutputTooLarge,
        "never_settled" => Cause::NeverSettled,
        "handler_missing" => Cause::HandlerMissing,
        "invalid_bundle" => Cause::InvalidCode,
        "worker_lost" | "overloaded" | "lease_lost" => Cause::Platform,
        "no_version" | "app_paused" | "app_deleted" | "automation_deleted" => Cause::NotRunnable,
        "approval_refused" => Cause::ApprovalRefused,
        "approval_expired" => Cause::ApprovalExpired,
        "app_error" => Cause::UncaughtException,
        _ => return None,
    })
}

/// Returns the cause of a run's state.
pub(super) fn find_cause(facts: &RunFacts) -> (Cause, Confidence) {
    let fault = facts.run.state.fault();
    match facts.run.state.status() {
        RunStatus::Queued if fault.is_some() => return (Cause::Retrying, Confidence::High),
        RunStatus::Queued => return (Cause::Waiting, Confidence::High),
        RunStatus::Running => return (Cause::Running, Confidence::High),
        RunStatus::WaitingApproval => return (Cause::AwaitsApproval, Confidence::High),
        RunStatus::Succeeded => return (Cause::Succeeded, Confidence::High),
        RunStatus::Failed | RunStatus::Blocked => {}
    }
    match fault.and_then(|fault| cause_of_code(&fault.code)) {
        None => (Cause::Unknown, Confidence::Low),
        Some(Cause::UncaughtException) => {
            cause_of_last_request(facts).unwrap_or((Cause::UncaughtException, Confidence::High))
        }
        Some(cause) => (cause, Confidence::High),
    }
}

/// Code of a request whose response the code did not wait for.
const ABORTED: &str = "aborted";

/// Returns the cause of the last request's failure: code that throws after one most likely throws because of it. Requests that
/// were under way when the code threw are aborted after that.
fn cause_of_last_request(facts: &RunFacts) -> Option<(Cause, Confidence)> {
    let mut requests = facts.lines.iter().rev().filter_map(|line| line.request.as_ref());
    let last = requests.find(|request| request.outcome.as_ref().err().is_none_or(|code| code != ABORTED))?;
    let cause = match &last.outcome {
        Ok(401 | 403) => Cause::AuthRejected,
        Ok(429) => Cause::RateLimited,
        Ok(408 | 504) => Cause::UpstreamTimeout,
        Ok(500..) => Cause::UpstreamFailed,
        Ok(_) => return None,
        Err(code) if code == "timeout" => Cause::UpstreamTimeout,
        Err(code) => cause_of_code(code)?,
    };
    Some((cause, Confidence::Medium))
}
