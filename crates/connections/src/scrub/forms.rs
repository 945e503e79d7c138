//! The forms of a text that a program may write in its place.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Returns the forms of a text (see [`each_form`]), sorted, without those that are equal to another.
pub(super) fn forms(text: &str) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    each_form(text, &mut |form| forms.push(form.as_bytes().to_vec()));
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Calls `found` with each form of a text, with some of them more than once:
///
/// * as it is
/// * percent-encoded (RFC 3986, JavaScript's `encodeURIComponent` and `encodeURI`, forms, and every byte), with hex in
///   upper and lower case
/// * base64, standard and URL-safe, at each of the three offsets at which it may begin in a longer text, with and without
///   padding
/// * hex in lower and upper case
/// * JSON: shortest, with `\/`, ASCII only, HTML-safe, every character escaped; and a JSON text within another
/// * HTML: named, decimal and hexadecimal references
pub(super) fn each_form(text: &str, found: &mut impl FnMut(&str)) {
    let longest = longest(text);
    let mut buffers = Buffers {
        form: String::with_capacity(longest),
        nested: String::with_capacity(longest),
        bytes: Vec::with_capacity(text.len() + 2),
    };
    found(text);
    percent(text, &mut buffers, found);
    base64(text.as_bytes(), &mut buffers, found);
    for is_upper in [false, true] {
        buffers.form.clear();
        text.bytes().for_each(|byte| push_hex(&mut buffers.form, byte, is_upper));
        found(&buffers.form);
    }
    json(text, &mut buffers, found);
    html(text, &mut buffers, found);
}

/// Texts that forms are put together in: allocating each would take most of the time that a request has for them.
struct Buffers {
    form: String,
    /// A form of the form.
    nested: String,
    bytes: Vec<u8>,
}

/// Returns the bytes that the longest form of a text may have; some more than it has.
pub(super) fn longest(text: &str) -> usize {
    // A character of one byte becomes seven in a JSON text within another, which is the most.
    8 * text.len() + 8
}

fn percent(text: &str, buffers: &mut Buffers, found: &mut impl FnMut(&str)) {
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
            for is_upper in [true, false] {
                encode_percent(text, (is_upper, plus), is_plain, &mut buffers.form);
                found(&buffers.form);
            }
        }
    }
    for is_upper in [true, false] {
        encode_percent(text, (is_upper, false), |_| false, &mut buffers.form);
        found(&buffers.form);
    }
}

fn encode_percent(
    text: &str,
    (is_upper, plus): (bool, bool),
    is_plain: impl Fn(u8) -> bool,
    encoded: &mut String,
) {
    encoded.clear();
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else if plus && byte == b' ' {
            encoded.push('+');
        } else {
            encoded.push('%');
            push_hex(encoded, byte, is_upper);
        }
    }
}

/// Appends the two digits of a byte. Formatting macros would take most of the time that a request has for this.
fn push_hex(text: &mut String, byte: u8, is_upper: bool) {
    let digits = if is_upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    text.push(char::from(digits[usize::from(byte >> 4)]));
    text.push(char::from(digits[usize::from(byte & 15)]));
}

/// Appends a number in a base, without leading zeros.
fn push_number(text: &mut String, number: u32, base: u32, is_upper: bool) {
    if number >= base {
        push_number(text, number / base, base, is_upper);
    }
    let digit = char::from_digit(number % base, base).unwrap_or_default();
    text.push(if is_upper { digit.to_ascii_uppercase() } else { digit });
}

/// Finds the characters that depend on the text alone, for each offset, and the same with the end of the encoding.
fn base64(bytes: &[u8], Buffers { form, nested, bytes: padded }: &mut Buffers, found: &mut impl FnMut(&str)) {
    padded.clear();
    padded.extend([0, 0]);
    padded.extend_from_slice(bytes);
    for offset in 0..3_usize {
        let padded = &padded[2 - offset..];
        form.clear();
        STANDARD_NO_PAD.encode_string(padded, form);
        let padding = (4 - form.len() % 4) % 4;
        let (start, core, closed) = ((8 * offset).div_ceil(6), 8 * padded.len() / 6, form.len());
        form.extend(std::iter::repeat_n('=', padding));
        for end in [core, closed, closed + padding] {
            let encoded = form.get(start..end).unwrap_or_default();
            if encoded.contains(['+', '/']) {
                replace(encoded, nested, |c| match c {
                    '+' => Some("-"),
                    '/' => Some("_"),
                    _ => None,
                });
                found(nested);
            }
            found(encoded);
        }
    }
}

