//! The search for patterns in bytes that may come in pieces.
//!
//! It goes through the bytes once. At each place it knows how far each pattern may have come there, whatever spellings led
//! to it; a spelling that takes several bytes leads to a place further on.

use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
};

use super::{
    patterns::{Patterns, State, merge},
    spelling::{MAX_SPELLING, Reader, Reading, Spelling, Spellings, is_introducer, may_be_escape},
};

/// Escapes that are remembered before those are dropped that no match can have.
const MIN_ESCAPES: usize = 1_024;

/// An escape that was a part of what may become a match.
#[derive(Clone, Copy)]
struct Escape {
    start: usize,
    spelling: Spelling,
}

/// A search. Places count from the first byte of all.
pub(super) struct Search {
    patterns: Arc<Patterns>,
    /// Place that is read next.
    at: usize,
    /// Progress of the patterns at `at` and the places behind it, by the rest of the place.
    states: Vec<State>,
    /// The last place that a pattern has come to.
    furthest: usize,
    escapes: Vec<Escape>,
    max_escapes: usize,
    /// Places of matches; those that overlap are one.
    found: VecDeque<Range<usize>>,
    /// The last match of each end of a pattern.
    last: Vec<(usize, Range<usize>)>,
    counts: Option<Counts>,
    reader: Reader,
    /// Empty states, whose memory is used again.
    spare: [State; 3],
}

/// The least number of characters before each place, whatever spellings they have. It depends on the bytes alone, and not on
/// what is searched for.
struct Counts {
    /// Place of the first count.
    first: usize,
    counts: VecDeque<u32>,
}

impl Counts {
    fn get(&self, at: usize) -> u32 {
        self.counts.get(at - self.first).copied().unwrap_or(u32::MAX)
    }

    fn lower(&mut self, at: usize, count: u32) {
        let index = at - self.first;
        while self.counts.len() <= index {
            self.counts.push_back(u32::MAX);
        }
        self.counts[index] = self.counts[index].min(count);
    }
}

impl Search {
    pub(super) fn new(patterns: Arc<Patterns>, is_stream: bool) -> Self {
        Self {
            patterns,
            at: 0,
            states: vec![State::new(); MAX_SPELLING + 1],
            furthest: 0,
            escapes: Vec::new(),
            max_escapes: MIN_ESCAPES,
            found: VecDeque::new(),
            last: Vec::new(),
            counts: is_stream.then(|| Counts { first: 0, counts: VecDeque::from([0]) }),
            reader: Reader::default(),
            spare: Default::default(),
        }
    }

    /// Returns the places of matches, in order.
    pub(super) fn found(&self) -> &VecDeque<Range<usize>> {
        &self.found
    }

    /// Searches on in bytes, the first of which is at the place `base`; to their end if nothing follows them.
    pub(super) fn read(&mut self, bytes: &[u8], base: usize, is_end: bool) {
        let end = base + bytes.len();
        if self.patterns.is_empty() {
            self.at = end;
            return;
        }
        while self.at < end {
            if self.furthest <= self.at && self.states[self.at % (MAX_SPELLING + 1)].is_empty() {
                self.skip(&bytes[self.at - base..]);
                if self.at == end {
                    break;
                }
            }
            let byte = bytes[self.at - base];
            let (spellings, reading) = if is_introducer(byte) {
                self.reader.read(bytes, base, self.at)
            } else {
                (Spellings::NONE, Reading::Complete)
            };
            if reading == Reading::Cut && !is_end {
                self.count(spellings.as_slice());
                return;
            }
            self.step(bytes, base, byte, spellings.as_slice());
        }
        if is_end {
            let state = std::mem::take(&mut self.states[self.at % (MAX_SPELLING + 1)]);
            self.find_ends(bytes, base, &state);
        }
    }

    /// Goes on to the next byte that may begin a match.
    fn skip(&mut self, bytes: &[u8]) {
        let may_begin = |at: &usize| {
            let byte = bytes[*at];
            self.patterns.is_noted(byte)
                && (self.patterns.begins_with(byte) || may_be_escape(byte, bytes.get(at + 1).copied()))
        };
        let skipped = (0..bytes.len()).find(may_begin).unwrap_or(bytes.len());
        if let Some(counts) = &mut self.counts {
            for at in self.at..self.at + skipped {
                counts.lower(at + 1, counts.get(at) + 1);
            }
        }
        self.at += skipped;
        self.furthest = self.at;
    }

    /// Goes on by one byte.
    fn step(&mut self, bytes: &[u8], base: usize, byte: u8, spellings: &[Spelling]) {
        let at = self.at;
        let mut state = std::mem::take(&mut self.states[at % (MAX_SPELLING + 1)]);
        self.find_ends(bytes, base, &state);
        let [mut next, mut one, mut other] = std::mem::take(&mut self.spare);
        self.patterns.step(&state, byte, &mut next);
        self.reach(at + 1, &mut next, &mut other);
        for spelling in spellings {
            match spelling.bytes() {
                [] => next.extend_from_slice(&state),
                [byte] => self.patterns.step(&state, *byte, &mut next),
                [first, rest @ ..] => {
                    self.patterns.step(&state, *first, &mut next);
                    for byte in rest {
                        self.patterns.step(&next, *byte, &mut one);
                        std::mem::swap(&mut next, &mut one);
                        one.clear();
                    }
                }
            }
            if !next.is_empty() {
                self.remember(Escape { start: at, spelling: *spelling }, base);
                self.reach(spelling.end, &mut next, &mut other);
            }
        }
        self.count(spellings);
        state.clear();
        // The memory of the longest states goes on.
        if state.capacity() > one.capacity() {
            one = state;
        }
        self.spare = [next, one, other];
        self.at += 1;
    }

