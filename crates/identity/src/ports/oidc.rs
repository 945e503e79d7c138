//! What sign-in with another issuer needs from a store.

use async_trait::async_trait;
use kernel::{StoreError, Timestamp, UnitOfWork, id::UserId};

use crate::User;

/// Writes, and the reads they decide by.
#[async_trait]
pub trait OidcTx: UnitOfWork {
    /// The person an issuer knows by this name.
    async fn find_user_by_identity(
        &mut self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<User>, StoreError>;

    /// Remembers by which name an issuer knows a person; [`StoreError::Duplicate`] when the name is another's.
    async fn insert_identity(
        &mut self,
        issuer: &str,
        subject: &str,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
