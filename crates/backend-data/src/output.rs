//! Rows written into one buffer, as JSON or CSV.

use std::sync::Arc;

use crate::{catalog::ColumnType, csv, json::write_string, store::Format, timestamp::Micros};

/// A document without the blanks between its tokens.
fn compact_json(document: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    document
        .chars()
        .filter(|&c| {
            if in_text {
                in_text = escaped || c != '"';
                escaped = !escaped && c == '\\';
                return true;
            }
            in_text = c == '"';
            c != ' '
        })
        .collect()
}

/// How long a text becomes once written, at least: that of a short one is not worth finding out.
fn encoded_length(text: &str, format: Format) -> usize {
    const SHORT: usize = 4_096;
    if text.len() <= SHORT {
        return text.len();
    }
    let escaped = |byte: u8| match byte {
        b'"' => 1,
        b'\\' | b'\n' | b'\r' | b'\t' if format != Format::Csv => 1,
        ..0x20 if format != Format::Csv => 5,
        _ => 0,
    };
    text.len() + text.bytes().map(escaped).sum::<usize>()
}

/// One column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// What the value is, and so how a store must read it.
    pub kind: ColumnType,
    /// `"name":`, ready to be copied.
    key: Arc<[u8]>,
    name: Arc<str>,
}

impl OutputColumn {
    /// A column shown under `name`.
    #[must_use]
    pub fn new(name: &str, kind: ColumnType) -> Self {
        let mut key = Vec::with_capacity(name.len() + 3);
        write_string(&mut key, name);
        key.push(b':');
        Self { kind, key: key.into(), name: name.into() }
    }
}

/// Writes rows as a JSON array into one buffer. Stores feed it value by value, column after column.
///
/// ```
/// use backend_data::{ColumnType, Format, OutputColumn, RowWriter};
///
/// let columns = [OutputColumn::new("title", ColumnType::Text), OutputColumn::new("stars", ColumnType::Integer)];
/// let mut rows = RowWriter::new(&columns, Format::Json);
/// rows.text("Tea");
/// rows.integer(5);
/// rows.end_row();
/// assert_eq!(rows.finish(), br#"[{"title":"Tea","stars":5}]"#);
/// ```
#[derive(Debug)]
pub struct RowWriter<'a> {
    columns: &'a [OutputColumn],
    out: Vec<u8>,
    next: usize,
    rows: u64,
    in_row: bool,
    format: Format,
    /// How many bytes it takes.
    limit: usize,
    has_overflowed: bool,
    /// Where each row ends, where they may be put in another order.
    row_ends: Option<Vec<usize>>,
}