/// Writes a text with other texts in place of some characters.
fn replace(text: &str, replaced: &mut String, with: impl Fn(char) -> Option<&'static str>) {
    replaced.clear();
    for c in text.chars() {
        match with(c) {
            Some(other) => replaced.push_str(other),
            None => replaced.push(c),
        }
    }
}

fn json(text: &str, Buffers { form, nested, .. }: &mut Buffers, found: &mut impl FnMut(&str)) {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '~' | ':' | '/' | '@' | ',')
    };
    let within_json = |c| match c {
        // Each escape begins with a backslash, which the text around escapes again.
        '\\' => Some("\\\\"),
        '"' => Some("\\\""),
        _ => None,
    };
    let with_slash = |c| match c {
        '/' => Some("\\/"),
        _ => None,
    };
    let with_slash_within_json = |c| match c {
        '/' => Some("\\\\/"),
        other => within_json(other),
    };
    let mut find = |form: &str, may_have_slash: bool| {
        let is_nested = form.contains(['\\', '"']);
        if is_nested {
            replace(form, nested, within_json);
            found(nested);
        }
        if may_have_slash && form.contains('/') {
            replace(form, nested, with_slash);
            found(nested);
            replace(form, nested, with_slash_within_json);
            found(nested);
        }
        found(form);
    };
    // Of these characters, the other forms are the text itself.
    let is_special = !text.chars().all(|c| is_plain(c) && c != '/');
    if is_special {
        escape_json(text, (false, false), |_| false, form);
        find(form, true);
    }
    for is_upper in [false, true] {
        if is_special {
            escape_json(text, (is_upper, false), |c| !c.is_ascii() || c == '\u{7f}', form);
            find(form, true);
            escape_json(text, (is_upper, false), |c| matches!(c, '<' | '>' | '&'), form);
            find(form, false);
            escape_json(text, (is_upper, false), |c| matches!(c, '<' | '>' | '&' | '\''), form);
            find(form, false);
            escape_json(text, (is_upper, true), |c| !is_plain(c), form);
            find(form, false);
        }
        escape_json(text, (is_upper, true), |_| true, form);
        find(form, false);
    }
}

/// Escapes a text for JSON (RFC 8259, section 7). `is_escaped` are characters to write as `\u…`; `long` writes those with
/// a short escape so, too.
fn escape_json(
    text: &str,
    (is_upper, long): (bool, bool),
    is_escaped: impl Fn(char) -> bool,
    escaped: &mut String,
) {
    escaped.clear();
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
                    unit.to_be_bytes().into_iter().for_each(|byte| push_hex(escaped, byte, is_upper));
                }
            }
            _ => escaped.push(c),
        }
    }
}

fn html(text: &str, Buffers { form, .. }: &mut Buffers, found: &mut impl FnMut(&str)) {
    let quotes = ["'", "&#39;", "&#039;", "&#x27;", "&apos;"];
    let doubles = ["\"", "&quot;", "&#34;", "&#x22;"];
    for quote in if text.contains('\'') { &quotes[..] } else { &quotes[..1] } {
        for double in if text.contains('"') { &doubles[..] } else { &doubles[..1] } {
            replace(text, form, |c| match c {
                '&' => Some("&amp;"),
                '<' => Some("&lt;"),
                '>' => Some("&gt;"),
                '\'' => Some(quote),
                '"' => Some(double),
                _ => None,
            });
            found(form);
        }
    }
    for (before, base, is_upper) in [("&#", 10, false), ("&#x", 16, false), ("&#x", 16, true)] {
        form.clear();
        for c in text.chars() {
            form.push_str(before);
            push_number(form, c.into(), base, is_upper);
            form.push(';');
        }
        found(form);
    }
}
