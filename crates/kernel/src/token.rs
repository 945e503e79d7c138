//! Secrets that are shown once: their format, and the digests that are stored instead of them.
//!
//! A token is a prefix that tells its kind, 30 base-62 characters (178 bits), and 6 more with the CRC-32 of the text
//! before them. A mistyped or made-up token fails the checksum and costs no lookup.

use std::sync::atomic::{AtomicU32, Ordering};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::{Randomness, vault::MasterKeys};

/// The kind of a token, which its prefix tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A personal access token.
    Personal,
    /// The access token of an agent's grant.
    AgentAccess,
    /// The refresh token of an agent's grant.
    AgentRefresh,
    /// The authorization code that an OAuth client exchanges for tokens, once.
    AgentCode,
    /// A console session, held in a cookie.
    Session,
    /// The device code of a command line's sign-in.
    DeviceCode,
    /// The token of a sign-in link, sent by e-mail.
    SignInLink,
    /// A publishable key of a backend project, for browsers.
    PublishableKey,
    /// A secret key of a backend project, for servers.
    SecretKey,
    /// The secret that signs the calls of a webhook.
    HookSecret,
    /// The token that the sender of a webhook's calls presents.
    HookToken,
    /// The token of an invite link.
    Invite,
}

impl TokenKind {
    const ALL: [Self; 12] = [
        Self::Personal,
        Self::AgentAccess,
        Self::AgentRefresh,
        Self::AgentCode,
        Self::Session,
        Self::DeviceCode,
        Self::SignInLink,
        Self::PublishableKey,
        Self::SecretKey,
        Self::HookSecret,
        Self::HookToken,
        Self::Invite,
    ];

    /// Returns the prefix of tokens of this kind.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Personal => "qat_",
            Self::AgentAccess => "qao_",
            Self::AgentRefresh => "qar_",
            Self::AgentCode => "qoc_",
            Self::Session => "qss_",
            Self::DeviceCode => "qdc_",
            Self::SignInLink => "qsl_",
            Self::PublishableKey => "qk_pub_",
            Self::SecretKey => "qk_sec_",
            Self::HookSecret => "qws_",
            Self::HookToken => "qwt_",
            Self::Invite => "qiv_",
        }
    }
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LEN: usize = 30;
const CHECK_LEN: usize = 6;

fn checksum(text: &str) -> [u8; CHECK_LEN] {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut out = [b'0'; CHECK_LEN];
    for slot in out.iter_mut().rev() {
        *slot = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    out
}

/// Generates a token.
#[must_use]
pub fn mint(kind: TokenKind, random: &dyn Randomness) -> SecretString {
    let mut text = String::from(kind.prefix());
    text.push_str(&random.string(BASE62, RANDOM_LEN));
    let check = checksum(&text);
    text.extend(check.map(char::from));
    SecretString::from(text)
}

/// Returns the kind of a well-formed token; `None` for any other text, also for one with a wrong checksum.
#[must_use]
pub fn detect_kind(text: &str) -> Option<TokenKind> {
    let kind = TokenKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
    let well_formed = text.len() == kind.prefix().len() + RANDOM_LEN + CHECK_LEN
        && text.bytes().skip(kind.prefix().len()).all(|byte| byte.is_ascii_alphanumeric());
    let (body, check) = text.split_at_checked(text.len().checked_sub(CHECK_LEN)?)?;
    (well_formed && checksum(body) == *check.as_bytes()).then_some(kind)
}

/// The parts of a token that may be shown after the token itself has been shown once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHint {
    /// The prefix of the kind and the next four characters.
    pub prefix: String,
    /// The last four characters.
    pub last4: String,
}

impl TokenHint {
    /// Returns the hint of a token that [`mint`] generated.
    #[must_use]
    pub fn of(kind: TokenKind, token: &SecretString) -> Self {
        let text = token.expose_secret();
        let prefix = text.get(..kind.prefix().len() + 4).unwrap_or(kind.prefix()).to_owned();
        let last4 = text.len().checked_sub(4).and_then(|at| text.get(at..)).unwrap_or_default().to_owned();
        Self { prefix, last4 }
    }
}

/// Writes the prefix, an ellipsis and the last four characters.
impl std::fmt::Display for TokenHint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}…{}", self.prefix, self.last4)
    }
}

/// The digest of a token: the id of a pepper and the HMAC-SHA256 under it.
#[derive(Debug, Clone, Copy)]
pub struct Digest([u8; Digest::LEN]);

impl Digest {
    /// Length in bytes: 4 of the id of the pepper and 32 of the HMAC.
    pub const LEN: usize = 36;