impl<'a> RowWriter<'a> {
    /// A writer of rows with these columns.
    #[must_use]
    pub fn new(columns: &'a [OutputColumn], format: Format) -> Self {
        let mut out = Vec::with_capacity(512);
        if format == Format::Csv {
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                csv::write_field(&mut out, &column.name);
            }
            out.extend_from_slice(b"\r\n");
        } else {
            out.push(b'[');
        }
        Self {
            columns,
            out,
            next: 0,
            rows: 0,
            in_row: false,
            format,
            limit: usize::MAX,
            has_overflowed: false,
            row_ends: None,
        }
    }

    /// A writer whose rows can be put in another order at the end.
    #[must_use]
    pub fn sortable(columns: &'a [OutputColumn], format: Format) -> Self {
        Self { row_ends: Some(Vec::new()), ..Self::new(columns, format) }
    }

    /// The same writer, which takes no value that would make it longer than `bytes`.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Begins anew, as if no row had been written.
    pub fn clear(&mut self) {
        *self = Self::new(self.columns, self.format).with_limit(self.limit);
    }

    /// Whether a value was left out because there was no room for it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.has_overflowed
    }

    /// Whether there is room for so many bytes more.
    fn check_capacity(&mut self, bytes: usize) -> bool {
        self.has_overflowed |= bytes > self.limit.saturating_sub(self.out.len());
        !self.has_overflowed
    }

    /// How many bytes are written.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it always holds at least a bracket")]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// How many rows are complete.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn begin_value(&mut self) {
        if self.format == Format::Csv {
            if self.next > 0 {
                self.out.push(b',');
            }
            self.next += 1;
            return;
        }
        if self.in_row {
            self.out.push(b',');
        } else {
            if self.rows > 0 {
                self.out.push(b',');
            }
            self.out.push(b'{');
            self.in_row = true;
        }
        if let Some(column) = self.columns.get(self.next) {
            self.out.extend_from_slice(&column.key);
        }
        self.next += 1;
    }

    /// The next value is null.
    pub fn null(&mut self) {
        match self.format {
            Format::Json => {
                self.begin_value();
                self.out.extend_from_slice(b"null");
            }
            Format::Stripped => self.next += 1,
            Format::Csv => self.begin_value(),
        }
    }

    /// The next value is text.
    pub fn text(&mut self, value: &str) {
        if !self.check_capacity(encoded_length(value, self.format)) {
            return;
        }
        self.begin_value();
        match self.format {
            Format::Csv => csv::write_field(&mut self.out, value),
            Format::Json | Format::Stripped => write_string(&mut self.out, value),
        }
    }

    /// The next value is an integer.
    pub fn integer(&mut self, value: i64) {
        self.begin_value();
        let mut digits = [0_u8; 20];
        let mut at = digits.len();
        let mut rest = value.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            self.out.push(b'-');
        }
        self.out.extend_from_slice(&digits[at..]);
    }

    /// The next value is a floating point number; what is not finite has no JSON and becomes null.
    pub fn real(&mut self, value: f64) {
        if !value.is_finite() {
            return self.null();
        }
        self.begin_value();
        // Cannot fail: the buffer grows and the number is finite.
        let _ = serde_json::to_writer(&mut self.out, &value);
    }

    /// The next value is true or false.
    pub fn boolean(&mut self, value: bool) {
        self.begin_value();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// The next value is an instant.
    pub fn timestamp(&mut self, value: Micros) {
        self.begin_value();
        if self.format == Format::Csv {
            return value.write(&mut self.out);
        }
        self.out.push(b'"');
        value.write(&mut self.out);
        self.out.push(b'"');
    }

    /// The next value is a JSON document; blanks between its tokens are dropped.
    pub fn json(&mut self, document: &str) {
        if !self.check_capacity(document.len()) {
            return;
        }
        if self.format != Format::Json {
            self.canonical_json(&compact_json(document));
            return;
        }
        self.begin_value();
        let (mut in_text, mut escaped) = (false, false);
        for &byte in document.as_bytes() {
            if in_text {
                in_text = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
            } else if byte == b' ' {
                continue;
            } else {
                in_text = byte == b'"';
            }
            self.out.push(byte);
        }
    }

    /// The next value is a JSON document in the canonical form the engine wrote.
    pub fn canonical_json(&mut self, document: &str) {
        let length =
            if self.format == Format::Csv { encoded_length(document, Format::Csv) } else { document.len() };
        if !self.check_capacity(length) {
            return;
        }
        match self.format {
            Format::Json => {
                self.begin_value();
                self.out.extend_from_slice(document.as_bytes());
            }
            // A document that is null is shown as null, and so left out.
            Format::Stripped if document == "null" => self.null(),
            Format::Stripped => {
                self.begin_value();
                self.out.extend_from_slice(document.as_bytes());
            }
            Format::Csv => {
                self.begin_value();
                csv::write_field(&mut self.out, document);
            }
        }
    }

    /// The row is complete.
    pub fn end_row(&mut self) {
        if self.format == Format::Csv {
            self.out.extend_from_slice(b"\r\n");
        } else {
            if !self.in_row {
                self.out.extend_from_slice(if self.rows > 0 { b",{" } else { b"{" });
            }
            self.out.push(b'}');
        }
        self.has_overflowed |= self.out.len() > self.limit;
        if let Some(ends) = &mut self.row_ends {
            ends.push(self.out.len());
        }
        self.rows += 1;
        self.next = 0;
        self.in_row = false;
    }

    /// The whole array of a [`sortable`](Self::sortable) writer, its rows in the order of their ranks.
    #[must_use]
    pub fn finish_sorted(self, ranks: &[usize]) -> Vec<u8> {
        let ends = self.row_ends.as_deref().unwrap_or_default();
        if ends.len() != ranks.len() || ranks.is_sorted() {
            return self.finish();
        }
        let empty = Self::new(self.columns, self.format).out;
        // Rows of JSON have a comma between them.
        let gap = usize::from(self.format != Format::Csv);
        let mut rows: Vec<(usize, &[u8])> = Vec::with_capacity(ranks.len());
        let mut start = empty.len();
        for (rank, end) in ranks.iter().zip(ends) {
            rows.push((*rank, self.out.get(start..*end).unwrap_or_default()));
            start = end + gap;
        }
        rows.sort_by_key(|(rank, _)| *rank);
        let mut out = empty;
        out.reserve(self.out.len());
        for (at, (_, row)) in rows.into_iter().enumerate() {
            if at > 0 && gap > 0 {
                out.push(b',');
            }
            out.extend_from_slice(row);
        }
        if gap > 0 {
            out.push(b']');
        }
        out
    }

    /// The whole array.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.format != Format::Csv {
            self.out.push(b']');
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_writer_takes_no_more() {
        let columns = [OutputColumn::new("a", ColumnType::Text), OutputColumn::new("b", ColumnType::Json)];
        let long = "\u{1}".repeat(5_000);
        for format in [Format::Json, Format::Stripped, Format::Csv] {
            let mut writer = RowWriter::new(&columns, format).with_limit(20_000);
            writer.text("short");
            assert!(!writer.is_full());
            // Six bytes for each character in JSON, one in CSV.
            writer.text(&long);
            assert_eq!(writer.is_full(), format != Format::Csv);
            for _ in 0..1_000 {
                writer.json(r#"["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]"#);
                writer.end_row();
            }
            assert!(writer.is_full() && writer.len() < 30_000, "{format:?} {}", writer.len());
        }
    }

    #[test]
    fn rows_are_put_in_another_order() {
        let columns = [OutputColumn::new("n", ColumnType::Integer)];
        let written = |format, ranks: &[usize]| {
            let mut writer = RowWriter::sortable(&columns, format);
            for n in 0..3 {
                if n == 1 {
                    writer.null();
                } else {
                    writer.integer(n);
                }
                writer.end_row();
            }
            String::from_utf8(writer.finish_sorted(ranks)).unwrap()
        };
        assert_eq!(written(Format::Json, &[0, 1, 2]), r#"[{"n":0},{"n":null},{"n":2}]"#);
        assert_eq!(written(Format::Json, &[7, 9, 4]), r#"[{"n":2},{"n":0},{"n":null}]"#);
        assert_eq!(written(Format::Stripped, &[2, 1, 0]), r#"[{"n":2},{},{"n":0}]"#);
        assert_eq!(written(Format::Csv, &[2, 1, 0]), "n\r\n2\r\n\r\n0\r\n");
    }

    #[test]
    fn rows_are_written_in_order() {
        let columns = [
            OutputColumn::new("a\"b", ColumnType::Text),
            OutputColumn::new("n", ColumnType::Integer),
            OutputColumn::new("j", ColumnType::Json),
        ];
        let mut writer = RowWriter::new(&columns, Format::Json);
        writer.text("x\n\u{1}é");
        writer.integer(i64::MIN);
        writer.json(r#"{"a b": "c \" d"}"#);
        writer.end_row();
        writer.null();
        writer.integer(0);
        writer.null();
        writer.end_row();
        assert_eq!(
            String::from_utf8(writer.finish()).unwrap(),
            "[{\"a\\\"b\":\"x\\n\\u0001é\",\"n\":-9223372036854775808,\"j\":{\"a b\":\"c \\\" d\"}},\
             {\"a\\\"b\":null,\"n\":0,\"j\":null}]"
        );
    }
}