    /// Counts the characters up to the places behind what the current place may be.
    fn count(&mut self, spellings: &[Spelling]) {
        let Some(counts) = &mut self.counts else { return };
        let count = counts.get(self.at);
        counts.lower(self.at + 1, count + 1);
        for spelling in spellings {
            let is_character = !spelling.bytes().is_empty();
            counts.lower(spelling.end, count + u32::from(is_character));
        }
    }

    /// Adds a state to that of a place, and leaves it and `spare` empty.
    fn reach(&mut self, at: usize, state: &mut State, spare: &mut State) {
        if state.is_empty() {
            return;
        }
        self.furthest = self.furthest.max(at);
        let reached = &mut self.states[at % (MAX_SPELLING + 1)];
        if reached.is_empty() {
            std::mem::swap(reached, state);
            return;
        }
        merge(reached, state, spare);
        std::mem::swap(reached, spare);
        state.clear();
        spare.clear();
    }

    fn remember(&mut self, escape: Escape, base: usize) {
        if self.escapes.len() >= self.max_escapes {
            let reach = self.patterns.longest() * (MAX_SPELLING + 4);
            let oldest = base.max(self.at.saturating_sub(reach));
            self.escapes.retain(|escape| escape.start >= oldest);
            self.max_escapes = MIN_ESCAPES.max(2 * self.escapes.len());
        }
        self.escapes.push(escape);
    }

    /// Adds the matches that end at the current place.
    fn find_ends(&mut self, bytes: &[u8], base: usize, state: &State) {
        let patterns = Arc::clone(&self.patterns);
        for bit in patterns.ends(state) {
            let end = self.at;
            let last = self.last.iter().position(|(last, _)| *last == bit);
            let before = last.map(|last| self.last[last].1.clone());
            let Some(start) = self.start_of(bytes, base, bit, before.as_ref()) else { continue };
            match last {
                Some(last) => self.last[last].1 = start..end,
                None => self.last.push((bit, start..end)),
            }
            let (mut start, mut end) = (start, end);
            while let Some(last) = self.found.pop_back_if(|last| last.end > start) {
                start = start.min(last.start);
                end = end.max(last.end);
            }
            self.found.push_back(start..end);
        }
    }

    /// Returns the first place at which a match may begin that ends at the current place and at the bit. If it overlaps the
    /// match of the same bit before, that one's start is enough: so many overlapping matches take no more time than one.
    fn start_of(
        &self,
        bytes: &[u8],
        base: usize,
        bit: usize,
        before: Option<&Range<usize>>,
    ) -> Option<usize> {
        let mut start: Option<usize> = None;
        let mut open = BTreeSet::from([(bit, self.at)]);
        while let Some((bit, at)) = open.pop_last() {
            if let Some(before) = before.filter(|before| at <= before.end) {
                start = Some(start.map_or(before.start, |start| start.min(before.start)));
                continue;
            }
            let mut go_back = |length: usize, to: usize| {
                let first = bit + 1 - length;
                if length > 0 && self.patterns.is_first(first) {
                    start = Some(start.map_or(to, |start| start.min(to)));
                } else if let Some(bit) = (bit + 1).checked_sub(length + 1) {
                    open.insert((bit, to));
                }
            };
            if at > base && self.patterns.has(bit, bytes[at - 1 - base]) {
                go_back(1, at - 1);
            }
            let from = self.escapes.partition_point(|escape| escape.start + MAX_SPELLING < at);
            let escapes = self.escapes[from..].iter().take_while(|escape| escape.start < at);
            for Escape { start, spelling } in escapes.filter(|escape| escape.spelling.end == at) {
                let read = spelling.bytes();
                let fits = read.iter().rev().enumerate().all(|(back, byte)| {
                    let is_inside = back == 0 || !self.patterns.is_first(bit + 1 - back);
                    bit >= back && is_inside && self.patterns.has(bit - back, *byte)
                });
                if fits && *start >= base {
                    go_back(read.len(), *start);
                }
            }
        }
        start
    }

    /// Returns the place before which nothing can be a part of a match that has not ended, if `end` bytes have come. How far it
    /// is behind the last byte depends on the bytes alone, and not on whether a match may have begun in them.
    pub(super) fn settled(&self, before: usize, end: usize) -> usize {
        let Some(counts) = self.counts.as_ref().filter(|_| !self.patterns.is_empty()) else { return self.at };
        // Bytes that may be a spelling count as characters of their own until all of it is there, lest the end of a piece
        // show what it is. They are fewer than a spelling has.
        let count = |at: usize| counts.get(at).saturating_add(to_count(end - at));
        let reached = (self.at..=end).map(count).min().unwrap_or_default();
        let held = to_count(self.patterns.longest() + MAX_SPELLING);
        let is_settled = |at: &usize| counts.get(*at).saturating_add(held) < reached;
        (before..self.at).find(|at| !is_settled(at)).unwrap_or(self.at)
    }

    /// Forgets what is known about places before this one.
    pub(super) fn forget(&mut self, before: usize) {
        while self.found.pop_front_if(|found| found.end <= before).is_some() {}
        if let Some(counts) = &mut self.counts
            && before > counts.first
        {
            let past = (before - counts.first).min(counts.counts.len());
            counts.counts.drain(..past);
            counts.first = before;
        }
    }
}

fn to_count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
