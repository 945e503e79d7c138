//! Memberships in a workspace, and the proofs they give.

use super::{error::AuthorityError, role::Role, sharing::Sharing};
use crate::{
    Caller, Timestamp,
    id::{UserId, WorkspaceId},
};

/// The apps of a workspace that a person may view; the equivalent of [`super::authorize_app`] for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Every app.
    All,
    /// Apps that the person created, apps granted to them, and apps with one of these sharing levels.
    Shared {
        /// The person; `None` for a view as a role, in which only the sharing level counts.
        user: Option<UserId>,
        /// The sharing levels that make an app visible.
        sharing_levels: &'static [Sharing],
    },
}

/// The stored membership of one person in one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MembershipFact {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The person.
    pub user: UserId,
    /// Their role.
    pub role: Role,
    /// Time at which their access ends, exclusive; `None` for no end.
    pub access_ends_at: Option<Timestamp>,
}

/// Proof that the caller is a member of the workspace at the time of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    workspace: WorkspaceId,
    user: UserId,
    role: Role,
    is_view: bool,
}

/// Proves that the caller is a member of the workspace. A token gives the proof only for its own workspace. This is where
/// a view as a role ([`ViewedRole`](crate::caller::ViewedRole)) lowers the caller's authority, since every other proof follows from this one.
///
/// # Errors
/// [`AuthorityError::NotAPerson`]; [`AuthorityError::NotAMember`] when they are not a member, their access has ended, or
/// their token belongs to another workspace.
pub fn authorize_member(
    caller: &Caller,
    workspace: WorkspaceId,
    fact: Option<&MembershipFact>,
    now: Timestamp,
) -> Result<Member, AuthorityError> {
    let user = caller.user().ok_or(AuthorityError::NotAPerson)?;
    let is_other_workspace = matches!(caller, Caller::Token(token) if token.workspace != workspace);
    match fact {
        Some(fact)
            if !is_other_workspace
                && fact.workspace == workspace
                && fact.user == user
                && fact.access_ends_at.is_none_or(|end| now < end) =>
        {
            let view = caller.view_as();
            let role = view.map_or(fact.role, |view| fact.role.viewed_as(view));
            Ok(Member { workspace, user, role, is_view: view.is_some() })
        }
        _ => Err(AuthorityError::NotAMember),
    }
}

impl Member {
    /// Returns the workspace of this proof.
    #[must_use]
    pub fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    /// Returns the person of this proof.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.user
    }

    /// Returns the role of the person, or the lower one as which they view the workspace.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the person for what they have beyond a role: what they created, and what was granted to them. `None` in a
    /// view as a role, which has nothing beyond it.
    #[must_use]
    pub fn beneficiary(&self) -> Option<UserId> {
        (!self.is_view).then_some(self.user)
    }

    /// Returns the apps of the workspace that the person may view, as stores filter lists by it.
    #[must_use]
    pub fn visibility(&self) -> Visibility {
        match self.role {
            Role::Owner | Role::Admin => Visibility::All,
            Role::Builder | Role::Member => Visibility::Shared {
                user: self.beneficiary(),
                sharing_levels: &[Sharing::Team, Sharing::Workspace],
            },
            Role::Viewer => {
                Visibility::Shared { user: self.beneficiary(), sharing_levels: &[Sharing::Workspace] }
            }
        }
    }

    /// Proves that the caller may create apps and automations.
    ///
    /// # Errors
    /// [`AuthorityError::RoleRequired`] for members and viewers.
    pub fn require_builder(self) -> Result<Builder, AuthorityError> {
        if self.role.at_least(Role::Builder) {
            Ok(Builder(self))
        } else {
            Err(AuthorityError::RoleRequired(Role::Builder))
        }
    }

    /// Proves that the caller may create an app from another tool's workflow, which stays turned off until somebody decides about it.
    ///
    /// # Errors
    /// [`AuthorityError::RoleRequired`] for viewers.
    pub fn require_importer(self) -> Result<AppCreator, AuthorityError> {
        if self.role.at_least(Role::Member) {
            Ok(AppCreator(self))
        } else {
            Err(AuthorityError::RoleRequired(Role::Member))
        }
    }

    /// Proves that the caller is an admin or owner.
    ///
    /// # Errors
    /// [`AuthorityError::RoleRequired`] for everyone else.
    pub fn require_admin(self) -> Result<Admin, AuthorityError> {
        if self.role.at_least(Role::Admin) {
            Ok(Admin(self))
        } else {
            Err(AuthorityError::RoleRequired(Role::Admin))
        }
    }

    /// Proves that the caller is an owner.
    ///
    /// # Errors
    /// [`AuthorityError::RoleRequired`] for everyone else.
    pub fn require_owner(self) -> Result<Owner, AuthorityError> {
        if self.role == Role::Owner {
            Ok(Owner(self))
        } else {
            Err(AuthorityError::RoleRequired(Role::Owner))
        }
    }
}

