//! Texts of JSON errors for callers.

use std::borrow::Cow;

/// Returns the text of an error of serde without the value that the request has: it may be a secret.
pub(super) fn without_value(what: &str) -> Cow<'_, str> {
    const EXPECTED: &str = "`, expected ";
    if let Some(rest) = what.strip_prefix("unknown variant `") {
        // The value may have this text too; the list of variants after it does not.
        let expected = rest.rfind(EXPECTED).map(|at| &rest[at + 1..]);
        return format!("unknown variant{}", expected.unwrap_or_default()).into();
    }
    if !what.starts_with("invalid type: ") && !what.starts_with("invalid value: ") {
        return what.into();
    }
    // As in "invalid type: string \"abc\", expected u64" and "invalid type: integer `1`, expected a string".
    let separator = what.find(", expected ").unwrap_or(what.len());
    let Some(start) = what.find(['"', '`']).filter(|start| *start < separator) else { return what.into() };
    let value = &what[start..];
    let end = if value.starts_with('"') {
        let mut is_escaped = false;
        let closing = value.char_indices().skip(1).find(|(_, c)| {
            let is_closing = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_closing
        });
        closing.map(|(at, _)| at + 1)
    } else {
        value[1..].find(EXPECTED).map(|at| at + 2)
    };
    let rest = end.map(|end| &value[end..]).unwrap_or_default();
    format!("{}{rest}", what[..start].trim_end()).into()
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::{Deserialize, de::DeserializeOwned};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        One,
        Two,
    }

    fn error<T: DeserializeOwned + Debug>(text: &str) -> String {
        let error = serde_json::from_str::<T>(text).unwrap_err().to_string();
        without_value(&error).split(" at line ").next().unwrap().to_owned()
    }

    #[test]
    fn errors_do_not_repeat_the_value() {
        assert_eq!(error::<String>("1234567890123"), "invalid type: integer, expected a string");
        assert_eq!(error::<String>("-1.5"), "invalid type: floating point, expected a string");
        assert_eq!(error::<String>("true"), "invalid type: boolean, expected a string");
        assert_eq!(error::<String>("null"), "invalid type: null, expected a string");
        assert_eq!(error::<String>("[1]"), "invalid type: sequence, expected a string");
        assert_eq!(error::<u8>("300"), "invalid value: integer, expected u8");
        for secret in [r#"s3cret"#, r#"s\"3cret, expected `u8"#, r#"\\"#, "`, expected `x", "at line 1"] {
            let text = format!("\"{secret}\"");
            assert_eq!(error::<u8>(&text), "invalid type: string, expected u8", "{text}");
            assert_eq!(
                error::<char>(&format!("\"a{secret}\"")),
                "invalid value: string, expected a character"
            );
            let choice = error::<Choice>(&text);
            assert_eq!(choice, "unknown variant, expected `one` or `two`", "{text}");
        }
        assert_eq!(without_value("missing field `value`"), "missing field `value`");
        assert_eq!(
            without_value("invalid type: character ```, expected u8"),
            "invalid type: character, expected u8"
        );
        assert_eq!(without_value("invalid type: map, expected `a`"), "invalid type: map, expected `a`");
    }
}
