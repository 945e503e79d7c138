//! The Galois/Counter Mode (NIST SP 800-38D) with an iv of any length, from the block cipher, its counter mode and GHASH. The
//! crate `aes-gcm` has the same three parts, and takes the length of the iv as a type.

use aes::cipher::{
    Array, BlockCipherEncrypt, BlockSizeUser, InnerIvInit as _, KeyInit, StreamCipherCore as _, consts::U16,
};
use ctr::{CtrCore, flavors::Ctr32BE};
use ghash::{GHash, universal_hash::UniversalHash as _};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

type Block = Array<u8, U16>;

/// Bytes of a whole tag.
pub(super) const TAG: usize = 16;
/// Bytes of an iv that is used as it is; any other is hashed.
const DIRECT_IV: usize = 12;

/// A cipher of blocks of 16 bytes.
pub(super) trait BlockCipher: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit {}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> BlockCipher for C {}

/// A key, an iv and the additional data.
pub(super) struct Gcm<C> {
    cipher: C,
    /// GHASH after the additional data.
    hash: GHash,
    additional_bits: u64,
    /// The block that the counter begins at (J₀ of section 7.1).
    first: Block,
}

impl<C: BlockCipher> Gcm<C> {
    /// Returns `None` if the key does not have the length of the cipher's.
    pub(super) fn new(key: &[u8], iv: &[u8], additional_data: &[u8]) -> Option<Self> {
        let cipher = C::new_from_slice(key).ok()?;
        let mut hash_key = Block::default();
        cipher.encrypt_block(&mut hash_key);
        let hash = GHash::new(&hash_key);
        hash_key.zeroize();
        let first = first_block(&hash, iv);
        let mut hash = hash;
        hash.update_padded(additional_data);
        Some(Self { cipher, hash, additional_bits: bits(additional_data), first })
    }

    /// Encrypts in place and returns the tag.
    pub(super) fn seal(&self, data: &mut [u8]) -> [u8; TAG] {
        let (counter, mask) = self.counter();
        counter.apply_keystream_partial(data.into());
        self.tag(&mask, data)
    }

    /// Decrypts in place, if the beginning of the tag is right; returns false otherwise, and changes nothing.
    pub(super) fn open(&self, data: &mut [u8], tag: &[u8]) -> bool {
        let (counter, mask) = self.counter();
        let expected = self.tag(&mask, data);
        let is_right = expected.get(..tag.len()).is_some_and(|expected| expected.ct_eq(tag).into());
        if is_right {
            counter.apply_keystream_partial(data.into());
        }
        is_right
    }

    /// Returns the counter after its first block, and that block, which masks the tag.
    fn counter(&self) -> (CtrCore<&C, Ctr32BE>, Block) {
        let mut counter = CtrCore::inner_iv_init(&self.cipher, &self.first);
        let mut mask = Block::default();
        counter.write_keystream_block(&mut mask);
        (counter, mask)
    }

    fn tag(&self, mask: &Block, encrypted: &[u8]) -> [u8; TAG] {
        let mut hash = self.hash.clone();
        hash.update_padded(encrypted);
        hash.update(&[lengths(self.additional_bits, bits(encrypted))]);
        let hashed = hash.finalize();
        std::array::from_fn(|at| hashed[at] ^ mask[at])
    }
}

fn first_block(hash: &GHash, iv: &[u8]) -> Block {
    if iv.len() == DIRECT_IV {
        let mut block = Block::default();
        block[..DIRECT_IV].copy_from_slice(iv);
        block[TAG - 1] = 1;
        return block;
    }
    let mut hash = hash.clone();
    hash.update_padded(iv);
    hash.update(&[lengths(0, bits(iv))]);
    hash.finalize()
}

fn lengths(first: u64, second: u64) -> Block {
    let mut block = Block::default();
    let (left, right) = block.split_at_mut(TAG / 2);
    left.copy_from_slice(&first.to_be_bytes());
    right.copy_from_slice(&second.to_be_bytes());
    block
}

fn bits(data: &[u8]) -> u64 {
    data.len() as u64 * 8
}
