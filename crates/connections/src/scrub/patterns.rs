//! The patterns of a search as a table: the characters of each text, of its hex digits and of its base64.
//!
//! All patterns stand one behind the other, a bit for each of their bytes. A search keeps the bits up to which it has come
//! (Baeza-Yates and Gonnet, "A new approach to text searching", 1992), so its time does not depend on how often a text begins.

use std::cmp::Ordering;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

use super::spelling::is_introducer;

/// Bits of a search's state that are set, by the number of their word; sorted.
pub(super) type State = Vec<(u32, u64)>;

/// The patterns of some texts.
#[derive(Default)]
pub(super) struct Patterns {
    /// The row of each byte in `masks`; 0 for bytes that no pattern has.
    rows: Vec<u16>,
    /// For each row, the bits at which a pattern has one of its bytes.
    masks: Vec<u64>,
    /// Words of a row.
    words: usize,
    /// Bits of the first byte of each pattern.
    firsts: State,
    /// Bits at which a pattern may end.
    lasts: State,
    /// `true` for each byte that begins a pattern.
    begins: Vec<bool>,
    /// `true` for each byte that begins a pattern or may begin an escape.
    noted: Vec<bool>,
    /// Bytes of the longest pattern.
    longest: usize,
}

impl Patterns {
    /// Puts the patterns of texts together; none may be empty.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut builder = Builder::default();
        for text in texts {
            builder.add_text(text);
        }
        builder.build()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.longest == 0
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Returns `true` if a pattern begins with this byte.
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// Returns `true` if a pattern begins with this byte, or an escape may.
    pub(super) fn is_noted(&self, byte: u8) -> bool {
        self.noted[usize::from(byte)]
    }

    /// Puts the state after a byte into `next`, which is empty.
    pub(super) fn step(&self, state: &State, byte: u8, next: &mut State) {
        let row = usize::from(self.rows[usize::from(byte)]);
        if row == 0 {
            return;
        }
        let masks = &self.masks[row * self.words..(row + 1) * self.words];
        // The bit that goes over to a word from the one before it.
        let mut carried = (u32::MAX, 0);
        for (word, bits) in state {
            if carried.1 != 0 && carried.0 != *word {
                push_masked(next, masks, carried);
            }
            let over = if carried.0 == *word { carried.1 } else { 0 };
            push_masked(next, masks, (*word, bits << 1 | over));
            carried = (word + 1, bits >> 63);
        }
        push_masked(next, masks, carried);
        if self.begins_with(byte) {
            for (word, bits) in &self.firsts {
                set(next, *word, bits & masks[*word as usize]);
            }
        }
    }

