//! The forms of a text that a program may write in its place.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Returns the forms of a text, without those that are equal to another:
///
/// * as it is
/// * percent-encoded (RFC 3986, JavaScript's `encodeURIComponent` and `encodeURI`, forms, and every byte), with hex in
///   upper and lower case
/// * base64, standard and URL-safe, at each of the three offsets at which it may begin in a longer text, with and without
///   padding
/// * hex in lower and upper case
/// * JSON: shortest, with `\/`, ASCII only, HTML-safe, every character escaped; and a JSON text within another
/// * HTML: named, decimal and hexadecimal references
pub(super) fn forms(text: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<String> = vec![text.to_owned()];
    percent(text, &mut forms);
    base64(text.as_bytes(), &mut forms);
    forms.push(hex(text.as_bytes(), false));
    forms.push(hex(text.as_bytes(), true));
    let json = json(text);
    for form in &json {
        // Each escape begins with a backslash, which the text around escapes again.
        forms.push(form.replace('\\', "\\\\").replace('"', "\\\""));
    }
    forms.extend(json);
    html(text, &mut forms);
    forms.sort_unstable();
    forms.dedup();
    forms.into_iter().map(String::into_bytes).collect()
}

fn percent(text: &str, forms: &mut Vec<String>) {
    let plain: [(&str, bool); 9] = [
        ("", false),
        ("-._~", false),
        ("-._~/", false),
        ("-_.!~*'()", false),
        ("-_.!~*'();/?:@&=+$,#", false),
        ("-._~!$&'()*+,;=:@", false),
        ("-._~!$&'()*+,;=:@/?", false),
        ("*-._", true),
        ("-._~:", false),
    ];
    for is_upper in [true, false] {
        for (kept, plus) in plain {
            forms.push(percent_with(text, is_upper, plus, |byte| {
                byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte)
            }));
        }
        forms.push(percent_with(text, is_upper, false, |_| false));
    }
}

fn percent_with(text: &str, is_upper: bool, plus: bool, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else if plus && byte == b' ' {
            encoded.push('+');
        } else {
            encoded.push('%');
            encoded.push_str(&hex(&[byte], is_upper));
        }
    }
    encoded
}

fn hex(bytes: &[u8], is_upper: bool) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = if is_upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
        text
    })
}

/// Adds the characters that depend on the text alone, for each offset, and the same with the end of the encoding.
fn base64(bytes: &[u8], forms: &mut Vec<String>) {
    for offset in 0..3_usize {
        let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(bytes.iter().copied()).collect();
        let encoded = STANDARD_NO_PAD.encode(&padded);
        let start = (8 * offset).div_ceil(6);
        let end = 8 * padded.len() / 6;
        let core = encoded.get(start..end).unwrap_or_default().to_owned();
        let closed = encoded.get(start..).unwrap_or_default().to_owned();
        let full = format!("{closed}{}", "=".repeat((4 - encoded.len() % 4) % 4));
        for form in [core, closed, full] {
            forms.push(form.replace('+', "-").replace('/', "_"));
            forms.push(form);
        }
    }
}

fn json(text: &str) -> Vec<String> {
    let shortest = escape_json(text, false, false, |_| false);
    let escaped_slash = shortest.replace('/', "\\/");
    let mut forms = vec![shortest, escaped_slash];
    for is_upper in [false, true] {
        let ascii = escape_json(text, is_upper, false, |c| !c.is_ascii() || c == '\u{7f}');
        forms.push(ascii.replace('/', "\\/"));
        forms.push(ascii);
        forms.push(escape_json(text, is_upper, false, |c| matches!(c, '<' | '>' | '&')));
        forms.push(escape_json(text, is_upper, false, |c| matches!(c, '<' | '>' | '&' | '\'')));
        forms.push(escape_json(text, is_upper, true, |c| {
            !c.is_ascii_alphanumeric() && !matches!(c, ' ' | '-' | '_' | '.' | '~' | ':' | '/' | '@' | ',')
        }));
        forms.push(escape_json(text, is_upper, true, |_| true));
    }
    forms
}

/// Escapes a text for JSON (RFC 8259, section 7). `is_escaped` are characters to write as `\u…`; `long` writes those with
/// a short escape so, too.
fn escape_json(text: &str, is_upper: bool, long: bool, is_escaped: impl Fn(char) -> bool) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        let short = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            _ => None,
        };
        match short {
            Some(short) if !long => escaped.push_str(short),
            _ if is_escaped(c) || c < ' ' => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digits = hex(&unit.to_be_bytes(), is_upper);
                    escaped.push_str("\\u");
                    escaped.push_str(&digits);
                }
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

fn html(text: &str, forms: &mut Vec<String>) {
    for quote in ["'", "&#39;", "&#039;", "&#x27;", "&apos;"] {
        for double in ["\"", "&quot;", "&#34;", "&#x22;"] {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            // The ampersands of references that follow are no part of the text.
            forms.push(escaped.replace('\'', quote).replace('"', double));
        }
    }
    let every = |form: fn(u32) -> String| text.chars().map(|c| form(c.into())).collect::<String>();
    forms.push(every(|code| format!("&#{code};")));
    forms.push(every(|code| format!("&#x{code:x};")));
    forms.push(every(|code| format!("&#x{code:X};")));
}
