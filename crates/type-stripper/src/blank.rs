//! Ranges of a source that become spaces.

use oxc_span::Span;

/// Ranges to replace by spaces, and single characters to write over them.
#[derive(Debug, Default)]
pub(crate) struct Blanks {
    ranges: Vec<(u32, u32)>,
    written: Vec<(u32, char)>,
}

impl Blanks {
    pub(crate) fn add(&mut self, start: u32, end: u32) {
        if start < end {
            self.ranges.push((start, end));
        }
    }

    pub(crate) fn add_span(&mut self, span: Span) {
        self.add(span.start, span.end);
    }

    /// Writes an ASCII character at a place that is blank.
    pub(crate) fn write(&mut self, at: u32, character: char) {
        self.written.push((at, character));
    }

    /// Returns the source with the ranges replaced. Line breaks stay, and each character becomes one space.
    pub(crate) fn apply(mut self, source: &str) -> String {
        self.ranges.sort_unstable();
        self.written.sort_unstable();
        let mut stripped = String::with_capacity(source.len());
        let (mut ranges, mut written) =
            (self.ranges.into_iter().peekable(), self.written.into_iter().peekable());
        let mut blank_until = 0;
        for (at, character) in source.char_indices() {
            while let Some((_, end)) = ranges.next_if(|(start, _)| *start as usize <= at) {
                blank_until = blank_until.max(end as usize);
            }
            let mut over = None;
            while let Some((_, instead)) = written.next_if(|(place, _)| *place as usize <= at) {
                over = Some(instead);
            }
            let is_break = matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            stripped.push(match over {
                Some(instead) => instead,
                None if at < blank_until && !is_break => ' ',
                None => character,
            });
        }
        stripped
    }
}
