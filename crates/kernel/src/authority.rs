//! Proofs that a caller may do a thing.
//!
//! [`Member`], [`Admin`], [`Owner`] and [`AppRight`] have no public constructor: only the functions of this
//! module make them, from what the store says about the caller. A use case takes the proof as an argument,
//! so forgetting the check does not compile. What a caller may not see is `404` here, once for every route.

mod app;
mod role;

pub use app::{
    AppAccess, AppFact, AppRight, AppRightName, AppRights, CanEdit, CanRun, CanShare, CanView, Right,
    Sharing, authorize_app,
};
pub use role::{Admin, Builder, Member, MembershipFact, Owner, Role, Visibility, authorize_member};
