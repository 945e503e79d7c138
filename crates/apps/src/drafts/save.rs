//! Saving a draft.

use std::collections::BTreeMap;

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::VersionId,
};

use super::{Draft, DraftsTx, LIFETIME};
use crate::{AppError, versions::check_files};

/// Files to keep as a draft.
#[derive(Debug, Clone)]
pub struct SaveDraft {
    /// Source text by path; within the bounds of a version's.
    pub files: BTreeMap<String, String>,
    /// Version that the draft was begun from.
    pub base: Option<VersionId>,
}

/// Saves the caller's draft of an app. The code need not compile yet.
///
/// # Errors
/// * [`AppError::InvalidInput`] when the files are out of the bounds of a version
/// * [`AppError::AppNotFound`] when the app was deleted meanwhile
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn save_draft(
    tx: &mut dyn DraftsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: SaveDraft,
) -> Result<Draft, AppError> {
    check_files(&input.files)?;
    let workspace = right.member().workspace();
    tx.app_for_update(workspace, right.app()).await?.ok_or(AppError::AppNotFound)?;
    let draft = Draft {
        workspace,
        app: right.app(),
        owner: right.member().user(),
        base: input.base,
        files: input.files,
        saved_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
    };
    tx.save_draft(&draft).await?;
    let entry = ctx.audit_entry("draft.save").workspace(workspace).target(draft.app);
    tx.audit(entry.app(draft.app));
    Ok(draft)
}
