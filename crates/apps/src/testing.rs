//! An in-memory store and fixtures for the tests of this crate's use cases.
//!
//! Callers are members of [`workspace()`]; unless a test says otherwise, everything happens there and [`builder_id()`]
//! does it.

use std::{collections::BTreeMap, fmt::Display};

use async_trait::async_trait;
use kernel::{
    AuditTarget, Context, StoreError, Timestamp,
    authority::{
        AppAccess, AppCreator, AppRight, AppRights, Builder, CanEdit, CanShare, Locked, Role, Sharing,
        authorize_app, locked_for_test,
    },
    delegate_unit_of_work,
    id::{AppId, ChangeId, UserId, VersionId, WorkspaceId},
    testing::{RecordingUnitOfWork, at, context, id, member, session_of},
};
use serde_json::Value;

use crate::{
    App, AppVersion, AppsTx, Category, Manifest,
    access::{AppGrant, PreviousAccess},
    changes::{Change, ChangeEffects, ChangeOutcome, ChangeState, ChangesTx},
    versions::{Rollback, VersionContent},
};

/// A store whose tables are plain collections.
#[derive(Debug, Default)]
pub(crate) struct FakeTx {
    pub(crate) work: RecordingUnitOfWork,
    /// Apps that are not deleted.
    pub(crate) apps: Vec<App>,
    /// Times at which apps were deleted.
    pub(crate) deleted: BTreeMap<AppId, Timestamp>,
    pub(crate) versions: Vec<(AppVersion, VersionContent)>,
    pub(crate) rollbacks: Vec<Rollback>,
    pub(crate) grants: Vec<(AppId, AppGrant)>,
    pub(crate) members: Vec<(WorkspaceId, UserId)>,
    pub(crate) changes: Vec<Change>,
    pub(crate) effects: Vec<ChangeEffects>,
    /// A version that another transaction commits right after this one has read the latest number.
    pub(crate) concurrent_version: Option<(AppVersion, VersionContent)>,
}

delegate_unit_of_work!(FakeTx, work);

impl FakeTx {
    /// A store that holds this app.
    pub(crate) fn with_app(app: &App) -> Self {
        Self { apps: vec![app.clone()], ..Self::default() }
    }

    /// The people and rights granted on an app, by person.
    pub(crate) fn grants_on(&self, app: AppId) -> BTreeMap<UserId, AppRights> {
        self.grants.iter().filter(|(of, _)| *of == app).map(|(_, grant)| (grant.user, grant.rights)).collect()
    }

    fn find_app(&mut self, workspace: WorkspaceId, app: AppId) -> Option<&mut App> {
        self.apps.iter_mut().find(|known| known.workspace == workspace && known.id == app)
    }
}

#[async_trait]
impl AppsTx for FakeTx {
    async fn insert_app(&mut self, app: &App) -> Result<(), StoreError> {
        if self.apps.iter().any(|known| known.slug == app.slug) {
            return Err(StoreError::Duplicate);
        }
        self.apps.push(app.clone());
        Ok(())
    }

    async fn app_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<App>, StoreError> {
        Ok(self.find_app(workspace, app).cloned())
    }

    async fn update_app(&mut self, app: &App) -> Result<(), StoreError> {
        if let Some(known) = self.find_app(app.workspace, app.id) {
            known.clone_from(app);
        }
        Ok(())
    }

    async fn delete_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.find_app(workspace, app).is_some() {
            self.apps.retain(|known| known.id != app);
            self.deleted.insert(app, now);
        }
        Ok(())
    }

    async fn latest_version_number(&mut self, workspace: WorkspaceId, app: AppId) -> Result<u32, StoreError> {
        let versions = self.versions.iter().map(|(version, _)| version);
        let own = versions.filter(|version| version.workspace == workspace && version.app == app);
        let latest = own.map(|version| version.number).max().unwrap_or_default();
        self.versions.extend(self.concurrent_version.take());
        Ok(latest)
    }

    async fn version_content(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        let is_same = |(known, _): &&(AppVersion, VersionContent)| {
            (known.workspace, known.app, known.id) == (workspace, app, version)
        };
        Ok(self.versions.iter().find(is_same).cloned())
    }

    async fn has_version_files(
        &mut self,
        _: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError> {
        let is_meant = |known: &AppVersion| (known.app, known.id) == (app, version);
        Ok(self.versions.iter().any(|(known, _)| is_meant(known) && known.is_runnable))
    }

    async fn insert_version(
        &mut self,
        version: &AppVersion,
        content: &VersionContent,
    ) -> Result<(), StoreError> {
        let is_same = |known: &AppVersion| known.app == version.app && known.number == version.number;
        if self.versions.iter().any(|(known, _)| is_same(known)) {
            return Err(StoreError::Duplicate);
        }
        self.versions.push((version.clone(), content.clone()));
        Ok(())
    }

    async fn insert_rollback(&mut self, rollback: &Rollback) -> Result<(), StoreError> {
        self.rollbacks.push(rollback.clone());
        Ok(())
    }

    async fn replace_access(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        sharing: Sharing,
        grants: &[AppGrant],
    ) -> Result<Option<PreviousAccess>, StoreError> {
        let Some(known) = self.find_app(workspace, app) else { return Ok(None) };
        let sharing = std::mem::replace(&mut known.sharing, sharing);
        let revoked = self.grants.extract_if(.., |(of, _)| *of == app);
        let people = revoked.map(|(_, grant)| grant.user).collect();
        self.grants.extend(grants.iter().map(|grant| (app, grant.clone())));
        Ok(Some(PreviousAccess { sharing, people }))
    }

    async fn grants_of_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<AppGrant>, StoreError> {
        if self.find_app(workspace, app).is_none() {
            return Ok(Vec::new());
        }
        Ok(self.grants.iter().filter(|(of, _)| *of == app).map(|(_, grant)| grant.clone()).collect())
    }

    async fn delete_grants_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<AppId>, StoreError> {
        let apps: Vec<AppId> =
            self.apps.iter().filter(|app| app.workspace == workspace).map(|app| app.id).collect();
        let revoked = self.grants.extract_if(.., |(app, grant)| grant.user == user && apps.contains(app));
        Ok(revoked.map(|(app, _)| app).collect())
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let is_member = |user: &&UserId| self.members.contains(&(workspace, **user));
        Ok(users.iter().filter(is_member).copied().collect())
    }
}

