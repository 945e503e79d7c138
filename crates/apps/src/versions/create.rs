//! Creating a version, which becomes current at once.

use std::collections::BTreeMap;

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
    events::{Event, EventKind},
};
use sha2::{Digest as _, Sha256};

use super::{AppVersion, BuiltFrom, VersionContent, VersionKind, check_files, make_current::make_current};
use crate::{App, AppError, AppsTx, InvalidInput, Manifest, manifest, trust};

/// Fields of a new version.
#[derive(Debug, Clone)]
pub struct CreateVersion {
    /// Manifest.
    pub manifest: Manifest,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
    /// Summary of the change, 1 to 300 characters after trimming; "Edited by hand" by default.
    pub summary: Option<String>,
    /// Origin of the version.
    pub kind: VersionKind,
    /// Instruction and builder, if it is built from an instruction.
    pub built_from: Option<BuiltFrom>,
}

/// Creates a version and makes it current. The caller checks before the transaction that the code compiles.
///
/// # Errors
/// * [`AppError::InvalidInput`] when the manifest, a file or the summary is out of bounds
/// * [`AppError::AppNotFound`] when the app was deleted
/// * [`AppError::VersionConflict`] when someone else created a version at the same time
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_version(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: CreateVersion,
) -> Result<(App, AppVersion), AppError> {
    input.manifest.check().map_err(InvalidInput::from)?;
    check_files(&input.files)?;
    let summary = input.summary.unwrap_or_else(|| "Edited by hand".to_owned());
    manifest::check_text(&summary, 1, 300).map_err(InvalidInput::Summary)?;

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
        built_from: input.built_from,
    };
    tx.insert_version(&version, &content).await.map_err(|error| match error {
        StoreError::Duplicate => AppError::VersionConflict,
        other => other.into(),
    })?;
    make_current(tx, &mut app, &version, &content.manifest).await?;
    let what = EventKind::VersionCreated { version: version.id, number };
    tx.publish(Event::of_app(workspace, app.id, ctx.now, what));
    tx.audit(
        ctx.audit_entry("version.create").workspace(workspace).target(version.id).app(app.id).detail(
            serde_json::json!({ "app": app.id, "number": number, "trustScore": version.trust_score }),
        ),
    );
    Ok((app, version))
}

