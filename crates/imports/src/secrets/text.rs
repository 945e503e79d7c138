//! Secrets in texts: URLs, code, expressions, bodies, headers, commands and notes of people.

use std::{ops::Range, sync::LazyLock};

use regex::{Captures, Regex};

use super::{
    REMOVED, forms,
    names::{Suspicion, suspicion},
    values::{is_opaque, is_random, is_random_segment, is_random_word, is_word_byte},
};
use crate::code_names::strings_and_comments;

/// Shortest text that is a secret without a name or a mark before it.
const SHORTEST: usize = 16;

/// Kind of a text, which decides what may be replaced in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Prose, a URL, a header, a command.
    Plain,
    /// Code: outside of its strings and comments an assigned word is the name of something.
    Code,
}

/// Names before a literal, with what stands between them: `apiKey = '…'`, `"api_key": "…"`, `headers['X-Token'] = "…"`,
/// `set('Authorization', '…')`, `token: string = '…'`, `secret = process.env.SECRET || '…'`.
const BEFORE_LITERAL: &str = r#"(?P<name>[A-Za-z_$][A-Za-z0-9_$.\- ]{0,63}?)(?:\\*["'`]\]?\s*(?:::?|!?={1,3}|=>|,)|\]?\s*(?::\s*[A-Za-z<>\[\]| ]{1,40}=|::?|!?={1,3}|=>))\s*(?:[A-Za-z_$][^"'`\n;,(){}]{0,80}(?:\|\||\?\?)\s*)?"#;

/// Literals of each kind of quotes; those with a backslash before stand in another literal.
const LITERALS: &[&str] = &[
    r#""(?P<s>(?:[^"\\\n]|\\.)*)""#,
    r"'(?P<s>(?:[^'\\\n]|\\.)*)'",
    r"`(?P<s>(?:[^`\\]|\\.)*)`",
    r#"\\+"(?P<s>[^"\\\n]*)\\+""#,
    r"\\+'(?P<s>[^'\\\n]*)\\+'",
];

static ASSIGNED_LITERALS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    LITERALS.iter().filter_map(|literal| Regex::new(&format!("{BEFORE_LITERAL}{literal}")).ok()).collect()
});

/// A part of every name that [`suspicion`] knows.
static NAME_PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)pass|pwd|secret|token|key|auth|cookie|credential|bearer|jwt|sig|pin").ok()
});

/// A parameter in a query, or in a body in the form of one.
static PARAMETER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r##"[?&](?P<name>[A-Za-z0-9_.\[\]-]{1,64})=(?P<s>[^&\s"'`{}$<>#\\]{4,})"##).ok()
});

/// An element of XML.
static ELEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"<(?:[A-Za-z0-9_-]+:)?(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})(?:\s[^<>]*)?>\s*(?P<s>[^<>\s{}$]{4,})\s*</").ok()
});

/// A member of a list such as `Server=…;Password=…;`, as connection strings are.
static LIST_MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"[;"'`]\s*(?P<name>[A-Za-z][A-Za-z _]{0,40}?)\s*=\s*(?P<s>[^;"'`\s{}$]{3,})"#).ok()
});

/// The beginning of such a list.
static LIST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(accountname|endpoint|server|data source|host|hostname|user id|uid|user|database|driver|defaultendpointsprotocol)\s*=[^;\n]*;",
    )
    .ok()
});

/// A name and a word: `key: 9f86…`, `X-Token: abc`, `TOKEN=abc`.
static ASSIGNED_WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?P<name>[A-Za-z_][A-Za-z0-9_\-]{0,40})\s*(?::|=|\bis\b)\s*(?P<s>[A-Za-z0-9_+/=.~!@#%^*-]{8,})",
    )
    .ok()
});

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"https?://[^\s"'`<>\\]+"#).ok());

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9_+/=.-]{36,512}").ok());

/// Segments after which one of a path names something.
const ID_SEGMENTS: &[&str] = &[
    "a",
    "album",
    "assets",
    "b",
    "blob",
    "board",
    "boards",
    "c",
    "calendars",
    "channels",
    "collections",
    "commit",
    "commits",
    "d",
    "database",
    "databases",
    "dataset",
    "datasets",
    "doc",
    "docs",
    "document",
    "documents",
    "e",
    "edit",
    "event",
    "events",
    "file",
    "files",
    "folder",
    "folders",
    "form",
    "forms",
    "gist",
    "image",
    "images",
    "item",
    "items",
    "list",
    "lists",
    "media",
    "messages",
    "model",
    "models",
    "objects",
    "page",
    "pages",
    "playlist",
    "presentation",
    "project",
    "projects",
    "raw",
    "record",
    "records",
    "space",
    "spaces",
    "spreadsheets",
    "table",
    "tables",
    "task",
    "tasks",
    "team",
    "teams",
    "thread",
    "threads",
    "track",
    "tree",
    "u",
    "user",
    "users",
    "video",
    "videos",
    "view",
    "views",
    "workspace",
    "workspaces",
];

