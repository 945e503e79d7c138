//! Problems of apps and their versions.

use apps::{
    AppError, InvalidInput, InvalidManifest,
    changes::ChangeState,
    versions::{ENTRY_FILE, TYPESCRIPT_ENTRY_FILE},
};

use crate::problem::Problem;

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        match error {
            AppError::InvalidInput(error) => error.into(),
            AppError::AppNotFound => Self::not_found("app"),
            AppError::VersionConflict => {
                Self::conflict("stale_version", "Another version was created at the same time.")
                    .hint("Fetch the app again and retry if your change still applies.")
            }
            AppError::StaleVersion => Self::conflict(
                "stale_version",
                "Another version of the app is current by now.",
            )
            .hint(
                "Fetch the app again, and repeat the call with its `currentVersionId` if it still applies.",
            ),
            AppError::AlreadyCurrent => {
                Self::conflict("already_current", "The app is at this version already.")
            }
            AppError::VersionUnusable => Self::conflict(
                "version_unusable",
                "The files of the version are deleted: it is not among the newest of the app, and nothing named it.",
            )
            .hint("Publish its code again, as a new version: POST /v1/apps/{id}/versions."),
            AppError::MemberNotFound => {
                Self::invalid_field("people", "names someone who is not a member of the workspace")
            }
            AppError::NothingToChange => Self::conflict(
                "nothing_to_change",
                "No change to the manifest would have allowed this request.",
            )
            .hint("See why the run failed: GET /v1/runs/{id}/explain."),
            AppError::TooManyChanges => Self::conflict("too_many_changes", "You have too many open plans.")
                .hint("Wait until one expires; a plan expires after one hour."),
            AppError::ChangeNotFound => Self::not_found("change"),
            AppError::ChangeNotOpen(ChangeState::Expired) => {
                Self::conflict("change_expired", "The plan has expired.")
                    .hint("Plan the change again: POST /v1/apps/{id}/changes.")
            }
            AppError::ChangeNotOpen(ChangeState::Failed) => Self::conflict("change_settled", "The change has failed.")
                .hint("Read its `message`: GET /v1/changes/{changeId}. Then plan the change again."),
            AppError::ChangeNotOpen(_) => Self::conflict("change_settled", "The change was approved before.")
                .hint("See what became of it: GET /v1/changes/{changeId}."),
            AppError::ManifestChanged => Self::conflict(
                "manifest_changed",
                "The manifest in the request is not the manifest of the plan.",
            )
            .hint("Send the `manifest` of the plan as you read it, or plan another change."),
            AppError::EmptyPlan => Self::conflict("nothing_to_change", "The plan changes nothing.")
                .hint("See the plan's `notes` for what was not understood."),
            AppError::OutsideBand(reasons) => {
                let problem = Self::forbidden(
                    "approval_needs_console",
                    "A token cannot approve this change. Approve it in the console.",
                );
                if reasons.is_empty() { problem } else { problem.hint(reasons.join(" ")) }
            }
            AppError::GainNeedsApproval(reasons) => Self::forbidden(
                "approval_needs_console",
                "This gives the app something that it does not have, which has to be approved in the console.",
            )
            .hint(format!(
                "{} Plan the change, and approve the plan in the console: POST /v1/apps/{{id}}/changes. What no plan can give, a \
                 builder publishes there.",
                reasons.join(" ")
            )),
            AppError::ConnectionNeedsAdmin { in_console: false } => Self::forbidden(
                "approval_needs_console",
                "An admin has to approve in the console that the app uses this connection.",
            ),
            AppError::ConnectionNeedsAdmin { in_console: true } => Self::forbidden(
                "admin_approval_required",
                "Only an admin can let an app use a connection that its current version does not name.",
            )
            .hint("Ask an admin to do it."),
            AppError::HeaderNeedsAdmin { in_console: false, reason } => Self::forbidden(
                "approval_needs_console",
                "An admin has to approve in the console that the code sets a header with credentials.",
            )
            .hint(reason),
            AppError::HeaderNeedsAdmin { in_console: true, reason } => Self::forbidden(
                "admin_approval_required",
                "Only an admin can let the code of an app set a header with credentials.",
            )
            .hint(format!("{reason} Ask an admin to do it.")),
            AppError::MayNotShare => {
                Self::forbidden("forbidden", "The plan shares the app, which requires `can_share`.")
            }
            AppError::DraftNotFound => Self::not_found("draft").hint("Save one: PUT /v1/apps/{id}/draft."),
            AppError::NoVersion => Self::conflict("no_version", "The app has no version yet.")
                .hint("Create its first version; drafts run with the permissions of the current one."),
            AppError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        match error {
            InvalidInput::Name(rule) => Self::invalid_field("name", rule),
            InvalidInput::Description(rule) => Self::invalid_field("description", rule),
            InvalidInput::Archetype => {
                Self::invalid_field("archetype", "must have 2 to 32 lower-case letters")
            }
            InvalidInput::Summary(rule) => Self::invalid_field("summary", rule),
            InvalidInput::Instruction(rule) => Self::invalid_field("instruction", rule),
            InvalidInput::Manifest(error) => error.into(),
            InvalidInput::NoEntryFile => {
                let message =
                    format_args!("must contain {ENTRY_FILE} or {TYPESCRIPT_ENTRY_FILE}, an ES module");
                Self::invalid_field("files", message)
            }
            InvalidInput::TwoEntryFiles => {
                let message = format_args!("must not contain {ENTRY_FILE} beside {TYPESCRIPT_ENTRY_FILE}");
                Self::invalid_field("files", message)
            }
            InvalidInput::FileCount { max } => {
                Self::invalid_field("files", format_args!("must contain at most {max} files"))
            }
            InvalidInput::FilesSize { max_kib } => {
                Self::invalid_field("files", format_args!("must have at most {max_kib} KiB in total"))
            }
            InvalidInput::FilePath(path) => Self::invalid_field(
                &format!("files[{path:?}]"),
                "must be a relative path of letters, digits, `-`, `_` and `.`",
            ),
            InvalidInput::RepeatedGrant => Self::invalid_field("people", "names a person twice"),
            InvalidInput::GrantCount { max } => {
                Self::invalid_field("people", format_args!("must have at most {max} entries"))
            }
            InvalidInput::EmptyGrant => {
                Self::invalid_field("people", "names a person without a right; leave them out instead")
            }
        }
    }
}

impl From<InvalidManifest> for Problem {
    fn from(InvalidManifest { path, what }: InvalidManifest) -> Self {
        // Requests carry the document in the field `manifest`.
        let field = if path.is_empty() { "manifest".to_owned() } else { format!("manifest.{path}") };
        Self::invalid_field(&field, what)
    }
}
