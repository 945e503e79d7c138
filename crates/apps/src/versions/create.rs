//! Making a version; it becomes current at once.

use std::collections::BTreeMap;

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
    events::{Event, EventKind},
};
use sha2::{Digest as _, Sha256};

use super::{AppVersion, VersionContent, VersionKind};
use crate::{App, AppError, AppsTx, Manifest, manifest, trust};

/// The path of the module whose default export holds the handlers.
pub const ENTRY_FILE: &str = "main.js";

const MAX_FILES: usize = 100;
const MAX_PATH_LEN: usize = 200;
const MAX_TOTAL_BYTES: usize = 700 << 10;

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

/// Checks the paths and sizes of a bundle's files.
///
/// # Errors
/// Naming the file that is off.
pub fn check_files(files: &BTreeMap<String, String>) -> Result<(), AppError> {
    if !files.contains_key(ENTRY_FILE) {
        return Err(AppError::invalid("files", format!("must hold {ENTRY_FILE}, an ES module")));
    }
    if files.len() > MAX_FILES {
        return Err(AppError::invalid("files", format!("may hold at most {MAX_FILES} files")));
    }
    if files.values().map(String::len).sum::<usize>() > MAX_TOTAL_BYTES {
        return Err(AppError::invalid(
            "files",
            format!("may hold at most {} KiB in all", MAX_TOTAL_BYTES >> 10),
        ));
    }
    for path in files.keys() {
        let plain = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if path.len() > MAX_PATH_LEN || !path.split('/').all(plain) {
            return Err(AppError::invalid(
                format!("files[{path:?}]"),
                "must be a relative path of letters, digits, `-`, `_` and `.`",
            ));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> BTreeMap<String, String> {
        paths.iter().map(|path| ((*path).to_owned(), String::new())).collect()
    }

    #[test]
    fn files_must_stay_inside_the_bundle() {
        assert!(check_files(&files(&["main.js", "lib/a-b_c.js"])).is_ok());
        for path in ["../x.js", "/x.js", "a//b.js", "a/./b.js", "a\\b.js", "", "a\0b"] {
            let error = check_files(&files(&["main.js", path])).unwrap_err();
            assert!(error.to_string().contains("files["), "{path:?}: {error}");
        }
        assert!(check_files(&files(&["index.js"])).unwrap_err().to_string().contains("main.js"));
    }
}
