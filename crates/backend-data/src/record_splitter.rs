//! Large texts, read in portions and cut where one row ends and the next begins. What a piece holds is for others to
//! read; here only the marks between pieces matter.

use std::io::{BufRead as _, BufReader, Read};

use crate::error::{Error, Result};

/// The most that one row may have. What is longer is refused before it fills the memory.
const MAX_RECORD_BYTES: usize = 4 << 20;
/// How much is read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// What the pieces of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Records of comma-separated values, their line breaks with them.
    CsvRecords,
    /// Members of one JSON array.
    ArrayElements,
    /// Lines, each a JSON document; empty ones are none.
    Lines,
}

/// The pieces of a text, one after the other.
pub(crate) struct RecordSplitter {
    text: BufReader<Box<dyn Read + Send>>,
    framing: Framing,
    state: State,
    /// Whether a piece has been read.
    has_yielded: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Begin,
    Within,
    End,
}

/// What a byte does to the piece it is met in.
enum ByteAction {
    /// It is part of it.
    Append,
    /// It is part of it, and the last.
    AppendAndEnd,
    /// It ends the piece and is none of it.
    SkipAndEnd,
    /// It is looked at again as the first of the next piece, and ends this one.
    EndBefore,
}

impl RecordSplitter {
    pub(crate) fn new(text: Box<dyn Read + Send>, cut: Framing) -> Self {
        Self {
            text: BufReader::with_capacity(BUFFER_BYTES, text),
            framing: cut,
            state: State::Begin,
            has_yielded: false,
        }
    }

    /// The next piece; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.state == State::Begin {
                self.read_opening()?;
            }
            if self.state == State::End {
                return Ok(None);
            }
            let (piece, ended) =
                match self.framing {
                    Framing::CsvRecords => self.read_record(csv_record_scanner(!self.has_yielded))?,
                    Framing::ArrayElements => self.read_record(array_element_scanner())?,
                    Framing::Lines => self.read_record(|byte| {
                        if byte == b'\n' { ByteAction::SkipAndEnd } else { ByteAction::Append }
                    })?,
                };
            match self.framing {
                Framing::CsvRecords | Framing::Lines if ended => self.state = State::End,
                Framing::ArrayElements => self.read_separator(ended)?,
                Framing::CsvRecords | Framing::Lines => {}
            }
            let blank = piece.iter().all(u8::is_ascii_whitespace);
            match self.framing {
                Framing::Lines if blank => {}
                Framing::CsvRecords if piece.is_empty() => {}
                // `[]` has no member, and `[1,]` one that is missing.
                Framing::ArrayElements if blank && !self.has_yielded && self.state == State::End => {
                    return Ok(None);
                }
                _ => {
                    self.has_yielded = true;
                    return Ok(Some(piece));
                }
            }
        }
    }

    /// What stands before the first piece: the bracket of an array.
    fn read_opening(&mut self) -> Result<()> {
        self.state = State::Within;
        if self.framing != Framing::ArrayElements {
            return Ok(());
        }
        match self.read_nonblank_byte()? {
            Some(b'[') => Ok(()),
            _ => Err(not_an_array()),
        }
    }

    /// The mark behind a member has been read: a comma, or the bracket with nothing behind it.
    fn read_separator(&mut self, ended: bool) -> Result<()> {
        if ended {
            return Err(not_an_array());
        }
        match self.read_byte()? {
            Some(b',') => Ok(()),
            _ => {
                self.state = State::End;
                if self.read_nonblank_byte()?.is_some() { Err(not_an_array()) } else { Ok(()) }
            }
        }
    }

    fn read_nonblank_byte(&mut self) -> Result<Option<u8>> {
        loop {
            match self.read_byte()? {
                Some(byte) if byte.is_ascii_whitespace() => {}
                other => return Ok(other),
            }
        }
    }

    fn read_byte(&mut self) -> Result<Option<u8>> {
        let first = self.text.fill_buf().map_err(unreadable)?.first().copied();
        self.text.consume(usize::from(first.is_some()));
        Ok(first)
    }

    /// Reads up to where `step` says; whether the text ended there.
    fn read_record(&mut self, mut step: impl FnMut(u8) -> ByteAction) -> Result<(Vec<u8>, bool)> {
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
                    ByteAction::Append => continue,
                    ByteAction::AppendAndEnd => (at + 1, at + 1),
                    ByteAction::SkipAndEnd => (at, at + 1),
                    ByteAction::EndBefore => (at, at),
                };
                done = true;
                break;
            }
            piece.extend_from_slice(&buffer[..kept]);
            self.text.consume(used);
            if piece.len() > MAX_RECORD_BYTES {
                return Err(Error::too_large(format!("a row has more than {} MiB", MAX_RECORD_BYTES >> 20)));
            }
            if done {
                return Ok((piece, false));
            }
        }
    }
}

/// Where in a record a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum FieldState {
    Begin,
    Plain,
    Quoted,
    /// Behind a quote that ends the field, or is the first of two that stand for one.
    Closed,
}