/// Parameters of a query that are secrets under names that say little.
const SECRET_PARAMETERS: &[&str] = &["sig", "signature", "appid", "key", "auth", "pass", "hash_key"];

/// Replaces what is secret in a text; returns the kind of the first. The rest of the text stays as it is, and random words if it
/// is the id of something.
pub(super) fn remove(text: &mut String, language: Language, is_id: bool) -> Option<&'static str> {
    // Most texts are names of members and short values, in which none of what follows finds anything.
    if text.len() < SHORTEST && !text.contains([':', '=', '"', '\'', '`', '<', '-']) {
        return None;
    }
    let mut kind = None;
    for form in forms::found_in(text) {
        let is_replaced = replace(text, &form.expression, |_, found| form.accepts(secret_of(found)));
        kind = kind.or(is_replaced.then_some(form.kind));
    }
    // Without a word that names a secret nothing is assigned to one.
    let has_name = NAME_PART.as_ref().is_none_or(|part| part.is_match(text));
    for expression in ASSIGNED_LITERALS.iter().filter(|_| has_name) {
        let is_replaced = replace(text, expression, is_assigned_secret);
        kind = kind.or(is_replaced.then_some("api_key"));
    }
    if let Some(expression) = ELEMENT.as_ref().filter(|_| has_name) {
        let is_replaced = replace(text, expression, is_assigned_secret);
        kind = kind.or(is_replaced.then_some("api_key"));
    }
    let is_list = has_name && LIST.as_ref().is_some_and(|list| list.is_match(text));
    for (expression, is_secret) in [
        (PARAMETER.as_ref(), is_secret_parameter as fn(&Captures<'_>) -> bool),
        (ASSIGNED_WORD.as_ref().filter(|_| has_name), is_assigned_word),
        (LIST_MEMBER.as_ref().filter(|_| is_list), is_secret_member),
    ] {
        let Some(expression) = expression else { continue };
        // Elsewhere in code a word is the name of something.
        let strings = (language == Language::Code).then(|| strings_and_comments(text));
        let is_replaced = replace(text, expression, |_, found| {
            let is_within = |word: regex::Match<'_>| {
                strings.as_ref().is_none_or(|strings| overlaps(strings, &word.range()))
            };
            is_secret(found) && found.name("s").is_some_and(is_within)
        });
        kind = kind.or(is_replaced.then_some("api_key"));
    }
    let has_segment = !is_id && remove_path_segments(text);
    let has_word = !is_id && remove_random_words(text);
    kind.or(has_segment.then_some("webhook_url")).or(has_word.then_some("random"))
}

fn name_of<'t>(found: &Captures<'t>) -> &'t str {
    found.name("name").map_or("", |name| name.as_str())
}

/// Returns the secret in what an expression found.
fn secret_of<'t>(found: &Captures<'t>) -> &'t str {
    found.name("s").or_else(|| found.get(0)).map_or("", |secret| secret.as_str())
}

