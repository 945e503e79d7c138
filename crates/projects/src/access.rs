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

#[cfg(test)]
mod tests {
    use kernel::testing::{at, context, id, session_of};

    use super::*;

    /// Returns what person 2, who has this role in workspace 3, may do with a project.
    fn access(role: Role, workspace: u128, created_by: u128) -> Result<ProjectAccess, Problem> {
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
            assert_eq!(hidden.unwrap_err().code, "project_not_found");
        }
    }

    #[test]
    fn a_missing_right_is_forbidden_with_its_reason() {
        let member = access(Role::Member, 3, 9).unwrap();
        let edit = member.clone().require::<Edit>().unwrap_err();
        assert_eq!((&*edit.code, &*edit.message), ("forbidden", Edit::DENIED_MESSAGE));
        let own = member.require::<Own>().unwrap_err();
        assert_eq!((&*own.code, &*own.message), ("forbidden", Own::DENIED_MESSAGE));
    }
}
