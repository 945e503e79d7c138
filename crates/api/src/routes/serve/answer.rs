//! Letting an app answer a request.
//!
//! An app's pages are somebody else's code on our origin here, so they are kept away from the console's cookie: they
//! are never given it, and their answers run in a sandboxed origin of their own.

use axum::{
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
};
use kernel::{Problem, ProblemKind};
use runs::engine::{Failure, FailureCode, HttpRequest, HttpResponse};
use url::Url;

use crate::{door::Entry, envelope::ApiResult, extract::collect, state::Api};

/// The most a request to an app may carry.
const MAX_BODY: usize = 1 << 20;

/// Headers that are the connection's or ours, and never an app's to read or write.
const WITHHELD: [HeaderName; 15] = [
    header::COOKIE,
    header::SET_COOKIE,
    header::AUTHORIZATION,
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::PROXY_AUTHORIZATION,
    header::STRICT_TRANSPORT_SECURITY,
    HeaderName::from_static("clear-site-data"),
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The most headers of an answer, and bytes of them; clients give up at not much more.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 16 << 10;

pub(super) async fn redirect_to_root(Path(slug): Path<String>) -> Redirect {
    // The slug came through the router: it holds no slash, and stands behind one.
    Redirect::permanent(&format!("/a/{slug}/"))
}

pub(super) async fn answer(State(api): State<Api>, request: Request) -> ApiResult<Response> {
    let entry = request.extensions().get::<Entry>().cloned();
    let address = entry.as_ref().and_then(|entry| entry.address);
    if let (Some(rate), Some(entry)) = (api.limits.take(None, address, 1)?, &entry) {
        let _first = entry.rate.set(rate);
    }
    let missing = || Problem::not_found("app");
    let path_and_query = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let rest = path_and_query.strip_prefix("/a/").ok_or_else(missing)?;
    let (slug, rest) = rest.split_once('/').ok_or_else(missing)?;
    let app = api.store().app_by_slug(slug).await?.ok_or_else(missing)?;
    let version = app
        .current_version
        .filter(|_| !app.paused)
        .ok_or_else(|| Problem::unavailable("app_paused", "The app is paused or has no version yet."))?;

    let method = request.method().as_str().to_owned();
    let headers = readable(request.headers());
    let body = collect(request, MAX_BODY).await?;
    let url = format!("{}/{rest}", origin_of(&api, &app.slug));
    let request = HttpRequest { method, url, headers, body };
    match api.services.apps.serve(app.workspace, app.id, version, request).await {
        Ok(response) => Ok(rendered(response)?),
        Err(failure) => Err(problem(&failure).into()),
    }
}

/// What the app sees as its own origin: it need not know under which path it stands here.
fn origin_of(api: &Api, slug: &str) -> String {
    let Ok(url) = Url::parse(&api.config.public_url) else { return format!("http://{slug}.localhost") };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    // Nothing can stand before an IP address: it would be no URL.
    let host = url.domain().unwrap_or("localhost");
    format!("{}://{slug}.{host}{port}", url.scheme())
}

fn readable(headers: &HeaderMap) -> Vec<(String, String)> {
    let pairs = headers.iter().filter(|(name, _)| !WITHHELD.contains(name));
    pairs
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}

fn rendered(answer: HttpResponse) -> Result<Response, Problem> {
    let invalid =
        || Problem::new(ProblemKind::Internal, "app_failed", "The app gave an answer that cannot be sent.");
    let header_bytes: usize = answer.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if answer.headers.len() > MAX_HEADERS || header_bytes > MAX_HEADER_BYTES {
        return Err(invalid());
    }
    let status = StatusCode::from_u16(answer.status).map_err(|_| invalid())?;
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = status;
    for (name, value) in &answer.headers {
        let name: HeaderName = name.parse().map_err(|_| invalid())?;
        let value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        if !WITHHELD.contains(&name) {
            response.headers_mut().append(name, value);
        }
    }
    // An origin of its own: its script reads no cookie and no page of the console.
    let policy = HeaderValue::from_static("sandbox allow-scripts allow-forms allow-popups");
    response.headers_mut().append(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response.into_response())
}

/// What a visitor is told: that the app failed, and none of its insides.
fn problem(failure: &Failure) -> Problem {
    match failure.code {
        FailureCode::Overloaded | FailureCode::WorkerLost => {
            Problem::unavailable("overloaded", "The app cannot answer now.").hint("Try again in a moment.")
        }
        FailureCode::HandlerMissing => Problem::not_found("page").hint("This app answers no requests."),
        FailureCode::Timeout | FailureCode::CpuExceeded => {
            Problem::unavailable("app_timeout", "The app did not answer in time.")
        }
        _ => Problem::new(ProblemKind::Internal, "app_failed", "The app failed.")
            .hint("Whoever runs it finds the reason in its log."),
    }
}
