//! Errors of this domain.

use kernel::StoreError;

use crate::{InvalidInput, change_state::ChangeState};

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The app does not exist, or was deleted.
    #[error("there is no such app")]
    AppNotFound,
    /// Someone else created a version at the same time.
    #[error("another version was created at the same time")]
    VersionConflict,
    /// Another version is current than the caller knows.
    #[error("another version is current by now")]
    StaleVersion,
    /// The version is current already.
    #[error("the version is current already")]
    AlreadyCurrent,
    /// The files of the version are deleted.
    #[error("the files of the version are deleted")]
    VersionUnusable,
    /// A person to share with is not a member of the workspace.
    #[error("a person to share with is not a member of the workspace")]
    MemberNotFound,
    /// The manifest allows the refused request already, or cannot name its host.
    #[error("there is nothing to change")]
    NothingToChange,
    /// The person has too many unexpired plans.
    #[error("too many changes are planned")]
    TooManyChanges,
    /// The caller planned no such change.
    #[error("there is no such change")]
    ChangeNotFound,
    /// The change was approved before, or has expired.
    #[error("the change is not open any more")]
    ChangeNotOpen(ChangeState),
    /// The manifest is not the one that was planned.
    #[error("the manifest is not the planned one")]
    ManifestChanged,
    /// The plan has nothing to approve.
    #[error("the plan changes nothing")]
    EmptyPlan,
    /// Only a person in the console may approve the change, for these reasons.
    #[error("the change is outside the safe band")]
    OutsideBand(Vec<String>),
    /// Only a person in the console may publish this, for these reasons.
    #[error("the version is outside the safe band")]
    GainNeedsApproval(Vec<String>),
    /// Only an admin in the console may let an app use a connection anew.
    #[error("an admin has to let the app use the connection")]
    ConnectionNeedsAdmin {
        /// True if the caller is in the console.
        in_console: bool,
    },
    /// Only an admin in the console may let code set headers with credentials itself.
    #[error("an admin has to let the code set the header")]
    HeaderNeedsAdmin {
        /// True if the caller is in the console.
        in_console: bool,
        /// Host and headers, in a sentence.
        reason: String,
    },
    /// The plan shares the app, which the caller may not.
    #[error("the caller may not share the app")]
    MayNotShare,
    /// The caller has no draft of the app.
    #[error("there is no draft")]
    DraftNotFound,
    /// The app has no version.
    #[error("the app has no version")]
    NoVersion,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
