//! Tokens of the JavaScript in n8n's expressions.

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(String),
    Text(String),
    /// A template literal: texts and the sources of the expressions between them.
    Template(Vec<TemplatePart>),
    /// A regular expression: pattern and flags.
    Pattern(String, String),
    Punctuator(&'static str),
}

/// A part of a template literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TemplatePart {
    Text(String),
    Source(String),
}

/// Longest first, so that none is read as the beginning of another.
const PUNCTUATORS: &[&str] = &[
    "===", "!==", "**=", "...", "&&=", "||=", "??=", ">>>", "=>", "==", "!=", "<=", ">=", "&&", "||", "??",
    "?.", "++", "--", "+=", "-=", "*=", "/=", "**", "<<", ">>", "(", ")", "[", "]", "{", "}", ".", ",", ";",
    ":", "?", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "=",
];

/// Splits source into tokens; `None` if it is no JavaScript.
pub(super) fn tokens(source: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = source;
    loop {
        rest = skip_blanks(rest)?;
        let Some(first) = rest.chars().next() else { return Some(found) };
        let (token, after) = match first {
            '"' | '\'' => text(rest, first)?,
            '`' => template(rest)?,
            '0'..='9' => number(rest)?,
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => number(rest)?,
            '/' if begins_pattern(found.last()) => pattern(rest)?,
            _ if is_name_start(first) => {
                let end = rest.find(|next: char| !is_name_part(next)).unwrap_or(rest.len());
                (Token::Name(rest[..end].to_owned()), &rest[end..])
            }
            _ => {
                let found = PUNCTUATORS.iter().find(|punctuator| rest.starts_with(**punctuator))?;
                // `a?.5:b` is a condition.
                let found = if *found == "?." && rest[2..].starts_with(|next: char| next.is_ascii_digit()) {
                    "?"
                } else {
                    found
                };
                (Token::Punctuator(found), &rest[found.len()..])
            }
        };
        found.push(token);
        rest = after;
    }
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == '$'
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

fn skip_blanks(mut rest: &str) -> Option<&str> {
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = &comment[comment.find("*/")? + 2..];
        } else {
            return Some(rest);
        }
    }
}

/// A slash begins a pattern where no value ends before it.
fn begins_pattern(previous: Option<&Token>) -> bool {
    match previous {
        None => true,
        Some(Token::Punctuator(punctuator)) => !matches!(*punctuator, ")" | "]" | "}"),
        Some(Token::Name(name)) => matches!(name.as_str(), "return" | "typeof" | "in" | "of"),
        Some(_) => false,
    }
}

fn number(rest: &str) -> Option<(Token, &str)> {
    let is_radix =
        rest.len() > 1 && rest.starts_with('0') && matches!(rest.as_bytes()[1] | 0x20, b'x' | b'o' | b'b');
    let mut end = 0;
    let mut previous = ' ';
    for (index, character) in rest.char_indices() {
        let is_sign = matches!(character, '+' | '-') && matches!(previous, 'e' | 'E') && !is_radix;
        if !(character.is_ascii_alphanumeric() || character == '.' || is_sign) {
            break;
        }
        end = index + 1;
        previous = character;
    }
    let text = &rest[..end];
    let is_valid = if is_radix {
        let radix = match text.as_bytes()[1] | 0x20 {
            b'x' => 16,
            b'o' => 8,
            _ => 2,
        };
        text.len() <= 16 && u64::from_str_radix(&text[2..], radix).is_ok()
    } else {
        // `010` is octal in sloppy code and refused in modules.
        let is_octal = text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit();
        !is_octal
            && text.parse::<f64>().is_ok()
            && text.bytes().all(|byte| !byte.is_ascii_alphabetic() || byte | 0x20 == b'e')
    };
    is_valid.then(|| (Token::Number(text.to_owned()), &rest[end..]))
}

/// Reads the escape after a backslash; `None` within the result for a continued line.
fn escape(rest: &str) -> Option<(Option<char>, &str)> {
    let first = rest.chars().next()?;
    let after = &rest[first.len_utf8()..];
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    Some(match first {
        'n' => (Some('\n'), after),
        't' => (Some('\t'), after),
        'r' => (Some('\r'), after),
        'b' => (Some('\u{8}'), after),
        'f' => (Some('\u{c}'), after),
        'v' => (Some('\u{b}'), after),
        '0' if !after.starts_with(|next: char| next.is_ascii_digit()) => (Some('\0'), after),
        'x' => (Some(hex(after.get(..2)?)?), &after[2..]),
        'u' if after.starts_with('{') => {
            let end = after.find('}')?;
            (Some(hex(&after[1..end])?), &after[end + 1..])
        }
        'u' => (Some(hex(after.get(..4)?)?), &after[4..]),
        '\n' => (None, after),
        '1'..='9' => return None,
        other => (Some(other), after),
    })
}

