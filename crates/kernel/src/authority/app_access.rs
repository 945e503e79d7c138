//! Access to one app, and the proofs it gives.

use std::{fmt, marker::PhantomData};

use super::{
    app::{AppRightName, AppRights},
    error::AuthorityError,
    member::Member,
    role::Role,
    sharing::Sharing,
};
use crate::id::{AppId, UserId, WorkspaceId};

/// The stored facts about one app and one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFact {
    /// The app.
    pub app: AppId,
    /// The workspace of the app.
    pub workspace: WorkspaceId,
    /// The creator of the app.
    pub created_by: UserId,
    /// The sharing level of the app.
    pub sharing: Sharing,
    /// The rights granted to the person.
    pub granted: AppRights,
}

/// Proof that the caller may view the app, with all their rights on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppAccess {
    member: Member,
    app: AppId,
    rights: AppRights,
}

/// Proves that the caller may view an app.
///
/// Owners, admins and the creator of the app have every right. Builders may view, run and edit shared apps, members may
/// view and run them, and viewers may view apps that are shared with the whole workspace. Grants add to these rights. In
/// a view as a role, neither creation nor grants count.
///
/// # Errors
/// [`AuthorityError::AppNotVisible`] when the caller may not view the app.
pub fn authorize_app(member: Member, fact: Option<&AppFact>) -> Result<AppAccess, AuthorityError> {
    let missing = AuthorityError::AppNotVisible;
    let fact = fact.filter(|fact| fact.workspace == member.workspace()).ok_or(missing)?;
    let rights = effective_rights(&member, fact);
    if !rights.contains(AppRightName::CanView) {
        return Err(missing);
    }
    Ok(AppAccess { member, app: fact.app, rights })
}

fn effective_rights(member: &Member, fact: &AppFact) -> AppRights {
    use AppRightName::{CanEdit, CanRun, CanView};
    if member.beneficiary() == Some(fact.created_by) {
        return AppRights::ALL;
    }
    let by_role = match (member.role(), fact.sharing) {
        (Role::Owner | Role::Admin, _) => AppRights::ALL,
        (Role::Builder, Sharing::Team | Sharing::Workspace) => {
            [CanView, CanRun, CanEdit].into_iter().collect()
        }
        (Role::Member, Sharing::Team | Sharing::Workspace) => [CanView, CanRun].into_iter().collect(),
        (Role::Viewer, Sharing::Workspace) => [CanView].into_iter().collect(),
        _ => AppRights::NONE,
    };
    if member.beneficiary().is_some() { by_role.union(fact.granted) } else { by_role }
}

impl AppAccess {
    /// Returns the app of this proof.
    #[must_use]
    pub fn app(&self) -> AppId {
        self.app
    }

    /// Returns the membership of the caller.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// Returns every right of the caller on the app.
    #[must_use]
    pub fn rights(&self) -> AppRights {
        self.rights
    }

    /// Proves that the caller has the right `R`.
    ///
    /// # Errors
    /// [`AuthorityError::AppRightRequired`] when they do not. They may view the app, so there is nothing to hide.
    pub fn require<R: Right>(self) -> Result<AppRight<R>, AuthorityError> {
        if self.rights.contains(R::NAME) {
            Ok(AppRight(self, PhantomData))
        } else {
            Err(AuthorityError::AppRightRequired(R::NAME))
        }
    }

    /// Proves that the caller is an admin of the app's workspace.
    ///
    /// # Errors
    /// [`AuthorityError::RoleRequired`] when they are not. They may view the app, so there is nothing to hide.
    pub fn require_admin(self) -> Result<AppAdmin, AuthorityError> {
        self.member.clone().require_admin()?;
        Ok(AppAdmin(self))
    }
}

/// Proof that the caller is an admin of an app's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppAdmin(AppAccess);

impl std::ops::Deref for AppAdmin {
    type Target = AppAccess;

