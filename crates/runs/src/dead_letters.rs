//! Dead letters: failed runs and refused calls that are kept for replay (specification part B, "DeadLetter").
//!
//! A run that failed for good or was blocked leaves one unless a person started it by hand; a call leaves one that
//! proved itself and could not run. The letter has the id of the run or call under its own prefix.

mod discard;
mod enqueue_replay;
mod get_open;
mod replay;
mod replay_run;

use std::str::FromStr;

use kernel::{
    Problem, Timestamp,
    id::{AppId, AutomationId, DeadLetterId, DeliveryId, RunId, VersionId},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use crate::ports::{DeadLettersRead, DeadLettersTx};
use crate::{TriggerKind, runs::VersionRef};

pub use discard::discard_open_dead_letter;
pub use replay::{ReplayRequest, ReplayedRun, WhichVersion, replay_open_dead_letter};
pub use replay_run::replay_run;

/// How many open letters of refused calls an automation may have; what is refused beyond leaves only its delivery.
pub const MAX_OPEN_CALL_DEAD_LETTERS: u64 = 1000;

/// What a letter is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LetterKind))]
pub enum DeadLetterKind {
    /// A run that failed or was blocked.
    Run,
    /// A call that was refused.
    Delivery,
}

impl DeadLetterKind {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Delivery => "delivery",
        }
    }
}

/// What became of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LetterState))]
pub enum DeadLetterState {
    /// It waits for somebody.
    Open,
    /// It was run again.
    Replayed,
    /// Somebody gave it up.
    Discarded,
}

impl DeadLetterState {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Replayed => "replayed",
            Self::Discarded => "discarded",
        }
    }
}

impl FromStr for DeadLetterState {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Open, Self::Replayed, Self::Discarded]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("state", "must be open, replayed or discarded"))
    }
}

/// What a letter is of, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetterOrigin {
    /// A run that failed or was blocked.
    Run(RunId),
    /// A call that was refused.
    Delivery(DeliveryId),
}

impl DeadLetterOrigin {
    /// The origin without its id.
    #[must_use]
    pub fn kind(self) -> DeadLetterKind {
        match self {
            Self::Run(_) => DeadLetterKind::Run,
            Self::Delivery(_) => DeadLetterKind::Delivery,
        }
    }
}

/// What became of a letter, with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeadLetterStatus {
    /// It waits for somebody.
    Open,
    /// It was run again.
    Replayed(Resolution, RunId),
    /// Somebody gave it up.
    Discarded(Resolution),
}

/// When a letter was settled, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// When.
    pub at: Timestamp,
    /// The person's name, while it is known.
    pub by: Option<String>,
}

impl DeadLetterStatus {
    /// The fate without its data.
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
    /// The letter's id.
    pub id: DeadLetterId,
    /// What it is of.
    pub origin: DeadLetterOrigin,
    /// What became of it.
    pub status: DeadLetterStatus,
    /// The app that was to run.
    pub app: AppId,
    /// The app's name.
    pub app_name: String,
    /// The automation that was to start it.
    pub automation: Option<AutomationId>,
    /// The automation's name, while there is one.
    pub automation_name: Option<String>,
    /// What started it.
    pub trigger: TriggerKind,
    /// Why it failed or was refused, for programs.
    pub reason: String,
    /// The same for people.
    pub message: String,
    /// The version that ran, or would have.
    pub version: Option<VersionRef>,
    /// How often it was tried: attempts of the run, or calls that were the same.
    pub attempt: u32,
    /// Whether what the app was given is still there.
    pub has_payload: bool,
    /// How large it is, in bytes of JSON.
    pub payload_bytes: u64,
    /// How it begins; at most 200 characters.
    pub preview: Option<String>,
    /// When it failed or was refused.
    pub created_at: Timestamp,
}

/// Which letters of a workspace are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeadLetterFilter {
    /// Only of this app.
    pub app: Option<AppId>,
    /// Only of this automation.
    pub automation: Option<AutomationId>,
    /// Only of this kind.
    pub kind: Option<DeadLetterKind>,
    /// Only those that stand so.
    pub state: Option<DeadLetterState>,
    /// Only those started so.
    pub trigger: Option<TriggerKind>,
}

/// What a replay starts from.
#[derive(Debug, Clone)]
pub struct ReplaySource {
    /// The app that is to run.
    pub app: AppId,
    /// The automation that started it.
    pub automation: Option<AutomationId>,
    /// What started it.
    pub trigger: TriggerKind,
    /// The version it ran, or would have.
    pub version: Option<VersionId>,
    /// What the app was given, if that is still there.
    pub input: Option<Box<RawValue>>,
}
