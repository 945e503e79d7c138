//! Problems of imports.

use imports::{
    InvalidSource,
    imports::{ImportError, ImportStatus},
};

use crate::problem::Problem;

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::NotFound => Self::not_found("import"),
            ImportError::NotInReview(ImportStatus::Discarded) => {
                Self::conflict("import_settled", "The import was discarded.")
                    .hint("Import the workflow again: POST /v1/workspaces/{ws}/imports.")
            }
            ImportError::NotInReview(_) => {
                Self::conflict("import_settled", "The import was turned on before.")
                    .hint("Pause its automation, or delete its app.")
            }
            ImportError::AutomationMissing => {
                Self::conflict("automation_missing", "The automation that the import would start was deleted.")
                    .hint("Create an automation of the app with the same trigger and turn the import on again, or discard it.")
            }
            ImportError::TooMany => {
                Self::conflict("too_many_imports", "Too many imports of the workspace wait for a decision.")
                    .hint("Turn some of them on, or discard them.")
            }
            ImportError::BindingMissing(keys) => {
                let message =
                    format!("These connections are neither bound nor skipped: {}.", keys.join(", "));
                Self::conflict("binding_missing", message)
                    .hint("Name a connection for each key in `bindings`, or put all its `steps` in `skip`.")
            }
            ImportError::UnknownBinding(key) => {
                Self::invalid_field(&format!("bindings.{key}"), "is no key of the report's connections")
            }
            ImportError::UnknownItem(_) => {
                Self::invalid_field("skip", "names an item that the report does not have")
            }
            ImportError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidSource> for Problem {
    fn from(error: InvalidSource) -> Self {
        Self::invalid_field("source", error)
    }
}
