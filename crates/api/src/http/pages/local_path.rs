//! Redirect targets of pages: paths of this server only, so that no page is an open redirector.

/// Returns `next` if it is a path of this server: it begins with exactly one slash, and no browser reads another host
/// into it.
pub(crate) fn local_path(next: &str) -> Option<&str> {
    let plain = next.len() <= 2_000 && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let rooted = next.starts_with('/') && !next.starts_with("//");
    if !(plain && rooted) {
        return None;
    }
    // Asks a parser of the URL standard, which browsers implement.
    let here = url::Url::parse("https://here.invalid").ok()?;
    let there = here.join(next).ok()?;
    (there.origin() == here.origin()).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_accepted() {
        for fine in
            ["/", "/device", "/device?user_code=BCDF-GHJK", "/a/b#c", "/oauth/authorize?x=https%3A%2F%2Fa"]
        {
            assert_eq!(local_path(fine), Some(fine));
        }
        let long = format!("/{}", "a".repeat(2_000));
        for bad in [
            "",
            "device",
            "//evil.test",
            "///evil.test",
            "/\\evil.test",
            "\\/evil.test",
            "\\\\evil.test",
            "https://evil.test",
            "javascript:alert(1)",
            "/\t/evil.test",
            "/a\r\nSet-Cookie: a=b",
            " /device",
            "/a b",
            "/é",
            "\u{0}/",
            &long,
        ] {
            assert_eq!(local_path(bad), None, "{bad:?}");
        }
    }
}
