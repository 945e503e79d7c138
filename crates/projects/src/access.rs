//! Who may do what with a project, and the proofs of it.

use std::marker::PhantomData;

use kernel::{
    Problem,
    authority::{Member, Role},
    id::{ProjectId, UserId, WorkspaceId},
};

/// What the store says of a project, for authorisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFact {
    /// The project.
    pub project: ProjectId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// Who made it.
    pub created_by: UserId,
}

/// How much a person may do with a project, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    View,
    Edit,
    Own,
}

/// Proof that the caller may see a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectAccess {
    member: Member,
    project: ProjectId,
    level: Level,
}

/// Makes the proof of access to a project.
///
/// Owners, admins and the maker own it; builders edit it; members see it. Viewers do not: rows are nothing that is
/// shared with the whole workspace.
///
/// # Errors
/// 404 `project_not_found` when the person may not see it.
pub fn authorize_project(member: Member, fact: Option<&ProjectFact>) -> Result<ProjectAccess, Problem> {
    let missing = || Problem::not_found("project");
    let fact = fact.filter(|fact| fact.workspace == member.workspace()).ok_or_else(missing)?;
    let level = match member.role() {
        Role::Owner | Role::Admin => Level::Own,
        Role::Viewer => return Err(missing()),
        Role::Builder | Role::Member if fact.created_by == member.user() => Level::Own,
        Role::Builder => Level::Edit,
        Role::Member => Level::View,
    };
    Ok(ProjectAccess { member, project: fact.project, level })
}

impl ProjectAccess {
    /// The project.
    #[must_use]
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// The caller's membership.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// Whether the caller may change tables and rows.
    #[must_use]
    pub fn can_edit(&self) -> bool {
        self.level >= Level::Edit
    }

    /// Whether the caller may manage keys, rules and settings.
    #[must_use]
    pub fn can_manage(&self) -> bool {
        self.level >= Level::Own
    }

    /// Proof of a right.
    ///
    /// # Errors
    /// 403 `forbidden` when the caller does not have it.
    pub fn require<R: Right>(self) -> Result<ProjectRight<R>, Problem> {
        if R::is_granted(&self) {
            Ok(ProjectRight(self, PhantomData))
        } else {
            Err(Problem::forbidden("forbidden", R::DENIED_MESSAGE))
        }
    }
}

/// A right on a project as a type.
pub trait Right {
    /// What one without it is told.
    const DENIED_MESSAGE: &'static str;
    /// Whether the access has it.
    fn is_granted(access: &ProjectAccess) -> bool;
}

/// Change tables and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {}

/// Manage keys, rules and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {}

impl Right for Edit {
    const DENIED_MESSAGE: &'static str = "This needs the role of builder, or being the project's maker.";
    fn is_granted(access: &ProjectAccess) -> bool {
        access.can_edit()
    }
}

impl Right for Own {
    const DENIED_MESSAGE: &'static str = "Only an admin or the project's maker may do this.";
    fn is_granted(access: &ProjectAccess) -> bool {
        access.can_manage()
    }
}

/// Proof that the caller has the right `R` on a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRight<R>(ProjectAccess, PhantomData<R>);

impl<R> std::ops::Deref for ProjectRight<R> {
    type Target = ProjectAccess;

    fn deref(&self) -> &ProjectAccess {
        &self.0
    }
}
