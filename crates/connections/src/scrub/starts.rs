//! A filter that tells cheaply that bytes have no form of a secret. Most responses have none, and putting an automaton
//! together for all forms takes far longer than a request.

use std::fmt;

use super::forms;

/// Bytes at the start of a form that are compared. No form is shorter, since no text under eight bytes is searched for.
const WIDTH: usize = 8;
/// Bytes of a text on which the first [`WIDTH`] bytes of all of its forms depend; at most.
const DETERMINING: usize = 8;
const BITS: u32 = 12;
/// Starts of the forms of a short text of letters, repeated ones included.
const TYPICAL_STARTS: usize = 64;

/// The first bytes of the forms of some texts.
#[derive(Clone)]
pub(super) struct Starts {
    /// A bit for each value of the hash that a start has.
    bits: Box<[u64; 1 << (BITS - 6)]>,
    /// Starts, sorted.
    keys: Vec<u64>,
}

impl Starts {
    /// Collects the starts of the forms of texts, each of eight bytes at least.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut starts =
            Self { bits: Box::new([0; 1 << (BITS - 6)]), keys: Vec::with_capacity(TYPICAL_STARTS) };
        for text in texts {
            let determining = text.ceil_char_boundary(DETERMINING);
            forms::each_form(&text[..determining], &mut |form| {
                let start = form.as_bytes().first_chunk::<WIDTH>();
                starts.keys.extend(start.map(|start| u64::from_le_bytes(*start)));
            });
        }
        starts.keys.sort_unstable();
        starts.keys.dedup();
        for key in &starts.keys {
            let (word, bit) = place(*key);
            starts.bits[word] |= bit;
        }
        starts
    }

    /// Returns `true` if a form may begin somewhere in the bytes.
    pub(super) fn may_begin_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(WIDTH).any(|window| self.is_start(window))
    }

    /// Returns the places from `from` on at which a form may begin, with more bytes to come.
    pub(super) fn places_in(&self, bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
        let is_place = |at: &usize| match &bytes[*at..] {
            window if window.len() >= WIDTH => self.is_start(window),
            cut => self.is_cut_start(cut),
        };
        (from..bytes.len()).filter(is_place)
    }

    fn is_start(&self, window: &[u8]) -> bool {
        let Some(start) = window.first_chunk::<WIDTH>() else { return false };
        let key = u64::from_le_bytes(*start);
        let (word, bit) = place(key);
        self.bits[word] & bit != 0 && self.keys.binary_search(&key).is_ok()
    }

    /// Returns `true` if a start begins with these bytes, which are fewer than [`WIDTH`].
    fn is_cut_start(&self, bytes: &[u8]) -> bool {
        self.keys.iter().any(|key| key.to_le_bytes().starts_with(bytes))
    }
}

/// Returns the word and the bit of a start.
fn place(key: u64) -> (usize, u64) {
    // The multiplier of Fibonacci hashing (Knuth, The Art of Computer Programming, section 6.4).
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

impl fmt::Debug for Starts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starts").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_form_begins_with_a_start(text in "[ -~\u{e9}\u{444}\u{1f600}\t\n]{8,60}") {
            let starts = Starts::of([text.as_str()]);
            for form in forms::forms(&text) {
                prop_assert!(starts.may_begin_in(&form), "{}", String::from_utf8_lossy(&form));
                prop_assert!(form.len() <= forms::longest(&text), "{} {}", form.len(), text.len());
                prop_assert!(form.len() >= WIDTH);
            }
        }
    }

    #[test]
    fn a_start_is_found_before_all_of_it_has_come() {
        let starts = Starts::of(["a-secret-of-forty-characters"]);
        for (bytes, from, expected) in [
            ("", 0, &[][..]),
            ("xyz", 0, &[]),
            ("xya", 0, &[2]),
            ("xya-secre", 0, &[2]),
            ("xya-secret-o", 0, &[2]),
            ("a-secret-o", 1, &[]),
            ("a-secret a", 0, &[0, 9]),
            ("xya-secre ", 0, &[]),
            ("ab", 5, &[]),
        ] {
            let places: Vec<_> = starts.places_in(bytes.as_bytes(), from).collect();
            assert_eq!(places, expected, "{bytes}");
        }
    }

    #[test]
    fn other_bytes_have_no_start() {
        let starts = Starts::of(["a-secret-of-forty-characters"]);
        for other in ["", "a-secre", "b-secret-of", &"x".repeat(10_000), "{\"name\": \"value\"}"] {
            assert!(!starts.may_begin_in(other.as_bytes()), "{other}");
        }
        assert!(starts.may_begin_in(b"....a-secret..."));
    }
}
