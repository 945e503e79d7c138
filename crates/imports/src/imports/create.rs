//! Creating an import.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{Import, ImportError, ImportNeeds, ImportStatus, ImportsTx, MAX_IN_REVIEW};
use crate::Report;

/// An import to create.
#[derive(Debug, Clone)]
pub struct NewImport {
    /// Name of the app.
    pub name: String,
    /// Automation that starts the app; it is paused.
    pub automation: AutomationId,
    /// Report on the export.
    pub report: Report,
    /// Needs when it is turned on.
    pub needs: ImportNeeds,
}

/// Creates an import of an app that the caller has just created.
///
/// # Errors
/// * [`ImportError::TooMany`] when [`MAX_IN_REVIEW`] imports of the workspace wait for a decision
/// * [`ImportError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_import(
    tx: &mut dyn ImportsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: NewImport,
) -> Result<Import, ImportError> {
    let workspace = right.member().workspace();
    if tx.count_imports_in_review(workspace).await? >= MAX_IN_REVIEW {
        return Err(ImportError::TooMany);
    }
    let import = Import {
        id: ctx.new_id(),
        workspace,
        name: input.name,
        status: ImportStatus::Review,
        app: Some(right.app()),
        automation: Some(input.automation),
        report: input.report,
        needs: input.needs,
        created_by: right.member().user(),
        created_at: ctx.now,
        changed_at: ctx.now,
    };
    tx.insert_import(&import).await?;
    let entry = ctx.audit_entry("import.create").workspace(workspace).target(import.id).app(right.app());
    let detail = serde_json::json!({ "app": right.app(), "format": import.report.format, "steps": import.report.totals.steps });
    tx.audit(entry.detail(detail));
    Ok(import)
}
