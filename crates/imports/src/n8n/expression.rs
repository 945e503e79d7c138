//! n8n's expressions, `={{ … }}`, as JavaScript.
//!
//! A parser by operator precedence reads them and writes the code of the app at the same time. It knows the names that n8n gives to
//! expressions and the methods of the language; anything else is refused, so that nothing is guessed. A value that is missing is
//! `undefined`, as in n8n, where an expression that fails so gives nothing: every access but the first is optional.

mod code;
mod names;
mod parser;

use crate::javascript;

use super::lexer::tokens;
use parser::Parser;

/// Most tokens of an expression.
const MAX_TOKENS: usize = 4_000;

/// An expression that cannot be translated, with what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// Objects that an expression may refer to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Finds the name of a step by the name that the expression uses.
    pub(super) step: &'a dyn Fn(&str) -> bool,
    /// Format of the text in which the expressions stand.
    pub(super) within: Within,
}

/// Format of a text in which expressions stand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Within {
    Text,
    /// JSON, in which lists and objects are themselves.
    Json,
}

impl Within {
    /// Returns the function that writes a value in a text of the format.
    fn writer(self) -> &'static str {
        match self {
            Self::Text => "inText",
            Self::Json => "inJson",
        }
    }
}

/// Translates the text of a parameter that begins with `=`, without the `=`.
pub(super) fn translate(text: &str, scope: Scope<'_>) -> Result<String, Refused> {
    let parts = split(text)?;
    if let [Part::Source(source)] = parts.as_slice() {
        return expression(source, scope);
    }
    let mut template = String::from("`");
    for part in &parts {
        match part {
            Part::Text(text) => javascript::template_text(text, &mut template),
            Part::Source(source) => {
                template.push_str("${");
                template.push_str(scope.within.writer());
                template.push('(');
                template.push_str(&expression(source, scope)?);
                template.push_str(")}");
            }
        }
    }
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        let text: String =
            parts.iter().map(|part| if let Part::Text(text) = part { *text } else { "" }).collect();
        return Ok(javascript::string(&text));
    }
    template.push('`');
    Ok(template)
}

enum Part<'a> {
    Text(&'a str),
    Source(&'a str),
}

/// Splits text at `{{ … }}`. Braces in strings of the code do not end it.
fn split(text: &str) -> Result<Vec<Part<'_>>, Refused> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("{{") {
        if begin > 0 {
            parts.push(Part::Text(&rest[..begin]));
        }
        let inner = &rest[begin + 2..];
        let end = end_of_code(inner).ok_or_else(|| Refused("{{".to_owned()))?;
        parts.push(Part::Source(&inner[..end]));
        rest = &inner[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

fn end_of_code(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let (mut index, mut open) = (0, 0usize);
    let mut quote = None;
    while let Some(&byte) = bytes.get(index) {
        match (quote, byte) {
            (Some(_), b'\\') => index += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'{') => open += 1,
            (None, b'}') if open > 0 => open -= 1,
            (None, b'}') if bytes.get(index + 1) == Some(&b'}') => return Some(index),
            (None, _) => {}
        }
        index += 1;
    }
    // An apostrophe in a comment or a pattern: n8n itself ends at the first braces.
    inner.find("}}")
}

/// Translates one expression.
fn expression(source: &str, scope: Scope<'_>) -> Result<String, Refused> {
    let refused = || Refused(source.trim().to_owned());
    let tokens = tokens(source).ok_or_else(refused)?;
    if tokens.is_empty() {
        return Ok("undefined".to_owned());
    }
    if tokens.len() > MAX_TOKENS {
        return Err(Refused("…".to_owned()));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, scope, parameters: Vec::new() };
    let code = parser.assignment()?;
    // A semicolon at the end is common.
    while parser.take(";") {}
    if parser.at < tokens.len() { Err(refused()) } else { Ok(code.into_value()) }
}
