//! The place at which a match begins whose end was found.

use std::ops::Range;

use super::{
    patterns::{End, Patterns},
    spelling::{NEAR_PLACES, Spelling},
};

/// An escape that was a part of what may become a match.
#[derive(Clone, Copy)]
pub(super) struct Escape {
    pub(super) start: usize,
    pub(super) spelling: Spelling,
}

/// Goes back from the end of a match, as the search goes forward: with the bits of one pattern for each place.
#[derive(Default)]
pub(super) struct StartFinder {
    /// Bits that are left to go back over, by the rest of the place and the word; all zero between two searches.
    bits: Vec<u64>,
    now: Vec<u64>,
    next: Vec<u64>,
}

impl StartFinder {
    /// Returns the first place at which a match may begin that ends at a place and at the end of a pattern. If it overlaps the
    /// match of the same end before, that one's start is enough: so each byte is gone back over once for each end, however
    /// many matches there are. `escapes` are in the order of their ends.
    pub(super) fn find(
        &mut self,
        patterns: &Patterns,
        (bytes, base): (&[u8], usize),
        escapes: &[Escape],
        (end, end_place): (End, usize),
        before: &Range<usize>,
    ) -> Option<usize> {
        let window = Window::of(end);
        let Self { bits, now, next } = self;
        if bits.len() < NEAR_PLACES * window.words {
            bits.resize(NEAR_PLACES * window.words, 0);
        }
        let slot = |at: usize| at % NEAR_PLACES * window.words..(at % NEAR_PLACES + 1) * window.words;
        bits[slot(end_place)][window.words - 1] = 1 << (end.last % 64);
        let mut start: Option<usize> = None;
        let (mut at, mut lowest, mut left) = (end_place, end_place, escapes.len());
        loop {
            now.clear();
            now.extend(bits[slot(at)].iter_mut().map(std::mem::take));
            let mut go_back = |bytes: &[u8], to: usize| {
                if window.go_back_over(patterns, bytes, now, next) {
                    start = Some(start.map_or(to, |start| start.min(to)));
                }
                for (word, next) in bits[slot(to)].iter_mut().zip(&*next) {
                    *word |= next;
                }
                if next.iter().any(|word| *word != 0) {
                    lowest = lowest.min(to);
                }
            };
            let is_reached = now.iter().any(|word| *word != 0);
            if is_reached && at <= before.end && !before.is_empty() {
                start = Some(start.map_or(before.start, |start| start.min(before.start)));
            } else if is_reached && at > base {
                go_back(&bytes[at - 1 - base..at - base], at - 1);
                left = escapes[..left].partition_point(|escape| escape.spelling.end <= at);
                let here = escapes[..left].iter().rev().take_while(|escape| escape.spelling.end == at);
                for Escape { start, spelling } in here.filter(|escape| escape.start >= base) {
                    go_back(spelling.bytes(), *start);
                }
            }
            if at <= lowest {
                return start;
            }
            at -= 1;
        }
    }
}

/// The words of a pattern's bits.
#[derive(Clone, Copy)]
struct Window {
    /// The first of them.
    word: usize,
    words: usize,
    /// Bit of the pattern's first byte in the first word.
    first: u64,
}

impl Window {
    fn of(end: End) -> Self {
        let word = end.first / 64;
        Self { word, words: end.last / 64 + 1 - word, first: 1 << (end.first % 64) }
    }

    /// Puts the bits that are left before the bytes of a character into `next`. Returns `true` if a pattern begins with it.
    fn go_back_over(self, patterns: &Patterns, bytes: &[u8], now: &[u64], next: &mut Vec<u64>) -> bool {
        next.clear();
        next.extend_from_slice(now);
        let mut is_start = false;
        for (before, byte) in bytes.iter().enumerate().rev() {
            let mut carried = 0;
            for (word, bits) in next.iter_mut().enumerate().rev() {
                let mut fit = *bits & patterns.mask(*byte, self.word + word);
                if word == 0 {
                    is_start = before == 0 && fit & self.first != 0;
                    // Nothing of the pattern is left before its first byte.
                    fit &= !self.first;
                }
                *bits = fit >> 1 | carried;
                carried = fit << 63;
            }
        }
        is_start
    }
}
