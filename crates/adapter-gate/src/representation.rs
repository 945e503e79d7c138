//! The form of responses to requests with a secret in them.
//!
//! Redaction searches a whole body of ASCII-compatible text. So code must not choose a form that it cannot search: a part of
//! the body (RFC 9110, section 14), another encoding of its characters (section 12.5.2), or a difference from an earlier body
//! (RFC 3229). What chooses one is taken out of the request, and a response in one is refused.

use connections::{GateHost, Refusal, RefusalCode};
use encoding_rs::Encoding;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// Request headers that choose a form. `Request-Range` and `X-Ms-Range` are ranges under other names.
const CHOOSING_HEADERS: &[&str] = &[
    "a-im",
    "accept-charset",
    "accept-features",
    "if-range",
    "negotiate",
    "range",
    "request-range",
    "x-accept-charset",
    "x-ms-range",
    "x-ms-range-get-content-crc64",
    "x-ms-range-get-content-md5",
    "x-range",
];
/// Beginnings of such headers: digests (RFC 9530) are computed over a body with the secret.
const CHOOSING_PREFIXES: &[&str] = &["want-"];
/// Preferences (RFC 7240) that services with an API have, and that choose no form.
const KEPT_PREFERENCES: &[&str] = &[
    "continue-on-error",
    "count",
    "depth-noroot",
    "handling",
    "idtype",
    "include-annotations",
    "max-affected",
    "maxpagesize",
    "missing",
    "resolution",
    "respond-async",
    "return",
    "timezone",
    "track-changes",
    "tx",
    "wait",
];
/// Beginnings of further such preferences.
const KEPT_PREFERENCE_PREFIXES: &[&str] = &["odata.", "outlook."];

/// Takes what chooses the form of the response out of a request's headers.
pub(crate) fn remove_choices(headers: &mut HeaderMap) {
    let chosen: Vec<HeaderName> = headers
        .keys()
        .filter(|name| {
            let name = name.as_str();
            CHOOSING_HEADERS.contains(&name)
                || CHOOSING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        })
        .cloned()
        .collect();
    for name in chosen {
        headers.remove(name);
    }
    rewrite(headers, &header::ACCEPT, without_charset);
    rewrite(headers, &HeaderName::from_static("prefer"), without_unknown_preferences);
}

/// Replaces each value of a header; one of which nothing is left is removed.
fn rewrite(headers: &mut HeaderMap, name: &HeaderName, with: impl Fn(&[u8]) -> Vec<u8>) {
    if !headers.contains_key(name) {
        return;
    }
    let values: Vec<HeaderValue> = headers
        .get_all(name)
        .iter()
        .map(|value| with(value.as_bytes()))
        .filter(|value| !value.is_empty())
        .filter_map(|value| HeaderValue::from_bytes(&value).ok())
        .collect();
    headers.remove(name);
    for value in values {
        headers.append(name, value);
    }
}

/// Removes the parameter `charset` of each media range.
fn without_charset(value: &[u8]) -> Vec<u8> {
    let ranges = split(value, b',').into_iter().map(|range| {
        let kept = split(range, b';').into_iter().enumerate().filter(|(position, parameter)| {
            *position == 0 || !parameter_name(parameter).eq_ignore_ascii_case(b"charset")
        });
        join(kept.map(|(_, parameter)| parameter.to_vec()), b";")
    });
    join(ranges.filter(|range| !range.is_empty()), b",")
}

fn without_unknown_preferences(value: &[u8]) -> Vec<u8> {
    let kept = split(value, b',').into_iter().filter(|preference| {
        let first = split(preference, b';').into_iter().next().unwrap_or_default();
        let name = String::from_utf8_lossy(parameter_name(first)).to_ascii_lowercase();
        KEPT_PREFERENCES.contains(&name.as_str())
            || KEPT_PREFERENCE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    });
    join(kept.map(<[u8]>::to_vec), b",")
}

/// Splits a value at a sign outside of quoted strings (RFC 9110, section 5.6.4).
fn split(value: &[u8], separator: u8) -> Vec<&[u8]> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in value.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            byte if *byte == separator && !is_quoted => {
                parts.push(value[from..at].trim_ascii());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(value[from..].trim_ascii());
    parts
}

fn join(parts: impl Iterator<Item = Vec<u8>>, separator: &[u8]) -> Vec<u8> {
    parts.collect::<Vec<_>>().join(separator)
}

/// Returns the part of `name=value` before the sign.
fn parameter_name(parameter: &[u8]) -> &[u8] {
    parameter.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii()
}

