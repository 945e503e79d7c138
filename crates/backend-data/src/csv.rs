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

/// An iterator over the records of a text. A field is `None` if it is null.
pub(crate) struct RecordReader<'t> {
    rest: &'t str,
    record_number: usize,
}

impl<'t> RecordReader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        // Spreadsheets write a byte order mark first.
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), record_number: 0 }
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
        Error::invalid_body(format!("record {} of the CSV is malformed: {what}", self.record_number))
    }

    fn read_record(&mut self) -> Result<Vec<Option<String>>> {
        self.record_number += 1;
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
                None => return Err(self.malformed("text follows the closing quote of a field")),
            }
            return Ok(fields);
        }
    }
}

impl Iterator for RecordReader<'_> {
    type Item = Result<Vec<Option<String>>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.read_record())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_are_read() {
        let read = |text| RecordReader::new(text).collect::<Result<Vec<_>>>();
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
        for bad in ["a\n\"x", "\"x\"y"] {
            assert!(read(bad).is_err(), "{bad}");
        }
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
            prop_assert_eq!(RecordReader::new(&text).collect::<Result<Vec<_>>>().unwrap(), [fields]);
        }
    }
}
