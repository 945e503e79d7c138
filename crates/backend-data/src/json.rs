//! JSON in and out: canonical documents for `json` columns, and rows written into one buffer.

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use std::{fmt, sync::Arc};

use crate::{catalog::ColumnType, csv, store::Format, timestamp::Micros};

/// The canonical text of a JSON document: no blanks, keys ordered as `jsonb` orders them (shorter first, then
/// by bytes), the last of duplicate keys, numbers without exponents. Both stores give it back unchanged.
pub(crate) fn canonical(text: &str) -> Result<String, CanonicalError> {
    let node: Node = serde_json::from_str(text).map_err(|error| CanonicalError(error.to_string()))?;
    let mut out = Vec::with_capacity(text.len());
    node.write(&mut out);
    String::from_utf8(out).map_err(|error| CanonicalError(error.to_string()))
}

/// Why a document has no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CanonicalError(String);

enum Node {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Number(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text(text) => write_text(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(entries) => {
                out.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_text(out, key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        if !value.is_finite() {
            return Err(E::custom("a number is out of range"));
        }
        // `jsonb` knows no negative zero and keeps trailing zeros; `Display` writes neither, nor an exponent.
        Ok(Node::Number(if value == 0.0 { "0".to_owned() } else { value.to_string() }))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(without_nul(value)?.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = items.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Array(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Node>()? {
            without_nul::<A::Error>(&key)?;
            entries.push((key, value));
        }
        entries.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        // The sort is stable: of equal neighbours the later one was written later.
        let mut unique: Vec<(String, Node)> = Vec::with_capacity(entries.len());
        for entry in entries {
            match unique.last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                _ => unique.push(entry),
            }
        }
        Ok(Node::Object(unique))
    }
}

fn without_nul<E: de::Error>(text: &str) -> Result<&str, E> {
    if text.contains('\0') { Err(E::custom("text may not contain the character U+0000")) } else { Ok(text) }
}

/// Appends a JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            other => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(other >> 4)]);
                out.push(HEX[usize::from(other & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// A document without the blanks between its tokens.
fn compact(document: &str) -> String {
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
        write_text(&mut key, name);
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
        Self { columns, out, next: 0, rows: 0, in_row: false, format }
    }

    /// Begins anew, as if no row had been written.
    pub fn restart(&mut self) {
        *self = Self::new(self.columns, self.format);
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

    fn key(&mut self) {
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
                self.key();
                self.out.extend_from_slice(b"null");
            }
            Format::Stripped => self.next += 1,
            Format::Csv => self.key(),
        }
    }

    /// The next value is text.
    pub fn text(&mut self, value: &str) {
        self.key();
        match self.format {
            Format::Csv => csv::write_field(&mut self.out, value),
            Format::Json | Format::Stripped => write_text(&mut self.out, value),
        }
    }

    /// The next value is an integer.
    pub fn integer(&mut self, value: i64) {
        self.key();
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
        self.key();
        // Cannot fail: the buffer grows and the number is finite.
        let _ = serde_json::to_writer(&mut self.out, &value);
    }

    /// The next value is true or false.
    pub fn boolean(&mut self, value: bool) {
        self.key();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// The next value is an instant.
    pub fn timestamp(&mut self, value: Micros) {
        self.key();
        if self.format == Format::Csv {
            return value.write(&mut self.out);
        }
        self.out.push(b'"');
        value.write(&mut self.out);
        self.out.push(b'"');
    }

    /// The next value is a JSON document; blanks between its tokens are dropped.
    pub fn json(&mut self, document: &str) {
        if self.format != Format::Json {
            return self.canonical_json(&compact(document));
        }
        self.key();
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
        match self.format {
            Format::Json => {
                self.key();
                self.out.extend_from_slice(document.as_bytes());
            }
            // A document that is null is shown as null, and so left out.
            Format::Stripped if document == "null" => self.null(),
            Format::Stripped => {
                self.key();
                self.out.extend_from_slice(document.as_bytes());
            }
            Format::Csv => {
                self.key();
                csv::write_field(&mut self.out, document);
            }
        }
    }

    /// The row is complete.
    pub fn end_row(&mut self) {
        if self.format == Format::Csv {
            self.out.extend_from_slice(b"\r\n");
            self.rows += 1;
            self.next = 0;
            return;
        }
        if !self.in_row {
            self.out.extend_from_slice(if self.rows > 0 { b",{" } else { b"{" });
        }
        self.out.push(b'}');
        self.rows += 1;
        self.next = 0;
        self.in_row = false;
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn documents_have_one_form() {
        for (given, wanted) in [
            (r#" { "bb" : 1, "a" : [ 1.0, 1e3, -0.0, 1e-7 ] } "#, r#"{"a":[1,1000,0,0.0000001],"bb":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"b":1,"aa":2,"a":3}"#, r#"{"a":3,"b":1,"aa":2}"#),
            (r#""a \u0041 \" b""#, r#""a A \" b""#),
            ("18446744073709551615", "18446744073709551615"),
            ("null", "null"),
        ] {
            assert_eq!(canonical(given).ok().as_deref(), Some(wanted), "{given}");
        }
        for bad in ["", "{", r#""\u0000""#, r#"{"\u0000":1}"#, "1e999", "NaN"] {
            assert!(canonical(bad).is_err(), "{bad}");
        }
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

    proptest! {
        #[test]
        fn strings_survive(text in ".*") {
            let mut out = Vec::new();
            write_text(&mut out, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }

        #[test]
        fn canonical_form_is_a_fixed_point(number in any::<f64>().prop_filter("finite", |n| n.is_finite()), key in "[a-z ]{0,4}") {
            let text = format!("{{\"{key}\":{}, \"z\": [null]}}", serde_json::to_string(&number).unwrap());
            let once = canonical(&text).unwrap();
            prop_assert_eq!(canonical(&once).unwrap(), once);
        }
    }
}
