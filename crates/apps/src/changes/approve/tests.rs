use kernel::{
    Locale,
    authority::Sharing,
    caller::{Scope, Scopes},
    testing::{at, context, id, session_of, token_of},
};

use super::*;
use crate::{
    AppVersion,
    changes::{ChangePlan, PlannedBy, fail_change},
    testing::{
        FakeTx, assert_audited, builder_context, builder_id, can_edit, can_share, draft, manifest, workspace,
    },
    versions::{ChangeBuilder, ENTRY_FILE},
};

/// The app at the version that plans start from.
fn app() -> App {
    App { current_version: Some(id(20)), ..draft(7) }
}

/// An open plan of the builder's that renames the app in its manifest.
fn planned() -> Change {
    let mut after = manifest();
    after.name = "Sales".to_owned();
    let plan = ChangePlan {
        base: id(20),
        instruction: "Rename the app to \"Sales\".".to_owned(),
        summary: "Rename the app to \"Sales\".".to_owned(),
        before: manifest(),
        manifest: after,
        steps: Vec::new(),
        notes: Vec::new(),
        needs_console: Vec::new(),
        closed_hosts: Vec::new(),
        locale: Locale::En,
        sharing: None,
        trust: None,
        app: AppUpdate { name: Some("Sales".to_owned()), ..AppUpdate::default() },
        automations: Vec::new(),
        planned_by: PlannedBy::Rules,
    };
    Change {
        id: id(60),
        workspace: workspace(),
        app: app().id,
        owner: builder_id(),
        run: None,
        plan,
        created_at: at(0),
        expires_at: at(3_600_000),
        outcome: None,
    }
}

fn store(change: &Change) -> FakeTx {
    FakeTx { changes: vec![change.clone()], ..FakeTx::with_app(&app()) }
}

fn with_token() -> Context {
    context(token_of(builder_id(), workspace(), Scopes::of(Scope::Write)), at(1_000))
}

/// The base version of plans.
fn baseline() -> crate::versions::Baseline {
    let version = AppVersion {
        id: id(20),
        app: app().id,
        workspace: workspace(),
        number: 1,
        created_at: at(0),
        created_by: builder_id(),
        bundle_hash: String::new(),
        trust_score: 100,
        handlers: None,
        kind: VersionKind::Edit,
        summary: "First".to_owned(),
        base: None,
        created_by_name: None,
        is_runnable: true,
        built_from: None,
    };
    crate::versions::Baseline::of(&version, manifest(), true)
}

async fn approve(tx: &mut FakeTx, ctx: &Context, change: &Change) -> Result<Approved, AppError> {
    let files = BTreeMap::from([(ENTRY_FILE.to_owned(), "export default {}".to_owned())]);
    let can_share = kernel::authority::locked_for_test(can_share(ctx, &app()));
    let approval = Approval {
        change: change.id,
        manifest: &change.plan.manifest,
        files: &files,
        baseline: baseline(),
        handlers: None,
        can_share: Some(&can_share),
    };
    approve_change(tx, ctx, &can_edit(ctx, &app()), approval).await
}

#[tokio::test]
async fn an_approved_change_is_a_version_with_the_same_code() {
    let (ctx, change) = (with_token(), planned());
    let mut tx = store(&change);
    let approved = approve(&mut tx, &ctx, &change).await.unwrap();

    let [(version, content)] = &tx.versions[..] else { panic!("{:?}", tx.versions) };
    assert_eq!(approved.change.outcome, Some(ChangeOutcome::Live(version.id)));
    assert_eq!(tx.changes, [approved.change]);
    assert_eq!((&content.manifest, content.files.len()), (&change.plan.manifest, 1));
    assert_eq!((version.kind, version.base), (VersionKind::Build, Some(id(20))));
    let built = version.built_from.as_ref().unwrap();
    assert_eq!((&*built.instruction, built.builder), (&*change.plan.instruction, ChangeBuilder::Offline));
    let app = &tx.apps[0];
    assert_eq!((app.current_version, &*app.name), (Some(version.id), "Sales"));
    assert_eq!(approved.app, *app);
    let actions: Vec<_> = tx.work.audit.iter().map(|entry| &*entry.action).collect();
    assert_eq!(actions, ["version.create", "app.update", "change.approve"]);
}

#[tokio::test]
async fn code_that_a_model_wrote_is_a_version_of_its_builder() {
    let (ctx, mut change) = (builder_context(), planned());
    change.plan.manifest = change.plan.before.clone();
    change.plan.app = AppUpdate::default();
    assert!(change.plan.is_empty());
    let files = BTreeMap::from([(ENTRY_FILE.to_owned(), "export default { fetch() {} }".to_owned())]);
    change.plan.planned_by = PlannedBy::Model { model: "a-model".to_owned(), files: Some(files.clone()) };
    let mut tx = store(&change);
    approve(&mut tx, &ctx, &change).await.unwrap();
    let [(version, content)] = &tx.versions[..] else { panic!("{:?}", tx.versions) };
    assert_eq!(content.files, files);
    assert_eq!(version.built_from.as_ref().unwrap().builder, ChangeBuilder::ModelBuilder);
}

#[tokio::test]
async fn a_change_outside_the_manifest_is_no_version() {
    let mut change = planned();
    change.plan.manifest = change.plan.before.clone();
    let mut tx = store(&change);
    let approved = approve(&mut tx, &builder_context(), &change).await.unwrap();
    assert_eq!(approved.change.outcome, Some(ChangeOutcome::Live(id(20))));
    assert!(tx.versions.is_empty());
}