    /// Returns the bits of a state at which a pattern ends.
    pub(super) fn ends<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        // Mostly, a state has fewer words than there are ends; a long one has more.
        let (few, many) =
            if state.len() < self.lasts.len() { (state, &self.lasts) } else { (&self.lasts, state) };
        let both = few.iter().filter_map(|(word, bits)| {
            let at = many.binary_search_by_key(word, |(word, _)| *word).ok()?;
            Some((*word, bits & many[at].1))
        });
        both.flat_map(|(word, mut left)| {
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word as usize * 64 + bit)
            })
        })
    }

    /// Returns `true` if a pattern has the byte at a bit.
    pub(super) fn has(&self, bit: usize, byte: u8) -> bool {
        let row = usize::from(self.rows[usize::from(byte)]);
        self.masks[row * self.words + bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns `true` if a pattern begins at a bit.
    pub(super) fn is_first(&self, bit: usize) -> bool {
        let word = (bit / 64) as u32;
        let found = self.firsts.binary_search_by_key(&word, |(word, _)| *word);
        found.is_ok_and(|at| self.firsts[at].1 >> (bit % 64) & 1 == 1)
    }
}

fn push_masked(state: &mut State, masks: &[u64], (word, bits): (u32, u64)) {
    let bits = bits & masks.get(word as usize).copied().unwrap_or_default();
    if bits != 0 {
        state.push((word, bits));
    }
}

/// Puts the bits of two states into a third, which is empty.
pub(super) fn merge(one: &State, other: &State, merged: &mut State) {
    let (mut one, mut other) = (one.as_slice(), other.as_slice());
    while let ([(first, bits), one_rest @ ..], [(second, more), other_rest @ ..]) = (one, other) {
        merged.push((
            *first.min(second),
            match first.cmp(second) {
                Ordering::Less => *bits,
                Ordering::Equal => bits | more,
                Ordering::Greater => *more,
            },
        ));
        if first <= second {
            one = one_rest;
        }
        if second <= first {
            other = other_rest;
        }
    }
    merged.extend_from_slice(one);
    merged.extend_from_slice(other);
}

/// Sets bits of a word. Words come mostly in order.
fn set(state: &mut State, word: u32, bits: u64) {
    if bits == 0 {
        return;
    }
    match state.last_mut() {
        Some((last, set)) if *last == word => *set |= bits,
        Some((last, _)) if *last > word => match state.binary_search_by_key(&word, |(word, _)| *word) {
            Ok(at) => state[at].1 |= bits,
            Err(at) => state.insert(at, (word, bits)),
        },
        _ => state.push((word, bits)),
    }
}

/// Collects patterns: for each of their bytes, which bytes it may be.
#[derive(Default)]
struct Builder {
    /// One byte, or two of which each fits.
    places: Vec<(u8, u8)>,
    firsts: Vec<usize>,
    lasts: Vec<usize>,
    longest: usize,
}

impl Builder {
    fn add_text(&mut self, text: &str) {
        self.add(text.bytes().map(|byte| (byte, byte)), &[text.len()]);
        let digits = text.bytes().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| {
            let (lower, upper) = (b"0123456789abcdef", b"0123456789ABCDEF");
            (lower[usize::from(digit)], upper[usize::from(digit)])
        });
        self.add(digits, &[2 * text.len()]);
        self.add_base64(text.as_bytes());
    }

    /// Adds the characters that depend on the text alone, for each of the three offsets at which it may begin in a longer
    /// text; and the same with the end of the encoding.
    fn add_base64(&mut self, text: &[u8]) {
        for offset in 0..3_usize {
            let padded = [&[0, 0][..offset], text].concat();
            let encoded = STANDARD_NO_PAD.encode(&padded);
            let start = (8 * offset).div_ceil(6);
            let (core, closed) = (8 * padded.len() / 6 - start, encoded.len() - start);
            let padding = (4 - encoded.len() % 4) % 4;
            let signs = encoded.bytes().skip(start).chain(std::iter::repeat_n(b'=', padding));
            let signs = signs.map(|sign| match sign {
                b'+' => (b'+', b'-'),
                b'/' => (b'/', b'_'),
                sign => (sign, sign),
            });
            self.add(signs, &[core, closed, closed + padding]);
        }
    }

    /// Adds a pattern, which may end after each of `ends` bytes.
    fn add(&mut self, places: impl Iterator<Item = (u8, u8)>, ends: &[usize]) {
        let first = self.places.len();
        self.places.extend(places);
        self.firsts.push(first);
        self.lasts.extend(ends.iter().map(|end| first + end - 1));
        self.longest = self.longest.max(self.places.len() - first);
    }

    fn build(self) -> Patterns {
        let words = self.places.len().div_ceil(64);
        let mut rows = vec![0_u16; 256];
        let mut masks = vec![0_u64; words];
        for (bit, (one, other)) in self.places.iter().enumerate() {
            for byte in [*one, *other] {
                let row = &mut rows[usize::from(byte)];
                if *row == 0 {
                    *row = (masks.len() / words) as u16;
                    masks.resize(masks.len() + words, 0);
                }
                masks[usize::from(*row) * words + bit / 64] |= 1 << (bit % 64);
            }
        }
        let (mut firsts, mut lasts, mut begins) = (State::new(), State::new(), vec![false; 256]);
        for bit in self.firsts {
            set(&mut firsts, (bit / 64) as u32, 1 << (bit % 64));
            let (one, other) = self.places[bit];
            begins[usize::from(one)] = true;
            begins[usize::from(other)] = true;
        }
        for bit in self.lasts {
            set(&mut lasts, (bit / 64) as u32, 1 << (bit % 64));
        }
        let noted = (0..=255).zip(&begins).map(|(byte, begins)| *begins || is_introducer(byte)).collect();
        Patterns { rows, masks, words, firsts, lasts, begins, noted, longest: self.longest }
    }
}