/// Follows a record to its line break, which inside quotes is none. The first may begin with a byte order mark.
fn csv_record_scanner(first: bool) -> impl FnMut(u8) -> ByteAction {
    let mut mark: &[u8] = if first { b"\xef\xbb\xbf" } else { b"" };
    let (mut field, mut after_return) = (FieldState::Begin, false);
    move |byte| {
        if after_return {
            return if byte == b'\n' { ByteAction::AppendAndEnd } else { ByteAction::EndBefore };
        }
        if let [wanted, rest @ ..] = mark {
            mark = if byte == *wanted { rest } else { b"" };
            if byte == *wanted {
                return ByteAction::Append;
            }
        }
        field = match (field, byte) {
            (FieldState::Begin | FieldState::Closed, b'"') | (FieldState::Quoted, 0..b'"' | b'#'..) => {
                FieldState::Quoted
            }
            (FieldState::Quoted, b'"') => FieldState::Closed,
            (_, b'\n') => return ByteAction::AppendAndEnd,
            (_, b'\r') => {
                after_return = true;
                FieldState::Plain
            }
            (_, b',') => FieldState::Begin,
            _ => FieldState::Plain,
        };
        ByteAction::Append
    }
}

/// Follows a member to the comma or bracket behind it.
fn array_element_scanner() -> impl FnMut(u8) -> ByteAction {
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    move |byte| {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            return ByteAction::Append;
        }
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => depth += 1,
            b',' | b']' if depth == 0 => return ByteAction::EndBefore,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        ByteAction::Append
    }
}

fn not_an_array() -> Error {
    Error::invalid_body("the body must be one JSON array of rows")
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unreadable_source(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives few bytes at a time, as a slow line does.
    struct SlowReader(std::io::Cursor<Vec<u8>>, usize);

    impl Read for SlowReader {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn split_all(text: &str, cut: Framing) -> Result<Vec<String>> {
        let mut whole = Vec::new();
        for most in [1, 3, 1 << 20] {
            let mut pieces =
                RecordSplitter::new(Box::new(SlowReader(std::io::Cursor::new(text.into()), most)), cut);
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
        assert_eq!(split_all(text, Framing::CsvRecords).unwrap(), wanted);
        assert!(split_all("", Framing::CsvRecords).unwrap().is_empty());
    }

    #[test]
    fn members_end_where_nothing_is_open() {
        let text = r#" [ {"a":"],[\""}, [1,2] ,"x" ] "#;
        assert_eq!(
            split_all(text, Framing::ArrayElements).unwrap(),
            [r#" {"a":"],[\""}"#, " [1,2] ", "\"x\" "]
        );
        assert!(split_all(" [ ] ", Framing::ArrayElements).unwrap().is_empty());
        for bad in ["", "{}", "[", "[1", "[1]]", "[1] 2", "[\"]"] {
            assert!(split_all(bad, Framing::ArrayElements).is_err(), "{bad}");
        }
        // What is missing is a piece that nobody can read.
        assert_eq!(split_all("[1,]", Framing::ArrayElements).unwrap(), ["1", ""]);
        assert_eq!(split_all("[,1]", Framing::ArrayElements).unwrap(), ["", "1"]);
    }

    #[test]
    fn lines_are_lines() {
        assert_eq!(split_all("{}\n\n[]\n", Framing::Lines).unwrap(), ["{}", "[]"]);
        assert_eq!(split_all("{}", Framing::Lines).unwrap(), ["{}"]);
    }

    #[test]
    fn a_row_without_an_end_is_refused_before_it_is_all_read() {
        let mut pieces = RecordSplitter::new(Box::new(std::io::repeat(b'1')), Framing::CsvRecords);
        assert_eq!(pieces.next().unwrap_err().code(), "too_large");
    }

    proptest! {
        #[test]
        fn records_are_cut_as_they_are_read(text in "[a,\"\r\n]{0,12}") {
            let whole: Option<Vec<_>> = crate::csv::RecordReader::new(&text).map(Result::ok).collect();
            let Some(whole) = whole else { return Ok(()) };
            let pieces = split_all(&text, Framing::CsvRecords).unwrap();
            let read = pieces.iter().flat_map(|piece| crate::csv::RecordReader::new(piece).map(Result::unwrap));
            prop_assert_eq!(read.collect::<Vec<_>>(), whole);
        }

        #[test]
        fn members_are_cut_as_they_are_read(text in "[\\[\\]{}\",:1 \\\\]{0,8}") {
            let text = format!("[{text}]");
            let Ok(whole) = serde_json::from_str::<Vec<serde_json::Value>>(&text) else { return Ok(()) };
            let pieces = split_all(&text, Framing::ArrayElements).unwrap();
            let read = pieces.iter().map(|piece| serde_json::from_str::<serde_json::Value>(piece).unwrap());
            prop_assert_eq!(read.collect::<Vec<_>>(), whole);
        }
    }
}
