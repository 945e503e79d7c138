//! Proofs of what a caller may do.
//!
//! [`Member`], [`Builder`], [`Admin`], [`Owner`], [`AppAccess`] and [`AppRight`] have no public constructor: only the
//! functions of this module make them, from facts that the store has about the caller. A use case takes the proof as an
//! argument, so code without the check does not compile. An object that the caller may not see does not exist for them
//! ([`AuthorityError`]).

mod app;
mod error;
mod role;
mod sharing;

pub use app::{
    AppAccess, AppFact, AppRight, AppRightName, AppRights, CanEdit, CanRun, CanShare, CanView, Right,
    authorize_app,
};
pub use error::AuthorityError;
pub use role::{Admin, Builder, Member, MembershipFact, Owner, Role, Visibility, authorize_member};
pub use sharing::Sharing;
