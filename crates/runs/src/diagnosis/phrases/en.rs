//! English.

use super::Phrases;
use crate::{RunStatus, diagnosis::Cause};

pub(super) const PHRASES: Phrases = Phrases {
    what,
    cancelled: "The run of {app} was cancelled.",
    why_next,
    rollback: "Version {version} was the last to succeed. You can roll back to it.",
    retry: "Access is now allowed. Run it again.",
    message: "Message",
};

fn what(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "The run of {app} is in the queue.",
        RunStatus::Running => "The run of {app} is in progress.",
        RunStatus::WaitingApproval => "The run of {app} is waiting for a person.",
        RunStatus::Succeeded => "The run of {app} succeeded.",
        RunStatus::Failed => "The run of {app} failed.",
        RunStatus::Blocked => "The gate stopped the run of {app}.",
    }
}

fn why_next(cause: Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::Waiting => ("It has not started yet.", "Wait until it starts."),
        Cause::Retrying => ("Its last attempt failed, and it will be retried.", "Wait for the next attempt."),
        Cause::Running => ("Its code has not finished yet.", "Wait until it ends."),
        Cause::AwaitsApproval => {
            ("Its code asked for an approval, and nobody has decided yet.", "Approve or refuse the request.")
        }
        Cause::Succeeded => ("Its code finished without an error.", "There is nothing to do."),
        Cause::Cancelled => ("A person cancelled it: {person}.", "Replay it if it should run after all."),
        Cause::HostUndeclared => (
            "Its code called the host {host}, which its manifest does not name.",
            "Allow the app to reach the host {host}, or remove the call from its code.",
        ),
        Cause::GateClosed => (
            "Its code called the host {host}, and no open gate of the workspace leads there.",
            "Ask an admin to open the gate to the host {host}.",
        ),
        Cause::MethodDenied => (
            "Its code called the host {host} with the method {method}, which the manifest or the gate does not allow.",
            "Allow the method {method} for the host {host}, or use a method that is allowed.",
        ),
        Cause::PrivateAddress => (
            "Its code called an address inside a private network, which no app may reach.",
            "Call a public host by its name.",
        ),
        Cause::RequestRefused => (
            "The gate refused the request itself: its URL, its path, a header or a redirect.",
            "Fix the request as described in the message.",
        ),
        Cause::SecretMissing => (
            "It used a connection or a secret that does not exist, or whose value cannot be read.",
            "Set the connection or the secret up again, then run it again.",
        ),
        Cause::AuthRejected => {
            ("The service {host} refused the credentials.", "Renew the credentials, then run it again.")
        }
        Cause::Quota => (
            "The workspace has used up what its plan allows.",
            "Wait for the next month, or move to a larger plan.",
        ),
        Cause::AiBudget => (
            "The app has used up its budget for models this month.",
            "Raise the budget, or wait for the next month.",
        ),
        Cause::AiSetup => ("It called a model, but none is set up.", "Set up a model, then run it again."),
        Cause::Timeout => (
            "It exceeded the time limit of a run.",
            "Do less in one run, or call services that respond faster.",
        ),
        Cause::UpstreamTimeout => (
            "The service {host} did not respond in time.",
            "Run it again. If it times out again, check the service itself.",
        ),
        Cause::RateLimited => (
            "The service {host} refused the call because of its rate limit.",
            "Wait, run it again, and call the service less often.",
        ),
        Cause::UpstreamFailed => {
            ("The service {host} could not be reached, or returned an error.", "Run it again later.")
        }
        Cause::UncaughtException => (
            "Its code threw an error that it did not catch.",
            "Fix the code at the place that the message names.",
        ),
        Cause::MemoryExceeded => {
            ("Its code exceeded the memory limit of a run.", "Handle the data in smaller parts.")
        }
        Cause::CpuExceeded => {
            ("Its code exceeded the processor time limit of a run.", "Look for a loop that does not end.")
        }
        Cause::OutputTooLarge => {
            ("Its code returned more data than a run may.", "Return less, or store the data as rows.")
        }
        Cause::NeverSettled => (
            "Its code awaits a promise that never settles.",
            "Resolve or reject every promise that the code awaits.",
        ),
        Cause::HandlerMissing => {
            ("Its code has no handler for this trigger.", "Export `scheduled` from main.js.")
        }
        Cause::InvalidCode => {
            ("Its code does not compile.", "Fix the code at the place that the message names.")
        }
        Cause::Platform => (
            "Qala lost the run or had no capacity for it. The app is not at fault.",
            "Run it again. If it fails again, contact the server's administrator.",
        ),
        Cause::NotRunnable => (
            "There was nothing to run: the app or its automation was deleted, or the app is paused or has no version.",
            "Resume the app or publish a version, then run it again.",
        ),
        Cause::ApprovalRefused => (
            "A person refused its request for approval.",
            "Talk to the person who refused, then run it again.",
        ),
        Cause::ApprovalExpired => {
            ("Nobody decided in time about its request for approval.", "Run it again, and decide in time.")
        }
        Cause::Unknown => ("No rule matches this failure.", "Check the message and the log."),
    }
}
