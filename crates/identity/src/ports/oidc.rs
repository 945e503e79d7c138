//! The trait that a store implements for sign-in through OpenID Connect.

use async_trait::async_trait;
use kernel::{StoreError, Timestamp, UnitOfWork, id::UserId};

use crate::User;

/// Writes, and the reads they depend on.
#[async_trait]
pub trait OidcTx: UnitOfWork {
    /// Finds the person linked to an issuer's subject.
    async fn find_user_by_identity(
        &mut self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<User>, StoreError>;

    /// Links an issuer's subject to a person; [`StoreError::Duplicate`] if the subject is linked already.
    async fn insert_identity(
        &mut self,
        issuer: &str,
        subject: &str,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
