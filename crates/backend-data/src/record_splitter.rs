//! Splits a large text into records without parsing them: it only finds where one ends and the next begins.

use std::{
    fmt,
    io::{self, BufRead as _, BufReader, Cursor, Read},
};

use crate::{
    csv::{self, WhiteSpace},
    error::{Error, Result},
};

/// Maximum length of a record in bytes. A longer one is refused before all of it is read into memory.
const MAX_RECORD_BYTES: usize = 4 << 20;
/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The way in which a text is divided into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Records of comma-separated values, with their line breaks.
    CsvRecords,
    /// Elements of one JSON array.
    ArrayElements,
    /// Lines; empty ones are skipped.
    Lines,
}

/// The records of a text, one after the other. A byte order mark at the beginning is left out.
pub(crate) struct RecordSplitter {
    text: BufReader<MarkRemover>,
    framing: Framing,
    state: State,
    /// Number of records that were returned.
    yielded: u64,
    /// Line on which the text that was not read yet begins.
    line: u64,
    skipped_lines: u64,
    /// The meaning of white space in comma-separated values.
    white_space: WhiteSpace,
}

/// The position of a record in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Line on which it begins; the first is 1.
    pub(crate) line: u64,
    /// Number of the element if the text is an array, which may be on one line; the first is 1.
    pub(crate) element: Option<u64>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, element } = self;
        match element {
            Some(element) => write!(f, "line {line}, row {element}"),
            None => write!(f, "line {line}"),
        }
    }
}

/// A record of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextRecord {
    pub(crate) position: Position,
    pub(crate) text: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Begin,
    Within,
    End,
}

/// The effect of a byte on the current record.
enum ByteAction {
    /// The byte belongs to the record.
    Append,
    /// The byte belongs to the record and ends it.
    AppendAndEnd,
    /// The byte ends the record and is dropped.
    SkipAndEnd,
    /// The record ends before the byte, which is read again.
    EndBefore,
}

impl RecordSplitter {
    pub(crate) fn new(text: Box<dyn Read + Send>, framing: Framing) -> Self {
        Self {
            text: BufReader::with_capacity(BUFFER_BYTES, MarkRemover::new(text)),
            framing,
            state: State::Begin,
            yielded: 0,
            line: 1,
            skipped_lines: 0,
            // The first record names columns, which white space does not.
            white_space: WhiteSpace::Blank,
        }
    }

    /// Sets the meaning of white space in the records of comma-separated values that follow.
    pub(crate) fn set_white_space(&mut self, white_space: WhiteSpace) {
        self.white_space = white_space;
    }

    /// Number of blank lines that were skipped so far.
    pub(crate) fn skipped_lines(&self) -> u64 {
        self.skipped_lines
    }

