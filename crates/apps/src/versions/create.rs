//! Creating a version, which becomes current at once.

use std::collections::BTreeMap;

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit, Locked},
    events::{Event, EventKind},
};
use sha2::{Digest as _, Sha256};

use super::{
    AppVersion, BuiltFrom, Handlers, Publishing, VersionContent, VersionKind, check_files,
    make_current::make_current,
};
use crate::{App, AppError, AppsTx, InvalidInput, Manifest, manifest, safe_band::Reach, trust};

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
    /// Handlers that its code exports.
    pub handlers: Option<Handlers>,
    /// Version that it is measured against, and the rule.
    pub publishing: Publishing,
}

/// Creates a version and makes it current. The caller checks before the transaction that the code compiles.
///
/// # Errors
/// * [`AppError::InvalidInput`] when the manifest, a file or the summary is out of bounds
/// * [`AppError::AppNotFound`] when the app was deleted
/// * [`AppError::StaleVersion`], [`AppError::GainNeedsApproval`], [`AppError::OutsideBand`] and
///   [`AppError::ConnectionNeedsAdmin`] when the caller may not publish what the version gains
/// * [`AppError::VersionConflict`] when someone else created a version at the same time
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_version(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &Locked<AppRight<CanEdit>>,
    input: CreateVersion,
) -> Result<(App, AppVersion), AppError> {
    input.manifest.check().map_err(InvalidInput::from)?;
    check_files(&input.files)?;
    let summary = input.summary.unwrap_or_else(|| "Edited by hand".to_owned());
    manifest::check_text(&summary, 1, 300).map_err(InvalidInput::Summary)?;

    let workspace = right.member().workspace();
    let mut app = tx.app_for_update(workspace, right.app()).await?.ok_or(AppError::AppNotFound)?;
    let trust_score = trust::assess(&input.manifest, &input.files).score;
    let reach = Reach {
        manifest: &input.manifest,
        trust_score,
        // Code that was not checked may answer visitors.
        has_fetch: input.handlers.is_none_or(|handlers| handlers.fetch),
        sharing: app.sharing,
    };
    input.publishing.check(tx, ctx, right.member().role(), &app, reach).await?;
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
        trust_score,
        handlers: input.handlers,
        kind: input.kind,
        summary: summary.trim().to_owned(),
        base: app.current_version,
        created_by_name: None,
        is_runnable: true,
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
    use kernel::{
        caller::{Scope, Scopes},
        id::VersionId,
        testing::{at, context, token_of},
    };
    use serde_json::json;

    use super::*;
    use crate::{
        Category, InvalidManifest, InvalidText,
        manifest::EgressPermission,
        safe_band::PublishRule,
        testing::{
            FakeTx, assert_audited, builder_context, builder_id, can_edit, draft, manifest, workspace,
        },
        versions::{Baseline, ENTRY_FILE},
    };

    const HANDLERS: Handlers = Handlers { scheduled: false, fetch: true };

    fn publishing(baseline: Baseline) -> Publishing {
        Publishing { baseline, rule: PublishRule::Direct, inherits_manifest: false }
    }

    fn input() -> CreateVersion {
        let source = "export default { async fetch() { return eval('1') } }";
        CreateVersion {
            manifest: manifest(),
            files: BTreeMap::from([(ENTRY_FILE.to_owned(), source.to_owned())]),
            summary: None,
            kind: VersionKind::Edit,
            built_from: None,
            handlers: Some(HANDLERS),
            publishing: publishing(Baseline::nothing()),
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
            handlers: Some(HANDLERS),
            kind: VersionKind::Edit,
            summary: "Edited by hand".to_owned(),
            base: None,
            created_by_name: None,
            is_runnable: true,
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
        let input = CreateVersion {
            summary: Some(" Fixes it ".to_owned()),
            kind: VersionKind::Build,
            publishing: publishing(Baseline::of(&first, manifest(), true)),
            ..input()
        };
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

    /// A version that names these hosts.
    fn calling(hosts: &[&str], baseline: Baseline) -> CreateVersion {
        let host = |host: &&str| EgressPermission::new(*host, None);
        let mut manifest = manifest();
        manifest.permissions.egress = hosts.iter().map(host).collect();
        CreateVersion { manifest, publishing: publishing(baseline), ..input() }
    }

    #[tokio::test]
    async fn a_token_publishes_inside_the_safe_band_of_the_current_version() {
        let app = draft(7);
        let scopes = |scope| {
            let ctx = context(token_of(builder_id(), workspace(), Scopes::of(scope)), at(1_000));
            // Each context has the same ids: those of the scopes are others than the person's.
            for _ in 0..(1 + scope as usize) * 10 {
                let _: VersionId = ctx.new_id();
            }
            ctx
        };
        let (person, token) = (builder_context(), scopes(Scope::Write));
        let mut tx = FakeTx::with_app(&app);
        let first = calling(&["a.example", "b.example"], Baseline::nothing());
        let refused = create_version(&mut tx, &token, &can_edit(&token, &app), first.clone()).await;
        assert!(
            matches!(&refused, Err(AppError::GainNeedsApproval(reasons)) if reasons.len() == 3),
            "{refused:?}"
        );
        let (_, version) =
            create_version(&mut tx, &person, &can_edit(&person, &app), first.clone()).await.unwrap();
        let baseline = || Baseline::of(&version, first.manifest.clone(), true);
        let fewer = calling(&["a.example"], baseline());
        let other = calling(&["a.example", "c.example"], baseline());
        let refused = create_version(&mut tx, &token, &can_edit(&token, &app), other.clone()).await;
        assert!(matches!(refused, Err(AppError::GainNeedsApproval(_))), "{refused:?}");
        create_version(&mut tx, &token, &can_edit(&token, &app), fewer).await.unwrap();
        // By now the app has lost b.example: what was measured before would give it back.
        let same = calling(&["a.example", "b.example"], baseline());
        for ctx in [&token, &person] {
            let refused = create_version(&mut tx, ctx, &can_edit(ctx, &app), same.clone()).await;
            assert!(matches!(refused, Err(AppError::StaleVersion)), "{refused:?}");
        }
        // Nothing that the current version lacks.
        let same = calling(&["a.example"], baseline());
        create_version(&mut tx, &person, &can_edit(&person, &app), same.clone()).await.unwrap();
        let inherited = Publishing { inherits_manifest: true, ..publishing(baseline()) };
        let inherited = CreateVersion { publishing: inherited, ..same };
        let refused = create_version(&mut tx, &person, &can_edit(&person, &app), inherited).await;
        assert!(matches!(refused, Err(AppError::StaleVersion)), "{refused:?}");
        // A token with the scope admin is not confined.
        let admin = scopes(Scope::Admin);
        let current = tx.versions.last().unwrap().clone();
        let baseline = Baseline::of(&current.0, current.1.manifest, true);
        create_version(&mut tx, &admin, &can_edit(&admin, &app), calling(&["d.example"], baseline))
            .await
            .unwrap();
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
