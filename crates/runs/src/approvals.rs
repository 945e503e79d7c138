//! Questions of runs to people.
//!
//! Code that asks is stopped, and its run waits. With the answer the run is begun again from the start, and the same
//! question is then answered at once: the first question of the code gets the first answer, the second the second.

mod decide;

use std::str::FromStr;

use chrono::TimeDelta;
use kernel::{
    Problem, Timestamp,
    id::{AppId, ApprovalId, RunId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::engine::ApprovalQuestion;
pub use crate::ports::{ApprovalsRead, ApprovalsTx};

pub use decide::decide_approval;

/// How long a question waits for its answer.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);
/// How many questions one run may ask.
pub const MAX_QUESTIONS: usize = 10;
/// Characters of a question's title.
pub const MAX_TITLE: usize = 120;
/// Characters of what a person should know.
pub const MAX_DETAIL: usize = 2000;

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Waiting,
    /// A person said yes.
    Approved,
    /// A person said no.
    Refused,
    /// Nobody answered in time.
    Expired,
}

impl ApprovalState {
    /// The name in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }
}

impl FromStr for ApprovalState {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Waiting, Self::Approved, Self::Refused, Self::Expired]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("state", "must be waiting, approved, refused or expired"))
    }
}

/// What the code is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalAnswer {
    /// Whether a person said yes.
    pub approved: bool,
    /// Whether nobody answered in time.
    pub expired: bool,
}

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The question's id.
    pub id: ApprovalId,
    /// The workspace it is in.
    pub workspace: WorkspaceId,
    /// The app whose code asks.
    pub app: AppId,
    /// The run that waits.
    pub run: RunId,
    /// What is asked.
    pub question: ApprovalQuestion,
    /// How it stands.
    pub state: ApprovalState,
    /// Until when it may be answered.
    pub expires_at: Timestamp,
}

/// Checks what code asks.
///
/// # Errors
/// What is wrong with it.
pub fn check_question(question: &ApprovalQuestion) -> Result<(), String> {
    let title = question.title.trim().chars().count();
    if !(1..=MAX_TITLE).contains(&title) || question.title.chars().any(char::is_control) {
        return Err(format!("the title must have 1 to {MAX_TITLE} printable characters"));
    }
    match &question.detail {
        Some(detail) if detail.chars().count() > MAX_DETAIL || detail.contains('\0') => {
            Err(format!("the detail may have at most {MAX_DETAIL} characters"))
        }
        _ => Ok(()),
    }
}

impl Approval {
    /// What the code is told of it; none while it waits.
    #[must_use]
    pub fn answer(&self) -> Option<ApprovalAnswer> {
        match self.state {
            ApprovalState::Waiting => None,
            ApprovalState::Approved => Some(ApprovalAnswer { approved: true, expired: false }),
            ApprovalState::Refused => Some(ApprovalAnswer { approved: false, expired: false }),
            ApprovalState::Expired => Some(ApprovalAnswer { approved: false, expired: true }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_a_title_and_not_too_much_to_read() {
        let question =
            |title: &str, detail: Option<String>| ApprovalQuestion { title: title.to_owned(), detail };
        assert!(check_question(&question("Pay 500?", None)).is_ok());
        assert!(check_question(&question("Pay?", Some("x".repeat(MAX_DETAIL)))).is_ok());
        for (title, detail) in [
            ("", None),
            (" ", None),
            ("a\nb", None),
            (&*"x".repeat(MAX_TITLE + 1), None),
            ("Pay?", Some("x".repeat(MAX_DETAIL + 1))),
            ("Pay?", Some("\0".to_owned())),
        ] {
            assert!(check_question(&question(title, detail)).is_err(), "{title:?}");
        }
    }
}
