//! Parser of paths into documents.

use super::{Key, MAX_STEPS, Path, Step, scanner::Scanner};
use crate::error::{Error, Result};

/// Parses `column->key->>0`.
pub(super) fn parse_path(scan: &mut Scanner<'_>) -> Result<Path> {
    let column = scan.take_name()?;
    let mut steps = Vec::new();
    while scan.eat("->") {
        if steps.len() == MAX_STEPS {
            return Err(Error::invalid_request(format!("a path has at most {MAX_STEPS} steps")));
        }
        let as_text = scan.eat(">");
        steps.push(Step { key: parse_key(scan)?, as_text });
    }
    if steps.iter().rev().skip(1).any(|step| step.as_text) {
        return Err(Error::invalid_request("only the last step of a path can be `->>`"));
    }
    Ok(Path { column, steps })
}

fn parse_key(scan: &mut Scanner<'_>) -> Result<Key> {
    let mut ahead = *scan;
    // `-1` counts from the end; a name of `-` and digits needs quotes.
    let negative = ahead.eat("-");
    let digits = ahead.take_until(|c| !c.is_ascii_digit());
    let ends = ahead.is_empty()
        || matches!(ahead.peek(), Some(',' | '.' | ':' | '(' | ')'))
        || ahead.rest().starts_with("->");
    if !digits.is_empty()
        && ends
        && let Ok(index) = digits.parse::<i32>()
    {
        *scan = ahead;
        let index = i64::from(index);
        return Ok(Key::Index(if negative { -index } else { index }));
    }
    if scan.rest().starts_with('-') {
        return Err(Error::invalid_request(
            "a step that begins with `-` is an index from the end, such as `-1`",
        )
        .with_hint("Put the name of a member that begins with `-` in quotes."));
    }
    scan.take_name().map(Key::Name)
}
