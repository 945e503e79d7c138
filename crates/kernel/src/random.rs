//! Randomness as a port, and what is made from it: ids and unguessable strings.

use std::sync::{Mutex, PoisonError};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use uuid::Uuid;

use crate::clock::Timestamp;

/// Where random bytes come from. Implementations must be cryptographically secure, save for tests.
pub trait Randomness: Send + Sync {
    /// Fills `out` with random bytes.
    fn fill(&self, out: &mut [u8]);
}

impl dyn Randomness + '_ {
    /// A fresh UUIDv7 (RFC 9562 §5.7) for the moment `now`.
    #[must_use]
    pub fn uuid_v7(&self, now: Timestamp) -> Uuid {
        let mut random = [0_u8; 10];
        self.fill(&mut random);
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    /// `len` characters drawn evenly from `alphabet`, which holds 1 to 256 ASCII characters.
    #[must_use]
    pub fn string(&self, alphabet: &[u8], len: usize) -> String {
        debug_assert!(!alphabet.is_empty() && alphabet.len() <= 256, "an alphabet holds 1 to 256 characters");
        // Bytes past the largest multiple of the alphabet are dropped, or the first characters would be likelier.
        let fair = 256 - 256 % alphabet.len();
        let mut out = String::with_capacity(len);
        let mut buffer = [0_u8; 64];
        while out.len() < len {
            self.fill(&mut buffer);
            for byte in buffer.map(usize::from) {
                if byte < fair && out.len() < len {
                    out.push(char::from(alphabet[byte % alphabet.len()]));
                }
            }
        }
        out
    }

    /// A number below `bound`, evenly drawn; 0 when `bound` is 0.
    #[must_use]
    pub fn below(&self, bound: u32) -> u32 {
        if bound == 0 {
            return 0;
        }
        let fair = u32::MAX - u32::MAX % bound;
        loop {
            let mut bytes = [0_u8; 4];
            self.fill(&mut bytes);
            let number = u32::from_le_bytes(bytes);
            if number < fair {
                return number % bound;
            }
        }
    }
}

/// The operating system's generator.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    #[expect(clippy::expect_used, reason = "a machine without randomness must not go on making secrets")]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the operating system")]
    fn fill(&self, out: &mut [u8]) {
        getrandom::fill(out).expect("the operating system gives random bytes");
    }
}

/// A repeatable generator; for tests.
#[derive(Debug)]
pub struct SeededRandomness(Mutex<StdRng>);

impl SeededRandomness {
    /// A generator whose whole output is decided by `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Randomness for SeededRandomness {
    fn fill(&self, out: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_an_alphabet_is_drawn() {
        let source: &dyn Randomness = &SeededRandomness::new(7);
        let drawn = source.string(b"abcdefghijklmnopqrstuvwxyz", 4000);
        assert_eq!(drawn.len(), 4000);
        for letter in 'a'..='z' {
            let count = drawn.matches(letter).count();
            assert!((90..220).contains(&count), "{letter} was drawn {count} times");
        }
    }

    #[test]
    fn ids_of_a_later_moment_sort_later() {
        let source: &dyn Randomness = &SeededRandomness::new(1);
        let early = Timestamp::from_timestamp_millis(1_700_000_000_000).unwrap();
        let late = Timestamp::from_timestamp_millis(1_700_000_000_001).unwrap();
        assert!(source.uuid_v7(early) < source.uuid_v7(late));
    }
}
