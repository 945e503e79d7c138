//! The ports of passkeys on the store in memory.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{CeremonyId, PasskeyId, UserId},
};

use super::FakeStore;
use crate::{
    passkeys::{Ceremony, Passkey},
    ports::PasskeyTx,
};

#[async_trait]
impl PasskeyTx for FakeStore {
    async fn insert_ceremony(&mut self, ceremony: &Ceremony) -> Result<(), StoreError> {
        self.check_available()?;
        self.ceremonies.push(ceremony.clone());
        Ok(())
    }

    async fn consume_ceremony(
        &mut self,
        id: CeremonyId,
        now: Timestamp,
    ) -> Result<Option<Ceremony>, StoreError> {
        self.check_available()?;
        let found = self.ceremonies.iter().position(|known| known.id == id && now < known.expires_at);
        Ok(found.map(|index| self.ceremonies.remove(index)))
    }

    async fn insert_passkey(&mut self, passkey: &Passkey) -> Result<(), StoreError> {
        self.check_available()?;
        if self.passkeys.iter().any(|known| known.credential_id == passkey.credential_id) {
            return Err(StoreError::Duplicate);
        }
        self.passkeys.push(passkey.clone());
        Ok(())
    }

    async fn record_passkey_use(
        &mut self,
        user: UserId,
        credential_id: &[u8],
        credential: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        let is_used = |known: &&mut Passkey| known.user == user && known.credential_id == credential_id;
        for known in self.passkeys.iter_mut().filter(is_used) {
            known.last_used_at = Some(at);
            if let Some(credential) = credential {
                known.credential = credential.to_owned();
            }
        }
        Ok(())
    }

    async fn delete_passkey(&mut self, user: UserId, passkey: PasskeyId) -> Result<bool, StoreError> {
        self.check_available()?;
        let before = self.passkeys.len();
        self.passkeys.retain(|known| (known.user, known.id) != (user, passkey));
        Ok(self.passkeys.len() < before)
    }

    async fn delete_passkeys_of(&mut self, user: UserId) -> Result<u64, StoreError> {
        self.check_available()?;
        let before = self.passkeys.len();
        self.passkeys.retain(|known| known.user != user);
        Ok((before - self.passkeys.len()) as u64)
    }
}