    /// Returns the bytes, as stores keep them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Creates a digest from the bytes that a store keeps; `None` if the length is wrong.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// Compares in constant time.
impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
impl Eq for Digest {}

/// The keys of token digests, newest first, derived from the master keys.
#[derive(Clone)]
pub struct Peppers(Vec<([u8; 4], Hmac<Sha256>)>);

impl std::fmt::Debug for Peppers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Peppers({})", self.0.len())
    }
}

/// The purpose for which peppers are derived from a master key.
const PEPPER_PURPOSE: &str = "token-pepper";

/// The pepper of a master key that is no longer configured. Its digests are still verified.
#[derive(Debug, Clone)]
pub struct RetiredPepper {
    id: [u8; 4],
    key_id: String,
    secret: SecretString,
}

impl RetiredPepper {
    /// Returns the peppers of all master keys but the newest.
    pub fn from_master_keys(keys: &MasterKeys) -> impl Iterator<Item = Self> {
        let older = keys.derive_keys(PEPPER_PURPOSE).skip(1);
        older.map(|(id, key)| Self { id, key_id: hex(&id), secret: SecretString::from(BASE64.encode(key)) })
    }

    /// Creates a pepper from its stored form; `None` if it is malformed.
    #[must_use]
    pub fn new(key_id: &str, secret: SecretString) -> Option<Self> {
        let id = u32::from_str_radix(key_id, 16).ok()?.to_be_bytes();
        let pepper = Self { id, key_id: key_id.to_owned(), secret };
        pepper.decode_key().is_some().then_some(pepper)
    }

    /// Returns the id of its master key, 8 hexadecimal digits.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Returns the pepper in base64, to be sealed and stored.
    #[must_use]
    pub fn secret(&self) -> &SecretString {
        &self.secret
    }

    fn decode_key(&self) -> Option<[u8; 32]> {
        BASE64.decode(self.secret.expose_secret()).ok()?.try_into().ok()
    }
}

fn hex(id: &[u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(*id))
}

impl Peppers {
    /// Derives one pepper from each master key.
    #[must_use]
    pub fn derive(keys: &MasterKeys) -> Self {
        Self(keys.derive_keys(PEPPER_PURPOSE).map(|(id, key)| (id, mac(&key))).collect())
    }

    /// Adds the peppers of master keys that are no longer configured.
    #[must_use]
    pub fn with_retired(mut self, retired: &[RetiredPepper]) -> Self {
        for pepper in retired {
            if let Some(key) = pepper.decode_key().filter(|_| self.0.iter().all(|(id, _)| *id != pepper.id)) {
                self.0.push((pepper.id, mac(&key)));
            }
        }
        self
    }

    /// Returns the digest to store for a new secret, under the newest pepper.
    #[must_use]
    pub fn digest(&self, secret: &str) -> Digest {
        // `MasterKeys` holds at least one key.
        self.candidate_digests(secret).next().unwrap_or(Digest([0; Digest::LEN]))
    }

    /// Returns every digest under which a secret may be stored, newest pepper first.
    pub fn candidate_digests(&self, secret: &str) -> impl Iterator<Item = Digest> {
        self.0.iter().map(move |(id, mac)| {
            let mut mac = mac.clone();
            mac.update(secret.as_bytes());
            let mut bytes = [0; Digest::LEN];
            bytes[..4].copy_from_slice(id);
            bytes[4..].copy_from_slice(&mac.finalize().into_bytes());
            Digest(bytes)
        })
    }

    /// Derives a token from a secret and a salt under each pepper, newest first. Whoever presents the secret again can get
    /// the same token again, although neither is stored.
    pub fn derive_successors(
        &self,
        kind: TokenKind,
        secret: &str,
        salt: &[u8],
    ) -> impl Iterator<Item = SecretString> {
        self.0.iter().map(move |(_, mac)| {
            let mut mac = mac.clone();
            // Separates these HMACs from digests: no secret starts like this.
            mac.update(b"qala/token-successor\0");
            mac.update(&(salt.len() as u64).to_be_bytes());
            mac.update(salt);
            mac.update(secret.as_bytes());
            mint(kind, &HmacByteStream { mac, block: AtomicU32::new(0) })
        })
    }

    /// Returns true if `digest` is the digest of `secret`. Compares in constant time.
    #[must_use]
    pub fn verify(&self, secret: &str, digest: &Digest) -> bool {
        self.candidate_digests(secret).fold(false, |found, candidate| found | (candidate == *digest))
    }
}

/// A stream of bytes derived from a key and a text: blocks of HMAC-SHA256 over the text and the number of the block.
struct HmacByteStream {
    mac: Hmac<Sha256>,
    block: AtomicU32,
}

