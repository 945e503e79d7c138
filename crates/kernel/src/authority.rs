//! Proofs of what a caller may do.
//!
//! [`Member`], [`Builder`], [`Admin`], [`Owner`], [`AppAccess`] and [`AppRight`] have no public constructor: only the
//! functions of this module make them, from facts that the store has about the caller. A use case takes the proof as an
//! argument, so code without the check does not compile. An object that the caller may not see is 404 here, in one place
//! for every route.

mod app;
mod role;
mod sharing;

pub use app::{
    AppAccess, AppFact, AppRight, AppRightName, AppRights, CanEdit, CanRun, CanShare, CanView, Right,
    authorize_app,
};
pub use role::{Admin, Builder, Member, MembershipFact, Owner, Role, Visibility, authorize_member};
pub use sharing::Sharing;
