//! Maps errors of the HTTP library to refusals. Messages name only the host: URLs may hold secrets.

use std::{error::Error as StdError, io};

use connections::{GateHost, Refusal, RefusalCode};

pub(crate) fn refusal(host: &GateHost, error: &reqwest::Error) -> Refusal {
    let code = if error.is_timeout() {
        RefusalCode::Timeout
    } else if causes(error).any(is_tls) {
        RefusalCode::TlsFailed
    } else {
        RefusalCode::UpstreamFailed
    };
    let what = match code {
        RefusalCode::Timeout => "took too long to connect",
        RefusalCode::TlsFailed => "did not prove who it is",
        _ if error.is_connect() => "cannot be reached",
        _ => "broke off or did not speak HTTP",
    };
    Refusal::new(code, format!("{host} {what}"))
}

pub(crate) fn timeout(host: &GateHost) -> Refusal {
    Refusal::new(RefusalCode::Timeout, format!("{host} took too long"))
}

pub(crate) fn too_large(host: &GateHost, what: &str) -> Refusal {
    Refusal::new(RefusalCode::ResponseTooLarge, format!("{host} answered with {what}"))
}

fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn StdError + 'static)| (*error).source())
}

fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    // An I/O error wraps the TLS library's error without naming it as its source.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => is_tls(inner),
        None => error.is::<rustls::Error>(),
    }
}
