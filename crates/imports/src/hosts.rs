//! Hosts of URLs in which expressions stand.

use url::Url;

/// Methods that a request of an app may have, of those that the tools know.
pub(crate) const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The host of a URL in which expressions may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UrlHost {
    /// A name of the internet, in lower case.
    Name(String),
    /// An address, a name without a dot, or no host at all: apps cannot reach it.
    Unreachable,
    /// An expression decides about it.
    Dynamic,
}

/// Finds the host of a URL. It is known if the URL is literal up to the end of its host.
pub(crate) fn host_of(url: &str) -> UrlHost {
    let url = url.trim();
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        let is_dynamic = url.is_empty() || url.contains("{{");
        return if is_dynamic { UrlHost::Dynamic } else { UrlHost::Unreachable };
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains("{{") {
        return UrlHost::Dynamic;
    }
    let parsed = Url::parse(&format!("https://{authority}/")).ok();
    // An address is no domain.
    let domain = parsed.as_ref().and_then(Url::domain).map(str::to_ascii_lowercase);
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let is_plain = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        is_plain && bytes.first().is_some_and(|first| *first != b'-') && bytes.last() != Some(&b'-')
    };
    match domain {
        Some(host) if host.len() <= 253 && host.contains('.') && host.split('.').all(is_label) => {
            UrlHost::Name(host)
        }
        _ => UrlHost::Unreachable,
    }
}

/// Returns the host of a URL if it is a name of the internet.
pub(crate) fn literal_host(url: &str) -> Option<String> {
    match host_of(url) {
        UrlHost::Name(host) => Some(host),
        UrlHost::Unreachable | UrlHost::Dynamic => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_literal_name_of_the_internet_is_a_host() {
        let name = |host: &str| UrlHost::Name(host.to_owned());
        assert_eq!(host_of("https://API.example.com/a/{{x}}"), name("api.example.com"));
        assert_eq!(host_of("http://example.com:8080?q={{x}}"), name("example.com"));
        for url in ["{{x}}", "https://{{x}}/", "https://a.{{x}}.com/", ""] {
            assert_eq!(host_of(url), UrlHost::Dynamic, "{url}");
        }
        let unreachable = [
            "https://localhost/",
            "ftp://example.com/",
            "https:///x",
            "https://[::1]/",
            "http://10.0.0.1:5678/",
            "https://0x7f.1/",
            "https://a_b.example.com",
            "https://-a.example.com",
            "https://a..com",
            "https://example.com./",
            "not a url",
        ];
        for url in unreachable {
            assert_eq!(host_of(url), UrlHost::Unreachable, "{url}");
        }
    }
}
