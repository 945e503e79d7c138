//! Going back to an earlier version: the pointer moves, and nothing is built.

use kernel::{
    Context,
    authority::{AppRight, CanEdit, Locked},
    events::{Event, EventKind},
    id::VersionId,
};

use super::{EarlierVersion, Rollback, make_current::make_current};
use crate::{App, AppError, AppsTx};

/// A rollback that is asked for.
#[derive(Debug, Clone)]
pub struct RollBack {
    /// Version to make current, of the same app.
    pub to: EarlierVersion,
    /// Version that the caller takes to be current.
    pub expected_current: VersionId,
    /// Other effects of the rollback, for the audit log.
    pub detail: Option<serde_json::Value>,
}

/// Makes an earlier version of an app current. Runs that have been claimed keep their version.
///
/// # Errors
/// * [`AppError::AppNotFound`] when the app was deleted, or the version is of another app
/// * [`AppError::StaleVersion`] when another version is current by now
/// * [`AppError::GainNeedsApproval`] and [`AppError::ConnectionNeedsAdmin`] when the caller may not publish what the version
///   has and the current one does not
/// * [`AppError::AlreadyCurrent`] when the version is current already
/// * [`AppError::VersionUnusable`] when the files of the version are deleted
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn roll_back(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &Locked<AppRight<CanEdit>>,
    input: RollBack,
) -> Result<(App, Rollback), AppError> {
    let workspace = right.member().workspace();
    let to = &input.to.version;
    let found = tx.app_for_update(workspace, right.app()).await?;
    let mut app = found.filter(|app| app.id == to.app).ok_or(AppError::AppNotFound)?;
    if app.current_version != Some(input.expected_current) {
        return Err(AppError::StaleVersion);
    }
    if to.id == input.expected_current {
        return Err(AppError::AlreadyCurrent);
    }
    if !tx.has_version_files(workspace, app.id, to.id).await? {
        return Err(AppError::VersionUnusable);
    }
    input.to.check(tx, ctx, right.member().role(), &app).await?;
    let rollback = Rollback {
        id: ctx.new_id(),
        app: app.id,
        workspace,
        at: ctx.now,
        by: right.member().user(),
        by_name: None,
        from: input.expected_current,
        to: to.id,
    };
    tx.insert_rollback(&rollback).await?;
    make_current(tx, &mut app, to, &input.to.manifest).await?;
    let kind = EventKind::RolledBack { from: rollback.from, version: to.id, number: to.number };
    tx.publish(Event::of_app(workspace, app.id, ctx.now, kind));
    let mut detail = serde_json::json!({ "app": app.id, "from": rollback.from, "number": to.number });
    if let (Some(detail), Some(serde_json::Value::Object(more))) = (detail.as_object_mut(), input.detail) {
        detail.extend(more);
    }
    let entry = ctx.audit_entry("version.rollback").workspace(workspace).target(to.id);
    tx.audit(entry.app(app.id).detail(detail));
    Ok((app, rollback))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::{
        Manifest,
        safe_band::PublishRule,
        testing::{
            FakeTx, assert_audited, builder_context, builder_id, can_edit, draft, manifest, workspace,
        },
        versions::{
            AppVersion, Baseline, CreateVersion, ENTRY_FILE, Publishing, VersionKind, create_version,
        },
    };

    fn publishing(tx: &FakeTx) -> Publishing {
        let current = tx.apps.first().and_then(|app| app.current_version);
        let current = tx.versions.iter().find(|(version, _)| Some(version.id) == current);
        let of = |(version, content): &(AppVersion, crate::versions::VersionContent)| {
            Baseline::of(version, content.manifest.clone(), true)
        };
        let baseline = current.map_or_else(Baseline::nothing, of);
        Publishing { baseline, rule: PublishRule::Direct, inherits_manifest: false }
    }

    /// An app with two versions, of which the second is current.
    async fn with_two_versions() -> (FakeTx, AppVersion, AppVersion) {
        let (ctx, app) = (builder_context(), draft(7));
        let mut tx = FakeTx::with_app(&app);
        let mut versions = Vec::new();
        for archetype in ["kiosk", "workshop"] {
            let input = CreateVersion {
                manifest: Manifest { archetype: archetype.to_owned(), ..manifest() },
                files: BTreeMap::from([(ENTRY_FILE.to_owned(), "export default {}".to_owned())]),
                summary: None,
                kind: VersionKind::Edit,
                built_from: None,
                handlers: None,
                publishing: publishing(&tx),
            };
            versions.push(create_version(&mut tx, &ctx, &can_edit(&ctx, &app), input).await.unwrap().1);
        }
        tx.work.audit.clear();
        tx.work.events.clear();
        let [first, second] = versions.try_into().unwrap();
        (tx, first, second)
    }

    async fn go_back(
        tx: &mut FakeTx,
        to: &AppVersion,
        expected_current: VersionId,
    ) -> Result<(App, Rollback), AppError> {
        let ctx = builder_context();
        let manifest = tx.versions.iter().find(|(known, _)| known.id == to.id).unwrap().1.manifest.clone();
        let publishing = publishing(tx);
        let to = EarlierVersion { version: to.clone(), manifest, has_fetch: true, publishing };
        let input = RollBack { to, expected_current, detail: None };
        roll_back(tx, &ctx, &can_edit(&ctx, &draft(7)), input).await
    }

    #[tokio::test]
    async fn the_pointer_moves_and_the_way_back_is_told() {
        let (mut tx, first, second) = with_two_versions().await;
        let (app, rollback) = go_back(&mut tx, &first, second.id).await.unwrap();
        assert_eq!((app.current_version, app.archetype.as_str()), (Some(first.id), "kiosk"));
        assert_eq!(tx.apps, std::slice::from_ref(&app));
        assert_eq!(tx.versions.len(), 2, "nothing is built");
        assert_eq!((rollback.from, rollback.to, rollback.by), (second.id, first.id, builder_id()));
        assert_eq!(tx.rollbacks, [rollback]);
        let kind = EventKind::RolledBack { from: second.id, version: first.id, number: 1 };
        assert_eq!(tx.work.events, [Event::of_app(workspace(), app.id, builder_context().now, kind)]);
        let detail = json!({ "app": app.id, "from": second.id, "number": 1 });
        assert_audited(&tx.work, "version.rollback", first.id, Some(&detail));
        // And forth.
        let (app, _) = go_back(&mut tx, &second, first.id).await.unwrap();
        assert_eq!((app.current_version, app.archetype.as_str()), (Some(second.id), "workshop"));
    }

    #[tokio::test]
    async fn of_two_rollbacks_at_once_the_second_is_stale() {
        let (mut tx, first, second) = with_two_versions().await;
        go_back(&mut tx, &first, second.id).await.unwrap();
        let refused = go_back(&mut tx, &first, second.id).await;
        assert!(matches!(refused, Err(AppError::StaleVersion)), "{refused:?}");
        assert_eq!((tx.rollbacks.len(), tx.work.audit.len()), (1, 1));
    }

    #[tokio::test]
    async fn the_current_version_is_no_way_back() {
        let (mut tx, _, second) = with_two_versions().await;
        let refused = go_back(&mut tx, &second, second.id).await;
        assert!(matches!(refused, Err(AppError::AlreadyCurrent)), "{refused:?}");
        assert!(tx.rollbacks.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_deleted_app_and_a_version_of_another_are_not_found() {
        let (mut tx, first, second) = with_two_versions().await;
        let foreign = AppVersion { app: draft(8).id, ..first.clone() };
        let refused = go_back(&mut tx, &foreign, second.id).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
        tx.apps.clear();
        let refused = go_back(&mut tx, &first, second.id).await;
        assert!(matches!(refused, Err(AppError::AppNotFound)), "{refused:?}");
        assert!(tx.rollbacks.is_empty() && tx.work.audit.is_empty());
    }
}
