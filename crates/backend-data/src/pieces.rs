//! Large texts, read in portions and cut where one row ends and the next begins. What a piece holds is for others to
//! read; here only the marks between pieces matter.

use std::io::{BufRead as _, BufReader, Read};

use crate::error::{Error, Result};

/// The most that one row may have. What is longer is refused before it fills the memory.
const MAX_PIECE: usize = 4 << 20;
/// How much is read at once.
const BUFFER: usize = 64 * 1024;

/// What the pieces of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Records of comma-separated values, their line breaks with them.
    Records,
    /// Members of one JSON array.
    Members,
    /// Lines, each a JSON document; empty ones are none.
    Lines,
}

/// The pieces of a text, one after the other.
pub(crate) struct Pieces {
    text: BufReader<Box<dyn Read + Send>>,
    cut: Cut,
    state: State,
    /// Whether a piece has been read.
    some: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Begin,
    Within,
    End,
}

/// What a byte does to the piece it is met in.
enum Step {
    /// It is part of it.
    Keep,
    /// It is part of it, and the last.
    Last,
    /// It ends the piece and is none of it.
    Break,
    /// It is looked at again as the first of the next piece, and ends this one.
    Before,
}

impl Pieces {
    pub(crate) fn new(text: Box<dyn Read + Send>, cut: Cut) -> Self {
        Self { text: BufReader::with_capacity(BUFFER, text), cut, state: State::Begin, some: false }
    }

    /// The next piece; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.state == State::Begin {
                self.begin()?;
            }
            if self.state == State::End {
                return Ok(None);
            }
            let (piece, ended) = match self.cut {
                Cut::Records => self.piece(record(!self.some))?,
                Cut::Members => self.piece(member())?,
                Cut::Lines => self.piece(|byte| if byte == b'\n' { Step::Break } else { Step::Keep })?,
            };
            match self.cut {
                Cut::Records | Cut::Lines if ended => self.state = State::End,
                Cut::Members => self.after_member(ended)?,
                Cut::Records | Cut::Lines => {}
            }
            let blank = piece.iter().all(u8::is_ascii_whitespace);
            match self.cut {
                Cut::Lines if blank => {}
                Cut::Records if piece.is_empty() => {}
                // `[]` has no member, and `[1,]` one that is missing.
                Cut::Members if blank && !self.some && self.state == State::End => return Ok(None),
                _ => {
                    self.some = true;
                    return Ok(Some(piece));
                }
            }
        }
    }

    /// What stands before the first piece: the bracket of an array.
    fn begin(&mut self) -> Result<()> {
        self.state = State::Within;
        if self.cut != Cut::Members {
            return Ok(());
        }
        match self.byte_after_blanks()? {
            Some(b'[') => Ok(()),
            _ => Err(not_an_array()),
        }
    }

    /// The mark behind a member has been read: a comma, or the bracket with nothing behind it.
    fn after_member(&mut self, ended: bool) -> Result<()> {
        if ended {
            return Err(not_an_array());
        }
        match self.byte()? {
            Some(b',') => Ok(()),
            _ => {
                self.state = State::End;
                if self.byte_after_blanks()?.is_some() { Err(not_an_array()) } else { Ok(()) }
            }
        }
    }

    fn byte_after_blanks(&mut self) -> Result<Option<u8>> {
        loop {
            match self.byte()? {
                Some(byte) if byte.is_ascii_whitespace() => {}
                other => return Ok(other),
            }
        }
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let first = self.text.fill_buf().map_err(unreadable)?.first().copied();
        self.text.consume(usize::from(first.is_some()));
        Ok(first)
    }

    /// Reads up to where `step` says; whether the text ended there.
    fn piece(&mut self, mut step: impl FnMut(u8) -> Step) -> Result<(Vec<u8>, bool)> {
        let mut piece = Vec::new();
        loop {
            let buffer = self.text.fill_buf().map_err(unreadable)?;
            if buffer.is_empty() {
                return Ok((piece, true));
            }
            // How many bytes are of the piece, and how many are read.
            let (mut kept, mut used, mut done) = (buffer.len(), buffer.len(), false);
            for (at, &byte) in buffer.iter().enumerate() {
                (kept, used) = match step(byte) {
                    Step::Keep => continue,
                    Step::Last => (at + 1, at + 1),
                    Step::Break => (at, at + 1),
                    Step::Before => (at, at),
                };
                done = true;
                break;
            }
            piece.extend_from_slice(&buffer[..kept]);
            self.text.consume(used);
            if piece.len() > MAX_PIECE {
                return Err(Error::too_large(format!("a row has more than {} MiB", MAX_PIECE >> 20)));
            }
            if done {
                return Ok((piece, false));
            }
        }
    }
}

/// Where in a record a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    Begin,
    Plain,
    Quoted,
    /// Behind a quote that ends the field, or is the first of two that stand for one.
    Closed,
}

