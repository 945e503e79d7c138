//! Integers in JSON that a number of JavaScript cannot hold: those beyond 2^53 − 1 either way, written without fraction and
//! exponent.
//!
//! Values that are read for code have them as text, so that none is changed in silence. Values that code writes have none: its
//! number of that size is one of several that it may have stood for, so it is written as the float that it is.

/// Largest integer such that it and all smaller ones are exact in JavaScript (ECMA-262, `Number.MAX_SAFE_INTEGER`).
const LARGEST: &[u8] = b"9007199254740991";

/// Returns JSON with its wide integers as texts of their digits; `None` if it has none. The text must be JSON.
#[must_use]
pub fn as_texts(json: &[u8]) -> Option<Vec<u8>> {
    replaced(json, |out, integer| {
        out.push(b'"');
        out.extend_from_slice(integer);
        out.push(b'"');
    })
}

/// Returns JSON with its wide integers as floats, such as `9007199254740992.0`; `None` if it has none. The text must be JSON.
#[must_use]
pub fn as_floats(json: &[u8]) -> Option<Vec<u8>> {
    replaced(json, |out, integer| {
        out.extend_from_slice(integer);
        out.extend_from_slice(b".0");
    })
}

fn replaced(json: &[u8], write: impl Fn(&mut Vec<u8>, &[u8])) -> Option<Vec<u8>> {
    if !has_long_digits(json) {
        return None;
    }
    let mut out: Option<Vec<u8>> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_text(json, at),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(json, at);
                let number = json.get(at..end).unwrap_or_default();
                if is_wide(number) {
                    let out = out.get_or_insert_with(|| Vec::with_capacity(json.len() + 64));
                    out.extend_from_slice(json.get(copied..at).unwrap_or_default());
                    write(out, number);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    let mut out = out?;
    out.extend_from_slice(json.get(copied..).unwrap_or_default());
    Some(out)
}

/// Returns `true` if as many digits stand in a row as the shortest wide integer has. Each such row has a digit at a multiple of their
/// number, so most bytes are not looked at.
fn has_long_digits(json: &[u8]) -> bool {
    let digits =
        |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| byte.is_ascii_digit()).count();
    (LARGEST.len() - 1..json.len()).step_by(LARGEST.len()).any(|at| {
        let (before, after) = json.split_at(at);
        let after = digits(&mut after.iter());
        after > 0 && digits(&mut before.iter().rev()) + after >= LARGEST.len()
    })
}

/// Returns the index after the text that begins with the quotation mark at `start`.
fn end_of_text(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

fn end_of_number(json: &[u8], start: usize) -> usize {
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    start + json.get(start..).unwrap_or_default().iter().take_while(is_part).count()
}

fn is_wide(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let is_integer = digits.iter().all(u8::is_ascii_digit);
    is_integer && (digits.len() > LARGEST.len() || (digits.len() == LARGEST.len() && digits > LARGEST))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(json: &str) -> String {
        as_texts(json.as_bytes()).map_or_else(|| json.to_owned(), |bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn wide_integers_become_texts_and_nothing_else_does() {
        for (json, expected) in [
            (r#"{"id":8202522731445525542}"#, r#"{"id":"8202522731445525542"}"#),
            ("9007199254740992", r#""9007199254740992""#),
            ("-9007199254740992", r#""-9007199254740992""#),
            ("[1, -9223372036854775808 ,2]", r#"[1, "-9223372036854775808" ,2]"#),
            ("[123456789012345678901234567890,1]", r#"["123456789012345678901234567890",1]"#),
        ] {
            assert_eq!(texts(json), expected);
        }
        for json in [
            "9007199254740991",
            "-9007199254740991",
            "9007199254740992.0",
            "9007199254740992e0",
            "9.0071992547409930000",
            "1e9007199254740993",
            r#""9007199254740993""#,
            r#"{"9007199254740993":"a \" 9007199254740993"}"#,
            r#"["\\",1]"#,
            r#"["\\\"9007199254740993"]"#,
            "null",
            "",
        ] {
            assert_eq!(as_texts(json.as_bytes()), None, "{json}");
        }
        let floats = as_floats(b"[9007199254740993, 1, \"9007199254740993\"]").unwrap();
        assert_eq!(floats, b"[9007199254740993.0, 1, \"9007199254740993\"]");
    }

    proptest! {
        #[test]
        fn what_is_read_again_is_the_same(
            before in "[a-z\"\\\\0-9]{0,40}", integers in prop::collection::vec(any::<i64>(), 0..6), padding in 0_usize..40,
        ) {
            let json = format!("{}{}", " ".repeat(padding), serde_json::json!({ "text": before, "integers": integers }));
            let read: serde_json::Value = serde_json::from_str(&texts(&json)).unwrap();
            prop_assert_eq!(&read["text"], &serde_json::json!(before));
            for (value, integer) in read["integers"].as_array().unwrap().iter().zip(&integers) {
                let is_wide = integer.unsigned_abs() > (1 << 53) - 1;
                let expected = if is_wide { serde_json::json!(integer.to_string()) } else { serde_json::json!(integer) };
                prop_assert_eq!(value, &expected);
            }
        }
    }
}
