//! Canonical documents of `json` columns, and the writer of JSON strings.

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use std::{fmt, io::Write as _};

/// Bytes by which a canonical document may exceed twice the length of the one that was sent.
const MAX_GROWTH: usize = 4_096;

/// Largest float that stands for one integer: 2^53 − 1.
const LARGEST_EXACT_FLOAT: f64 = 9_007_199_254_740_991.0;

/// Returns the canonical text of a JSON document: no blanks, keys ordered as `jsonb` orders them (shorter first, then
/// by bytes), the last of duplicate keys, numbers without exponents. Both stores return it unchanged.
///
/// A number such as `1e308` then has 309 digits: a document that becomes longer than twice its length and
/// [`MAX_GROWTH`] is refused.
pub(crate) fn canonicalize(text: &str) -> Result<String, CanonicalError> {
    let node: Node = serde_json::from_str(text).map_err(|error| CanonicalError(error.to_string()))?;
    let mut out = Vec::with_capacity(text.len());
    if !node.write(&mut out, text.len().saturating_mul(2).saturating_add(MAX_GROWTH)) {
        let message = "its numbers with large exponents are too long once written out; send them as text";
        return Err(CanonicalError(message.to_owned()));
    }
    String::from_utf8(out).map_err(|error| CanonicalError(error.to_string()))
}

/// The reason why a document has no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CanonicalError(String);

enum Node {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Real(f64),
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Appends the text. Stops and returns false once the buffer exceeds `limit`.
    fn write(&self, out: &mut Vec<u8>, limit: usize) -> bool {
        // Writing to a vector does not fail.
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Integer(value) => drop(write!(out, "{value}")),
            Self::Unsigned(value) => drop(write!(out, "{value}")),
            // `jsonb` has no negative zero and keeps trailing zeros; `Display` writes no trailing zeros and no
            // exponent.
            Self::Real(0.0) => out.push(b'0'),
            // One that stands for several integers stays a float for whoever reads integers of that size as they are.
            Self::Real(value) if value.fract() == 0.0 && value.abs() > LARGEST_EXACT_FLOAT => {
                drop(write!(out, "{value}.0"));
            }
            Self::Real(value) => drop(write!(out, "{value}")),
            Self::Text(text) => write_string(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    if !item.write(out, limit) {
                        return false;
                    }
                }
                out.push(b']');
            }
            Self::Object(entries) => {
                out.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_string(out, key);
                    out.push(b':');
                    if !value.write(out, limit) {
                        return false;
                    }
                }
                out.push(b'}');
            }
        }
        out.len() <= limit
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
        Ok(Node::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Unsigned(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        if !value.is_finite() {
            return Err(E::custom("a number is out of range"));
        }
        Ok(Node::Real(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(reject_nul(value)?.to_owned()))
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
            reject_nul::<A::Error>(&key)?;
            entries.push((key, value));
        }
        entries.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        // The sort is stable, so the last of several equal keys is the one that was written last.
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

fn reject_nul<E: de::Error>(text: &str) -> Result<&str, E> {
    if text.contains('\0') { Err(E::custom("text may not contain the character U+0000")) } else { Ok(text) }
}

/// Counts the elements of all arrays in a document, at all depths.
pub(crate) fn count_array_elements(document: &str) -> usize {
    fn count(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Array(items) => items.len() + items.iter().map(count).sum::<usize>(),
            serde_json::Value::Object(entries) => entries.values().map(count).sum(),
            _ => 0,
        }
    }
    serde_json::from_str(document).map_or(0, |value| count(&value))
}

/// Appends a JSON string.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_documents_have_one_form() {
        for (given, wanted) in [
            (r#" { "bb" : 1, "a" : [ 1.0, 1e3, -0.0, 1e-7 ] } "#, r#"{"a":[1,1000,0,0.0000001],"bb":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"b":1,"aa":2,"a":3}"#, r#"{"a":3,"b":1,"aa":2}"#),
            (r#""a \u0041 \" b""#, r#""a A \" b""#),
            ("18446744073709551615", "18446744073709551615"),
            (
                "[9007199254740993, 9007199254740992.0, -1e16, 9007199254740991.0]",
                "[9007199254740993,9007199254740992.0,-10000000000000000.0,9007199254740991]",
            ),
            ("null", "null"),
        ] {
            assert_eq!(canonicalize(given).ok().as_deref(), Some(wanted), "{given}");
        }
        for bad in ["", "{", r#""\u0000""#, r#"{"\u0000":1}"#, "1e999", "NaN"] {
            assert!(canonicalize(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_document_that_grows_too_much_is_refused() {
        let many = |number: &str, count: usize| format!("[{}]", vec![number; count].join(","));
        for fits in [
            many("1e308", 10),
            many("-1.5e-300", 10),
            many("6.62607015e-34", 90),
            many("1e15", 300),
            many("1e9", 9),
        ] {
            let text = canonicalize(&fits).unwrap();
            assert!(text.len() <= 2 * fits.len() + 4_096, "{} became {}", fits.len(), text.len());
        }
        for grows in
            [many("1e308", 160_000), many("1e-308", 1_000), many("1e15", 50_000), many("[1e308]", 20)]
        {
            assert!(canonicalize(&grows).unwrap_err().to_string().contains("exponents"), "{}", &grows[..20]);
        }
    }

    proptest! {
        #[test]
        fn a_written_string_is_read_back(text in ".*") {
            let mut out = Vec::new();
            write_string(&mut out, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }

        #[test]
        fn canonical_form_is_a_fixed_point(number in any::<f64>().prop_filter("finite", |n| n.is_finite()), key in "[a-z ]{0,4}") {
            let text = format!("{{\"{key}\":{}, \"z\": [null]}}", serde_json::to_string(&number).unwrap());
            let once = canonicalize(&text).unwrap();
            prop_assert_eq!(canonicalize(&once).unwrap(), once);
        }
    }
}
