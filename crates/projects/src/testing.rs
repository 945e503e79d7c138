//! An in-memory store and fixtures for the tests of this crate's use cases.
//!
//! Callers are members of [`workspace()`]; unless a test says otherwise, everything happens there and [`creator_id()`]
//! does it.

use std::fmt::Display;

use async_trait::async_trait;
use kernel::{
    AuditTarget, Context, StoreError, Timestamp,
    authority::Role,
    delegate_unit_of_work,
    id::{ProjectId, ProjectKeyId, UserId, WorkspaceId},
    testing::{RecordingUnitOfWork, at, context, id, member, session_of},
    token::{Digest, Peppers},
    vault::{MasterKeys, Vault},
};
use serde_json::Value;

use crate::{
    Project, ProjectFact, ProjectKey, ProjectRight, ProjectsTx, Settings, access::Own, authorize_project,
};

/// A store whose tables are plain collections.
#[derive(Debug, Default)]
pub(crate) struct FakeTx {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) projects: Vec<Project>,
    pub(crate) keys: Vec<(ProjectKey, Digest)>,
    /// Deleted projects, with when and by whom.
    pub(crate) deleted: Vec<(Project, Timestamp, UserId)>,
}

delegate_unit_of_work!(FakeTx, work);

impl FakeTx {
    /// A store that holds this project.
    pub(crate) fn with_project(project: &Project) -> Self {
        Self { projects: vec![project.clone()], ..Self::default() }
    }

    fn find_project(&mut self, workspace: WorkspaceId, project: ProjectId) -> Option<&mut Project> {
        self.projects.iter_mut().find(|known| known.workspace == workspace && known.id == project)
    }
}

#[async_trait]
impl ProjectsTx for FakeTx {
    async fn count_projects(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let deleted = self.deleted.iter().map(|(project, ..)| project);
        Ok(self.projects.iter().chain(deleted).filter(|project| project.workspace == workspace).count()
            as u64)
    }

    async fn insert_project(&mut self, project: &Project) -> Result<(), StoreError> {
        if self.projects.iter().any(|known| known.slug == project.slug) {
            return Err(StoreError::Duplicate);
        }
        self.projects.push(project.clone());
        Ok(())
    }

    async fn project_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<Project>, StoreError> {
        Ok(self.find_project(workspace, project).cloned())
    }

    async fn mark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError> {
        let is_meant = |known: &mut Project| known.workspace == workspace && known.id == project;
        self.deleted.extend(self.projects.extract_if(.., is_meant).map(|project| (project, at, by)));
        Ok(())
    }

    async fn deleted_project_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<(Project, Timestamp)>, StoreError> {
        let found =
            self.deleted.iter().find(|(known, ..)| known.workspace == workspace && known.id == project);
        Ok(found.map(|(known, at, _)| (known.clone(), *at)))
    }

    async fn unmark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<(), StoreError> {
        let restored = self
            .deleted
            .extract_if(.., |(known, ..)| known.workspace == workspace && known.id == project)
            .map(|(project, ..)| project);
        self.projects.extend(restored);
        Ok(())
    }

    async fn set_project_settings(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        settings: &Settings,
    ) -> Result<(), StoreError> {
        if let Some(known) = self.find_project(workspace, project) {
            known.settings.clone_from(settings);
        }
        Ok(())
    }

    async fn count_active_keys(&mut self, project: ProjectId) -> Result<u64, StoreError> {
        let is_active = |key: &&ProjectKey| key.project == project && key.revoked_at.is_none();
        Ok(self.keys.iter().map(|(key, _)| key).filter(is_active).count() as u64)
    }

    async fn insert_project_key(&mut self, key: &ProjectKey, digest: &Digest) -> Result<(), StoreError> {
        self.keys.push((key.clone(), *digest));
        Ok(())
    }

    async fn project_key_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        key: ProjectKeyId,
    ) -> Result<Option<ProjectKey>, StoreError> {
        let of_workspace = self.find_project(workspace, project).is_some();
        let mut keys = self.keys.iter().map(|(key, _)| key);
        let found = keys.find(|known| of_workspace && known.project == project && known.id == key);
        Ok(found.cloned())
    }

    async fn revoke_project_key(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        key: ProjectKeyId,
        at: Timestamp,
    ) -> Result<Option<ProjectKey>, StoreError> {
        if self.find_project(workspace, project).is_none() {
            return Ok(None);
        }
        let mut keys = self.keys.iter_mut().map(|(key, _)| key);
        let found = keys.find(|known| known.project == project && known.id == key);
        Ok(found.map(|key| {
            key.revoked_at.get_or_insert(at);
            key.clone()
        }))
    }
}

pub(crate) fn workspace() -> WorkspaceId {
    id(3)
}

pub(crate) fn creator_id() -> UserId {
    id(2)
}

/// A request of the creator, `millis` after the fixtures were created.
pub(crate) fn context_at(millis: i64) -> Context {
    context(session_of(creator_id()), at(millis))
}

/// A project of the creator with default settings.
pub(crate) fn project(number: u128) -> Project {
    Project {
        id: id(number),
        workspace: workspace(),
        name: "Shop".to_owned(),
        slug: format!("shop-{number}"),
        description: String::new(),
        shard: 0,
        settings: Settings::default(),
        created_by: creator_id(),
        created_at: at(0),
    }
}

/// Proof that the caller of `ctx` owns a project, because they created it.
pub(crate) fn owner_of(ctx: &Context, project: &Project) -> ProjectRight<Own> {
    let member = member(ctx, workspace(), Role::Member);
    let fact =
        ProjectFact { project: project.id, workspace: project.workspace, created_by: project.created_by };
    authorize_project(member, Some(&fact)).unwrap().require().unwrap()
}

fn master_keys() -> MasterKeys {
    MasterKeys::new(vec![[7; 32]]).unwrap()
}

pub(crate) fn vault() -> Vault {
    Vault::new(&master_keys())
}

pub(crate) fn peppers() -> Peppers {
    Peppers::derive(&master_keys())
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
    assert_eq!(entry.actor, kernel::Actor::Person(creator_id()));
    assert_eq!(entry.target, Some(AuditTarget(target.to_string())));
    assert_eq!(entry.detail.as_ref(), detail);
}
