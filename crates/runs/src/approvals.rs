//! Questions of runs to people.
//!
//! Code that asks is stopped, and its run waits. With the answer the run starts again from the beginning, where the
//! same question is answered at once: the first question of the code gets the first answer, the second question the
//! second.
//! See `docs/decisions/0079-an-approval-ends-the-invocation.md`.

mod decide;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    id::{AppId, ApprovalId, RunId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::engine::ApprovalQuestion;
pub use crate::ports::{ApprovalsRead, ApprovalsTx};

pub use decide::decide_approval;

/// Time after which an unanswered question expires.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);
/// Most questions that one run may ask.
pub const MAX_QUESTIONS: usize = 10;
/// Most characters of a question's title.
pub const MAX_TITLE: usize = 120;
/// Most characters of a question's detail.
pub const MAX_DETAIL: usize = 2000;

/// State of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// It has no answer yet.
    Waiting,
    /// A person approved it.
    Approved,
    /// A person refused it.
    Refused,
    /// It was not answered in time.
    Expired,
}

kernel::names! {
    ApprovalState {
        Waiting = "waiting",
        Approved = "approved",
        Refused = "refused",
        Expired = "expired",
    }
}

/// Answer to a question, as app code gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalAnswer {
    /// True if a person approved it.
    pub approved: bool,
    /// True if it was not answered in time.
    pub expired: bool,
}

/// A question of a run to people, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Id of the question.
    pub id: ApprovalId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App whose code asks.
    pub app: AppId,
    /// Run that waits for the answer.
    pub run: RunId,
    /// Title and detail.
    pub question: ApprovalQuestion,
    /// Current state.
    pub state: ApprovalState,
    /// Time from which it can no longer be answered.
    pub expires_at: Timestamp,
}

impl Approval {
    /// Returns the time at which the run asked.
    #[must_use]
    pub fn asked_at(&self) -> Timestamp {
        self.expires_at - LIFETIME
    }
}

/// Checks the bounds of a question.
///
/// # Errors
/// A message for the code that asks, which says what is wrong.
pub fn check_question(question: &ApprovalQuestion) -> Result<(), String> {
    let title = question.title.trim().chars().count();
    if !(1..=MAX_TITLE).contains(&title) || !kernel::text::is_visible_line(&question.title) {
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
    /// Returns the answer for app code; `None` while the question waits.
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
