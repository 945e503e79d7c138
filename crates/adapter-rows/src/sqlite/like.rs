//! `LIKE` as in PostgreSQL: `%` matches any text, `_` one character, and `\` makes the next character literal.

use rusqlite::{Connection, functions::FunctionFlags};

use super::functions::interrupted_error;

/// Number of characters that are compared between two checks of the deadline.
const CHECK_INTERVAL: u32 = 16 * 1024;

/// Registers `qala_like` and `qala_ilike`. SQLite cannot interrupt a function, so they check the deadline themselves.
pub(super) fn register(
    connection: &Connection,
    late: impl Fn() -> bool + Clone + Send + 'static,
) -> rusqlite::Result<()> {
    for (name, fold) in [("qala_like", false), ("qala_ilike", true)] {
        let flags = FunctionFlags::SQLITE_UTF8
            | FunctionFlags::SQLITE_DETERMINISTIC
            | FunctionFlags::SQLITE_INNOCUOUS
            | FunctionFlags::SQLITE_DIRECTONLY;
        let late = late.clone();
        connection.create_scalar_function(name, 2, flags, move |context| {
            if late() {
                return Err(interrupted_error());
            }
            let text = context.get_raw(0).as_str_or_null()?;
            let pattern = context.get_raw(1).as_str_or_null()?;
            let Some((text, pattern)) = text.zip(pattern) else { return Ok(None) };
            let matched = if fold {
                let folded = |text: &str| text.replace('İ', "I").to_lowercase();
                matches(&folded(text), &folded(pattern), &late)
            } else {
                matches(text, pattern, &late)
            };
            matched.map(Some).ok_or_else(interrupted_error)
        })?;
    }
    Ok(())
}

/// Returns true if the text matches the pattern, or `None` if `late` returned true first. On a mismatch it backtracks
/// to the last `%` only, so it takes at most the length of the text times that of the pattern.
fn matches(text: &str, pattern: &str, late: impl Fn() -> bool) -> Option<bool> {
    let (mut text, mut pattern) = (text.chars(), pattern.chars());
    let mut last_wildcard = None;
    let mut compared = 0_u32;
    loop {
        compared = compared.wrapping_add(1);
        if compared.is_multiple_of(CHECK_INTERVAL) && late() {
            return None;
        }
        let mut ahead = pattern.clone();
        let wanted = match ahead.next() {
            Some('%') => {
                last_wildcard = Some((ahead.clone(), text.clone()));
                pattern = ahead;
                continue;
            }
            Some('_') => PatternToken::AnyChar,
            Some('\\') => ahead.next().map_or(PatternToken::Unmatchable, PatternToken::Literal),
            Some(other) => PatternToken::Literal(other),
            None => PatternToken::End,
        };
        let mut rest = text.clone();
        let met = match (wanted, rest.next()) {
            (PatternToken::End, None) => return Some(true),
            (PatternToken::AnyChar, Some(_)) => true,
            (PatternToken::Literal(wanted), Some(found)) => wanted == found,
            _ => false,
        };
        if met {
            (text, pattern) = (rest, ahead);
            continue;
        }
        let Some((after, mut from)) = last_wildcard.take() else { return Some(false) };
        if from.next().is_none() {
            return Some(false);
        }
        (text, pattern) = (from.clone(), after.clone());
        last_wildcard = Some((after, from));
    }
}

enum PatternToken {
    AnyChar,
    Literal(char),
    Unmatchable,
    End,
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_postgresql() {
        for (text, pattern, wanted) in [
            ("", "", true),
            ("", "%", true),
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("aXbXc", "a%b%c", true),
            ("mississippi", "%iss%ip%i", true),
            ("mississippi", "%iss%ip", false),
            ("жаңа", "_аңа", true),
            ("abc", "ABC", false),
        ] {
            assert_eq!(matches(text, pattern, || false), Some(wanted), "{text} like {pattern}");
        }
    }

    #[test]
    fn a_long_search_stops_at_the_deadline() {
        let (text, pattern) = ("a".repeat(100_000), format!("%{}b", "a".repeat(1_000)));
        assert_eq!(matches(&text, &pattern, || true), None);
    }
}
