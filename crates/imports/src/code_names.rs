//! Code of people, read word by word: where its strings are, and which names it sets without declaring them.

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use regex::Regex;

use crate::javascript::RESERVED;

/// Most names that are declared for code.
const MAX_NAMES: usize = 60;

/// A name before an assignment. What stands around it is looked at afterwards.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)\s*(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])?=").ok()
});

/// The name of a loop without a declaration.
static LOOPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bfor\s*(?:await\s*)?\(\s*(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)\s+(?:of|in)\b").ok()
});

/// Declarations of names: variables, functions with their parameters, classes, errors that are caught.
static DECLARATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:let|const|var)\b([^;\n]*)|\bfunction\b\s*\*?\s*([A-Za-z0-9_$]*)\s*\(([^)]*)\)|\b(?:class|catch\s*\()\s*([A-Za-z0-9_$]+)|\(([^()]*)\)\s*=>|([A-Za-z0-9_$]+)\s*=>",
    )
    .ok()
});

/// Returns the names that JavaScript assigns, but for those that it is given. The tools run code that creates globals so; modules
/// are strict. Names that the code declares somewhere may be among them.
pub(crate) fn assigned_names(code: &str, given: &[&str]) -> BTreeSet<String> {
    let mut plain = code.as_bytes().to_vec();
    for span in strings_and_comments(code) {
        if let Some(text) = plain.get_mut(span) {
            text.fill(b' ');
        }
    }
    let plain = String::from_utf8_lossy(&plain);
    let assigned = ASSIGNED.iter().flat_map(|expression| expression.captures_iter(&plain)).filter(|found| {
        let (Some(all), Some(name)) = (found.get(0), found.name("name")) else { return false };
        let before = plain.get(..name.start()).unwrap_or_default();
        let after = plain.get(all.end()..).unwrap_or_default();
        // A comparison, the arrow of a function, a member, a part of another name.
        !after.starts_with(['=', '>'])
            && !before.trim_end().ends_with('.')
            && !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$')
    });
    let looped = LOOPED.iter().flat_map(|expression| expression.captures_iter(&plain));
    let names = assigned.chain(looped).filter_map(|found| Some(found.name("name")?.as_str().to_owned()));
    let is_free = |name: &String| !given.contains(&name.as_str()) && !RESERVED.contains(&name.as_str());
    let mut free = BTreeSet::new();
    for name in names.filter(is_free) {
        if free.len() >= MAX_NAMES {
            break;
        }
        free.insert(name);
    }
    free
}

/// Returns those of [`assigned_names`] that the code declares nowhere.
pub(crate) fn undeclared_names(code: &str, given: &[&str]) -> Vec<String> {
    let mut declared: BTreeSet<&str> = BTreeSet::new();
    for found in DECLARATION.iter().flat_map(|expression| expression.captures_iter(code)) {
        // A list of names, patterns and values: a name stands at its beginning, or begins a part.
        let list = found.iter().skip(1).flatten().map(|part| part.as_str());
        for part in list.flat_map(|list| list.split([',', '{', '[', ':'])) {
            let part = part.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '.');
            let end = part.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$');
            declared.extend(part.get(..end.unwrap_or(part.len())));
        }
    }
    assigned_names(code, given).into_iter().filter(|name| !declared.contains(name.as_str())).collect()
}

/// Returns where strings and comments of JavaScript, and comments of other languages, stand in code.
pub(crate) fn strings_and_comments(code: &str) -> Vec<Range<usize>> {
    let bytes = code.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let is_after_space = at.checked_sub(1).and_then(|before| bytes.get(before));
        let length = match byte {
            b'"' | b'\'' | b'`' => string_length(rest),
            b'/' if rest.starts_with(b"//") => line_length(rest),
            // Of Python and shells; a private member of JavaScript is no comment.
            b'#' if is_after_space.is_none_or(u8::is_ascii_whitespace) => line_length(rest),
            b'/' if rest.starts_with(b"/*") => {
                let end = rest.windows(2).skip(2).position(|window| window == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        spans.push(at..at + length);
        at += length.max(1);
    }
    spans
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Returns the length of a string with its quotes; one that is not closed ends with its line, but for a template.
fn string_length(rest: &[u8]) -> usize {
    let quote = rest.first().copied().unwrap_or_default();
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if quote != b'`' => return at,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_found() {
        let code = "a = 'x\\'y'; // note\nb = `t\nu`; /* c */ d";
        let found: Vec<&str> = strings_and_comments(code).into_iter().map(|span| &code[span]).collect();
        assert_eq!(found, ["'x\\'y'", "// note", "`t\nu`", "/* c */"]);
    }

    #[test]
    fn names_that_are_set_and_never_declared_are_found() {
        let undeclared = |code: &str| undeclared_names(code, &["items"]).join(" ");
        let code = "total = 0; for (const i of $input.all()) total += 1; return [{json: {total}}]";
        assert_eq!(undeclared(code), "total");
        assert_eq!(undeclared("for (row of items) { n = m = 1 }"), "m n row");
        assert_eq!(undeclared("for (i = 0; i < 3; i++) {}"), "i");
        for code in [
            "let total = 0; total += 1;",
            "const { a, b = 2 } = x; b = 3;",
            "function f(a) { a = 1; }",
            "items = items.filter((item) => item.x == 1);",
            "if (a == b || c >= d || e !== f) { item.total = 1 }",
            "const f = (x) => x; // y = 1",
            "const s = 'z = 1';",
            "this.x = 1; a.b . c = 2",
        ] {
            assert_eq!(undeclared(code), "", "{code}");
        }
    }
}
