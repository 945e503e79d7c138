//! Who may use an app.

mod replace;
mod revoke;

use kernel::{authority::AppRights, id::UserId};

pub use replace::replace_access;
pub use revoke::revoke_app_grants_of;

/// What was granted to one person on one app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppGrant {
    /// The person.
    pub user: UserId,
    /// Their rights; not empty.
    pub rights: AppRights,
}