/// Follows a record to its line break, which inside quotes is none. The first may begin with a byte order mark.
fn record(first: bool) -> impl FnMut(u8) -> Step {
    let mut mark: &[u8] = if first { b"\xef\xbb\xbf" } else { b"" };
    let (mut field, mut after_return) = (Field::Begin, false);
    move |byte| {
        if after_return {
            return if byte == b'\n' { Step::Last } else { Step::Before };
        }
        if let [wanted, rest @ ..] = mark {
            mark = if byte == *wanted { rest } else { b"" };
            if byte == *wanted {
                return Step::Keep;
            }
        }
        field = match (field, byte) {
            (Field::Begin | Field::Closed, b'"') | (Field::Quoted, 0..b'"' | b'#'..) => Field::Quoted,
            (Field::Quoted, b'"') => Field::Closed,
            (_, b'\n') => return Step::Last,
            (_, b'\r') => {
                after_return = true;
                Field::Plain
            }
            (_, b',') => Field::Begin,
            _ => Field::Plain,
        };
        Step::Keep
    }
}

/// Follows a member to the comma or bracket behind it.
fn member() -> impl FnMut(u8) -> Step {
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    move |byte| {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            return Step::Keep;
        }
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => depth += 1,
            b',' | b']' if depth == 0 => return Step::Before,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        Step::Keep
    }
}

fn not_an_array() -> Error {
    Error::body("the body must be one JSON array of rows")
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unreadable(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives few bytes at a time, as a slow line does.
    struct Slow(std::io::Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn cut(text: &str, cut: Cut) -> Result<Vec<String>> {
        let mut whole = Vec::new();
        for most in [1, 3, 1 << 20] {
            let mut pieces = Pieces::new(Box::new(Slow(std::io::Cursor::new(text.into()), most)), cut);
            let mut found = Vec::new();
            while let Some(piece) = pieces.next()? {
                found.push(String::from_utf8(piece).unwrap());
            }
            assert!(whole.is_empty() || whole == found, "it matters how {text:?} comes in");
            whole = found;
        }
        Ok(whole)
    }

    #[test]
    fn records_end_where_no_quote_is_open() {
        let text = "\u{feff}\"a\nx\",b\r\n1,\"x,\"\"\n\"\"\"\n2\"\",c\r3\"\n4";
        let wanted = ["\u{feff}\"a\nx\",b\r\n", "1,\"x,\"\"\n\"\"\"\n", "2\"\",c\r", "3\"\n", "4"];
        assert_eq!(cut(text, Cut::Records).unwrap(), wanted);
        assert!(cut("", Cut::Records).unwrap().is_empty());
    }

    #[test]
    fn members_end_where_nothing_is_open() {
        let text = r#" [ {"a":"],[\""}, [1,2] ,"x" ] "#;
        assert_eq!(cut(text, Cut::Members).unwrap(), [r#" {"a":"],[\""}"#, " [1,2] ", "\"x\" "]);
        assert!(cut(" [ ] ", Cut::Members).unwrap().is_empty());
        for bad in ["", "{}", "[", "[1", "[1]]", "[1] 2", "[\"]"] {
            assert!(cut(bad, Cut::Members).is_err(), "{bad}");
        }
        // What is missing is a piece that nobody can read.
        assert_eq!(cut("[1,]", Cut::Members).unwrap(), ["1", ""]);
        assert_eq!(cut("[,1]", Cut::Members).unwrap(), ["", "1"]);
    }

    #[test]
    fn lines_are_lines() {
        assert_eq!(cut("{}\n\n[]\n", Cut::Lines).unwrap(), ["{}", "[]"]);
        assert_eq!(cut("{}", Cut::Lines).unwrap(), ["{}"]);
    }

    #[test]
    fn a_row_without_an_end_is_refused_before_it_is_all_read() {
        let mut pieces = Pieces::new(Box::new(std::io::repeat(b'1')), Cut::Records);
        assert_eq!(pieces.next().unwrap_err().code(), "too_large");
    }

    proptest! {
        #[test]
        fn records_are_cut_as_they_are_read(text in "[a,\"\r\n]{0,12}") {
            let whole: Option<Vec<_>> = crate::csv::Records::new(&text).map(Result::ok).collect();
            let Some(whole) = whole else { return Ok(()) };
            let pieces = cut(&text, Cut::Records).unwrap();
            let read = pieces.iter().flat_map(|piece| crate::csv::Records::new(piece).map(Result::unwrap));
            prop_assert_eq!(read.collect::<Vec<_>>(), whole);
        }

        #[test]
        fn members_are_cut_as_they_are_read(text in "[\\[\\]{}\",:1 \\\\]{0,8}") {
            let text = format!("[{text}]");
            let Ok(whole) = serde_json::from_str::<Vec<serde_json::Value>>(&text) else { return Ok(()) };
            let pieces = cut(&text, Cut::Members).unwrap();
            let read = pieces.iter().map(|piece| serde_json::from_str::<serde_json::Value>(piece).unwrap());
            prop_assert_eq!(read.collect::<Vec<_>>(), whole);
        }
    }
}
