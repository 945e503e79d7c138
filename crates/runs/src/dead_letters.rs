//! Dead letters: failed runs and refused calls that are kept for replay (specification part B, "DeadLetter").
//!
//! A run that failed for good or was blocked leaves one, unless a person started it by hand. A call leaves one if it
//! proved its sender and could not start a run. A dead letter has the id of its run or call, with its own prefix.

mod discard;
mod get_open;
mod replay;
mod replay_run;

use kernel::{
    Timestamp,
    id::{AppId, AutomationId, DeadLetterId, DeliveryId, RunId, VersionId},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use crate::ports::{DeadLettersRead, DeadLettersTx};
use crate::{TriggerKind, runs::VersionRef};

pub use discard::discard_open_dead_letter;
pub use replay::{ReplayRequest, ReplayedRun, WhichVersion, replay_open_dead_letter};
pub use replay_run::replay_run;

/// Most dead letters that one request settles.
pub const MAX_SETTLED_AT_ONCE: usize = 50;

/// Most open dead letters of refused calls that an automation may have. Calls refused beyond that leave only a
/// delivery.
pub const MAX_OPEN_CALL_DEAD_LETTERS: u64 = 1000;

/// Kind of the origin of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeadLetterKind {
    /// A run that failed or was blocked.
    Run,
    /// A call that was refused.
    Delivery,
}

kernel::names! {
    DeadLetterKind {
        Run = "run",
        Delivery = "delivery",
    }
}

/// State of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeadLetterState {
    /// It can be replayed or discarded.
    Open,
    /// It was replayed.
    Replayed,
    /// It was discarded.
    Discarded,
}

kernel::names! {
    DeadLetterState {
        Open = "open",
        Replayed = "replayed",
        Discarded = "discarded",
    }
}

/// Origin of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetterOrigin {
    /// A run that failed or was blocked.
    Run(RunId),
    /// A call that was refused.
    Delivery(DeliveryId),
}

impl DeadLetterOrigin {
    /// Returns the kind without the id.
    #[must_use]
    pub fn kind(self) -> DeadLetterKind {
        match self {
            Self::Run(_) => DeadLetterKind::Run,
            Self::Delivery(_) => DeadLetterKind::Delivery,
        }
    }
}

/// State of a dead letter, with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadLetterStatus {
    /// It can be replayed or discarded.
    Open,
    /// It was replayed as this run.
    Replayed(Resolution, RunId),
    /// It was discarded.
    Discarded(Resolution),
}

/// Time and author of a replay or discard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Time of the replay or discard.
    pub at: Timestamp,
    /// Name of the person, while the person exists.
    pub by: Option<String>,
}

impl DeadLetterStatus {
    /// Returns the state without its data.
    #[must_use]
    pub fn state(&self) -> DeadLetterState {
        match self {
            Self::Open => DeadLetterState::Open,
            Self::Replayed(..) => DeadLetterState::Replayed,
            Self::Discarded(_) => DeadLetterState::Discarded,
        }
    }
}

/// A failed run or refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Id of the dead letter.
    pub id: DeadLetterId,
    /// Failed run or refused call.
    pub origin: DeadLetterOrigin,
    /// State, with its data.
    pub status: DeadLetterStatus,
    /// App that failed or was to run.
    pub app: AppId,
    /// Name of the app.
    pub app_name: String,
    /// Automation of the run or call.
    pub automation: Option<AutomationId>,
    /// Name of the automation, while it exists.
    pub automation_name: Option<String>,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Code of the failure or refusal.
    pub reason: String,
    /// Message of the failure or refusal.
    pub message: String,
    /// Version that ran, or would have run.
    pub version: Option<VersionRef>,
    /// Number of tries: attempts of the run, or calls with the same digest.
    pub attempt: u32,
    /// True if the input is still stored.
    pub has_payload: bool,
    /// Size of the input, in bytes of JSON.
    pub payload_bytes: u64,
    /// Beginning of the input; at most 200 characters.
    pub preview: Option<String>,
    /// Time of the failure or refusal.
    pub created_at: Timestamp,
}

/// Filter of dead letters of a workspace. Each condition narrows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeadLetterFilter {
    /// Only of this app.
    pub app: Option<AppId>,
    /// Only of this automation.
    pub automation: Option<AutomationId>,
    /// Only of this run.
    pub run: Option<RunId>,
    /// Only of this kind.
    pub kind: Option<DeadLetterKind>,
    /// Only in this state.
    pub state: Option<DeadLetterState>,
    /// Only of this trigger.
    pub trigger: Option<TriggerKind>,
}

/// Data that a replay starts from.
#[derive(Debug, Clone)]
pub struct ReplaySource {
    /// App to run.
    pub app: AppId,
    /// Automation of the original run or call.
    pub automation: Option<AutomationId>,
    /// Kind of the original trigger.
    pub trigger: TriggerKind,
    /// Version that ran, or would have run.
    pub version: Option<VersionId>,
    /// Original input, if it is still stored.
    pub input: Option<Box<RawValue>>,
}
