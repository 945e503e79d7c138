//! The patterns of a search as a table: the characters of each text, of its hex digits and of its base64.
//!
//! All patterns stand one behind the other, a bit for each of their bytes. A search keeps the bits up to which it has come
//! (Baeza-Yates and Gonnet, "A new approach to text searching", 1992), so its time does not depend on how often a text begins.
//! A step takes time for the blocks that have bits: mostly one, and never more than all.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

use super::spelling::is_introducer;

/// Words of a block.
const BLOCK_WORDS: usize = 8;
/// Bits of a block.
const BLOCK_BITS: usize = 64 * BLOCK_WORDS;

/// Bits of a search's state.
#[derive(Default)]
pub(super) struct State {
    /// A word without bits, and the words of all blocks. Empty until a bit is set.
    words: Vec<u64>,
    /// The blocks that have bits, 64 in a word. All others are zero.
    filled: Vec<u64>,
}

impl State {
    pub(super) fn is_empty(&self) -> bool {
        self.filled.iter().all(|filled| *filled == 0)
    }

    /// Returns `true` if memory was reserved for bits.
    pub(super) fn has_memory(&self) -> bool {
        !self.words.is_empty()
    }

    /// Clears all bits, and keeps the memory.
    pub(super) fn clear(&mut self) {
        for (set, filled) in self.filled.iter_mut().enumerate() {
            for blocks in runs(std::mem::take(filled)) {
                self.words[words_of(set, blocks)].fill(0);
            }
        }
    }

    /// Sets the bits of another state.
    pub(super) fn merge(&mut self, other: &Self) {
        self.reserve(other.words.len(), other.filled.len());
        for (set, filled) in other.filled.iter().enumerate() {
            self.filled[set] |= filled;
            for blocks in runs(*filled) {
                let words = words_of(set, blocks);
                for (word, bits) in self.words[words.clone()].iter_mut().zip(&other.words[words]) {
                    *word |= bits;
                }
            }
        }
    }

    fn reserve(&mut self, words: usize, sets: usize) {
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.filled.resize(sets, 0);
        }
    }

    /// Sets a bit; there is memory for it.
    fn set(&mut self, bit: usize) {
        self.set_word(bit / 64, 1 << (bit % 64));
    }

    fn set_word(&mut self, word: usize, bits: u64) {
        let block = word / BLOCK_WORDS;
        self.words[1 + word] |= bits;
        self.filled[block / 64] |= 1 << (block % 64);
    }
}

/// Returns the words of some blocks of a set.
fn words_of(set: usize, blocks: Range<u32>) -> Range<usize> {
    let word = |block: u32| 1 + (set * 64 + block as usize) * BLOCK_WORDS;
    word(blocks.start)..word(blocks.end)
}

/// Returns the numbers of the bits of a word.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

/// Returns the bits of a word that stand beside each other.
fn runs(mut word: u64) -> impl Iterator<Item = Range<u32>> {
    std::iter::from_fn(move || {
        let run = first_run(word)?;
        word &= bits_from(run.end);
        Some(run)
    })
}

fn first_run(word: u64) -> Option<Range<u32>> {
    let start = (word != 0).then(|| word.trailing_zeros())?;
    Some(start..start + (word >> start).trailing_ones())
}

/// Returns a word with all bits from a number on.
fn bits_from(bit: u32) -> u64 {
    u64::MAX.checked_shl(bit).unwrap_or_default()
}

/// A place in a pattern at which it may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// Bit of the pattern's first byte.
    pub(super) first: usize,
    /// Bit of the last byte.
    pub(super) last: usize,
}

impl End {
    /// Returns the bytes of the pattern up to this end.
    pub(super) fn length(self) -> usize {
        self.last + 1 - self.first
    }
}

/// The patterns of some texts.
#[derive(Default)]
pub(super) struct Patterns {
    /// The row of each byte in `masks`; 0 for bytes that no pattern has.
    rows: Vec<u16>,
    /// For each row, the bits at which a pattern has one of its bytes.
    masks: Vec<u64>,
    /// Blocks of a row.
    blocks: usize,
    /// For each row, the bits at which a pattern begins with its byte, by their word.
    begun: Vec<Vec<(usize, u64)>>,
    /// Bits at which a pattern may end.
    lasts: State,
    /// Number of those bits before each word of `lasts`.
    ends_before: Vec<u32>,
    ends: Vec<End>,
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

    /// Returns the words of all bits.
    pub(super) fn words(&self) -> usize {
        self.blocks * BLOCK_WORDS
    }

    /// Returns `true` if a pattern begins with this byte.
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// Returns `true` if a pattern begins with this byte, or an escape may.
    pub(super) fn is_noted(&self, byte: u8) -> bool {
        self.noted[usize::from(byte)]
    }

