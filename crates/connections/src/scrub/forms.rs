//! The forms of a text that a program may write in its place.

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
    for form in json.iter().filter(|form| form.contains(['\\', '"'])) {
        // Each escape begins with a backslash, which the text around escapes again.
        forms.push(form.replace('\\', "\\\\").replace('"', "\\\""));
    }
    forms.extend(json);
    html(text, &mut forms);
    forms.sort_unstable();
    forms.dedup();
    forms.into_iter().map(String::into_bytes).collect()
}

/// Returns the bytes that the longest form of a text may have; some more than it has.
pub(super) fn longest(text: &str) -> usize {
    // A character of one byte becomes seven in a JSON text within another, which is the most.
    8 * text.len() + 8
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
    for (kept, plus) in plain {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte);
        // Otherwise the form is the text itself.
        if !text.bytes().all(is_plain) {
            forms.push(percent_with(text, true, plus, is_plain));
            forms.push(percent_with(text, false, plus, is_plain));
        }
    }
    forms.push(percent_with(text, true, false, |_| false));
    forms.push(percent_with(text, false, false, |_| false));
}

fn percent_with(text: &str, is_upper: bool, plus: bool, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(3 * text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else if plus && byte == b' ' {
            encoded.push('+');
        } else {
            encoded.push('%');
            push_hex(&mut encoded, byte, is_upper);
        }
    }
    encoded
}

/// Appends the two digits of a byte. Formatting macros would take most of the time that a request has for this.
fn push_hex(text: &mut String, byte: u8, is_upper: bool) {
    let digits = if is_upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    text.push(char::from(digits[usize::from(byte >> 4)]));
    text.push(char::from(digits[usize::from(byte & 15)]));
}

fn hex(bytes: &[u8], is_upper: bool) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        push_hex(&mut text, *byte, is_upper);
    }
    text
}

/// Appends a number in a base, without leading zeros.
fn push_number(text: &mut String, number: u32, base: u32, is_upper: bool) {
    if number >= base {
        push_number(text, number / base, base, is_upper);
    }
    let digit = char::from_digit(number % base, base).unwrap_or_default();
    text.push(if is_upper { digit.to_ascii_uppercase() } else { digit });
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
            if form.contains(['+', '/']) {
                forms.push(form.replace('+', "-").replace('/', "_"));
            }
            forms.push(form);
        }
    }
}

fn json(text: &str) -> Vec<String> {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '~' | ':' | '/' | '@' | ',')
    };
    let mut forms = Vec::new();
    // Of these characters, the other forms are the text itself.
    let is_special = !text.chars().all(|c| is_plain(c) && c != '/');
    if is_special {
        let shortest = escape_json(text, false, false, |_| false);
        forms.push(shortest.replace('/', "\\/"));
        forms.push(shortest);
    }
    for is_upper in [false, true] {
        if is_special {
            let ascii = escape_json(text, is_upper, false, |c| !c.is_ascii() || c == '\u{7f}');
            forms.push(ascii.replace('/', "\\/"));
            forms.push(ascii);
            forms.push(escape_json(text, is_upper, false, |c| matches!(c, '<' | '>' | '&')));
            forms.push(escape_json(text, is_upper, false, |c| matches!(c, '<' | '>' | '&' | '\'')));
            forms.push(escape_json(text, is_upper, true, |c| !is_plain(c)));
        }
        forms.push(escape_json(text, is_upper, true, |_| true));
    }
    forms
}

/// Escapes a text for JSON (RFC 8259, section 7). `is_escaped` are characters to write as `\u…`; `long` writes those with
/// a short escape so, too.
fn escape_json(text: &str, is_upper: bool, long: bool, is_escaped: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(6 * text.len());
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
                    escaped.push_str("\\u");
                    unit.to_be_bytes().into_iter().for_each(|byte| push_hex(&mut escaped, byte, is_upper));
                }
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

fn html(text: &str, forms: &mut Vec<String>) {
    let quotes = ["'", "&#39;", "&#039;", "&#x27;", "&apos;"];
    let doubles = ["\"", "&quot;", "&#34;", "&#x22;"];
    for quote in if text.contains('\'') { &quotes[..] } else { &quotes[..1] } {
        for double in if text.contains('"') { &doubles[..] } else { &doubles[..1] } {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            // The ampersands of references that follow are no part of the text.
            forms.push(escaped.replace('\'', quote).replace('"', double));
        }
    }
    for (before, base, is_upper) in [("&#", 10, false), ("&#x", 16, false), ("&#x", 16, true)] {
        let mut references = String::with_capacity(8 * text.len());
        for c in text.chars() {
            references.push_str(before);
            push_number(&mut references, c.into(), base, is_upper);
            references.push(';');
        }
        forms.push(references);
    }
}
