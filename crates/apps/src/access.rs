//! Access to an app: how far it is shared, and the rights granted to single people.

mod previous;
mod replace;
mod revoke;

use kernel::{authority::AppRights, id::UserId};

pub use previous::PreviousAccess;
pub use replace::replace_access;
pub use revoke::revoke_app_grants_of;

/// The rights granted to one person on one app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppGrant {
    /// The person.
    pub user: UserId,
    /// Granted rights; at least one.
    pub rights: AppRights,
}