fn text(rest: &str, quote: char) -> Option<(Token, &str)> {
    let mut value = String::new();
    let mut rest = &rest[1..];
    loop {
        let character = rest.chars().next()?;
        rest = &rest[character.len_utf8()..];
        if character == quote {
            return Some((Token::Text(value), rest));
        }
        match character {
            '\\' => {
                let (escaped, after) = escape(rest)?;
                value.extend(escaped);
                rest = after;
            }
            '\n' => return None,
            _ => value.push(character),
        }
    }
}

fn template(rest: &str) -> Option<(Token, &str)> {
    let mut parts = Vec::new();
    let mut value = String::new();
    let mut rest = &rest[1..];
    loop {
        let character = rest.chars().next()?;
        if rest.starts_with("${") {
            let end = end_of_hole(&rest[2..], 0)?;
            parts.push(TemplatePart::Text(std::mem::take(&mut value)));
            parts.push(TemplatePart::Source(rest[2..2 + end].to_owned()));
            rest = &rest[2 + end + 1..];
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '`' => {
                parts.push(TemplatePart::Text(value));
                return Some((Token::Template(parts), rest));
            }
            '\\' => {
                let (escaped, after) = escape(rest)?;
                value.extend(escaped);
                rest = after;
            }
            _ => value.push(character),
        }
    }
}

/// Returns where the expression that begins here ends with `}`. Strings and templates in it may contain braces.
fn end_of_hole(source: &str, depth: usize) -> Option<usize> {
    if depth > 16 {
        return None;
    }
    let mut open = 0usize;
    let mut index = 0;
    while let Some(character) = source[index..].chars().next() {
        match character {
            '{' => open += 1,
            '}' if open == 0 => return Some(index),
            '}' => open -= 1,
            '"' | '\'' => {
                let (_, after) = text(&source[index..], character)?;
                index = source.len() - after.len();
                continue;
            }
            '`' => {
                index += 1;
                loop {
                    let inner = &source[index..];
                    if let Some(hole) = inner.strip_prefix("${") {
                        index += 2 + end_of_hole(hole, depth + 1)? + 1;
                        continue;
                    }
                    let next = inner.chars().next()?;
                    index += next.len_utf8();
                    match next {
                        '\\' => index += source[index..].chars().next()?.len_utf8(),
                        '`' => break,
                        _ => {}
                    }
                }
                continue;
            }
            _ => {}
        }
        index += character.len_utf8();
    }
    None
}

fn pattern(rest: &str) -> Option<(Token, &str)> {
    let mut in_class = false;
    let mut characters = rest.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next().filter(|(_, next)| *next != '\n')?;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '\n' => return None,
            '/' if !in_class => {
                let after = &rest[index + 1..];
                let end = after.find(|next: char| !next.is_ascii_alphabetic()).unwrap_or(after.len());
                let flags = &after[..end];
                let is_known = flags.chars().all(|flag| "dgimsuvy".contains(flag));
                let is_valid =
                    index > 1 && is_known && flags.chars().all(|flag| flags.matches(flag).count() == 1);
                return is_valid
                    .then(|| (Token::Pattern(rest[1..index].to_owned(), flags.to_owned()), &after[end..]));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_templates_and_patterns_are_tokens() {
        let found = tokens(r#"a?.b ?? 'it\'s' + `x${ {a: '}'}['a'] }y` / 2"#).unwrap();
        assert_eq!(found[1], Token::Punctuator("?."));
        assert_eq!(found[4], Token::Text("it's".to_owned()));
        let hole = TemplatePart::Source(" {a: '}'}['a'] ".to_owned());
        let parts = vec![TemplatePart::Text("x".to_owned()), hole, TemplatePart::Text("y".to_owned())];
        assert_eq!(found[6], Token::Template(parts));
        assert_eq!(found[7], Token::Punctuator("/"));
        let found = tokens("x.match(/[/]a\\/b/gi)").unwrap();
        assert_eq!(found[4], Token::Pattern("[/]a\\/b".to_owned(), "gi".to_owned()));
    }

    #[test]
    fn what_is_no_javascript_has_no_tokens() {
        for source in
            ["'open", "`open", "`${open`", "/open", "a # b", "010", "1x", "'\\8'", "/a/gg", "/* open"]
        {
            assert_eq!(tokens(source), None, "{source}");
        }
    }
}
