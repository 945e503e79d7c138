//! Randomness as a port, and the ids and unguessable strings made from it.

use std::sync::{Mutex, PoisonError};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use uuid::Uuid;

use crate::clock::Timestamp;

/// A source of random bytes. Implementations must be cryptographically secure, except in tests.
pub trait Randomness: Send + Sync {
    /// Fills `out` with random bytes.
    fn fill(&self, out: &mut [u8]);

    /// Fills `out` with the random bytes of an id. Ids cannot be guessed either, but are no secrets.
    fn fill_id(&self, out: &mut [u8]) {
        self.fill(out);
    }
}

impl dyn Randomness + '_ {
    /// Generates a UUIDv7 (RFC 9562, section 5.7) for the time `now`.
    #[must_use]
    pub fn uuid_v7(&self, now: Timestamp) -> Uuid {
        let mut random = [0_u8; 10];
        self.fill_id(&mut random);
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    /// Returns `len` characters drawn uniformly from `alphabet`, which has 1 to 256 ASCII characters.
    #[must_use]
    pub fn string(&self, alphabet: &[u8], len: usize) -> String {
        debug_assert!(!alphabet.is_empty() && alphabet.len() <= 256, "an alphabet has 1 to 256 characters");
        // Bytes above the largest multiple of the alphabet's length are dropped; they would favour its first characters.
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

    /// Returns a number below `bound`, drawn uniformly; 0 if `bound` is 0.
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

/// The random number generator of the operating system. Ids come from one of each thread, which it seeds.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    #[expect(
        clippy::expect_used,
        reason = "without randomness the process must stop before it makes a secret"
    )]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the operating system")]
    fn fill(&self, out: &mut [u8]) {
        getrandom::fill(out).expect("the operating system provides random bytes");
    }

    // A request draws several ids. One call of the operating system for each took two percent of a token check.
    #[expect(clippy::disallowed_methods, reason = "the one place that has a generator for ids")]
    fn fill_id(&self, out: &mut [u8]) {
        rand::rng().fill_bytes(out);
    }
}

/// A generator that repeats its output; for tests.
#[derive(Debug)]
pub struct SeededRandomness(Mutex<StdRng>);

impl SeededRandomness {
    /// Creates a generator whose output depends only on `seed`.
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
    fn ids_of_a_later_time_sort_later() {
        let source: &dyn Randomness = &SeededRandomness::new(1);
        let early = Timestamp::from_timestamp_millis(1_700_000_000_000).unwrap();
        let late = Timestamp::from_timestamp_millis(1_700_000_000_001).unwrap();
        assert!(source.uuid_v7(early) < source.uuid_v7(late));
    }
}