impl Randomness for HmacByteStream {
    fn fill(&self, out: &mut [u8]) {
        for piece in out.chunks_mut(32) {
            let block = self.block.fetch_add(1, Ordering::Relaxed);
            let bytes = self.mac.clone().chain_update(block.to_be_bytes()).finalize().into_bytes();
            piece.copy_from_slice(&bytes[..piece.len()]);
        }
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn mac(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandomness;

    #[test]
    fn a_retired_pepper_still_verifies_and_makes_nothing_new() {
        let (old, both) = (MasterKeys::new(vec![[1; 32]]), MasterKeys::new(vec![[2; 32], [1; 32]]));
        let before = Peppers::derive(&old.unwrap()).digest("secret");
        let retired: Vec<_> = RetiredPepper::from_master_keys(&both.unwrap()).collect();
        assert_eq!(retired.len(), 1);
        let kept = RetiredPepper::new(retired[0].key_id(), retired[0].secret().clone()).unwrap();
        let new = Peppers::derive(&MasterKeys::new(vec![[2; 32]]).unwrap());
        assert!(!new.verify("secret", &before));
        let made = new.digest("secret");
        let with = new.with_retired(&[kept.clone(), kept]);
        assert!(with.verify("secret", &before) && !with.verify("other", &before));
        assert_eq!(with.digest("secret"), made);
        assert_eq!(with.candidate_digests("secret").count(), 2);
        assert!(RetiredPepper::new("xyz", SecretString::from("a")).is_none());
        assert!(RetiredPepper::new("00000001", SecretString::from("short")).is_none());
    }

    #[test]
    fn a_minted_token_is_recognised_and_a_changed_one_is_not() {
        let random = SeededRandomness::new(3);
        for kind in TokenKind::ALL {
            let token = mint(kind, &random);
            let text = token.expose_secret();
            assert_eq!(text.len(), kind.prefix().len() + 36);
            assert_eq!(detect_kind(text), Some(kind));
            for at in 0..text.len() {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
                assert_eq!(detect_kind(std::str::from_utf8(&changed).unwrap()), None, "changed at {at}");
            }
        }
        for text in ["", "qat_", "qat_é", "qat_00000000000000000000000000000é00000"] {
            assert_eq!(detect_kind(text), None);
        }
    }

    #[test]
    fn a_digest_is_found_under_an_older_pepper() {
        let [old, new] = [1, 2].map(|byte| [byte; 32]);
        let before = Peppers::derive(&MasterKeys::new(vec![old]).unwrap());
        let after = Peppers::derive(&MasterKeys::new(vec![new, old]).unwrap());
        let digest = before.digest("secret");
        assert!(after.verify("secret", &digest) && !after.verify("Secret", &digest));
        assert_ne!(after.digest("secret"), digest);
        let other = Peppers::derive(&MasterKeys::new(vec![new]).unwrap());
        assert!(!other.verify("secret", &digest));
    }

    #[test]
    fn a_successor_follows_from_secret_salt_and_pepper_alone() {
        let [old, new] = [1, 2].map(|byte| [byte; 32]);
        let before = Peppers::derive(&MasterKeys::new(vec![old]).unwrap());
        let after = Peppers::derive(&MasterKeys::new(vec![new, old]).unwrap());
        let all = |peppers: &Peppers, secret: &str, salt: &[u8]| -> Vec<String> {
            let tokens = peppers.derive_successors(TokenKind::AgentRefresh, secret, salt);
            tokens.map(|token| token.expose_secret().to_owned()).collect()
        };
        let [token] = &all(&before, "secret", b"salt")[..] else { panic!("one pepper") };
        assert_eq!(detect_kind(token), Some(TokenKind::AgentRefresh));
        assert_eq!(&all(&before, "secret", b"salt")[0], token);
        assert_eq!(&all(&after, "secret", b"salt")[1], token);
        assert_ne!(&all(&after, "secret", b"salt")[0], token);
        for (secret, salt) in
            [("Secret", &b"salt"[..]), ("secret", b"Salt"), ("tsecret", b"sal"), ("ecret", b"salts")]
        {
            assert_ne!(&all(&before, secret, salt)[0], token);
        }
    }

    #[test]
    fn a_hint_does_not_give_the_token_away() {
        let token = mint(TokenKind::SecretKey, &SeededRandomness::new(4));
        let hint = TokenHint::of(TokenKind::SecretKey, &token);
        assert_eq!(hint.prefix.len(), "qk_sec_".len() + 4);
        assert!(
            token.expose_secret().starts_with(&hint.prefix) && token.expose_secret().ends_with(&hint.last4)
        );
    }
}
