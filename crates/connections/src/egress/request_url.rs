//! The URL of a request, and the host in it.
//!
//! The explanation of a run recognizes these messages by their text, as those of [`authorize`](super::authorize).

use std::net::IpAddr;

use url::{Host, Url};

use super::refusal::{Refusal, RefusalCode};
use crate::{
    host::{GateHost, InvalidHost},
    ip_filter::is_blocked,
};

/// Longest URL, in bytes.
const MAX_URL_BYTES: usize = 8 << 10;

pub(super) fn refuse(code: RefusalCode, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message)
}

/// Parses a URL, after refusing input that the parser would silently repair: tabs, line breaks, backslashes and
/// credentials.
pub(super) fn parse_url(text: &str) -> Result<Url, Refusal> {
    let invalid = |what: &str| refuse(RefusalCode::InvalidUrl, format!("the URL {what}"));
    if text.len() > MAX_URL_BYTES {
        return Err(invalid("is too long"));
    }
    if text.contains(|c: char| c.is_control() || c == '\\' || c.is_whitespace()) {
        return Err(invalid("holds a space, a control character or a backslash"));
    }
    let is_scheme =
        |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let Some((_, after_scheme)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        // URLs such as `data:` are absolute, but have no host.
        let absolute = Url::parse(text).is_ok();
        return Err(invalid(if absolute { "must begin with https://" } else { "is not absolute" }));
    };
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(invalid("has no host"));
    }
    if authority.contains('@') {
        return Err(invalid("holds credentials"));
    }
    let mut url = Url::parse(text).map_err(|error| invalid(&format!("does not parse: {error}")))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(invalid("must begin with https://"));
    }
    // The parser may find credentials where the text above showed none; they would become a header.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("holds credentials"));
    }
    url.set_fragment(None);
    Ok(url)
}

pub(super) fn external_host(url: &Url) -> Result<GateHost, Refusal> {
    GateHost::from_url(url).map_err(|error| match (error, url.host()) {
        (_, Some(Host::Ipv4(address))) => refuse_ip_literal(address.into()),
        (_, Some(Host::Ipv6(address))) => refuse_ip_literal(address.into()),
        (InvalidHost::Internal, _) => {
            refuse(RefusalCode::HostDenied, "the name only means something inside a network")
        }
        _ => refuse(RefusalCode::InvalidUrl, "the URL has no proper host"),
    })
}

/// Refuses an IP literal: gates allow names only. The code tells private addresses from public ones.
fn refuse_ip_literal(address: IpAddr) -> Refusal {
    if is_blocked(address) {
        refuse(RefusalCode::PrivateAddress, "the URL names an address that is not of the internet")
    } else {
        refuse(RefusalCode::EgressDenied, "the URL names an address; a manifest declares names")
    }
}
