//! Paths of requests and path prefixes, checked so that no other program reads them as different ones.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Most layers of percent-encoding that are looked through.
const MAX_LAYERS: usize = 8;

/// Returns `true` if another program may read the path as a different one: it has `.` or `..` segments, encoded dots,
/// slashes, backslashes or control characters, in any number of layers of encoding, or bytes that are not UTF-8.
pub(crate) fn is_ambiguous(path: &str) -> bool {
    let mut text = Cow::Borrowed(path);
    for _ in 0..MAX_LAYERS {
        let lower = text.to_ascii_lowercase();
        let has_dot_segment = lower.split('/').any(|segment| {
            // Some servers drop what follows a semicolon before they resolve dot segments.
            matches!(segment.split(';').next(), Some("." | ".."))
        });
        let has_encoded = ["%2e", "%2f", "%5c"].iter().any(|encoded| lower.contains(encoded));
        if has_dot_segment || has_encoded || lower.contains(|c: char| c == '\\' || c.is_ascii_control()) {
            return true;
        }
        let Ok(decoded) = percent_decode_str(&text).decode_utf8() else { return true };
        if decoded == text {
            return false;
        }
        text = Cow::Owned(decoded.into_owned());
    }
    true
}

/// Returns `true` if `path` is `prefix` or under it, each decoded once. Segments are compared whole: `/v10` is not
/// under `/v1`.
pub(crate) fn is_under(path: &str, prefix: &str) -> bool {
    let decode = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let (path, prefix) = (decode(path), decode(prefix.trim_end_matches('/')));
    path.strip_prefix(prefix.as_slice()).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_programs_read_differently_are_found() {
        for path in [
            "/a/..",
            "/../a",
            "/a/./b",
            "/.",
            "/a/%2e%2e/b",
            "/a/%2E./b",
            "/a%2fb",
            "/a%5cb",
            "/a\\b",
            "/a%252e%252e",
            "/a%25252fb",
            "/..;x=1/b",
            "/%00",
            "/a%0d%0a",
            "/%c0%ae%c0%ae/",
            "/%ff",
            "/a%255cb",
            "/a\tb",
        ] {
            assert!(is_ambiguous(path), "{path}");
        }
        for path in
            ["/", "", "/v1/a%20b", "/a..b", "/...", "/100%25", "/%D0%B0", "/a;b=..", "/v1//x", "/a%", "/a%zz"]
        {
            assert!(!is_ambiguous(path), "{path}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_segment() {
        for (path, prefix, expected) in [
            ("/v1", "/v1", true),
            ("/v1/", "/v1", true),
            ("/v1/x", "/v1/", true),
            ("/v1", "/v1/", true),
            ("/v10", "/v1", false),
            ("/v%31/x", "/v1", true),
            ("/V1/x", "/v1", false),
            ("/anything", "/", true),
            ("//v1/x", "/v1", false),
            ("/a b/c", "/a%20b", true),
        ] {
            assert_eq!(is_under(path, prefix), expected, "{path} {prefix}");
        }
    }
}
