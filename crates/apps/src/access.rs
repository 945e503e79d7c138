//! Who may use an app.

mod end;
mod put;

use kernel::{authority::AppRights, id::UserId};

pub use end::end_grants_of;
pub use put::put_access;

/// What was granted to one person on one app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The person.
    pub user: UserId,
    /// Their rights; not empty.
    pub rights: AppRights,
}