#[tokio::test]
async fn a_change_is_approved_once() {
    let (ctx, change) = (builder_context(), planned());
    let mut tx = store(&change);
    approve(&mut tx, &ctx, &change).await.unwrap();
    let again = approve(&mut tx, &ctx, &change).await;
    assert!(matches!(again, Err(AppError::ChangeNotOpen(ChangeState::Live))), "{again:?}");
    assert_eq!(tx.versions.len(), 1);
}

#[tokio::test]
async fn a_plan_can_be_approved_until_it_expires() {
    let change = planned();
    let late = |millis| context(session_of(builder_id()), at(millis));
    approve(&mut store(&change), &late(3_599_999), &change).await.unwrap();
    let expired = approve(&mut store(&change), &late(3_600_000), &change).await;
    assert!(matches!(expired, Err(AppError::ChangeNotOpen(ChangeState::Expired))), "{expired:?}");
}

#[tokio::test]
async fn only_its_owner_finds_a_plan() {
    let change = planned();
    for other in [
        Change { owner: id(11), ..change.clone() },
        Change { workspace: id(4), ..change.clone() },
        Change { app: id(8), ..change.clone() },
    ] {
        let mut tx = store(&other);
        let refused = approve(&mut tx, &builder_context(), &other).await;
        assert!(matches!(refused, Err(AppError::ChangeNotFound)), "{refused:?}");
        let ctx = builder_context();
        let right = can_edit(&ctx, &app());
        let refused = fail_change(&mut tx, &ctx, &right, other.id, "gone".to_owned()).await;
        assert!(matches!(refused, Err(AppError::ChangeNotFound)), "{refused:?}");
        assert!(tx.versions.is_empty() && tx.work.audit.is_empty());
    }
}

#[tokio::test]
async fn the_manifest_that_was_shown_is_the_one_that_is_approved() {
    let change = planned();
    let mut shown = change.clone();
    shown.plan.manifest.description = "Something else.".to_owned();
    let mut tx = store(&change);
    let refused = approve(&mut tx, &builder_context(), &shown).await;
    assert!(matches!(refused, Err(AppError::ManifestChanged)), "{refused:?}");
    assert!(tx.versions.is_empty() && tx.changes[0].outcome.is_none());
}

#[tokio::test]
async fn an_app_that_moved_on_keeps_its_version() {
    let change = planned();
    let mut tx = store(&change);
    tx.apps[0].current_version = Some(id(21));
    let refused = approve(&mut tx, &builder_context(), &change).await;
    assert!(matches!(refused, Err(AppError::StaleVersion)), "{refused:?}");
    assert_eq!(tx.apps[0].current_version, Some(id(21)));
}

#[tokio::test]
async fn a_plan_without_changes_cannot_be_approved() {
    let mut change = planned();
    change.plan.manifest = change.plan.before.clone();
    change.plan.app = AppUpdate::default();
    let refused = approve(&mut store(&change), &builder_context(), &change).await;
    assert!(matches!(refused, Err(AppError::EmptyPlan)), "{refused:?}");
}

#[tokio::test]
async fn a_token_stays_inside_the_safe_band() {
    let mut gains = planned();
    gains.plan.needs_console = vec!["More people can see the app.".to_owned()];
    let refused = approve(&mut store(&gains), &with_token(), &gains).await;
    assert!(
        matches!(&refused, Err(AppError::OutsideBand(why)) if *why == gains.plan.needs_console),
        "{refused:?}"
    );
    approve(&mut store(&gains), &builder_context(), &gains).await.unwrap();

    // When the plan was made, the app was shared with the workspace, and `team` was narrower.
    let mut sharing = planned();
    sharing.plan.app.sharing = Some(Sharing::Team);
    let refused = approve(&mut store(&sharing), &with_token(), &sharing).await;
    assert!(matches!(refused, Err(AppError::OutsideBand(_))), "{refused:?}");
    let mut tx = store(&sharing);
    tx.apps[0].sharing = Sharing::Workspace;
    let approved = approve(&mut tx, &with_token(), &sharing).await.unwrap();
    assert_eq!((tx.apps[0].sharing, approved.app.sharing), (Sharing::Team, Sharing::Team));
}

#[tokio::test]
async fn sharing_needs_its_own_right() {
    let mut change = planned();
    change.plan.app.sharing = Some(Sharing::Team);
    let (ctx, mut tx) = (builder_context(), store(&change));
    let files = BTreeMap::from([(ENTRY_FILE.to_owned(), "export default {}".to_owned())]);
    let approval = Approval {
        change: change.id,
        manifest: &change.plan.manifest,
        files: &files,
        baseline: baseline(),
        handlers: None,
        can_share: None,
    };
    let refused = approve_change(&mut tx, &ctx, &can_edit(&ctx, &app()), approval).await;
    assert!(matches!(refused, Err(AppError::MayNotShare)), "{refused:?}");
}

#[tokio::test]
async fn a_change_that_cannot_be_made_fails_once() {
    let (ctx, change) = (builder_context(), planned());
    let right = can_edit(&ctx, &app());
    let mut tx = store(&change);
    let failed =
        fail_change(&mut tx, &ctx, &right, change.id, "The project is gone.".to_owned()).await.unwrap();
    assert_eq!(failed.state(ctx.now), ChangeState::Failed);
    assert_eq!(tx.changes, [failed]);
    let detail = serde_json::json!({ "app": app().id });
    assert_audited(&tx.work, "change.fail", change.id, Some(&detail));
    let again = approve(&mut tx, &ctx, &change).await;
    assert!(matches!(again, Err(AppError::ChangeNotOpen(ChangeState::Failed))), "{again:?}");
}