fn bundle_hash(content: &VersionContent) -> String {
    let mut hash = Sha256::new();
    // A manifest has plain fields only, so that it always serializes.
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
    use serde_json::json;

    use super::*;
    use crate::{
        Category, InvalidManifest, InvalidText,
        testing::{
            FakeTx, assert_audited, builder_context, builder_id, can_edit, draft, manifest, workspace,
        },
        versions::ENTRY_FILE,
    };

    fn input() -> CreateVersion {
        let source = "export default { async fetch() { return eval('1') } }";
        CreateVersion {
            manifest: manifest(),
            files: BTreeMap::from([(ENTRY_FILE.to_owned(), source.to_owned())]),
            summary: None,
            kind: VersionKind::Edit,
            built_from: None,
        }
    }

    #[tokio::test]
    async fn a_new_version_is_current_at_once() {
        let (ctx, before) = (builder_context(), draft(7));
        let mut tx = FakeTx::with_app(&before);
        let (app, version) = create_version(&mut tx, &ctx, &can_edit(&ctx, &before), input()).await.unwrap();

        let expected = AppVersion {
            id: version.id,
            app: before.id,
            workspace: workspace(),
            number: 1,
            created_at: ctx.now,
            created_by: builder_id(),
            bundle_hash: version.bundle_hash.clone(),
            trust_score: 85,
            kind: VersionKind::Edit,
            summary: "Edited by hand".to_owned(),
            base: None,
            created_by_name: None,
            built_from: None,
        };
        assert_eq!(version, expected);
        assert_eq!(version.bundle_hash.len(), 64);
        let content = VersionContent { manifest: input().manifest, files: input().files };
        assert_eq!(tx.versions, [(expected, content)]);

        let expected = App {
            current_version: Some(version.id),
            archetype: "kiosk".to_owned(),
            category: Category::Data,
            ..before
        };
        assert_eq!(app, expected);
        assert_eq!(tx.apps, [expected]);
        let kind = EventKind::VersionCreated { version: version.id, number: 1 };
        assert_eq!(tx.work.events, [Event::of_app(workspace(), app.id, ctx.now, kind)]);
        let detail = json!({ "app": app.id, "number": 1, "trustScore": 85 });
        assert_audited(&tx.work, "version.create", version.id, Some(&detail));
    }

    #[tokio::test]
    async fn the_next_version_is_based_on_the_current_one() {
        let (ctx, app) = (builder_context(), draft(7));
        let right = can_edit(&ctx, &app);
        let mut tx = FakeTx::with_app(&app);
        let (_, first) = create_version(&mut tx, &ctx, &right, input()).await.unwrap();
        let input =
            CreateVersion { summary: Some(" Fixes it ".to_owned()), kind: VersionKind::Build, ..input() };
        let (app, second) = create_version(&mut tx, &ctx, &right, input).await.unwrap();
        assert_eq!((second.number, second.base), (2, Some(first.id)));
        assert_eq!((second.summary.as_str(), second.kind), ("Fixes it", VersionKind::Build));
        assert_eq!(second.bundle_hash, first.bundle_hash, "the content is the same");
        assert_eq!(app.current_version, Some(second.id));
    }

    #[tokio::test]
    async fn input_out_of_bounds_is_refused() {
        let (ctx, app) = (builder_context(), draft(7));
        let right = can_edit(&ctx, &app);
        let mut tx = FakeTx::with_app(&app);
        let mut unnamed = manifest();
        unnamed.name.clear();
        let summarized = |text: String| CreateVersion { summary: Some(text), ..input() };
        let summary_length = InvalidInput::Summary(InvalidText::Length { min: 1, max: 300 });
        let unnamed_manifest = InvalidManifest::new("name", "must have 2 to 60 characters");
        for (input, expected) in [
            (CreateVersion { manifest: unnamed, ..input() }, unnamed_manifest.into()),
            (CreateVersion { files: BTreeMap::new(), ..input() }, InvalidInput::NoEntryFile),
            (summarized(" ".to_owned()), summary_length.clone()),
            (summarized("x".repeat(301)), summary_length.clone()),
        ] {
            let refused = create_version(&mut tx, &ctx, &right, input).await;
            assert!(
                matches!(&refused, Err(AppError::InvalidInput(invalid)) if *invalid == expected),
                "{expected:?}: {refused:?}"
            );
        }
        assert!(tx.versions.is_empty() && tx.work.audit.is_empty() && tx.work.events.is_empty());
        assert_eq!(tx.apps, [app]);
    }

    #[tokio::test]
    async fn an_app_deleted_meanwhile_gets_no_version() {
        let (ctx, mut tx) = (builder_context(), FakeTx::default());
        let refused = create_version(&mut tx, &ctx, &can_edit(&ctx, &draft(7)), input()).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
        assert!(tx.versions.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn of_two_simultaneous_versions_the_second_is_a_conflict() {
        let (ctx, app) = (builder_context(), draft(7));
        let right = can_edit(&ctx, &app);
        let mut other = FakeTx::with_app(&app);
        create_version(&mut other, &ctx, &right, input()).await.unwrap();
        let mut tx = FakeTx { concurrent_version: other.versions.pop(), ..FakeTx::with_app(&app) };

        let refused = create_version(&mut tx, &ctx, &right, input()).await;
        assert!(matches!(refused, Err(AppError::VersionConflict)), "{refused:?}");
        assert_eq!(tx.apps, [app], "the app stays at its version");
        assert!(tx.work.audit.is_empty() && tx.work.events.is_empty());
    }

    #[test]
    fn the_bundle_hash_tells_manifests_paths_and_texts_apart() {
        let content = |manifest: Manifest, files: &[(&str, &str)]| VersionContent {
            manifest,
            files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        };
        let renamed = Manifest { name: "Deliveries".to_owned(), ..manifest() };
        let hashes = [
            content(manifest(), &[("main.js", "a"), ("x.js", "")]),
            content(manifest(), &[("main.js", "a")]),
            content(manifest(), &[("main.js", "b")]),
            content(manifest(), &[("main.jsa", "")]),
            content(renamed, &[("main.js", "a")]),
        ];
        let distinct: std::collections::BTreeSet<String> = hashes.iter().map(bundle_hash).collect();
        assert_eq!(distinct.len(), hashes.len());
    }
}
