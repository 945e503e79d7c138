//! English.

use super::Phrases;
use crate::{RunStatus, diagnosis::Cause};

pub(super) const PHRASES: Phrases = Phrases {
    what,
    why_next,
    rollback: "Version {version} is the last that succeeded: you can go back to it.",
    retry: "By now the way is open: run it again.",
    message: "It said",
};

fn what(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "The run of {app} has not ended yet: it is in the queue.",
        RunStatus::Running => "The run of {app} is at work.",
        RunStatus::WaitingApproval => "The run of {app} waits for a person.",
        RunStatus::Succeeded => "The run of {app} succeeded.",
        RunStatus::Failed => "The run of {app} failed.",
        RunStatus::Blocked => "The gate stopped the run of {app}.",
    }
}

fn why_next(cause: Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::Waiting => ("Its turn has not come yet.", "Wait until it begins."),
        Cause::Retrying => {
            ("Its last attempt failed, and it will be tried again.", "Wait for the next attempt.")
        }
        Cause::Running => ("Its code has not finished yet.", "Wait until it ends."),
        Cause::AwaitsApproval => {
            ("Its code asked a person to decide, and nobody has yet.", "Decide what it asks for.")
        }
        Cause::Succeeded => ("Its code finished without an error.", "There is nothing to do."),
        Cause::HostUndeclared => (
            "Its code called the host {host}, which its manifest does not name.",
            "Let the app reach the host {host}, or take the call out of its code.",
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
            "Its code called an address inside a private network, and no app ever reaches those.",
            "Call a public host by its name.",
        ),
        Cause::RequestRefused => (
            "The gate refused the request itself: its address, its path, a header or where it was redirected to.",
            "Fix the request as the message says.",
        ),
        Cause::SecretMissing => (
            "It called a service through a connection that is not there, or whose secret cannot be read.",
            "Set the connection up again, then run it again.",
        ),
        Cause::AuthRejected => (
            "The service {host} refused the credentials it was called with.",
            "Renew the credentials, then run it again.",
        ),
        Cause::Quota => (
            "The workspace has used up what its plan allows.",
            "Wait for the next month, or move to a larger plan.",
        ),
        Cause::AiBudget => (
            "The app has used up its budget for models this month.",
            "Raise the budget, or wait for the next month.",
        ),
        Cause::AiSetup => ("It called a model, and none is set up.", "Set up a model, then run it again."),
        Cause::Timeout => ("It took longer than a run may.", "Do less in one run, or wait for less."),
        Cause::UpstreamTimeout => (
            "The service {host} did not answer in time.",
            "Run it again; if it goes on, look at the service itself.",
        ),
        Cause::RateLimited => (
            "The service {host} said that it is called too often.",
            "Wait, run it again, and call the service less often.",
        ),
        Cause::UpstreamFailed => {
            ("The service {host} could not be reached, or answered with an error.", "Run it again later.")
        }
        Cause::UncaughtException => (
            "Its code threw an error and did not catch it.",
            "Fix the code at the place that the message names.",
        ),
        Cause::MemoryExceeded => {
            ("Its code used more memory than a run may.", "Handle the data in smaller parts.")
        }
        Cause::CpuExceeded => {
            ("Its code computed longer than a run may.", "Look for a loop that does not end.")
        }
        Cause::OutputTooLarge => {
            ("Its code gave back more than a run may.", "Give back less, or keep it as rows.")
        }
        Cause::NeverSettled => {
            ("Its code awaits something that never comes.", "Settle every promise that is awaited.")
        }
        Cause::HandlerMissing => {
            ("Its code has no handler for this trigger.", "Export `scheduled` from main.js.")
        }
        Cause::InvalidCode => {
            ("Its code does not compile.", "Fix the code at the place that the message names.")
        }
        Cause::Platform => (
            "Qala lost the run or had no room for it; the app is not at fault.",
            "Run it again; if it happens again, ask whoever runs the server.",
        ),
        Cause::NotRunnable => (
            "There was nothing to run: the app or its automation is gone, or the app is paused or has no version.",
            "Resume the app or publish a version, then run it again.",
        ),
        Cause::ApprovalRefused => {
            ("A person refused what it asked for.", "Talk to whoever refused, then run it again.")
        }
        Cause::ApprovalExpired => {
            ("Nobody decided in time about what it asked for.", "Run it again, and decide in time.")
        }
        Cause::Unknown => ("No rule knows this failure.", "Look at the message and the log."),
    }
}
