//! The traits that a store implements for passkeys.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{CeremonyId, PasskeyId, UserId},
};

use super::SessionTx;
use crate::passkeys::{Ceremony, Passkey};

/// Reads that need no transaction.
#[async_trait]
pub trait PasskeyRead: Send + Sync {
    /// Lists a person's passkeys, oldest first.
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, StoreError>;
}

/// Writes. Passkeys open, step up and end sessions, so these extend the writes of sessions.
#[async_trait]
pub trait PasskeyTx: SessionTx {
    /// Stores a ceremony.
    async fn insert_ceremony(&mut self, ceremony: &Ceremony) -> Result<(), StoreError>;

    /// Deletes and returns a ceremony that has not expired at `now`. Of several concurrent calls, one gets it.
    async fn consume_ceremony(
        &mut self,
        id: CeremonyId,
        now: Timestamp,
    ) -> Result<Option<Ceremony>, StoreError>;

    /// Adds a passkey; [`StoreError::Duplicate`] if its credential is registered already.
    async fn insert_passkey(&mut self, passkey: &Passkey) -> Result<(), StoreError>;

    /// Records a passkey's use at `at` and replaces its stored credential if a new one is given.
    async fn record_passkey_use(
        &mut self,
        user: UserId,
        credential_id: &[u8],
        credential: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Deletes one of a person's passkeys; `true` if it existed.
    async fn delete_passkey(&mut self, user: UserId, passkey: PasskeyId) -> Result<bool, StoreError>;

    /// Deletes all passkeys of a person and returns their number.
    async fn delete_passkeys_of(&mut self, user: UserId) -> Result<u64, StoreError>;
}