#[async_trait]
impl ChangesTx for FakeTx {
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let is_open = |change: &&Change| {
            let is_planned = change.state(now) == ChangeState::Planned;
            change.workspace == workspace && change.owner == owner && is_planned
        };
        Ok(self.changes.iter().filter(is_open).count() as u64)
    }

    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError> {
        self.changes.push(change.clone());
        Ok(())
    }

    async fn change_for_update(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let is_same = |it: &&Change| it.id == id && it.workspace == workspace && it.owner == owner;
        Ok(self.changes.iter().find(is_same).cloned())
    }

    async fn insert_change_effects(
        &mut self,
        _: WorkspaceId,
        _: AppId,
        effects: &ChangeEffects,
        _: Timestamp,
    ) -> Result<(), StoreError> {
        self.effects.push(effects.clone());
        Ok(())
    }

    async fn change_effects(
        &mut self,
        _: WorkspaceId,
        _: AppId,
        (after, up_to): (u32, u32),
    ) -> Result<Vec<ChangeEffects>, StoreError> {
        let is_between = |it: &&ChangeEffects| it.version_number > after && it.version_number <= up_to;
        Ok(self.effects.iter().rev().filter(is_between).cloned().collect())
    }

    async fn settle_change(&mut self, id: ChangeId, outcome: &ChangeOutcome) -> Result<(), StoreError> {
        for change in self.changes.iter_mut().filter(|it| it.id == id) {
            change.outcome = Some(outcome.clone());
        }
        Ok(())
    }
}

pub(crate) fn workspace() -> WorkspaceId {
    id(3)
}

pub(crate) fn builder_id() -> UserId {
    id(2)
}

/// A request of the builder, one second after the fixtures were created.
pub(crate) fn builder_context() -> Context {
    context(session_of(builder_id()), at(1_000))
}

/// Proof that the caller of `ctx` is a builder of the workspace.
pub(crate) fn builder(ctx: &Context) -> Builder {
    member(ctx, workspace(), Role::Builder).require_builder().unwrap()
}

/// Proof that the caller of `ctx` may create apps.
pub(crate) fn creator(ctx: &Context) -> Locked<AppCreator> {
    locked_for_test(builder(ctx).into())
}

/// A private app of the builder that has no version.
pub(crate) fn draft(number: u128) -> App {
    App {
        id: id(number),
        workspace: workspace(),
        slug: format!("orders-{number}"),
        name: "Orders".to_owned(),
        description: "Takes orders.".to_owned(),
        archetype: "workshop".to_owned(),
        category: Category::Interface,
        sharing: Sharing::Private,
        is_paused: false,
        is_in_review: false,
        current_version: None,
        created_by: builder_id(),
        created_at: at(0),
    }
}

/// Proof that the builder may edit an app, because they created it.
pub(crate) fn can_edit(ctx: &Context, app: &App) -> Locked<AppRight<CanEdit>> {
    locked_for_test(access_to(ctx, app).require().unwrap())
}

/// Proof that the builder may share an app, because they created it.
pub(crate) fn can_share(ctx: &Context, app: &App) -> AppRight<CanShare> {
    access_to(ctx, app).require().unwrap()
}

fn access_to(ctx: &Context, app: &App) -> AppAccess {
    let member = member(ctx, workspace(), Role::Builder);
    authorize_app(member, Some(&app.to_fact(AppRights::NONE))).unwrap()
}

/// A manifest that asks for nothing.
pub(crate) fn manifest() -> Manifest {
    Manifest::minimal("Orders", "Takes orders.", "kiosk", Category::Data)
}

/// Checks that exactly one audit entry was written, and everything it says.
#[track_caller]
pub(crate) fn assert_audited(
    work: &RecordingUnitOfWork,
    action: &str,
    target: impl Display,
    detail: Option<&Value>,
) {
    let [entry] = &work.audit[..] else { panic!("expected one audit entry: {:?}", work.audit) };
    assert_eq!((&*entry.action, entry.workspace), (action, Some(workspace())));
    assert_eq!(entry.actor, kernel::Actor::Person(builder_id()));
    assert_eq!(entry.target, Some(AuditTarget(target.to_string())));
    assert_eq!(entry.detail.as_ref(), detail);
}
