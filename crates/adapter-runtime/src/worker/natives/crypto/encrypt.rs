//! `encrypt` and `decrypt` with AES-GCM (NIST SP 800-38D).

use aes_gcm::{
    AesGcm, KeyInit,
    aead::{
        Aead, Nonce, Payload,
        array::typenum::{U12, U16},
    },
    aes::{Aes128, Aes192, Aes256},
};
use subtle::ConstantTimeEq as _;

use super::{
    CryptoError, Result,
    algorithm::Parameters,
    key::{Key, Material},
};

/// Bytes of a whole tag.
const TAG: usize = 16;

/// One use of a key.
pub(super) struct Cipher<'a> {
    key: &'a [u8],
    iv: Vec<u8>,
    additional_data: Vec<u8>,
    tag_length: usize,
}

fn failed<E>(_: E) -> CryptoError {
    CryptoError::operation("the data could not be encrypted")
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
        if !matches!(iv.len(), 12 | 16) {
            let message = "the iv must have 12 or 16 bytes";
            return Err(if iv.is_empty() {
                CryptoError::operation(message)
            } else {
                CryptoError::not_supported(message)
            });
        }
        let tag_length = usize::try_from(bits / 8).unwrap_or(TAG);
        Ok(Self { key, iv, additional_data, tag_length })
    }

    /// Returns the encrypted data and the tag after it.
    pub(super) fn encrypt(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut sealed = self.seal(data)?;
        sealed.truncate(data.len() + self.tag_length);
        Ok(sealed)
    }

    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        let wrong = || CryptoError::operation("the data was not encrypted so, or was changed");
        let length = sealed.len().checked_sub(self.tag_length).ok_or_else(wrong)?;
        if self.tag_length == TAG {
            return self.open(sealed).map_err(|_| wrong());
        }
        // The crate knows no tags this short. Encrypting is its own inverse but for the tag, which is made again and compared.
        let (encrypted, tag) = sealed.split_at(length);
        let mut data = self.seal(encrypted)?;
        data.truncate(length);
        let again = self.seal(&data)?;
        if bool::from(again[length..length + self.tag_length].ct_eq(tag)) { Ok(data) } else { Err(wrong()) }
    }

    fn seal(&self, data: &[u8]) -> Result<Vec<u8>> {
        match (self.key.len(), self.iv.len()) {
            (16, 12) => self.seal_with::<AesGcm<Aes128, U12>>(data),
            (24, 12) => self.seal_with::<AesGcm<Aes192, U12>>(data),
            (32, 12) => self.seal_with::<AesGcm<Aes256, U12>>(data),
            (16, _) => self.seal_with::<AesGcm<Aes128, U16>>(data),
            (24, _) => self.seal_with::<AesGcm<Aes192, U16>>(data),
            _ => self.seal_with::<AesGcm<Aes256, U16>>(data),
        }
    }

    fn seal_with<C: Aead + KeyInit>(&self, data: &[u8]) -> Result<Vec<u8>> {
        let cipher = C::new_from_slice(self.key).map_err(failed)?;
        let nonce = Nonce::<C>::try_from(self.iv.as_slice()).map_err(failed)?;
        cipher.encrypt(&nonce, Payload { msg: data, aad: &self.additional_data }).map_err(failed)
    }

    fn open(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        match (self.key.len(), self.iv.len()) {
            (16, 12) => self.open_with::<AesGcm<Aes128, U12>>(sealed),
            (24, 12) => self.open_with::<AesGcm<Aes192, U12>>(sealed),
            (32, 12) => self.open_with::<AesGcm<Aes256, U12>>(sealed),
            (16, _) => self.open_with::<AesGcm<Aes128, U16>>(sealed),
            (24, _) => self.open_with::<AesGcm<Aes192, U16>>(sealed),
            _ => self.open_with::<AesGcm<Aes256, U16>>(sealed),
        }
    }

    fn open_with<C: Aead + KeyInit>(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        let cipher = C::new_from_slice(self.key).map_err(failed)?;
        let nonce = Nonce::<C>::try_from(self.iv.as_slice()).map_err(failed)?;
        cipher.decrypt(&nonce, Payload { msg: sealed, aad: &self.additional_data }).map_err(failed)
    }
}
