//! Routing by host. With an apps domain, the host decides between an app and the API, so a host that is neither is
//! refused. A request without a host or with two of them is not valid (RFC 9112, section 3.2).

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{Version, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use crate::{
    http::{compression, error::ApiError},
    routes::app_proxy,
    state::Api,
};
use application::{Problem, ProblemKind, Settings};

/// Owner of a host.
#[derive(Debug, PartialEq, Eq)]
enum HostOwner {
    /// The app with this slug.
    App(String),
    /// The API and the console.
    Platform,
    /// Nobody: the host is not served here.
    Unknown,
}

/// Passes a request for an app's own host to the app, and lets requests for the API through.
pub(crate) async fn route_by_host(State(api): State<Api>, request: Request, next: Next) -> Response {
    let named = match requested_host(&request) {
        Ok(named) => named,
        Err(problem) => return ApiError(problem).into_response(),
    };
    if let (Some(domain), Some(authority)) = (&api.settings().apps_domain, named) {
        match host_owner(api.settings(), domain, authority.host()) {
            HostOwner::App(slug) => return app_proxy::by_own_host(&api, &slug, request).await,
            HostOwner::Platform => {}
            // Health checks may use any host.
            HostOwner::Unknown if matches!(request.uri().path(), "/healthz" | "/readyz") => {}
            HostOwner::Unknown => {
                let problem = Problem::new(
                    ProblemKind::Misdirected,
                    "unknown_host",
                    "This server does not serve this host.",
                )
                .hint("Use the server's public URL or an app's host.");
                return ApiError(problem).into_response();
            }
        }
    }
    // Here, and not as a layer of its own, which would box and clone for each request.
    compression::compress_lists(request, next).await
}

/// Returns the host that a request names; HTTP/1.0 requests may have none.
fn requested_host(request: &Request) -> Result<Option<Authority>, Problem> {
    let invalid = |why: &'static str| Problem::new(ProblemKind::Invalid, "invalid_host", why);
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (_, Some(_)) => return Err(invalid("The request has more than one Host header.")),
        (Some(host), None) if !host.is_empty() => {
            let parsed =
                Authority::try_from(host.as_bytes()).ok().filter(|host| !host.as_str().contains('@'));
            Some(parsed.ok_or_else(|| invalid("The Host header is not a valid host and port."))?)
        }
        (None, None) if request.version() >= Version::HTTP_11 && request.uri().authority().is_none() => {
            return Err(invalid("The request has no Host header.").hint("Send one Host header."));
        }
        _ => None,
    };
    // The host in the request target takes precedence over the header (RFC 9112, section 3.2.2).
    Ok(request.uri().authority().cloned().or(host))
}

fn host_owner(settings: &Settings, domain: &str, host: &str) -> HostOwner {
    let is = |url: &str| url_host(url).eq_ignore_ascii_case(host);
    if is(&settings.public_url) || is(&settings.console_origin) {
        return HostOwner::Platform;
    }
    classify_host(domain, &host.to_ascii_lowercase())
}

/// Returns the owner of a host other than those of the public URL and the console.
fn classify_host(domain: &str, host: &str) -> HostOwner {
    if let Some(slug) = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.')) {
        return match slug {
            slug if slug.is_empty() || slug.contains('.') => HostOwner::Unknown,
            slug => HostOwner::App(slug.to_owned()),
        };
    }
    // Within a network, clients may use the server's address or a host name without dots.
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_bare = !host.is_empty() && !host.contains('.');
    if is_bare || address.parse::<IpAddr>().is_ok() { HostOwner::Platform } else { HostOwner::Unknown }
}

/// Returns the host of one of this server's URLs, which have no user and no query.
fn url_host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn a_host_belongs_to_an_app_the_platform_or_nobody() {
        let app = |slug: &str| HostOwner::App(slug.to_owned());
        for (host, expected) in [
            ("notes.apps.example", app("notes")),
            ("apps.example", HostOwner::Unknown),
            (".apps.example", HostOwner::Unknown),
            ("x.notes.apps.example", HostOwner::Unknown),
            ("notes.apps.example.", HostOwner::Unknown),
            ("notesapps.example", HostOwner::Unknown),
            ("notes.apps.example.evil.test", HostOwner::Unknown),
            ("evil.test", HostOwner::Unknown),
            ("127.0.0.1", HostOwner::Platform),
            ("[::1]", HostOwner::Platform),
            ("10.0.0.7", HostOwner::Platform),
            ("localhost", HostOwner::Platform),
            ("qala", HostOwner::Platform),
            ("", HostOwner::Unknown),
        ] {
            assert_eq!(classify_host("apps.example", host), expected, "{host}");
        }
    }

    #[test]
    fn the_host_of_a_url_is_without_its_port() {
        for (url, host) in [
            ("https://qala.example.com", "qala.example.com"),
            ("http://127.0.0.1:8080", "127.0.0.1"),
            ("http://[::1]:8080/x", "[::1]"),
            ("http://[::1]", "[::1]"),
        ] {
            assert_eq!(url_host(url), host);
        }
    }

    #[test]
    fn a_request_has_exactly_one_host() {
        let request = |version, target: &str, hosts: &[&str]| {
            let mut request = Request::builder().version(version).uri(target);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            requested_host(&request.body(Body::empty()).unwrap())
        };
        let (old, new) = (Version::HTTP_10, Version::HTTP_11);
        assert_eq!(request(new, "/", &["a.example:80"]).unwrap().unwrap().host(), "a.example");
        assert_eq!(request(new, "http://b.example/", &["a.example"]).unwrap().unwrap().host(), "b.example");
        assert!(request(old, "/", &[]).unwrap().is_none());
        for (version, hosts) in [
            (new, &[][..]),
            (new, &["a.example", "a.example"]),
            (old, &["a.example", "b.example"]),
            (new, &["a.example, b.example"]),
            (new, &["user@a.example"]),
            (new, &["a.example/path"]),
        ] {
            assert!(request(version, "/", hosts).is_err(), "{hosts:?}");
        }
    }
}
