//! Content negotiation of the agent server, which responds with JSON only (RFC 9110, section 12.5.1).

use axum::http::{HeaderMap, header};

/// Returns true if the client takes JSON. The most specific range of `Accept` that matches decides.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).map(str::trim).filter(|range| !range.is_empty());
    let mut has_ranges = false;
    let mut decision: Option<(u8, bool)> = None;
    for range in ranges {
        has_ranges = true;
        let mut parts = range.split(';').map(str::trim);
        let Some(specificity) = parts.next().and_then(specificity) else { continue };
        let is_accepted = !parts.any(is_zero_weight);
        if decision.is_none_or(|(most, _)| specificity > most) {
            decision = Some((specificity, is_accepted));
        }
    }
    !has_ranges || decision.is_some_and(|(_, is_accepted)| is_accepted)
}

/// Returns how specific a range is that matches JSON; `None` if it does not match.
fn specificity(range: &str) -> Option<u8> {
    match range.to_ascii_lowercase().as_str() {
        // One client library sends a lone asterisk for any type.
        "*/*" | "*" => Some(0),
        "application/*" => Some(1),
        "application/json" => Some(2),
        _ => None,
    }
}

/// Returns true for the parameter that excludes a range.
fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, weight)) = parameter.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn accepts(values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, HeaderValue::from_str(value).unwrap());
        }
        accepts_json(&headers)
    }

    #[test]
    fn a_client_that_takes_json_in_any_form_is_served() {
        for accepted in [
            &[][..],
            &[""],
            &["application/json"],
            &["application/json, text/event-stream"],
            &["text/event-stream, Application/JSON; charset=utf-8"],
            &["*/*"],
            &["*"],
            &["application/*;q=0.1"],
            &["text/html, */*;q=0.8"],
            &["text/html", "application/json"],
            &["application/json;q=0.001, */*;q=0"],
            &["application/json;q=nonsense"],
        ] {
            assert!(accepts(accepted), "{accepted:?}");
        }
        for refused in [
            &["text/event-stream"][..],
            &["text/html, application/xml"],
            &["application/json;q=0"],
            &["application/json; q=0.000, */*"],
            &["*/*;q=0"],
            &["application/json-seq"],
        ] {
            assert!(!accepts(refused), "{refused:?}");
        }
    }
}
