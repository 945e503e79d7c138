//! The writer of rows, as JSON or CSV, into one buffer.

use std::sync::Arc;

use crate::{catalog::ColumnType, csv, json::write_string, timestamp::Micros};

/// The text form of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A JSON array of objects.
    #[default]
    Json,
    /// A JSON array of objects without the members that are null.
    Stripped,
    /// Comma-separated values (RFC 4180) with a header line. Nothing between two commas is null, `""` is empty text.
    Csv,
}

/// Removes the blanks between the tokens of a document.
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

/// Returns a lower bound of the length of a written text. Escapes are only counted in a text of more than 4,096 bytes.
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

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// The type of its values, which decides how a store reads them.
    pub kind: ColumnType,
    /// `"name":` as JSON.
    key: Arc<[u8]>,
    name: Arc<str>,
}

impl OutputColumn {
    /// Creates a column with this name in the result.
    #[must_use]
    pub fn new(name: &str, kind: ColumnType) -> Self {
        let mut key = Vec::with_capacity(name.len() + 3);
        write_string(&mut key, name);
        key.push(b':');
        Self { kind, key: key.into(), name: name.into() }
    }
}

/// A writer of rows in a [`Format`] into one buffer. For each row, write one value for each column, in order, and end
/// the row.
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
    /// Maximum length of `out` in bytes.
    limit: usize,
    has_overflowed: bool,
    /// The end of each row in `out`, in a writer that can sort them.
    row_ends: Option<Vec<usize>>,
}

impl<'a> RowWriter<'a> {
    /// Creates a writer of rows with these columns, without a limit.
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

    /// Creates a writer whose rows [`finish_sorted`](Self::finish_sorted) can put in another order.
    #[must_use]
    pub fn sortable(columns: &'a [OutputColumn], format: Format) -> Self {
        Self { row_ends: Some(Vec::new()), ..Self::new(columns, format) }
    }

    /// Sets the maximum length of the result in bytes. A text or document that would exceed it is left out, and
    /// [`is_full`](Self::is_full) is true from then on.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        *self = Self::new(self.columns, self.format).with_limit(self.limit);
    }

    /// Returns true if the rows exceed the limit. The result is then incomplete.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.has_overflowed
    }

    /// Returns true if there is room for this many more bytes.
    fn check_capacity(&mut self, bytes: usize) -> bool {
        self.has_overflowed |= bytes > self.limit.saturating_sub(self.out.len());
        !self.has_overflowed
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a writer is never empty: it begins with a bracket or a header"
    )]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns the number of complete rows.
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

    /// Writes null.
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

    /// Writes text.
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

    /// Writes an integer.
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

    /// Writes a floating point number. One that is not finite becomes null, since JSON has none (RFC 8259, section 6).
    pub fn real(&mut self, value: f64) {
        if !value.is_finite() {
            return self.null();
        }
        self.begin_value();
        // Writing a finite number to a vector does not fail.
        let _ = serde_json::to_writer(&mut self.out, &value);
    }

    /// Writes true or false.
    pub fn boolean(&mut self, value: bool) {
        self.begin_value();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes an instant as [`Micros::to_text`].
    pub fn timestamp(&mut self, value: Micros) {
        self.begin_value();
        if self.format == Format::Csv {
            return value.write(&mut self.out);
        }
        self.out.push(b'"');
        value.write(&mut self.out);
        self.out.push(b'"');
    }

    /// Writes a JSON document without the spaces between its tokens, which PostgreSQL writes for `jsonb`.
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

    /// Writes a JSON document in the canonical form of [`Value::Json`](crate::Value::Json) as it is.
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
            // A document that is null is left out as any null.
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

    /// Ends the row.
    pub fn end_row(&mut self) {
        if self.format == Format::Csv {
            self.mark_row_of_nulls();
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

    /// Names the first null of a CSV row that has nothing else: a line of separators only would be read as a blank one.
    fn mark_row_of_nulls(&mut self) {
        let Some(separators) = self.next.checked_sub(1) else { return };
        let Some(start) = self.out.len().checked_sub(separators) else { return };
        let (before, row) = self.out.split_at(start);
        if before.ends_with(b"\r\n") && row.iter().all(|byte| *byte == b',') {
            self.out.splice(start..start, *b"NULL");
        }
    }

    /// Returns the rows of a [`sortable`](Self::sortable) writer in ascending order of their ranks, one for each row.
    /// Any other writer, or a wrong number of ranks, keeps the order in which they were written.
    #[must_use]
    pub fn finish_sorted(self, ranks: &[usize]) -> Vec<u8> {
        let ends = self.row_ends.as_deref().unwrap_or_default();
        if ends.len() != ranks.len() || ranks.is_sorted() {
            return self.finish();
        }
        let empty = Self::new(self.columns, self.format).out;
        // In JSON, there is a comma between two rows.
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

    /// Returns the rows: a JSON array, or CSV.
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
    fn a_full_writer_accepts_no_more_text() {
        let columns = [OutputColumn::new("a", ColumnType::Text), OutputColumn::new("b", ColumnType::Json)];
        let long = "\u{1}".repeat(5_000);
        for format in [Format::Json, Format::Stripped, Format::Csv] {
            let mut writer = RowWriter::new(&columns, format).with_limit(20_000);
            writer.text("short");
            assert!(!writer.is_full());
            // A control character has six bytes in JSON and one in CSV.
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
    fn a_sortable_writer_orders_rows_by_rank() {
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
        assert_eq!(written(Format::Csv, &[2, 1, 0]), "n\r\n2\r\nNULL\r\n0\r\n");
    }

    #[test]
    fn rows_are_written_as_json() {
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