    fn deref(&self) -> &AppAccess {
        &self.0
    }
}

/// A right on an app as a type.
pub trait Right: fmt::Debug {
    /// The name of the right.
    const NAME: AppRightName;
}

/// Defines one type for each right.
macro_rules! rights {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {}
        impl Right for $name {
            const NAME: AppRightName = AppRightName::$name;
        }
    )*};
}

rights! {
    /// View the app and its runs.
    CanView;
    /// Run the app.
    CanRun;
    /// Change the app.
    CanEdit;
    /// Change who has access to the app.
    CanShare;
}

/// Proof that the caller has the right `R` on an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppRight<R>(AppAccess, PhantomData<R>);

impl<R> std::ops::Deref for AppRight<R> {
    type Target = AppAccess;

    fn deref(&self) -> &AppAccess {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Caller,
        caller::{SessionCaller, ViewedRole},
        testing::{at, context, id, session_of},
    };

    fn member(role: Role) -> Member {
        crate::testing::member(&context(session_of(id(1)), at(0)), id(2), role)
    }

    fn rights(role: Role, sharing: Sharing, granted: AppRights) -> usize {
        let fact = AppFact { app: id(3), workspace: id(2), created_by: id(8), sharing, granted };
        authorize_app(member(role), Some(&fact)).map_or(0, |access| access.rights().to_vec().len())
    }

    #[test]
    fn rights_follow_role_and_sharing() {
        for (role, private, team, workspace) in [
            (Role::Owner, 4, 4, 4),
            (Role::Admin, 4, 4, 4),
            (Role::Builder, 0, 3, 3),
            (Role::Member, 0, 2, 2),
            (Role::Viewer, 0, 0, 1),
        ] {
            assert_eq!(rights(role, Sharing::Private, AppRights::NONE), private, "{role}");
            assert_eq!(rights(role, Sharing::Team, AppRights::NONE), team, "{role}");
            assert_eq!(rights(role, Sharing::Workspace, AppRights::NONE), workspace, "{role}");
        }
    }

    #[test]
    fn creators_have_all_rights_and_grants_add() {
        let fact = AppFact {
            app: id(3),
            workspace: id(2),
            created_by: id(1),
            sharing: Sharing::Private,
            granted: AppRights::NONE,
        };
        assert_eq!(authorize_app(member(Role::Member), Some(&fact)).unwrap().rights(), AppRights::ALL);
        let view = [AppRightName::CanView].into_iter().collect();
        assert_eq!(rights(Role::Viewer, Sharing::Private, view), 1);
    }

    #[test]
    fn in_a_view_as_a_role_neither_creation_nor_grants_count() {
        let Caller::Session(session) = session_of(id(1)) else { unreachable!() };
        let viewing = Caller::Session(SessionCaller { view_as: Some(ViewedRole::Member), ..session });
        let member = crate::testing::member(&context(viewing, at(0)), id(2), Role::Owner);
        let fact = |sharing| AppFact {
            app: id(3),
            workspace: id(2),
            created_by: id(1),
            sharing,
            granted: AppRights::ALL,
        };
        let hidden = authorize_app(member.clone(), Some(&fact(Sharing::Private)));
        assert_eq!(hidden.unwrap_err(), AuthorityError::AppNotVisible);
        let shared = authorize_app(member, Some(&fact(Sharing::Team))).unwrap();
        assert_eq!(shared.rights().to_vec(), [AppRightName::CanView, AppRightName::CanRun]);
    }

    #[test]
    fn an_app_of_another_workspace_is_not_found() {
        let fact = AppFact {
            app: id(3),
            workspace: id(7),
            created_by: id(1),
            sharing: Sharing::Workspace,
            granted: AppRights::ALL,
        };
        assert_eq!(
            authorize_app(member(Role::Owner), Some(&fact)).unwrap_err(),
            AuthorityError::AppNotVisible
        );
    }
}
