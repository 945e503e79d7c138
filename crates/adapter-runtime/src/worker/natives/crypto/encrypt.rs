//! `encrypt` and `decrypt` with AES-GCM (NIST SP 800-38D).

use aes::{Aes128, Aes192, Aes256};

use super::{
    CryptoError, Result,
    algorithm::Parameters,
    gcm::{BlockCipher, Gcm, TAG},
    key::{Key, Material},
};

/// One use of a key.
pub(super) struct Cipher<'a> {
    key: &'a [u8],
    iv: Vec<u8>,
    additional_data: Vec<u8>,
    tag_length: usize,
}

impl<'a> Cipher<'a> {
    pub(super) fn new(
        parameters: &Parameters,
        key: &'a Key,
        iv: Vec<u8>,
        additional_data: Vec<u8>,
    ) -> Result<Self> {
        let Material::Secret(key) = &key.material else {
            return Err(CryptoError::invalid_access("the key is not one for AES-GCM"));
        };
        let bits = parameters.tag_length.unwrap_or(128);
        if !matches!(bits, 32 | 64 | 96 | 104 | 112 | 120 | 128) {
            return Err(CryptoError::operation("the tagLength must be 32, 64, 96, 104, 112, 120 or 128"));
        }
        if iv.is_empty() {
            return Err(CryptoError::operation("the iv must not be empty"));
        }
        let tag_length = usize::try_from(bits / 8).unwrap_or(TAG);
        Ok(Self { key, iv, additional_data, tag_length })
    }

    /// Returns the encrypted data and the tag after it.
    pub(super) fn encrypt(&self, data: &[u8]) -> Result<Vec<u8>> {
        match self.key.len() {
            16 => self.encrypt_with::<Aes128>(data),
            24 => self.encrypt_with::<Aes192>(data),
            _ => self.encrypt_with::<Aes256>(data),
        }
    }

    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        match self.key.len() {
            16 => self.decrypt_with::<Aes128>(sealed),
            24 => self.decrypt_with::<Aes192>(sealed),
            _ => self.decrypt_with::<Aes256>(sealed),
        }
    }

    fn encrypt_with<C: BlockCipher>(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut sealed = Vec::with_capacity(data.len() + TAG);
        sealed.extend_from_slice(data);
        let tag = self.gcm::<C>()?.seal(&mut sealed);
        sealed.extend_from_slice(&tag[..self.tag_length]);
        Ok(sealed)
    }

    fn decrypt_with<C: BlockCipher>(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        let wrong = || CryptoError::operation("the data was not encrypted so, or was changed");
        let length = sealed.len().checked_sub(self.tag_length).ok_or_else(wrong)?;
        let (encrypted, tag) = sealed.split_at(length);
        let mut data = encrypted.to_vec();
        if self.gcm::<C>()?.open(&mut data, tag) { Ok(data) } else { Err(wrong()) }
    }

    fn gcm<C: BlockCipher>(&self) -> Result<Gcm<C>> {
        let no_key = || CryptoError::operation("the data could not be encrypted");
        Gcm::new(self.key, &self.iv, &self.additional_data).ok_or_else(no_key)
    }
}
