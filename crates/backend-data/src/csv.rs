//! Comma-separated values (RFC 4180). An unquoted empty field is null and a quoted one is empty text, so that a written
//! value is read back as the same one. An unquoted `NULL` is null too, since clients of PostgREST write it so.

use crate::error::{Error, Result};

/// Appends a field, in quotes if it would otherwise not be read back as this text.
pub(crate) fn write_field(out: &mut Vec<u8>, text: &str) {
    let special = |byte| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    if !text.is_empty() && text != "NULL" && !text.bytes().any(special) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// A byte order mark, which spreadsheets write at the beginning of a file. Elsewhere the character is text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Separators that some programs write instead of commas.
pub(crate) const OTHER_SEPARATORS: [char; 3] = [';', '\t', '|'];

/// Creates the error of a header whose names have another separator between them.
pub(crate) fn separated_otherwise(separator: char) -> Error {
    let shown = match separator {
        '\t' => "tabs".to_owned(),
        other => format!("`{other}`"),
    };
    let message = format!("the fields of the file seem to be separated by {shown}");
    Error::invalid_body(message).with_details("Separate them by commas.")
}

/// The meaning of a record that is one unquoted field of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhiteSpace {
    /// It is blank, since a row has more fields.
    Blank,
    /// It is a value, since a row may have one field.
    Value,
}

/// Returns `true` if a record has nothing but separators, or nothing but white space that is no value: an empty line, as
/// spreadsheets and editors leave behind. A quoted empty text is a value.
pub(crate) fn is_blank(record: &[u8], white_space: WhiteSpace) -> bool {
    let is_white = || std::str::from_utf8(record).is_ok_and(|text| text.trim().is_empty());
    record.iter().all(|byte| matches!(byte, b',' | b'\r' | b'\n'))
        || white_space == WhiteSpace::Blank && is_white()
}

/// Counts the line breaks of a text: `\n`, `\r\n` and `\r`.
pub(crate) fn count_line_breaks(text: &[u8]) -> u64 {
    let breaks = text.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => text.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    breaks.count() as u64
}

/// A record, and the line on which it begins.
#[derive(Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) line: u64,
    pub(crate) fields: Vec<Option<String>>,
}

/// An iterator over the records of a text. A field is `None` if it is null. Blank records are skipped.
pub(crate) struct RecordReader<'t> {
    rest: &'t str,
    /// Line on which `rest` begins.
    line: u64,
    /// Line on which the record under way begins.
    record_line: u64,
    /// True until the record that names the columns was read.
    expects_header: bool,
    white_space: WhiteSpace,
}

impl<'t> RecordReader<'t> {
    /// Reads a whole file, whose first record names the columns.
    pub(crate) fn new(text: &'t str) -> Self {
        Self::at_line(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text), 1).with_header()
    }

    /// Reads a part of a file that begins with this line, a mark and white space as text.
    pub(crate) fn at_line(text: &'t str, line: u64) -> Self {
        Self { rest: text, line, record_line: line, expects_header: false, white_space: WhiteSpace::Value }
    }

    /// Expects the names of the columns in the first record. White space names none.
    pub(crate) fn with_header(self) -> Self {
        Self { expects_header: true, white_space: WhiteSpace::Blank, ..self }
    }

    /// Sets the meaning of white space in the records that follow.
    pub(crate) fn set_white_space(&mut self, white_space: WhiteSpace) {
        self.white_space = white_space;
    }

    fn read_field(&mut self) -> Result<Option<String>> {
        let Some(mut rest) = self.rest.strip_prefix('"') else {
            let end = self.rest.find([',', '\r', '\n']).unwrap_or(self.rest.len());
            let (field, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Ok((!field.is_empty() && field != "NULL").then(|| field.to_owned()));
        };
        let mut text = String::new();
        loop {
            let end = rest.find('"').ok_or_else(|| self.malformed("a quote is not closed"))?;
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.strip_prefix('"') {
                Some(more) => {
                    text.push('"');
                    rest = more;
                }
                None => break,
            }
        }
        self.rest = rest;
        Ok(Some(text))
    }

    fn malformed(&self, what: &str) -> Error {
        Error::invalid_body(format!("the CSV is malformed: {what}")).in_line(self.record_line)
    }

    fn text_after_quote(&self) -> Error {
        match self.rest.chars().next() {
            Some(separator) if self.expects_header && OTHER_SEPARATORS.contains(&separator) => {
                separated_otherwise(separator).in_line(self.record_line)
            }
            _ => self.malformed("text follows the closing quote of a field"),
        }
    }

    fn read_record(&mut self) -> Result<Vec<Option<String>>> {
        let mut fields = Vec::new();
        loop {
            fields.push(self.read_field()?);
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                continue;
            }
            let end = ["\r\n", "\n", "\r"].iter().find_map(|end| self.rest.strip_prefix(end));
            match end {
                Some(rest) => self.rest = rest,
                None if self.rest.is_empty() => {}
                None => return Err(self.text_after_quote()),
            }
            return Ok(fields);
        }
    }
}