    /// Returns the next record, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<TextRecord>> {
        loop {
            if self.state == State::Begin {
                self.read_opening()?;
            }
            if self.state == State::End {
                return Ok(None);
            }
            let (record, ended) = match self.framing {
                Framing::CsvRecords => self.read_record(CsvScanner::new())?,
                Framing::ArrayElements => self.read_record(ElementScanner::default())?,
                Framing::Lines => self.read_record(LineScanner)?,
            };
            let position = self.position_of(&record);
            self.line += match self.framing {
                // The line break is not part of the record. A return before it is none of its own.
                Framing::Lines => u64::from(!ended),
                Framing::CsvRecords | Framing::ArrayElements => csv::count_line_breaks(&record),
            };
            match self.framing {
                Framing::CsvRecords | Framing::Lines if ended => self.state = State::End,
                Framing::CsvRecords | Framing::Lines => {}
                Framing::ArrayElements if ended => return Err(not_an_array().in_position(position)),
                Framing::ArrayElements => self.read_separator()?,
            }
            let blank = record.iter().all(u8::is_ascii_whitespace);
            match self.framing {
                Framing::Lines if blank => self.skipped_lines += u64::from(!ended),
                Framing::CsvRecords if record.is_empty() => {}
                Framing::CsvRecords if csv::is_blank(&record, self.white_space) => self.skipped_lines += 1,
                // `[]` has no element; `[1,]` has an empty one, which is not JSON.
                Framing::ArrayElements if blank && self.yielded == 0 && self.state == State::End => {
                    return Ok(None);
                }
                _ => {
                    self.yielded += 1;
                    return Ok(Some(TextRecord { position, text: record }));
                }
            }
        }
    }

    /// Returns the position of a record, or of its beginning, that was read and not yet counted.
    fn position_of(&self, record: &[u8]) -> Position {
        if self.framing != Framing::ArrayElements {
            return Position { line: self.line, element: None };
        }
        // White space before an element may have line breaks.
        let leading = record.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let line = self.line + csv::count_line_breaks(&record[..leading]);
        Position { line, element: Some(self.yielded + 1) }
    }

    /// Reads what precedes the first record: the bracket of an array.
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

    /// Reads what follows an element: a comma, or the closing bracket with nothing behind it.
    fn read_separator(&mut self) -> Result<()> {
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
        self.line += u64::from(first == Some(b'\n'));
        Ok(first)
    }

    /// Reads up to the byte at which the scanner ends the record. The boolean is true if the text ended first.
    fn read_record(&mut self, mut scanner: impl Scanner) -> Result<(Vec<u8>, bool)> {
        let mut record = Vec::new();
        loop {
            let buffer = self.text.fill_buf().map_err(unreadable)?;
            if buffer.is_empty() {
                return Ok((record, true));
            }
            // The number of bytes that belong to the record, and of those that are consumed.
            let (mut kept, mut used, mut done) = (buffer.len(), buffer.len(), false);
            for (at, &byte) in buffer.iter().enumerate() {
                (kept, used) = match scanner.step(byte) {
                    ByteAction::Append => continue,
                    ByteAction::AppendAndEnd => (at + 1, at + 1),
                    ByteAction::SkipAndEnd => (at, at + 1),
                    ByteAction::EndBefore => (at, at),
                };
                done = true;
                break;
            }
            record.extend_from_slice(&buffer[..kept]);
            self.text.consume(used);
            if record.len() > MAX_RECORD_BYTES {
                let error = Error::too_large(format!("a row has more than {} MiB", MAX_RECORD_BYTES >> 20));
                let error = match scanner.is_quoted() {
                    true => error.with_details("A quote in it may not be closed."),
                    false => error,
                };
                return Err(error.in_position(self.position_of(&record)));
            }
            if done {
                return Ok((record, false));
            }
        }
    }
}

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader that leaves out one byte order mark at the beginning, as a parser may (RFC 8259, section 8.1).
struct MarkRemover {
    text: Box<dyn Read + Send>,
    is_started: bool,
    /// The first bytes of the text, if they are no mark.
    start: Cursor<Vec<u8>>,
}

impl MarkRemover {
    fn new(text: Box<dyn Read + Send>) -> Self {
        Self { text, is_started: false, start: Cursor::default() }
    }
}

impl Read for MarkRemover {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_started {
            let mut start = Vec::new();
            // A single read may return a part of the mark.
            (&mut self.text).take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start)?;
            if start != BYTE_ORDER_MARK {
                self.start = Cursor::new(start);
            }
            self.is_started = true;
        }
        match self.start.read(buffer)? {
            0 => self.text.read(buffer),
            read => Ok(read),
        }
    }
}

/// The search for the end of a record.
trait Scanner {
    fn step(&mut self, byte: u8) -> ByteAction;

    /// Returns `true` if a quote is open.
    fn is_quoted(&self) -> bool;
}

/// The position within a field of a record.
#[derive(Clone, Copy, PartialEq)]
enum FieldState {
    Begin,
    Plain,
    Quoted,
    /// After a quote that either ends the field or is the first of two that stand for one.
    Closed,
}

/// Scans a record of comma-separated values up to a line break that is not in quotes.
struct CsvScanner {
    field: FieldState,
    after_return: bool,
}

impl CsvScanner {
    fn new() -> Self {
        Self { field: FieldState::Begin, after_return: false }
    }
}

impl Scanner for CsvScanner {
    fn step(&mut self, byte: u8) -> ByteAction {
        if self.after_return {
            return if byte == b'\n' { ByteAction::AppendAndEnd } else { ByteAction::EndBefore };
        }
        self.field = match (self.field, byte) {
            (FieldState::Begin | FieldState::Closed, b'"') | (FieldState::Quoted, 0..b'"' | b'#'..) => {
                FieldState::Quoted
            }
            (FieldState::Quoted, b'"') => FieldState::Closed,
            (_, b'\n') => return ByteAction::AppendAndEnd,
            (_, b'\r') => {
                self.after_return = true;
                FieldState::Plain
            }
            (_, b',') => FieldState::Begin,
            _ => FieldState::Plain,
        };
        ByteAction::Append
    }