/// Defines proofs that narrow [`Member`] and dereference to it.
macro_rules! narrower_proofs {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(Member);
        impl std::ops::Deref for $name {
            type Target = Member;
            fn deref(&self) -> &Member {
                &self.0
            }
        }
    )*};
}

narrower_proofs! {
    /// Proof that the caller may create apps and automations in the workspace.
    Builder;
    /// Proof that the caller may create this app: a builder any, a member one that is imported.
    AppCreator;
    /// Proof that the caller is an admin or owner of the workspace.
    Admin;
    /// Proof that the caller is an owner of the workspace.
    Owner;
}

impl From<Builder> for AppCreator {
    fn from(builder: Builder) -> Self {
        Self(builder.0)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::{
        caller::{Scope, Scopes, SessionCaller, ViewedRole},
        testing::{at, id, session_of, token_of},
    };

    fn person() -> Caller {
        session_of(id(1))
    }

    fn fact(role: Role) -> MembershipFact {
        MembershipFact { workspace: id(2), user: id(1), role, access_ends_at: None }
    }

    #[test]
    fn only_a_current_member_of_that_very_workspace_passes() {
        let now = at(0);
        let member =
            |caller: &Caller, fact: Option<&MembershipFact>| authorize_member(caller, id(2), fact, now);
        assert!(member(&person(), Some(&fact(Role::Viewer))).is_ok());
        assert_eq!(member(&person(), None).unwrap_err(), AuthorityError::NotAMember);
        assert_eq!(member(&Caller::Anonymous, None).unwrap_err(), AuthorityError::NotAPerson);

        let ended = MembershipFact { access_ends_at: Some(now), ..fact(Role::Owner) };
        assert!(member(&person(), Some(&ended)).is_err());
        let ending =
            MembershipFact { access_ends_at: Some(now + TimeDelta::seconds(1)), ..fact(Role::Owner) };
        assert!(member(&person(), Some(&ending)).is_ok());
        let of_another = MembershipFact { user: id(7), ..fact(Role::Owner) };
        assert!(member(&person(), Some(&of_another)).is_err());
    }

    #[test]
    fn a_token_works_only_in_its_own_workspace() {
        let now = at(0);
        let token = |workspace| token_of(id(1), workspace, Scopes::of(Scope::Read));
        assert!(authorize_member(&token(id(2)), id(2), Some(&fact(Role::Owner)), now).is_ok());
        let refusal = authorize_member(&token(id(3)), id(2), Some(&fact(Role::Owner)), now).unwrap_err();
        assert_eq!(refusal, AuthorityError::NotAMember);
    }

    #[test]
    fn a_view_as_a_role_has_that_role_and_nothing_beyond_it() {
        let view = |view_as, role| {
            let Caller::Session(session) = person() else { unreachable!() };
            let caller = Caller::Session(SessionCaller { view_as, ..session });
            authorize_member(&caller, id(2), Some(&fact(role)), at(0)).unwrap()
        };
        let own = view(None, Role::Viewer);
        assert_eq!((own.role(), own.beneficiary()), (Role::Viewer, Some(id(1))));
        let lowered = view(Some(ViewedRole::Member), Role::Owner);
        assert_eq!((lowered.role(), lowered.beneficiary()), (Role::Member, None));
        let levels = &[Sharing::Team, Sharing::Workspace][..];
        assert_eq!(lowered.visibility(), Visibility::Shared { user: None, sharing_levels: levels });
        assert!(lowered.require_builder().is_err());
        // A view never raises, but drops what is beyond the role.
        let kept = view(Some(ViewedRole::Builder), Role::Viewer);
        assert_eq!((kept.role(), kept.beneficiary()), (Role::Viewer, None));
    }

    #[test]
    fn each_role_proves_what_it_should() {
        let now = at(0);
        let member = |role| authorize_member(&person(), id(2), Some(&fact(role)), now).unwrap();
        for (role, builder, admin, owner) in [
            (Role::Owner, true, true, true),
            (Role::Admin, true, true, false),
            (Role::Builder, true, false, false),
            (Role::Member, false, false, false),
            (Role::Viewer, false, false, false),
        ] {
            assert_eq!(member(role).require_builder().is_ok(), builder, "{role}");
            assert_eq!(member(role).require_admin().is_ok(), admin, "{role}");
            assert_eq!(member(role).require_owner().is_ok(), owner, "{role}");
        }
    }
}
