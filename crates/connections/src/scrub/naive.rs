//! A search that tries every pattern at every place, to compare the other with.

use std::{collections::BTreeSet, ops::Range};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::spelling::{Reader, Spelling, is_introducer};

/// The bytes that each byte of a pattern may be, and the lengths at which it may end.
struct Pattern(Vec<Vec<u8>>, Vec<usize>);

/// Returns the places of matches, in order. Those that overlap, or stand side by side, are one.
pub(super) fn find(texts: &[String], bytes: &[u8]) -> Vec<Range<usize>> {
    let mut reader = Reader::default();
    let mut read = |at: usize| match bytes[at] {
        byte if is_introducer(byte) => reader.read(bytes, 0, at).0.as_slice().to_vec(),
        _ => Vec::new(),
    };
    let spellings: Vec<_> = (0..bytes.len()).map(&mut read).collect();
    let mut found = Vec::new();
    for pattern in texts.iter().flat_map(|text| patterns(text)) {
        for start in 0..bytes.len() {
            found.extend(ends(&pattern, bytes, &spellings, start).into_iter().map(|end| start..end));
        }
    }
    found.sort_unstable_by_key(|range| (range.start, range.end));
    merge(found)
}

/// Makes one range of those that overlap, or stand side by side. They are in order.
pub(super) fn merge(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn patterns(text: &str) -> Vec<Pattern> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let either_case = |byte: u8| vec![byte, byte.to_ascii_uppercase()];
    let mut patterns = vec![
        Pattern(text.bytes().map(|byte| vec![byte]).collect(), vec![text.len()]),
        Pattern(hex.bytes().map(either_case).collect(), vec![hex.len()]),
    ];
    for offset in 0..3 {
        let encoded = STANDARD.encode([&[0, 0][..offset], text.as_bytes()].concat());
        let skipped = [0, 2, 3][offset];
        let signs = encoded.bytes().skip(skipped).map(|sign| match sign {
            b'+' => b"+-".to_vec(),
            b'/' => b"/_".to_vec(),
            sign => vec![sign],
        });
        let whole_bits = (offset + text.len()) * 8 / 6 - skipped;
        let unpadded = encoded.trim_end_matches('=').len() - skipped;
        patterns.push(Pattern(signs.collect(), vec![whole_bits, unpadded, encoded.len() - skipped]));
    }
    patterns
}

fn ends(
    Pattern(places, ends): &Pattern,
    bytes: &[u8],
    spellings: &[Vec<Spelling>],
    start: usize,
) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([(start, 0)]);
    let mut left = vec![(start, 0)];
    let mut found = BTreeSet::new();
    while let Some((at, matched)) = left.pop() {
        if ends.contains(&matched) {
            found.insert(at);
        }
        let Some(byte) = bytes.get(at) else { continue };
        let mut go_on = |read: &[u8], end: usize| {
            let fits =
                |(place, byte): (usize, &u8)| places.get(matched + place).is_some_and(|it| it.contains(byte));
            if read.iter().enumerate().all(fits) && seen.insert((end, matched + read.len())) {
                left.push((end, matched + read.len()));
            }
        };
        go_on(&[*byte], at + 1);
        for spelling in spellings[at].iter().filter(|spelling| matched > 0 || !spelling.bytes().is_empty()) {
            go_on(spelling.bytes(), spelling.end);
        }
    }
    found
}
