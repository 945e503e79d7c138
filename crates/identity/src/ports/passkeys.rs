//! What passkeys need from a store.

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
    /// A person's passkeys, oldest first.
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, StoreError>;
}

/// Writes. A passkey proves the person behind a session, so these build on the writes of sessions.
#[async_trait]
pub trait PasskeyTx: SessionTx {
    /// Keeps a ceremony under way.
    async fn insert_ceremony(&mut self, ceremony: &Ceremony) -> Result<(), StoreError>;

    /// Takes a ceremony that is not over at `now` out of the store. One of many at once is given it.
    async fn consume_ceremony(
        &mut self,
        id: CeremonyId,
        now: Timestamp,
    ) -> Result<Option<Ceremony>, StoreError>;

    /// Adds a passkey; [`StoreError::Duplicate`] when somebody has it already.
    async fn insert_passkey(&mut self, passkey: &Passkey) -> Result<(), StoreError>;

    /// Notes a passkey's use, and what it is kept as from now on where that changed.
    async fn record_passkey_use(
        &mut self,
        user: UserId,
        credential_id: &[u8],
        credential: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Takes away one of a person's passkeys; whether there was one.
    async fn delete_passkey(&mut self, user: UserId, passkey: PasskeyId) -> Result<bool, StoreError>;

    /// Takes away all of a person's passkeys; how many there were.
    async fn delete_passkeys_of(&mut self, user: UserId) -> Result<u64, StoreError>;
}
