//! Hosts of URLs in which expressions stand.

use url::Url;

/// Returns the host of a URL that is literal up to the end of its host; none if an expression decides about it, or it names no host of
/// the internet.
pub(crate) fn literal_host(url: &str) -> Option<String> {
    let url = url.trim();
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains("{{") {
        return None;
    }
    let host = Url::parse(&format!("https://{authority}/")).ok()?.host_str()?.to_ascii_lowercase();
    let is_name =
        host.contains('.') && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    is_name.then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_literal_is_a_host() {
        let host = |url: &str| literal_host(url);
        assert_eq!(host("https://API.example.com/a/{{x}}").as_deref(), Some("api.example.com"));
        assert_eq!(host("http://example.com?q={{x}}").as_deref(), Some("example.com"));
        for url in [
            "{{x}}",
            "https://{{x}}/",
            "https://a.{{x}}.com/",
            "https://localhost/",
            "ftp://example.com/",
            "",
            "https:///x",
            "https://[::1]/",
        ] {
            assert_eq!(host(url), None, "{url}");
        }
    }
}