impl Iterator for RecordReader<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let (before, line) = (self.rest, self.line);
            self.record_line = line;
            let fields = match self.read_record() {
                Ok(fields) => fields,
                Err(error) => return Some(Err(error)),
            };
            let record = &before[..before.len() - self.rest.len()];
            self.line += count_line_breaks(record.as_bytes());
            if !is_blank(record.as_bytes(), self.white_space) {
                self.expects_header = false;
                return Some(Ok(Record { line, fields }));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_are_read() {
        let read =
            |text| RecordReader::new(text).map(|record| Ok(record?.fields)).collect::<Result<Vec<_>>>();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read("\u{feff}a,b\r\n1,\"x,\"\"y\"\"\n\"\nNULL,\"NULL\"\n,\"\"").unwrap(),
            [
                vec![some("a"), some("b")],
                vec![some("1"), some("x,\"y\"\n")],
                vec![None, some("NULL")],
                vec![None, some("")],
            ]
        );
        for (bad, line) in
            [("a\n\"x", "In line 2."), ("\"x\"y", "In line 1."), ("a\r\n\r\n\"x\n\"y", "In line 3.")]
        {
            assert_eq!(read(bad).unwrap_err().details(), Some(line), "{bad}");
        }
    }

    #[test]
    fn another_separator_behind_a_quote_of_the_header_is_named() {
        let read = |text| RecordReader::new(text).collect::<Result<Vec<_>>>().unwrap_err();
        for (text, shown, line) in [
            ("\"title\";\"qty\"\n\"Tea\";\"1\"\n", "`;`", 1),
            ("\u{feff}\n\"title\"\t\"qty\"\n", "tabs", 2),
            ("\"title\"|qty", "`|`", 1),
        ] {
            let error = read(text);
            assert_eq!(error.to_string(), format!("the fields of the file seem to be separated by {shown}"));
            assert_eq!(
                error.details(),
                Some(&*format!("In line {line}. Separate them by commas.")),
                "{text:?}"
            );
        }
        // A file of one column has its header without a separator.
        for text in ["title\n\"Tea\";\"1\"\n", "\"title\" ;\"qty\"\n", "\"title\"x\n"] {
            let error = read(text);
            assert!(error.to_string().contains("text follows the closing quote"), "{text:?}: {error}");
        }
        let error = RecordReader::at_line("\"Tea\";\"1\"", 2).next().unwrap().unwrap_err();
        assert_eq!(error.details(), Some("In line 2."));
    }

    #[test]
    fn blank_lines_are_skipped_and_lines_counted() {
        let lines = |text| {
            RecordReader::new(text)
                .map(|record| record.map(|record| record.line))
                .collect::<Result<Vec<_>>>()
                .unwrap()
        };
        assert_eq!(lines("a,b\n\n1,\"x\ny\"\n,\n\n2,\n"), [1, 3, 7]);
        assert_eq!(lines("a\r\rb\r\n\r\nc"), [1, 3, 5]);
        assert_eq!(lines("\n\r\n,,\r"), [0_u64; 0]);
        assert_eq!(lines("\"\"\n\"\",\n"), [1, 2], "quoted empty texts are values");
    }

    #[test]
    fn white_space_is_blank_unless_it_can_be_a_row() {
        let lines = |white_space| {
            let mut reader = RecordReader::new(" \t\nname\n   \n\t\r\n\u{a0}\n\" \"\n , \n\u{feff}\n \n");
            let header = reader.next().unwrap().unwrap().line;
            reader.set_white_space(white_space);
            std::iter::once(header).chain(reader.map(|record| record.unwrap().line)).collect::<Vec<_>>()
        };
        assert_eq!(lines(WhiteSpace::Blank), [2, 6, 7, 8]);
        assert_eq!(lines(WhiteSpace::Value), [2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_mark_is_one_at_the_beginning_of_the_file_only() {
        let fields = |mut reader: RecordReader<'_>| reader.next().unwrap().unwrap().fields;
        assert_eq!(fields(RecordReader::new("\u{feff}Aru")), [Some("Aru".to_owned())]);
        assert_eq!(fields(RecordReader::at_line("\u{feff}Aru", 2)), [Some("\u{feff}Aru".to_owned())]);
    }

    proptest! {
        #[test]
        fn a_written_record_is_read_back(fields in prop::collection::vec(prop::option::of("[a-zN UL,\"\r\n]{0,5}"), 1..4)) {
            let mut out = Vec::new();
            for (at, field) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                if let Some(text) = field {
                    write_field(&mut out, text);
                }
            }
            out.extend_from_slice(b"\r\n");
            let text = String::from_utf8(out).unwrap();
            let read: Vec<_> = RecordReader::at_line(&text, 1).map(|record| record.unwrap().fields).collect();
            let expected: Vec<_> = (!is_blank(text.as_bytes(), WhiteSpace::Value)).then_some(fields).into_iter().collect();
            prop_assert_eq!(read, expected);
        }
    }
}
