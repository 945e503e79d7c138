//! Texts that look like secrets.

use super::names::words;

/// Words of types, of settings and of texts that stand for a secret.
const PLACEHOLDERS: &[&str] = &[
    "a",
    "access",
    "account",
    "and",
    "api",
    "apikey",
    "app",
    "application",
    "auth",
    "authorization",
    "basic",
    "bearer",
    "body",
    "bot",
    "change",
    "changeme",
    "client",
    "code",
    "config",
    "confirm",
    "cookie",
    "credential",
    "credentials",
    "current",
    "custom",
    "data",
    "digest",
    "disabled",
    "enabled",
    "enter",
    "env",
    "event",
    "example",
    "false",
    "field",
    "forgot",
    "form",
    "generic",
    "header",
    "here",
    "hidden",
    "http",
    "id",
    "input",
    "insert",
    "invalid",
    "item",
    "json",
    "jwt",
    "key",
    "missing",
    "my",
    "name",
    "new",
    "no",
    "none",
    "null",
    "oauth",
    "old",
    "optional",
    "or",
    "param",
    "params",
    "password",
    "predefined",
    "private",
    "process",
    "public",
    "query",
    "req",
    "request",
    "required",
    "res",
    "reset",
    "response",
    "result",
    "secret",
    "server",
    "session",
    "set",
    "settings",
    "show",
    "state",
    "string",
    "test",
    "text",
    "the",
    "token",
    "true",
    "type",
    "undefined",
    "use",
    "user",
    "username",
    "value",
    "vars",
    "visible",
    "webhook",
    "wrong",
    "x",
    "xxx",
    "xxxx",
    "your",
];

/// Returns `true` if a text under the name of a secret could be one: one or two words, and no expression or placeholder.
pub(super) fn is_opaque(text: &str) -> bool {
    let text = text.trim();
    let is_expression =
        text.starts_with(['=', '<', '[', '{', '$', '%']) || text.contains("{{") || text.contains("${");
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let shortest = if has_digit { 4 } else { 6 };
    if is_expression || !(shortest..=4096).contains(&text.len()) || text.contains("://") {
        return false;
    }
    let count = text.split_whitespace().count();
    if count > 2 || count == 2 && !has_digit {
        return false;
    }
    let words = words(text);
    let is_placeholder = words.iter().all(|word| PLACEHOLDERS.contains(&word.as_str()));
    // A word of letters with digits is split: what is left of it may happen to be a placeholder.
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    !is_placeholder || digits >= 4
}

/// Returns `true` if a text is one word of random letters and digits, of at least `shortest` bytes. Ids in UUID form are not.
pub(super) fn is_random_word(text: &str, shortest: usize) -> bool {
    if !(shortest..=512).contains(&text.len()) || !text.bytes().all(is_word_byte) || is_uuid(text) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let letters = count(u8::is_ascii_alphabetic);
    // Not words and numbers that are put together, such as `order-2024-03`.
    let has_mixed_part = text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() >= 10 && digits >= 2 && part.len() - digits >= 2
    });
    digits >= 2 && letters >= 4 && has_mixed_part && entropy(text) > 2.8
}

/// Returns `true` if a text is one long word of random letters and digits, as keys are, whatever its name. Ids in UUID form and
/// hexadecimal digests of 32 are not.
pub(super) fn is_random(text: &str) -> bool {
    if !(36..=512).contains(&text.len()) || !text.bytes().all(is_word_byte) {
        return false;
    }
    if text.contains("://")
        || text.matches('/').count() > 2
        || text.matches('.').count() > 2
        || text.matches('-').count() > 3
    {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let upper = text.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = text.bytes().filter(u8::is_ascii_lowercase).count();
    let is_mixed = digits * 10 >= text.len() && upper * 8 >= text.len() && lower * 8 >= text.len();
    let is_hexadecimal =
        text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits * 4 >= text.len();
    (is_mixed || is_hexadecimal) && entropy(text) > 3.3
}

/// Returns `true` if a segment of a path is random: at least 20 letters of both cases and digits.
pub(super) fn is_random_segment(segment: &str) -> bool {
    if !(20..=512).contains(&segment.len()) || !segment.bytes().all(is_word_byte) || segment.contains('.') {
        return false;
    }
    let count = |is: fn(&u8) -> bool| segment.bytes().filter(is).count();
    let separators = count(|byte| !byte.is_ascii_alphanumeric());
    let is_mixed = count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2;
    is_mixed && separators * 8 <= segment.len() && entropy(segment) > 3.3
}

/// Bytes of keys in their usual encodings.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(&byte)
}

/// Returns `true` if a text has the form of a UUID (RFC 9562, section 4), with hyphens.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Bits of information per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a text of at most 512 bytes")]
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