    fn is_quoted(&self) -> bool {
        self.field == FieldState::Quoted
    }
}

/// Scans an element of an array up to the comma or bracket behind it.
#[derive(Default)]
struct ElementScanner {
    depth: u32,
    in_text: bool,
    escaped: bool,
}

impl Scanner for ElementScanner {
    fn step(&mut self, byte: u8) -> ByteAction {
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return ByteAction::Append;
        }
        match byte {
            b'"' => self.in_text = true,
            b'[' | b'{' => self.depth += 1,
            b',' | b']' if self.depth == 0 => return ByteAction::EndBefore,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        ByteAction::Append
    }

    fn is_quoted(&self) -> bool {
        self.in_text
    }
}

/// Scans a line up to its line break.
struct LineScanner;

impl Scanner for LineScanner {
    fn step(&mut self, byte: u8) -> ByteAction {
        if byte == b'\n' { ByteAction::SkipAndEnd } else { ByteAction::Append }
    }

    fn is_quoted(&self) -> bool {
        false
    }
}

fn not_an_array() -> Error {
    Error::invalid_body("the body must be one JSON array of rows")
}

fn unreadable(error: io::Error) -> Error {
    Error::unreadable_source(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reader that returns few bytes at a time, as a slow network does.
    struct SlowReader(Cursor<Vec<u8>>, usize);

    impl Read for SlowReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn split_all(text: &str, framing: Framing) -> Result<Vec<String>> {
        let mut whole = Vec::new();
        for most in [1, 3, 1 << 20] {
            let reader = SlowReader(Cursor::new(text.into()), most);
            let mut records = RecordSplitter::new(Box::new(reader), framing);
            let mut found = Vec::new();
            while let Some(record) = records.next()? {
                found.push(String::from_utf8(record.text).unwrap());
            }
            assert!(whole.is_empty() || whole == found, "the sizes of reads change the records of {text:?}");
            whole = found;
        }
        Ok(whole)
    }

    #[test]
    fn records_end_where_no_quote_is_open() {
        let text = "\u{feff}\"a\nx\",b\r\n1,\"x,\"\"\n\"\"\"\n2\"\",c\r3\"\n4";
        let wanted = ["\"a\nx\",b\r\n", "1,\"x,\"\"\n\"\"\"\n", "2\"\",c\r", "3\"\n", "4"];
        assert_eq!(split_all(text, Framing::CsvRecords).unwrap(), wanted);
        assert!(split_all("", Framing::CsvRecords).unwrap().is_empty());
    }

    #[test]
    fn elements_end_where_no_bracket_or_quote_is_open() {
        let text = r#" [ {"a":"],[\""}, [1,2] ,"x" ] "#;
        assert_eq!(
            split_all(text, Framing::ArrayElements).unwrap(),
            [r#" {"a":"],[\""}"#, " [1,2] ", "\"x\" "]
        );
        assert!(split_all(" [ ] ", Framing::ArrayElements).unwrap().is_empty());
        for bad in ["", "{}", "[", "[1", "[1]]", "[1] 2", "[\"]"] {
            assert!(split_all(bad, Framing::ArrayElements).is_err(), "{bad}");
        }
        let cut_off = split_all("[{},\n{\"a\":\"}]", Framing::ArrayElements).unwrap_err();
        assert_eq!(cut_off.details(), Some("In line 2, row 2."));
        // A missing element is an empty record, which no parser accepts.
        assert_eq!(split_all("[1,]", Framing::ArrayElements).unwrap(), ["1", ""]);
        assert_eq!(split_all("[,1]", Framing::ArrayElements).unwrap(), ["", "1"]);
    }

    #[test]
    fn lines_are_split_and_empty_ones_skipped() {
        assert_eq!(split_all("{}\n\n[]\n", Framing::Lines).unwrap(), ["{}", "[]"]);
        assert_eq!(split_all("{}", Framing::Lines).unwrap(), ["{}"]);
    }

    #[test]
    fn one_mark_at_the_beginning_is_left_out() {
        for (text, framing, wanted) in [
            ("\u{feff}[{},\"\u{feff}\"]", Framing::ArrayElements, &["{}", "\"\u{feff}\""] as &[&str]),
            ("\u{feff}{}\n\u{feff}[]\n", Framing::Lines, &["{}", "\u{feff}[]"]),
            ("\u{feff}a\n\u{feff}b\n", Framing::CsvRecords, &["a\n", "\u{feff}b\n"]),
            ("\u{feff}\u{feff}a\n", Framing::CsvRecords, &["\u{feff}a\n"]),
            ("\u{feff}", Framing::CsvRecords, &[]),
            ("\u{feff}", Framing::Lines, &[]),
        ] {
            assert_eq!(split_all(text, framing).unwrap(), wanted, "{text:?}");
        }
        assert!(split_all("\u{feff}\u{feff}[]", Framing::ArrayElements).is_err());
        // The bytes of an incomplete mark are text.
        let text = Box::new(Cursor::new(b"\xef\xbb".to_vec()));
        let record = RecordSplitter::new(text, Framing::CsvRecords).next().unwrap().unwrap();
        assert_eq!(record.text, b"\xef\xbb");
    }

    #[test]
    fn each_record_knows_its_line_and_blank_ones_are_counted() {
        let lines = |text: &str, framing| {
            let mut splitter =
                RecordSplitter::new(Box::new(Cursor::new(text.to_owned().into_bytes())), framing);
            let mut lines = Vec::new();
            while let Some(record) = splitter.next().unwrap() {
                lines.push(record.position.line);
            }
            (lines, splitter.skipped_lines())
        };
        assert_eq!(lines("a,b\r\n\r\n1,\"x\ny\"\n,\n2,3\n\n", Framing::CsvRecords), (vec![1, 3, 6], 3));
        assert_eq!(lines("{}\n\n \n{}\n", Framing::Lines), (vec![1, 4], 2));
        assert_eq!(lines("{}\r\n\r\n{}\r\n{}", Framing::Lines), (vec![1, 3, 4], 1));
        assert_eq!(lines("[\n  {},\n\n  {}\n, {\n} ]", Framing::ArrayElements), (vec![2, 4, 5], 0));
    }

    #[test]
    fn an_endless_record_is_refused() {
        for (start, framing, details) in [
            ("", Framing::CsvRecords, "In line 1."),
            ("a\n\"x\ny\"\n", Framing::CsvRecords, "In line 4."),
            ("a\n\nx,\"\n", Framing::CsvRecords, "In line 3. A quote in it may not be closed."),
            ("{}\n\n", Framing::Lines, "In line 3."),
            ("[{},\n {},\n\n", Framing::ArrayElements, "In line 4, row 3."),
            ("[{}, {\"", Framing::ArrayElements, "In line 1, row 2. A quote in it may not be closed."),
        ] {
            let text = Cursor::new(start).chain(io::repeat(b'1'));
            let mut records = RecordSplitter::new(Box::new(text), framing);
            let error = std::iter::repeat_with(|| records.next()).find_map(Result::err).unwrap();
            assert_eq!((error.code(), error.details()), ("too_large", Some(details)), "{start:?}");
        }
    }

    proptest! {
        #[test]
        fn records_are_split_as_the_csv_parser_reads_them(text in "\u{feff}?[a, \"\r\n]{0,12}", is_one_column: bool) {
            let white_space = if is_one_column { WhiteSpace::Value } else { WhiteSpace::Blank };
            let mut whole = csv::RecordReader::new(&text);
            whole.set_white_space(white_space);
            let Ok(whole) = whole.collect::<Result<Vec<_>>>() else { return Ok(()) };
            let mut splitter = RecordSplitter::new(Box::new(Cursor::new(text.into_bytes())), Framing::CsvRecords);
            splitter.set_white_space(white_space);
            let mut read = Vec::new();
            while let Some(TextRecord { position, text }) = splitter.next().unwrap() {
                let text = String::from_utf8(text).unwrap();
                read.extend(csv::RecordReader::at_line(&text, position.line).map(Result::unwrap));
            }
            prop_assert_eq!(read, whole);
        }

        #[test]
        fn elements_are_split_as_the_json_parser_reads_them(text in "[\\[\\]{}\",:1 \\\\]{0,8}") {
            let text = format!("[{text}]");
            let Ok(whole) = serde_json::from_str::<Vec<serde_json::Value>>(&text) else { return Ok(()) };
            let elements = split_all(&text, Framing::ArrayElements).unwrap();
            let read = elements.iter().map(|element| serde_json::from_str::<serde_json::Value>(element).unwrap());
            prop_assert_eq!(read.collect::<Vec<_>>(), whole);
        }
    }
}
