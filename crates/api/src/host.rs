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

use crate::{
    envelope::ApiError,
    routes::serve,
    state::{Api, Config},
};

/// Whom a host belongs to.
#[derive(Debug, PartialEq, Eq)]
enum Belongs {
    /// To the app of this slug.
    App(String),
    /// To the API and the console.
    Us,
    /// To nobody here.
    Nobody,
}

/// Hands a request to the app whose own host it names, and lets those pass that are for the API.
pub(crate) async fn host(State(api): State<Api>, request: Request, next: Next) -> Response {
    let named = match named(&request) {
        Ok(named) => named,
        Err(problem) => return ApiError(problem).into_response(),
    };
    if let (Some(domain), Some(authority)) = (&api.config.apps_domain, named) {
        match belongs(&api.config, domain, authority.host()) {
            Belongs::App(slug) => return serve::at_own_host(&api, &slug, request).await,
            Belongs::Us => {}
            // Probes name whatever they like.
            Belongs::Nobody if matches!(request.uri().path(), "/healthz" | "/readyz") => {}
            Belongs::Nobody => {
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
fn named(request: &Request) -> Result<Option<Authority>, Problem> {
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

fn belongs(config: &Config, domain: &str, host: &str) -> Belongs {
    let is = |url: &str| host_of(url).eq_ignore_ascii_case(host);
    if is(&config.public_url) || is(&config.console_origin) {
        return Belongs::Us;
    }
    of_name(domain, &host.to_ascii_lowercase())
}

/// Whom a name belongs to that is not that of the server.
fn of_name(domain: &str, host: &str) -> Belongs {
    if let Some(slug) = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.')) {
        return match slug {
            slug if slug.is_empty() || slug.contains('.') => Belongs::Nobody,
            slug => Belongs::App(slug.to_owned()),
        };
    }
    // Inside a network a server is known by its address, or by a bare name.
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_bare = !host.is_empty() && !host.contains('.');
    if is_bare || address.parse::<IpAddr>().is_ok() { Belongs::Us } else { Belongs::Nobody }
}

/// The host of a URL of ours, which has no user and no query.
fn host_of(url: &str) -> &str {
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
        let app = |slug: &str| Belongs::App(slug.to_owned());
        for (host, expected) in [
            ("notes.apps.example", app("notes")),
            ("apps.example", Belongs::Nobody),
            (".apps.example", Belongs::Nobody),
            ("x.notes.apps.example", Belongs::Nobody),
            ("notes.apps.example.", Belongs::Nobody),
            ("notesapps.example", Belongs::Nobody),
            ("notes.apps.example.evil.test", Belongs::Nobody),
            ("evil.test", Belongs::Nobody),
            ("127.0.0.1", Belongs::Us),
            ("[::1]", Belongs::Us),
            ("10.0.0.7", Belongs::Us),
            ("localhost", Belongs::Us),
            ("qala", Belongs::Us),
            ("", Belongs::Nobody),
        ] {
            assert_eq!(of_name("apps.example", host), expected, "{host}");
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
            assert_eq!(host_of(url), host);
        }
    }

    #[test]
    fn a_request_names_one_host() {
        let request = |version, target: &str, hosts: &[&str]| {
            let mut request = Request::builder().version(version).uri(target);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            named(&request.body(Body::empty()).unwrap())
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
