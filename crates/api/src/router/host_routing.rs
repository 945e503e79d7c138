//! Which host a request is for. With a domain of apps a name decides between an app and the API, so every name that is
//! neither is refused; and a request that names none, or two, is no request (RFC 9112, section 3.2).

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{Version, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Problem, ProblemKind};

use crate::{http::error::ApiError, routes::app_proxy, state::Api};
use application::Settings;

/// Whom a host belongs to.
#[derive(Debug, PartialEq, Eq)]
enum HostOwner {
    /// To the app of this slug.
    App(String),
    /// To the API and the console.
    Platform,
    /// To nobody here.
    Unknown,
}

/// Hands a request to the app whose own host it names, and lets those pass that are for the API.
pub(crate) async fn route_by_host(State(api): State<Api>, request: Request, next: Next) -> Response {
    let named = match requested_host(&request) {
        Ok(named) => named,
        Err(problem) => return ApiError(problem).into_response(),
    };
    if let (Some(domain), Some(authority)) = (&api.settings().apps_domain, named) {
        match host_owner(api.settings(), domain, authority.host()) {
            HostOwner::App(slug) => return app_proxy::by_own_host(&api, &slug, request).await,
            HostOwner::Platform => {}
            // Probes name whatever they like.
            HostOwner::Unknown if matches!(request.uri().path(), "/healthz" | "/readyz") => {}
            HostOwner::Unknown => {
                let problem = Problem::new(
                    ProblemKind::Misdirected,
                    "unknown_host",
                    "Nothing is served at this host name.",
                )
                .hint("Use the server's public URL, or an app's own host.");
                return ApiError(problem).into_response();
            }
        }
    }
    next.run(request).await
}

/// The host that a request names; HTTP/1.0 may name none.
fn requested_host(request: &Request) -> Result<Option<Authority>, Problem> {
    let invalid = |why: &'static str| Problem::new(ProblemKind::Invalid, "invalid_host", why);
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (_, Some(_)) => return Err(invalid("The request names two hosts.")),
        (Some(host), None) if !host.is_empty() => {
            let parsed =
                Authority::try_from(host.as_bytes()).ok().filter(|host| !host.as_str().contains('@'));
            Some(parsed.ok_or_else(|| invalid("The Host header is not a host and port."))?)
        }
        (None, None) if request.version() >= Version::HTTP_11 && request.uri().authority().is_none() => {
            return Err(invalid("The request names no host.").hint("Send one Host header."));
        }
        _ => None,
    };
    // A target that names its host itself goes before the header.
    Ok(request.uri().authority().cloned().or(host))
}

fn host_owner(settings: &Settings, domain: &str, host: &str) -> HostOwner {
    let is = |url: &str| url_host(url).eq_ignore_ascii_case(host);
    if is(&settings.public_url) || is(&settings.console_origin) {
        return HostOwner::Platform;
    }
    classify_host(domain, &host.to_ascii_lowercase())
}

/// Whom a name belongs to that is not that of the server.
fn classify_host(domain: &str, host: &str) -> HostOwner {
    if let Some(slug) = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.')) {
        return match slug {
            slug if slug.is_empty() || slug.contains('.') => HostOwner::Unknown,
            slug => HostOwner::App(slug.to_owned()),
        };
    }
    // Inside a network a server is known by its address, or by a bare name.
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_bare = !host.is_empty() && !host.contains('.');
    if is_bare || address.parse::<IpAddr>().is_ok() { HostOwner::Platform } else { HostOwner::Unknown }
}

/// The host of a URL of ours, which has no user and no query.
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
    fn a_name_is_an_apps_ours_or_nobodys() {
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
    fn the_host_of_a_url_has_no_port() {
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
    fn a_request_names_one_host() {
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
