//! Proofs that the transaction which uses them has made.
//!
//! A request proves its caller's right before it waits: for its body, for a check of code, for another server. Meanwhile
//! the right may end. A use case that waits makes the proof again in the transaction that commits, from rows that stay
//! locked until it ends, and takes it as [`Locked`].

use async_trait::async_trait;

use super::{
    app_access::{AppAccess, AppFact, AppRight, Right, authorize_app},
    error::AuthorityError,
    member::{Admin, AppCreator, Builder, Member, MembershipFact, authorize_member},
};
use crate::{
    Caller, StoreError, Timestamp, UnitOfWork,
    id::{AppId, UserId, WorkspaceId},
};

/// Reads the facts of authority in a transaction. Whoever changes one of them waits until the transaction ends.
#[async_trait]
pub trait AuthorityTx: UnitOfWork {
    /// Returns `true` if the caller's session, token or grant is still valid at `now`, with scopes that include those of the
    /// caller.
    async fn lock_credential(&mut self, caller: &Caller, now: Timestamp) -> Result<bool, StoreError>;

    /// Returns a person's membership of a workspace that is not deleted.
    async fn lock_membership(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError>;

    /// Returns what decides a person's rights on an app that is not deleted.
    async fn lock_app_fact(&mut self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError>;
}

/// A proof that was made in the transaction that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked<P>(P);

impl<P> std::ops::Deref for Locked<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

/// A refusal to make a proof again, or a failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The caller's session, token or grant has ended since the request began.
    #[error("the credential has ended")]
    CredentialEnded,
    /// The caller no longer has the right.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Proves in a transaction that the caller is a member of a workspace.
///
/// # Errors
/// [`LockError`] when they are not, or not any more.
pub async fn lock_member(
    tx: &mut dyn AuthorityTx,
    caller: &Caller,
    workspace: WorkspaceId,
    now: Timestamp,
) -> Result<Locked<Member>, LockError> {
    let user = caller.user().ok_or(AuthorityError::NotAPerson)?;
    let fact = tx.lock_membership(workspace, user).await?;
    let member = authorize_member(caller, workspace, fact.as_ref(), now)?;
    if !tx.lock_credential(caller, now).await? {
        return Err(LockError::CredentialEnded);
    }
    Ok(Locked(member))
}

/// Proves in a transaction that the caller has the right `R` on an app.
///
/// # Errors
/// [`LockError`] when they do not have it, or not any more.
pub async fn lock_app<R: Right>(
    tx: &mut dyn AuthorityTx,
    caller: &Caller,
    app: AppId,
    now: Timestamp,
) -> Result<Locked<AppRight<R>>, LockError> {
    let user = caller.user().ok_or(AuthorityError::NotAPerson)?;
    let fact = tx.lock_app_fact(app, user).await?.ok_or(AuthorityError::AppNotVisible)?;
    let member = lock_member(tx, caller, fact.workspace, now).await.map_err(|error| match error {
        LockError::Authority(AuthorityError::NotAMember) => AuthorityError::AppNotVisible.into(),
        other => other,
    })?;
    let access: AppAccess = authorize_app(member.0, Some(&fact))?;
    Ok(Locked(access.require()?))
}

impl Locked<Member> {
    /// Proves that the caller may create apps and automations.
    ///
    /// # Errors
    /// As [`Member::require_builder`].
    pub fn require_builder(self) -> Result<Locked<Builder>, AuthorityError> {
        self.0.require_builder().map(Locked)
    }

    /// Proves that the caller may create an app from another tool's workflow.
    ///
    /// # Errors
    /// As [`Member::require_importer`].
    pub fn require_importer(self) -> Result<Locked<AppCreator>, AuthorityError> {
        self.0.require_importer().map(Locked)
    }

    /// Proves that the caller is an admin or owner.
    ///
    /// # Errors
    /// As [`Member::require_admin`].
    pub fn require_admin(self) -> Result<Locked<Admin>, AuthorityError> {
        self.0.require_admin().map(Locked)
    }
}

impl From<Locked<Builder>> for Locked<AppCreator> {
    fn from(builder: Locked<Builder>) -> Self {
        Self(builder.0.into())
    }
}

/// Returns a proof as if a transaction had made it, for tests of use cases.
#[cfg(any(test, debug_assertions))]
#[must_use]
pub fn locked_for_test<P>(proof: P) -> Locked<P> {
    Locked(proof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AuditEntry,
        authority::{AppRights, CanEdit, Role, Sharing},
        events::Event,
        mail::OutboxEmail,
        testing::{at, id, session_of},
    };

    /// Facts as they are when the transaction reads them.
    #[derive(Clone, Copy)]
    struct Facts {
        role: Option<Role>,
        has_credential: bool,
        sharing: Sharing,
        granted: AppRights,
        has_app: bool,
    }

    #[async_trait]
    impl UnitOfWork for Facts {
        fn audit(&mut self, _: AuditEntry) {}
        fn enqueue_email(&mut self, _: OutboxEmail) {}
        fn publish(&mut self, _: Event) {}
        async fn commit(self: Box<Self>) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[async_trait]
    impl AuthorityTx for Facts {
        async fn lock_credential(&mut self, _: &Caller, _: Timestamp) -> Result<bool, StoreError> {
            Ok(self.has_credential)
        }

        async fn lock_membership(
            &mut self,
            workspace: WorkspaceId,
            user: UserId,
        ) -> Result<Option<MembershipFact>, StoreError> {
            Ok(self.role.map(|role| MembershipFact { workspace, user, role, access_ends_at: None }))
        }

        async fn lock_app_fact(&mut self, app: AppId, _: UserId) -> Result<Option<AppFact>, StoreError> {
            let Self { sharing, granted, .. } = *self;
            let fact = AppFact { app, workspace: id(2), created_by: id(8), sharing, granted };
            Ok(self.has_app.then_some(fact))
        }
    }

    #[tokio::test]
    async fn a_right_that_ended_is_refused_as_if_it_had_never_been() {
        let now = Facts {
            role: Some(Role::Builder),
            has_credential: true,
            sharing: Sharing::Team,
            granted: AppRights::NONE,
            has_app: true,
        };
        let lock = async |mut facts: Facts| {
            let locked = lock_app::<CanEdit>(&mut facts, &session_of(id(1)), id(3), at(0)).await;
            locked.map(|right| right.app()).map_err(|error| error.to_string())
        };
        assert_eq!(lock(now).await, Ok(id(3)));
        let invisible = Err(AuthorityError::AppNotVisible.to_string());
        for (facts, expected) in [
            (Facts { role: None, ..now }, invisible.clone()),
            (Facts { has_app: false, ..now }, invisible.clone()),
            (Facts { sharing: Sharing::Private, ..now }, invisible),
            (
                Facts { role: Some(Role::Member), ..now },
                Err(AuthorityError::AppRightRequired(crate::authority::AppRightName::CanEdit).to_string()),
            ),
            (Facts { has_credential: false, ..now }, Err(LockError::CredentialEnded.to_string())),
        ] {
            assert_eq!(lock(facts).await, expected);
        }
    }
}