/// Replaces the secrets that an expression finds and a rule accepts, which sees what is before as well; whether there were any.
fn replace(text: &mut String, expression: &Regex, is_secret: impl Fn(&str, &Captures<'_>) -> bool) -> bool {
    let removed: Vec<Range<usize>> =
        text.match_indices(REMOVED).map(|(at, removed)| at..at + removed.len()).collect();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for found in expression.captures_iter(text) {
        let secret = found.name("s").or_else(|| found.get(0)).map(|secret| secret.range());
        if let Some(span) = secret
            && !span.is_empty()
            && !overlaps(&removed, &span)
            && is_secret(text.get(..found.get(0).map_or(0, |all| all.start())).unwrap_or_default(), &found)
        {
            spans.push(span);
        }
    }
    remove_spans(text, &spans)
}

/// Returns `true` if a part of a text overlaps one of others, which follow each other.
fn overlaps(others: &[Range<usize>], span: &Range<usize>) -> bool {
    let after = others.partition_point(|other| other.end <= span.start);
    others.get(after).is_some_and(|other| other.start < span.end)
}

/// Replaces parts of a text, which follow each other; whether there were any. The text is written once, however many there are.
fn remove_spans(text: &mut String, spans: &[Range<usize>]) -> bool {
    if spans.is_empty() {
        return false;
    }
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    for span in spans {
        kept.push_str(text.get(end..span.start).unwrap_or_default());
        kept.push_str(REMOVED);
        end = span.end;
    }
    kept.push_str(text.get(end..).unwrap_or_default());
    *text = kept;
    true
}

/// Returns `true` if a literal that is assigned to a name is a secret.
fn is_assigned_secret(before: &str, found: &Captures<'_>) -> bool {
    let (name, literal) = (found.name("name"), secret_of(found));
    let separator = name.and_then(|name| found.get(0)?.as_str().get(name.len()..)).unwrap_or_default();
    let has_comma = separator.trim_start_matches(['\\', '"', '\'', '`', ']']).trim_start().starts_with(',');
    // The arguments of a call; in a list they have nothing to do with each other.
    if has_comma && !before.trim_end_matches(['\\', '"', '\'', '`']).trim_end().ends_with('(') {
        return false;
    }
    match suspicion(name_of(found)) {
        Some(Suspicion::Certain) => is_opaque(literal),
        Some(Suspicion::Possible) => is_random_word(literal, 16),
        None => false,
    }
}

fn is_secret_parameter(found: &Captures<'_>) -> bool {
    let (name, value) = (name_of(found), secret_of(found));
    let lower = name.to_ascii_lowercase();
    match suspicion(name) {
        Some(Suspicion::Certain) => is_opaque(value),
        _ if SECRET_PARAMETERS.contains(&lower.as_str()) => {
            value.len() >= 8 && value.bytes().any(|byte| byte.is_ascii_digit())
        }
        Some(Suspicion::Possible) => is_random_word(value, 16),
        // Azure calls it `code`.
        None => is_random(value),
    }
}

fn is_secret_member(found: &Captures<'_>) -> bool {
    match suspicion(name_of(found)) {
        Some(Suspicion::Certain) => true,
        Some(Suspicion::Possible) => is_random_word(secret_of(found), 16),
        None => false,
    }
}

fn is_assigned_word(found: &Captures<'_>) -> bool {
    let (name, word) = (name_of(found), secret_of(found));
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    // A path of names, as in code that is shown in prose.
    let is_name = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
        && word.contains('.');
    match suspicion(name) {
        Some(Suspicion::Certain) => has_digit && !is_name && is_opaque(word),
        Some(Suspicion::Possible) => is_random_word(word, 16),
        None => false,
    }
}

/// Replaces random segments in the paths of URLs; whether there were any.
fn remove_path_segments(text: &mut String) -> bool {
    let Some(expression) = URL.as_ref() else { return false };
    let mut spans: Vec<Range<usize>> = Vec::new();
    for url in expression.find_iter(text) {
        let path_end = url.as_str().find(['?', '#']).unwrap_or(url.len());
        let path = url.as_str().get(..path_end).unwrap_or_default();
        let mut before = "";
        let mut start = url.start();
        for (index, segment) in path.split('/').enumerate() {
            // The scheme, nothing, and the host.
            let is_id = ID_SEGMENTS.contains(&before.to_ascii_lowercase().as_str());
            if index > 2 && !is_id && is_random_segment(segment) {
                spans.push(start..start + segment.len());
            }
            start += segment.len() + 1;
            before = segment;
        }
    }
    remove_spans(text, &spans)
}

/// Replaces long random words outside of URLs; whether there were any.
fn remove_random_words(text: &mut String) -> bool {
    let (Some(url), Some(word)) = (URL.as_ref(), WORD.as_ref()) else { return false };
    let urls: Vec<Range<usize>> = url.find_iter(text).map(|url| url.range()).collect();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for found in word.find_iter(text) {
        let before = text.get(..found.start()).unwrap_or_default();
        // Data of an image, and digests of scripts.
        let is_data = before.ends_with("base64,") || found.as_str().starts_with("sha");
        // A word goes on beyond what was found: it is longer than any key.
        let next = text.as_bytes().get(found.end()).copied();
        let is_cut = next.is_some_and(is_word_byte);
        let is_in_url = overlaps(&urls, &found.range());
        let digits = found.as_str().trim_matches(['.', '=']);
        if !is_data && !is_cut && !is_in_url && is_random(digits) {
            spans.push(found.range());
        }
    }
    remove_spans(text, &spans)
}

/// Replaces the literals of an expression that stands under the name of a secret; whether there were any. Names of steps and of
/// members, which stand in parentheses or brackets, stay.
pub(super) fn remove_literals(expression: &mut String) -> bool {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for span in strings_and_comments(expression) {
        let Some(literal) = expression.get(span.start + 1..span.end.saturating_sub(1)) else { continue };
        let before = expression.get(..span.start).unwrap_or_default().trim_end();
        let is_name = before.ends_with(['(', '[']);
        let is_literal = expression.as_bytes().get(span.start).is_some_and(|byte| b"\"'`".contains(byte));
        if is_literal && !is_name && !literal.contains(char::is_whitespace) && is_opaque(literal) {
            spans.push(span.start + 1..span.end - 1);
        }
    }
    remove_spans(expression, &spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        assert_eq!(ASSIGNED_LITERALS.len(), LITERALS.len());
        for expression in [&NAME_PART, &PARAMETER, &ELEMENT, &LIST_MEMBER, &LIST, &ASSIGNED_WORD, &URL, &WORD]
        {
            assert!(expression.is_some());
        }
    }
}
