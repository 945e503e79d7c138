//! The search for patterns in bytes that may come in pieces.
//!
//! It goes through the bytes once. At each place it knows how far each pattern may have come there, whatever spellings led
//! to it; a spelling that takes several bytes leads to a place further on.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use super::{
    match_start::{Escape, StartFinder},
    patterns::{Patterns, State},
    spelling::{
        MAX_SPELLING, NEAR_PLACES, Reader, Reading, Spelling, Spellings, is_introducer, may_be_escape,
    },
};

/// Escapes that are remembered before those are dropped that no match can have.
const MIN_ESCAPES: usize = 1_024;

/// A search. Places count from the first byte of all.
pub(super) struct Search {
    patterns: Arc<Patterns>,
    /// Place that is read next.
    at: usize,
    /// Progress of the patterns at `at` and the places behind it, by the rest of the place.
    states: Vec<State>,
    /// The last place that a pattern has come to.
    furthest: usize,
    matches: Matches,
    counts: Option<Counts>,
    reader: Reader,
    /// Empty states, whose memory is used again.
    spare: Vec<State>,
}

/// The matches that were found, and what is needed to find where the next ones begin.
struct Matches {
    /// Places of matches; those that overlap are one.
    found: VecDeque<Range<usize>>,
    /// The last match of each end of a pattern; without items before the first match.
    last: Vec<Range<usize>>,
    /// Escapes that were a part of what may become a match, in the order of their ends.
    escapes: Vec<Escape>,
    max_escapes: usize,
    /// Those that end behind the current place, by the rest of their ends.
    coming: Vec<Vec<Escape>>,
    starts: StartFinder,
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
            states: std::iter::repeat_with(State::default).take(NEAR_PLACES).collect(),
            furthest: 0,
            matches: Matches {
                found: VecDeque::new(),
                last: Vec::new(),
                escapes: Vec::new(),
                max_escapes: MIN_ESCAPES,
                coming: Vec::new(),
                starts: StartFinder::default(),
            },
            counts: is_stream.then(|| Counts { first: 0, counts: VecDeque::from([0]) }),
            reader: Reader::default(),
            spare: Vec::new(),
        }
    }

    pub(super) fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Returns the places of matches, in order.
    pub(super) fn found(&self) -> &VecDeque<Range<usize>> {
        &self.matches.found
    }

    /// Searches on in bytes, the first of which is at the place `base`; to their end if nothing follows them.
    pub(super) fn read(&mut self, bytes: &[u8], base: usize, is_end: bool) {
        let end = base + bytes.len();
        if self.patterns.is_empty() {
            self.at = end;
            return;
        }
        while self.at < end {
            if self.furthest <= self.at && self.states[self.at % NEAR_PLACES].is_empty() {
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
            let state = std::mem::take(&mut self.states[self.at % NEAR_PLACES]);
            self.matches.add_ends(&self.patterns, (bytes, base), self.at, &state);
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
        let mut state = std::mem::take(&mut self.states[at % NEAR_PLACES]);
        self.matches.add_ends(&self.patterns, (bytes, base), at, &state);
        let next = &mut self.states[(at + 1) % NEAR_PLACES];
        if !next.has_memory()
            && let Some(spare) = self.spare.pop()
        {
            *next = spare;
        }
        if self.patterns.step(&state, byte, next) {
            self.furthest = self.furthest.max(at + 1);
        }
        for spelling in spellings {
            if self.step_over(&state, *spelling) {
                self.furthest = self.furthest.max(spelling.end);
                let reach = self.patterns.longest() * (MAX_SPELLING + 4);
                let oldest = base.max(at.saturating_sub(reach));
                self.matches.remember(Escape { start: at, spelling: *spelling }, oldest);
            }
        }
        self.count(spellings);
        state.clear();
        self.spare.push(state);
        self.at += 1;
    }

    /// Adds what a spelling leads to from a state to the state of its end. Returns `true` if it is anything.
    fn step_over(&mut self, state: &State, spelling: Spelling) -> bool {
        let reached = &mut self.states[spelling.end % NEAR_PLACES];
        match spelling.bytes() {
            [] => {
                reached.merge(state);
                !state.is_empty()
            }
            [byte] => self.patterns.step(state, *byte, reached),
            [first, between @ .., last] => {
                let [mut now, mut next] = [(); 2].map(|()| self.spare.pop().unwrap_or_default());
                self.patterns.step(state, *first, &mut now);
                for byte in between {
                    self.patterns.step(&now, *byte, &mut next);
                    std::mem::swap(&mut now, &mut next);
                    next.clear();
                }
                let is_any = self.patterns.step(&now, *last, reached);
                now.clear();
                self.spare.extend([now, next]);
                is_any
            }
        }
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
        while self.matches.found.pop_front_if(|found| found.end <= before).is_some() {}
        if let Some(counts) = &mut self.counts
            && before > counts.first
        {
            let past = (before - counts.first).min(counts.counts.len());
            counts.counts.drain(..past);
            counts.first = before;
        }
    }
}

impl Matches {
    /// Adds the matches that end at a place. It is called for each place at which a state is, in order.
    fn add_ends(&mut self, patterns: &Patterns, text: (&[u8], usize), at: usize, state: &State) {
        let Self { found, last, escapes, coming, starts, .. } = self;
        if let Some(coming) = coming.get_mut(at % NEAR_PLACES) {
            escapes.append(coming);
        }
        let last_escape = escapes.last().map_or(0, |escape| escape.spelling.end);
        let mut first_start: Option<usize> = None;
        patterns.each_end(state, |number, end| {
            if last.is_empty() {
                last.resize(patterns.end_count(), 0..0);
            }
            let before = &mut last[number];
            // No spelling of a byte is shorter than the byte.
            let latest = at - end.length();
            let start = if before.end > latest {
                // It overlaps the match before: many overlapping matches take no more time than one.
                Some(before.start)
            } else if last_escape <= latest {
                Some(latest)
            } else {
                starts.find(patterns, text, escapes, (end, at), before)
            };
            if let Some(start) = start {
                *before = start..at;
                first_start = Some(first_start.map_or(start, |first| first.min(start)));
            }
        });
        if let Some(mut start) = first_start {
            while let Some(last) = found.pop_back_if(|last| last.end > start) {
                start = start.min(last.start);
            }
            found.push_back(start..at);
        }
    }

    /// Remembers an escape that ends behind the current place. Those that begin before `oldest` may be dropped.
    fn remember(&mut self, escape: Escape, oldest: usize) {
        if self.escapes.len() >= self.max_escapes {
            self.escapes.retain(|escape| escape.start >= oldest);
            self.max_escapes = MIN_ESCAPES.max(2 * self.escapes.len());
        }
        if self.coming.is_empty() {
            self.coming.resize_with(NEAR_PLACES, Vec::new);
        }
        self.coming[escape.spelling.end % NEAR_PLACES].push(escape);
    }
}

fn to_count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
