//! JavaScript literals, names and comments. Everything that an export says goes through here before it is code.

use serde_json::Value;

/// Longest name that is made; a number may follow. A connection's name in a manifest has at most 40 letters.
const MAX_NAME_LEN: usize = 36;

/// Words that name nothing in a module (ECMA-262, section 12.7.2), and those that would be read as something else.
pub(crate) const RESERVED: &[&str] = &[
    "arguments",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Names that the code of a step uses: of the language and the web, and of what it is given.
pub(crate) const USED: &[&str] = &[
    "Array",
    "BigInt",
    "Blob",
    "Boolean",
    "Date",
    "Error",
    "FormData",
    "Headers",
    "Infinity",
    "Intl",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "RegExp",
    "Request",
    "Response",
    "Set",
    "String",
    "Symbol",
    "URL",
    "URLSearchParams",
    "console",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "extend",
    "fetch",
    "flow",
    "globalThis",
    "index",
    "inputs",
    "isFinite",
    "isNaN",
    "item",
    "itemAt",
    "items",
    "msg",
    "notTranslated",
    "output",
    "parseFloat",
    "parseInt",
    "run",
    "setTimeout",
    "skipped",
    "steps",
    "structuredClone",
    "text",
    "undefined",
];

/// Returns a string literal in single quotes.
pub(crate) fn string(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    escape(text, '\'', &mut literal);
    literal.push('\'');
    literal
}

/// Appends text as it is written between backticks.
pub(crate) fn template_text(text: &str, to: &mut String) {
    escape(text, '`', to);
}

fn escape(text: &str, quote: char, to: &mut String) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '$' if quote == '`' && characters.peek() == Some(&'{') => to.push_str("\\$"),
            _ if character == quote => {
                to.push('\\');
                to.push(quote);
            }
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\0'..='\u{1f}' | '\u{7f}' => {
                to.push_str(&format!("\\u{:04x}", character as u32));
            }
            _ => to.push(character),
        }
    }
}

/// Returns a value as a literal. A member `__proto__` stays a member.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(literal).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}: {}", key(name), literal(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

/// Returns the name of a member in an object literal.
pub(crate) fn key(name: &str) -> String {
    if name == "__proto__" {
        // A plain `__proto__:` sets the prototype.
        return "['__proto__']".to_owned();
    }
    if is_name(name) { name.to_owned() } else { string(name) }
}

/// Returns the access to a member: `.name` or `['a name']`, after `?` where the object may be missing.
pub(crate) fn member(name: &str, is_optional: bool) -> String {
    match (is_name(name), is_optional) {
        (true, true) => format!("?.{name}"),
        (true, false) => format!(".{name}"),
        (false, true) => format!("?.[{}]", string(name)),
        (false, false) => format!("[{}]", string(name)),
    }
}

/// Returns `true` for an identifier of ASCII letters.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_' || first == b'$')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
        && name.len() <= 100
}

/// Returns a name in camel case that reads like `text`; `fallback` if nothing of it can be kept.
pub(crate) fn name_like(text: &str, fallback: &str) -> String {
    let mut name = String::new();
    for word in
        text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
    {
        if name.len() >= MAX_NAME_LEN {
            break;
        }
        let (first, rest) = word.split_at(1);
        if name.is_empty() {
            // `HTTP Request` becomes `httpRequest`, and `myStep` stays.
            let is_capitals = word.bytes().all(|byte| !byte.is_ascii_lowercase());
            name.push_str(&first.to_ascii_lowercase());
            name.push_str(&if is_capitals { rest.to_ascii_lowercase() } else { rest.to_owned() });
        } else {
            name.push_str(&first.to_ascii_uppercase());
            name.push_str(rest);
        }
    }
    if name.is_empty() {
        fallback.clone_into(&mut name);
    }
    if name.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        name.insert_str(0, fallback);
    }
    name.truncate(MAX_NAME_LEN);
    name
}

/// Returns a name like `text` that is in none of `taken` and no reserved word, and takes it.
pub(crate) fn unique_name(
    text: &str,
    fallback: &str,
    taken: &mut std::collections::BTreeSet<String>,
) -> String {
    let name = name_like(text, fallback);
    let candidates = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}{number}")));
    let is_free = |candidate: &String| {
        !RESERVED.contains(&candidate.as_str())
            && !USED.contains(&candidate.as_str())
            && !taken.contains(candidate)
    };
    let found = candidates.into_iter().find(is_free).unwrap_or(name);
    taken.insert(found.clone());
    found
}

/// Returns `true` if code contains a name, not as a part of another.
pub(crate) fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
    };
    text.match_indices(word).any(|(at, _)| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

/// Returns text as a part of a comment in one line, at most `longest` characters.
pub(crate) fn comment(text: &str, longest: usize) -> String {
    // Invisible characters and marks that turn the direction of text are left out.
    let line = kernel::text::to_visible_line(&text.replace(char::is_control, " "));
    let line: String = if line.chars().count() > longest {
        line.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
    } else {
        line
    };
    // The end of a comment, and the beginning of an HTML-like one.
    line.replace("*/", "* /").replace("-->", "-- >").replace("<!--", "<! --")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn text_of_an_export_stays_text() {
        assert_eq!(string("it's\n\u{2028}\\"), r"'it\'s\n\u2028\\'");
        assert_eq!(
            literal(&json!({"__proto__": {"a b": [1, null]}})),
            "{ ['__proto__']: { 'a b': [1, null] } }"
        );
        let mut template = String::new();
        template_text("a`${b}$", &mut template);
        assert_eq!(template, r"a\`\${b}$");
        assert_eq!(comment("a */ import\n'x' -->\u{202e}", 80), "a * / import 'x' -- >");
        assert_eq!(comment("abcdef", 4), "abc…");
    }

    #[test]
    fn names_are_readable_and_unique() {
        let mut taken = BTreeSet::new();
        assert_eq!(unique_name("HTTP Request", "step", &mut taken), "httpRequest");
        assert_eq!(unique_name("HTTP Request", "step", &mut taken), "httpRequest2");
        assert_eq!(unique_name("Получить", "step", &mut taken), "step");
        assert_eq!(unique_name("2 items", "step", &mut taken), "step2Items");
        assert_eq!(unique_name("if", "step", &mut taken), "if2");
        assert_eq!(unique_name("myStep", "step", &mut taken), "myStep");
    }
}
