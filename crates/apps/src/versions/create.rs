//! Making a version; it becomes current at once.

use std::collections::BTreeMap;

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
    events::{Event, EventKind},
};
use sha2::{Digest as _, Sha256};

use super::{AppVersion, VersionContent, VersionKind, check_files};
use crate::{App, AppError, AppsTx, Manifest, manifest, trust};

/// What a new version is to be.
#[derive(Debug, Clone)]
pub struct CreateVersion {
    /// What it asks for.
    pub manifest: Manifest,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
    /// What it is; "Edited by hand" when not said.
    pub summary: Option<String>,
    /// How it came to be.
    pub kind: VersionKind,
}

/// Adds a version and moves the app to it. That the code compiles is checked before, outside the transaction.
///
/// # Errors
/// When the manifest or a file is out of bounds, the app is gone, somebody else was faster, or what the store says.
pub async fn create_version(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: CreateVersion,
) -> Result<(App, AppVersion), AppError> {
    input.manifest.check()?;
    check_files(&input.files)?;
    let summary = input.summary.unwrap_or_else(|| "Edited by hand".to_owned());
    manifest::check_text("summary", &summary, 1, 300)?;

    let workspace = right.member().workspace();
    let mut app = tx.app_for_update(workspace, right.app()).await?.ok_or(AppError::AppNotFound)?;
    let number = tx.latest_version_number(workspace, app.id).await? + 1;
    let content = VersionContent { manifest: input.manifest, files: input.files };
    let version = AppVersion {
        id: ctx.new_id(),
        app: app.id,
        workspace,
        number,
        created_at: ctx.now,
        created_by: right.member().user(),
        bundle_hash: bundle_hash(&content),
        trust_score: trust::assess(&content.manifest, &content.files).score,
        kind: input.kind,
        summary: summary.trim().to_owned(),
        base: app.current_version,
        created_by_name: None,
    };
    tx.insert_version(&version, &content).await.map_err(|error| match error {
        StoreError::Duplicate => AppError::VersionConflict,
        other => other.into(),
    })?;
    app.current_version = Some(version.id);
    app.archetype.clone_from(&content.manifest.archetype);
    app.category = content.manifest.category;
    tx.update_app(&app).await?;
    let what = EventKind::VersionCreated { version: version.id, number };
    tx.publish(Event { workspace, app: app.id, at: ctx.now, kind: what });
    tx.audit(
        ctx.audit_entry("version.create").workspace(workspace).target(version.id).detail(
            serde_json::json!({ "app": app.id, "number": number, "trustScore": version.trust_score }),
        ),
    );
    Ok((app, version))
}

fn bundle_hash(content: &VersionContent) -> String {
    let mut hash = Sha256::new();
    // Writing to a hash cannot fail, nor can a manifest of plain fields.
    if let Ok(manifest) = serde_json::to_vec(&content.manifest) {
        hash.update((manifest.len() as u64).to_le_bytes());
        hash.update(manifest);
    }
    for (path, text) in &content.files {
        for part in [path, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
