//! Formats of texts (JSON Schema Validation, section 7.3).

use std::{net::Ipv6Addr, str::FromStr as _};

use chrono::{DateTime, NaiveDate};

/// Format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// RFC 3339, `full-date`.
    Date,
    /// RFC 3339, `date-time`.
    DateTime,
    /// An address with one `@`, without spaces.
    Email,
    /// RFC 3986, with a scheme.
    Uri,
    /// RFC 9562, with hyphens.
    Uuid,
}

kernel::names! {
    Format {
        Date = "date",
        DateTime = "date-time",
        Email = "email",
        Uri = "uri",
        Uuid = "uuid",
    }
}

impl Format {
    /// Returns true if the text has this format.
    pub(super) fn matches(self, text: &str) -> bool {
        match self {
            // The length, since the parser takes years of other lengths too.
            Self::Date => text.len() == 10 && NaiveDate::from_str(text).is_ok(),
            Self::DateTime => DateTime::parse_from_rfc3339(text).is_ok(),
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Uuid => is_uuid(text),
        }
    }
}

fn is_email(text: &str) -> bool {
    let has_forbidden = text.chars().any(|c| c.is_whitespace() || kernel::text::is_invisible(c));
    let parts = text.split_once('@').filter(|(_, domain)| !domain.contains('@'));
    let is_domain = |domain: &str| {
        !domain.is_empty() && !domain.starts_with('.') && !domain.ends_with('.') && !domain.contains("..")
    };
    text.len() <= 254
        && !has_forbidden
        && parts.is_some_and(|(local, domain)| !local.is_empty() && local.len() <= 64 && is_domain(domain))
}

/// Checks a URI (RFC 3986, appendix A): a scheme, and something behind it.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let has_content = !hierarchy.is_empty() || !query.is_empty() || !fragment.is_empty();
    let is_hierarchy = match hierarchy.strip_prefix("//") {
        Some(authority) => {
            let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
            let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
            is_authority(authority, is_web) && has_only(path, b":@/")
        }
        None => has_only(hierarchy, b":@/"),
    };
    is_scheme && has_content && is_hierarchy && has_only(query, b":@/?") && has_only(fragment, b":@/?")
}

/// Checks an authority (RFC 3986, section 3.2). Web addresses have a host (RFC 9110, section 4.2.1).
fn is_authority(text: &str, is_web: bool) -> bool {
    let (user, server) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((literal, port)) if is_ip_literal(literal) => ("[]", port),
        _ => server.split_at(server.find(':').unwrap_or(server.len())),
    };
    let is_port = match port.strip_prefix(':') {
        Some(port) => {
            port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
        }
        None => port.is_empty(),
    };
    has_only(user, b":") && (host == "[]" || has_only(host, b"")) && is_port && !(is_web && host.is_empty())
}

/// Checks an address in brackets: IPv6, or one of a version to come.
fn is_ip_literal(text: &str) -> bool {
    let future = text.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'));
    let is_future = future.is_some_and(|(version, address)| {
        !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !address.is_empty()
            && !address.contains('%')
            && has_only(address, b":")
    });
    is_future || text.parse::<Ipv6Addr>().is_ok()
}

/// Checks that a text has unreserved characters, sub-delimiters, percent-encoded bytes and `more` only.
fn has_only(text: &str, more: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(index, byte)| match byte {
        b'%' => {
            bytes.get(index + 1..index + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || more.contains(byte),
    })
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_texts_apart() {
        for (format, matching, other) in [
            (
                Format::Date,
                &["2026-02-28", "2024-02-29"][..],
                &["2026-02-29", "2026-2-1", "20260201", ""][..],
            ),
            (
                Format::DateTime,
                &["2026-02-28T12:00:00Z", "2026-02-28T12:00:00.5+05:00"],
                &["2026-02-28", "2026-02-28T12:00:00", "2026-02-28T25:00:00Z"],
            ),
            (
                Format::Email,
                &["a@b.example", "a.b+c@localhost", "қ@b.example"],
                &["a", "@b", "a@", "a@b@c", "a b@c", "a@.b", "a@b..c"],
            ),
            (
                Format::Uri,
                &[
                    "https://a.example/?q=%20#x",
                    "mailto:a@b.example",
                    "urn:isbn:1",
                    "http://[::1]:8080/a",
                    "http://[2001:db8::7]",
                    "http://user:pass@a.example:80/",
                    "http://a.example:/",
                    "http://[v1.a:b]/",
                    "file:///etc/hosts",
                    "tel:+1-816-555-1212",
                ],
                &[
                    "a.example",
                    "//a.example",
                    "1a:b",
                    "a:",
                    "http://a b",
                    "http://a/%2",
                    "http://a/\u{e9}",
                    "http://[[[[",
                    "http://[",
                    "http://]",
                    "http://[::1",
                    "http://[a]/",
                    "http://a[b]/",
                    "http://a/[b]",
                    "http://a/#b#c",
                    "http://a:b/",
                    "http://a:99999/",
                    "http://a@b@c/",
                    "http://",
                    "http:///a",
                    "http://?a",
                    "https://:80/",
                    "http://[::1]x/",
                    "http://[::1%25eth0]/",
                ],
            ),
            (
                Format::Uuid,
                &["01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-BCCE-B302099A8057"],
                &["01890a5dac96774bbcceb302099a8057", "01890a5d-ac96-774b-bcce-b302099a805g", "----"],
            ),
        ] {
            for text in matching {
                assert!(format.matches(text), "{format:?}: {text}");
            }
            for text in other {
                assert!(!format.matches(text), "{format:?}: {text}");
            }
        }
    }
}
