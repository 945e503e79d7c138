//! Viewing a workspace as somebody with less authority.

use serde::{Deserialize, Serialize};

/// A role as which a person views a workspace. It lowers their authority for one request: to that of the role, and without
/// what they have beyond a role, as the creator of an app or by a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ViewedRole {
    /// See [`Role::Builder`](crate::authority::Role::Builder).
    Builder,
    /// See [`Role::Member`](crate::authority::Role::Member).
    Member,
    /// See [`Role::Viewer`](crate::authority::Role::Viewer).
    Viewer,
}

crate::names! {
    ViewedRole {
        Builder = "builder",
        Member = "member",
        Viewer = "viewer",
    }
}
