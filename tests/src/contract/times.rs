//! Times in responses: RFC 3339 in UTC with three digits after the second (docs/api-conventions.md, "Times").

use anyhow::{Result, ensure};
use serde_json::Value;

/// Checks the members of a body that have names of times. Rows have times of their own.
pub(super) fn check_times(template: &str, body: &Value) -> Result<()> {
    if template.contains("/rest/") || template.contains("/rows") {
        return Ok(());
    }
    check(body)
}

fn check(value: &Value) -> Result<()> {
    match value {
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| match value {
            Value::String(text) if is_name_of_time(name) && begins_like_time(text) => {
                ensure!(has_milliseconds(text), "the time in {name:?} is {text:?}, without milliseconds");
                Ok(())
            }
            value => check(value),
        }),
        _ => Ok(()),
    }
}

fn is_name_of_time(name: &str) -> bool {
    name.ends_with("At") || name.ends_with("Until") || ["at", "now", "since", "until", "asOf"].contains(&name)
}

fn begins_like_time(text: &str) -> bool {
    text.len() > 10 && text.as_bytes()[10] == b'T' && text.as_bytes()[..4].iter().all(u8::is_ascii_digit)
}

fn has_milliseconds(text: &str) -> bool {
    text.len() == "2026-01-02T03:04:05.678Z".len() && text.as_bytes()[19] == b'.' && text.ends_with('Z')
}

#[test]
fn a_time_has_three_digits_after_the_second() {
    use serde_json::json;

    let of = |text: &str| json!({"items": [{"detail": {"accessEndsAt": text}}]});
    for (text, fits) in [
        ("2026-01-02T03:04:05.678Z", true),
        ("2026-01-02T03:04:05Z", false),
        ("2026-01-02T03:04:05.678901Z", false),
        ("2026-01-02T03:04:05.678+00:00", false),
        ("not a time", true),
    ] {
        assert_eq!(check_times("/v1/workspaces/{ws}/audit", &of(text)).is_ok(), fits, "{text}");
    }
    assert!(check_times("/v1/projects/{projectId}/rest/{table}", &of("2026-01-02T03:04:05Z")).is_ok());
}
