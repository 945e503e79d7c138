//! Why a run came to no good end, in plain words and by rules alone.

use serde::{Deserialize, Serialize};

use super::{Run, RunState};

/// What happened, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// What happened.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do.
    pub next: String,
}

/// Explains a run that failed or was blocked; none for any other.
#[must_use]
pub fn explain(run: &Run) -> Option<Explanation> {
    let (what, fault) = match &run.state {
        RunState::Failed(_, fault) => (format!("The run of {} failed.", run.app_name), fault),
        RunState::Blocked(_, fault) => (format!("The gate stopped the run of {}.", run.app_name), fault),
        RunState::Queued { .. } | RunState::Running { .. } | RunState::Succeeded(_) => return None,
    };
    let (why, next) = match fault.code.as_str() {
        "timeout" => ("It took longer than a run may.", "Do less in one run, or wait for less."),
        "cpu_exceeded" => ("Its code computed longer than a run may.", "Look for a loop that does not end."),
        "memory_exceeded" => {
            ("Its code used more memory than a run may.", "Handle the data in smaller parts.")
        }
        "never_settled" => {
            ("Its code awaits something that never comes.", "Settle every promise that is awaited.")
        }
        "output_too_large" => ("Its code gave back too much.", "Give back less, or keep it as rows."),
        "handler_missing" => {
            ("Its code has no handler for this trigger.", "Export `scheduled` from main.js.")
        }
        "invalid_bundle" => ("Its code does not compile.", "Mend the code at the place the message names."),
        "egress_denied" | "host_denied" => (
            "It called a host that its manifest does not name or whose gate is closed.",
            "Name the host in the manifest and open its gate, or leave the call out.",
        ),
        "private_address" => ("It called an address inside a private network.", "Call a public host."),
        "worker_lost" => {
            ("The process that ran it was lost.", "Start it again; if it happens again, look at its memory.")
        }
        "app_error" => {
            ("Its code threw an error and did not catch it.", "Mend the code at the place the message names.")
        }
        _ => ("See the message.", "Mend what the message names, then start it again."),
    };
    Some(Explanation { what, why: format!("{why} {}", fault.message), next: next.to_owned() })
}
