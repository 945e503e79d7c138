//! Discarding an import.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::ImportId,
};

use super::{Import, ImportError, ImportStatus, ImportsTx};

/// Discards an import that was never turned on. The caller deletes its app in the same transaction.
///
/// # Errors
/// * [`ImportError::NotFound`] when the app has no such import
/// * [`ImportError::NotInReview`] when it was turned on or discarded before
/// * [`ImportError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn discard_import(
    tx: &mut dyn ImportsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: ImportId,
) -> Result<Import, ImportError> {
    let workspace = right.member().workspace();
    let found = tx.import_for_update(workspace, id).await?;
    let mut import = found.filter(|import| import.app == Some(right.app())).ok_or(ImportError::NotFound)?;
    if import.status != ImportStatus::Review {
        return Err(ImportError::NotInReview(import.status));
    }
    import.status = ImportStatus::Discarded;
    import.app = None;
    import.automation = None;
    import.changed_at = ctx.now;
    tx.update_import(&import).await?;
    let entry = ctx.audit_entry("import.discard").workspace(workspace).target(id).app(right.app());
    tx.audit(entry.detail(serde_json::json!({ "app": right.app() })));
    Ok(import)
}
