//! Proofs of what a caller may do.
//!
//! [`Member`], [`Builder`], [`Admin`], [`Owner`], [`AppAccess`] and [`AppRight`] have no public constructor: only the
//! functions of this module make them, from facts that the store has about the caller. A use case takes the proof as an
//! argument, so code without the check does not compile. An object that the caller may not see does not exist for them
//! ([`AuthorityError`]).

mod app;
mod app_access;
mod error;
mod locked;
mod member;
mod role;
mod sharing;

pub use app::{AppRightName, AppRights};
pub use app_access::{
    AppAccess, AppAdmin, AppFact, AppRight, CanEdit, CanRun, CanShare, CanView, Right, authorize_app,
};
pub use error::AuthorityError;
#[cfg(any(test, debug_assertions))]
pub use locked::locked_for_test;
pub use locked::{AuthorityTx, LockError, Locked, lock_app, lock_member};
pub use member::{Admin, AppCreator, Builder, Member, MembershipFact, Owner, Visibility, authorize_member};
pub use role::Role;
pub use sharing::Sharing;
