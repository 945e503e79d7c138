//! Access to a project, and the proofs of it.

use std::marker::PhantomData;

use kernel::{
    authority::{Member, Role},
    id::{ProjectId, UserId, WorkspaceId},
};

/// The facts of a project that authorisation depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFact {
    /// Id of the project.
    pub project: ProjectId,
    /// Workspace that the project belongs to.
    pub workspace: WorkspaceId,
    /// Person who created the project.
    pub created_by: UserId,
}

/// The rights of a person on a project, each of which includes those before it.
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
    created_by: UserId,
    level: Level,
}

/// Refusal of a proof about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProjectAccessError {
    /// The caller may not see the project, or there is no such project.
    #[error("the caller may not see the project")]
    NotVisible,
    /// Only builders and higher roles, and the project's creator, change tables and rows.
    #[error("the caller may not change the project's tables and rows")]
    EditRequired,
    /// Only admins, owners and the project's creator manage the project.
    #[error("the caller may not manage the project")]
    OwnRequired,
}

/// Decides on access to a project and returns the proof.
///
/// Owners, admins and the project's creator own it; builders may edit it; members may see it. Viewers may not, not even
/// a project that they created in another role: rows are not shared with the whole workspace.
///
/// # Errors
/// [`ProjectAccessError::NotVisible`] when the project does not exist, is in another workspace, or may not be seen.
pub fn authorize_project(
    member: Member,
    fact: Option<&ProjectFact>,
) -> Result<ProjectAccess, ProjectAccessError> {
    let missing = ProjectAccessError::NotVisible;
    let fact = fact.filter(|fact| fact.workspace == member.workspace()).ok_or(missing)?;
    let level = match member.role() {
        Role::Owner | Role::Admin => Level::Own,
        Role::Viewer => return Err(missing),
        Role::Builder | Role::Member if member.beneficiary() == Some(fact.created_by) => Level::Own,
        Role::Builder => Level::Edit,
        Role::Member => Level::View,
    };
    Ok(ProjectAccess { member, project: fact.project, created_by: fact.created_by, level })
}

impl ProjectAccess {
    /// Returns the project that this proof is about.
    #[must_use]
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// Returns the person who created the project.
    #[must_use]
    pub fn project_creator(&self) -> UserId {
        self.created_by
    }

    /// Returns the caller's membership.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// Returns `true` if the caller may change tables and rows.
    #[must_use]
    pub fn can_edit(&self) -> bool {
        self.level >= Level::Edit
    }

    /// Returns `true` if the caller may manage keys, policies and settings.
    #[must_use]
    pub fn can_manage(&self) -> bool {
        self.level >= Level::Own
    }

    /// Narrows the proof to one right.
    ///
    /// # Errors
    /// [`Right::DENIED`] when the caller does not have the right.
    pub fn require<R: Right>(self) -> Result<ProjectRight<R>, ProjectAccessError> {
        if R::is_granted(&self) { Ok(ProjectRight(self, PhantomData)) } else { Err(R::DENIED) }
    }
}

/// A right on a project as a type.
pub trait Right {
    /// Refusal of a caller without the right.
    const DENIED: ProjectAccessError;
    /// Returns `true` if the access includes the right.
    fn is_granted(access: &ProjectAccess) -> bool;
}

/// The right to change tables and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {}

/// The right to manage keys, policies and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {}

impl Right for Edit {
    const DENIED: ProjectAccessError = ProjectAccessError::EditRequired;
    fn is_granted(access: &ProjectAccess) -> bool {
        access.can_edit()
    }
}

impl Right for Own {
    const DENIED: ProjectAccessError = ProjectAccessError::OwnRequired;
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

#[cfg(test)]
mod tests {
    use kernel::testing::{at, context, id, session_of};

    use super::*;

    /// Returns what person 2, who has this role in workspace 3, may do with a project.
    fn access(role: Role, workspace: u128, created_by: u128) -> Result<ProjectAccess, ProjectAccessError> {
        let member = kernel::testing::member(&context(session_of(id(2)), at(0)), id(3), role);
        let fact = ProjectFact { project: id(7), workspace: id(workspace), created_by: id(created_by) };
        authorize_project(member, Some(&fact))
    }

    #[test]
    fn role_and_authorship_decide_on_access() {
        for (role, created_by, edits, owns) in [
            (Role::Owner, 9, true, true),
            (Role::Admin, 9, true, true),
            (Role::Builder, 9, true, false),
            (Role::Builder, 2, true, true),
            (Role::Member, 9, false, false),
            (Role::Member, 2, true, true),
        ] {
            let access = access(role, 3, created_by).unwrap();
            assert_eq!((access.project(), access.member().role()), (id(7), role));
            assert_eq!((access.can_edit(), access.can_manage()), (edits, owns), "{role} of {created_by}");
            assert_eq!(access.clone().require::<Edit>().is_ok(), edits);
            assert_eq!(access.require::<Own>().is_ok(), owns);
        }
    }

    #[test]
    fn projects_are_hidden_from_viewers_and_other_workspaces() {
        let member = kernel::testing::member(&context(session_of(id(2)), at(0)), id(3), Role::Owner);
        for hidden in [
            access(Role::Viewer, 3, 9),
            access(Role::Viewer, 3, 2),
            access(Role::Owner, 4, 2),
            authorize_project(member, None),
        ] {
            assert_eq!(hidden.unwrap_err(), ProjectAccessError::NotVisible);
        }
    }

    #[test]
    fn a_missing_right_is_forbidden_with_its_reason() {
        let member = access(Role::Member, 3, 9).unwrap();
        let edit = member.clone().require::<Edit>().unwrap_err();
        assert_eq!(edit, ProjectAccessError::EditRequired);
        let own = member.require::<Own>().unwrap_err();
        assert_eq!(own, ProjectAccessError::OwnRequired);
    }
}