/// Refuses a response of which a part, a difference or an unreadable text has come.
pub(crate) fn check(host: &GateHost, status: StatusCode, headers: &HeaderMap) -> Result<(), Refusal> {
    let refuse = |what: &str| {
        Err(Refusal::new(
            RefusalCode::UpstreamFailed,
            format!("{host} answered with {what}, which is not searched for secrets"),
        ))
    };
    if status == StatusCode::PARTIAL_CONTENT || headers.contains_key(header::CONTENT_RANGE) {
        return refuse("a part of its response");
    }
    if status == StatusCode::IM_USED || headers.contains_key("im") || headers.contains_key("delta-base") {
        return refuse("a difference from another response");
    }
    for value in headers.get_all(header::CONTENT_TYPE) {
        let ranges = split(value.as_bytes(), b',');
        let mut parameters = ranges.into_iter().flat_map(|range| split(range, b';'));
        if parameters.clone().any(|part| part.eq_ignore_ascii_case(b"multipart/byteranges")) {
            return refuse("a part of its response");
        }
        if !parameters.all(is_readable) {
            return refuse("a text in an encoding that is not compatible with ASCII");
        }
    }
    Ok(())
}

/// Returns `false` for a parameter `charset` whose text cannot be searched (WHATWG Encoding, section 4.2).
fn is_readable(parameter: &[u8]) -> bool {
    if !parameter_name(parameter).eq_ignore_ascii_case(b"charset") {
        return true;
    }
    let value = parameter.splitn(2, |byte| *byte == b'=').nth(1).unwrap_or_default();
    let label: Vec<u8> = value.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\'' | b'\\')).collect();
    Encoding::for_label(&label).is_some_and(Encoding::is_ascii_compatible)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        remove_choices(&mut headers);
        headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn what_chooses_a_form_is_not_sent() {
        for name in [
            "Range",
            "If-Range",
            "Request-Range",
            "X-Ms-Range",
            "Accept-Charset",
            "A-IM",
            "Want-Digest",
            "Want-Content-Digest",
            "Want-Repr-Digest",
            "Negotiate",
        ] {
            assert_eq!(sent(&[(name, "x"), ("x-other", "1")]), [("x-other".to_owned(), "1".to_owned())]);
        }
        for (name, value, expected) in [
            ("accept", "application/json;charset=utf-16", "application/json"),
            ("accept", "text/html; CharSet = \"utf-16\" ;q=0.5, */*", "text/html;q=0.5,*/*"),
            ("accept", "a/b;x=\",;charset=\\\"\";charset=utf-7", "a/b;x=\",;charset=\\\"\""),
            ("accept", "application/json, text/*;q=0.1", "application/json,text/*;q=0.1"),
            ("prefer", "return=representation, x-charset=utf-16", "return=representation"),
            ("prefer", "odata.maxpagesize=5;a=b", "odata.maxpagesize=5;a=b"),
        ] {
            assert_eq!(sent(&[(name, value)]), [(name.to_owned(), expected.to_owned())], "{value}");
        }
        assert_eq!(sent(&[("prefer", "x-form=utf-16")]), []);
    }

    #[test]
    fn only_whole_bodies_of_readable_text_are_taken() {
        let host: GateHost = "upstream.example".parse().unwrap();
        let checked = |status: u16, name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
            check(&host, StatusCode::from_u16(status).unwrap(), &headers).is_ok()
        };
        for (status, name, value) in [
            (206, "content-type", "text/plain"),
            (200, "content-range", "bytes 0-1/2"),
            (200, "content-type", "Multipart/Byteranges; boundary=x"),
            (226, "content-type", "text/plain"),
            (200, "im", "vcdiff"),
            (200, "content-type", "text/plain; charset=utf-16"),
            (200, "content-type", "text/plain;Charset=\"UTF-16LE\""),
            (200, "content-type", "text/plain; charset='utf-16be'"),
            (200, "content-type", "text/plain; charset=utf-8; charset=utf-16"),
            (200, "content-type", "text/plain; a=\"b;c\"; charset = utf-32"),
            (200, "content-type", "text/plain; charset=utf-7"),
            (200, "content-type", "text/plain; charset=cp037"),
            (200, "content-type", "text/plain; charset=cp500"),
            (200, "content-type", "text/plain; charset=hz-gb-2312"),
            (200, "content-type", "text/plain; charset=x-nobody-knows"),
            (200, "content-type", "text/plain, text/plain; charset=utf-16"),
            (200, "content-type", "text/plain; charset="),
        ] {
            assert!(!checked(status, name, value), "{status} {name}: {value}");
        }
        for value in [
            "text/plain",
            "application/json; charset=UTF-8",
            "text/html; charset=\"windows-1251\"",
            "text/plain; charset=iso-8859-1",
            "text/plain; charset=us-ascii",
            "text/plain; charset=Shift_JIS",
            "multipart/mixed; boundary=x",
        ] {
            assert!(checked(200, "content-type", value), "{value}");
        }
    }
}