    /// Adds the state after a byte to `next`. Returns `true` if it has bits.
    pub(super) fn step(&self, state: &State, byte: u8, next: &mut State) -> bool {
        let row = usize::from(self.rows[usize::from(byte)]);
        if row == 0 {
            return false;
        }
        next.reserve(1 + self.words(), self.blocks.div_ceil(64));
        for (word, bits) in &self.begun[row] {
            next.set_word(*word, *bits);
        }
        let mut has_bits = !self.begun[row].is_empty();
        let masks = &self.masks[row * self.words()..];
        let mut is_carried = false;
        for (set, filled) in state.filled.iter().enumerate() {
            let mut left = filled | u64::from(is_carried);
            is_carried = false;
            while let Some(mut blocks) = first_run(left) {
                // The last bit may go over to the next block.
                if state.words[words_of(set, blocks.clone()).end - 1] >> 63 == 1 {
                    if blocks.end == 64 {
                        is_carried = true;
                    } else if set * 64 + (blocks.end as usize) < self.blocks {
                        blocks.end += 1;
                    }
                }
                left &= bits_from(blocks.end);
                let words = words_of(set, blocks.clone());
                let before = &state.words[words.start - 1..words.end - 1];
                let masks = &masks[words.start - 1..words.end - 1];
                let reached = &mut next.words[words.clone()];
                for (((reached, now), before), mask) in
                    reached.iter_mut().zip(&state.words[words]).zip(before).zip(masks)
                {
                    *reached |= (now << 1 | before >> 63) & mask;
                }
                for (block, words) in blocks.zip(reached.chunks_exact(BLOCK_WORDS)) {
                    let is_filled = words.iter().fold(0, |all, word| all | word) != 0;
                    next.filled[set] |= u64::from(is_filled) << block;
                    has_bits |= is_filled;
                }
            }
        }
        has_bits
    }

    /// Calls `found` with the number of each end that a state has come to, and the end.
    pub(super) fn each_end(&self, state: &State, mut found: impl FnMut(usize, End)) {
        for (set, (ends, filled)) in self.lasts.filled.iter().zip(&state.filled).enumerate() {
            for block in bits(ends & filled) {
                for word in words_of(set, block..block + 1) {
                    let ends = self.lasts.words[word];
                    for bit in bits(ends & state.words[word]) {
                        let before = (ends & !bits_from(bit)).count_ones();
                        let number = (self.ends_before[word] + before) as usize;
                        found(number, self.ends[number]);
                    }
                }
            }
        }
    }

    /// Returns the number of ends.
    pub(super) fn end_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bits of a word at which a pattern has the byte.
    pub(super) fn mask(&self, byte: u8, word: usize) -> u64 {
        self.masks[usize::from(self.rows[usize::from(byte)]) * self.words() + word]
    }
}

/// Collects patterns: for each of their bytes, which bytes it may be.
#[derive(Default)]
struct Builder {
    /// One byte, or two of which each fits.
    places: Vec<(u8, u8)>,
    /// By their last bits.
    ends: Vec<End>,
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

    /// Adds a pattern, which may end after each of `ends` bytes; these are in order.
    fn add(&mut self, places: impl Iterator<Item = (u8, u8)>, ends: &[usize]) {
        let first = self.places.len();
        self.places.extend(places);
        self.ends.extend(ends.iter().map(|end| End { first, last: first + end - 1 }));
        self.ends.dedup();
        self.longest = self.longest.max(self.places.len() - first);
    }

    fn build(self) -> Patterns {
        let Self { places, ends, longest } = self;
        let blocks = places.len().div_ceil(BLOCK_BITS);
        let words = blocks * BLOCK_WORDS;
        let mut rows = vec![0_u16; 256];
        let mut masks = vec![0_u64; words];
        for (bit, (one, other)) in places.iter().enumerate() {
            for byte in [*one, *other] {
                let row = &mut rows[usize::from(byte)];
                if *row == 0 {
                    *row = (masks.len() / words) as u16;
                    masks.resize(masks.len() + words, 0);
                }
                masks[usize::from(*row) * words + bit / 64] |= 1 << (bit % 64);
            }
        }
        let mut begun = vec![Vec::<(usize, u64)>::new(); masks.len().checked_div(words).unwrap_or_default()];
        let mut begins = vec![false; 256];
        let mut lasts = State::default();
        lasts.reserve(1 + words, blocks.div_ceil(64));
        for End { first, last } in &ends {
            lasts.set(*last);
            let (one, other) = places[*first];
            for byte in [one, other] {
                begins[usize::from(byte)] = true;
                let begun = &mut begun[usize::from(rows[usize::from(byte)])];
                match begun.last_mut() {
                    Some((word, bits)) if *word == first / 64 => *bits |= 1 << (first % 64),
                    _ => begun.push((first / 64, 1 << (first % 64))),
                }
            }
        }
        let mut count = 0;
        let ends_before = lasts.words.iter().map(|word| {
            count += word.count_ones();
            count - word.count_ones()
        });
        let ends_before = ends_before.collect();
        let noted = (0..=255).zip(&begins).map(|(byte, begins)| *begins || is_introducer(byte)).collect();
        Patterns { rows, masks, blocks, begun, lasts, ends_before, ends, begins, noted, longest }
    }
}
