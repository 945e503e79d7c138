//! The headers that an app may send.

use kernel::request_headers::{CredentialHeader, is_overriding, is_reserved};

use super::refusal::{Refusal, RefusalCode};

/// Most bytes of all header names and values of a request or a response.
pub const MAX_HEADERS_BYTES: usize = 32 << 10;

/// Checks the headers of a request. `injected` are the headers that the gate adds; the app must not set them, not even those
/// of `allowed`, which the manifest lets it set.
///
/// # Errors
/// [`RefusalCode::HeaderDenied`] for a header that is malformed or denied, and for headers over [`MAX_HEADERS_BYTES`].
pub fn check_headers(
    headers: &[(String, String)],
    injected: &[&str],
    allowed: &[CredentialHeader],
) -> Result<(), Refusal> {
    let denied = |what: String| Err(Refusal::new(RefusalCode::HeaderDenied, what));
    let mut size = 0;
    for (name, value) in headers {
        if name.is_empty() || !name.bytes().all(is_token) {
            return denied("a header has a malformed name".to_owned());
        }
        let lower = name.to_ascii_lowercase();
        // Many servers make no difference between the two signs (RFC 3875, section 4.1.18).
        let dashed = lower.replace('_', "-");
        let is_allowed = allowed.iter().any(|allowed| allowed.as_str() == lower);
        let reserved = (is_reserved(&dashed) && !is_allowed)
            || is_overriding(&dashed)
            || injected.iter().any(|injected| injected.replace('_', "-").eq_ignore_ascii_case(&dashed));
        if reserved {
            // Through a connection, and beside a secret, no manifest helps.
            let is_grantable = injected.is_empty() && dashed.parse::<CredentialHeader>().is_ok();
            return denied(if is_grantable {
                format!("the app's manifest does not let its code set the header {lower}")
            } else {
                format!("an app may not set the header {lower}")
            });
        }
        if value.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
            return denied(format!("the value of {lower} holds a control character"));
        }
        size += name.len() + value.len() + 4;
    }
    if size > MAX_HEADERS_BYTES {
        return denied(format!("the headers are longer than {MAX_HEADERS_BYTES} bytes"));
    }
    Ok(())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> bool {
        check_headers(&[(name.to_owned(), value.to_owned())], &["X-Api-Key"], &[]).is_err()
    }

    #[test]
    fn a_header_with_credentials_passes_where_it_is_allowed_and_nothing_else_does() {
        let check = |name: &str, injected: &[&str], allowed: &[CredentialHeader]| {
            check_headers(&[(name.to_owned(), "x".to_owned())], injected, allowed).is_ok()
        };
        let (token, cookie) = ([CredentialHeader::Authorization], [CredentialHeader::Cookie]);
        for name in ["authorization", "Authorization", "AUTHORIZATION"] {
            assert!(
                check(name, &[], &token) && !check(name, &[], &cookie) && !check(name, &[], &[]),
                "{name}"
            );
            // A secret of the app goes there.
            assert!(!check(name, &["authorization"], &token), "{name}");
        }
        assert!(check("Cookie", &[], &cookie) && !check("Cookie", &[], &token));
        let both = [CredentialHeader::Authorization, CredentialHeader::Cookie];
        for name in
            ["proxy-authorization", "cookie2", "host", "x-forwarded-for", "authorization ", "set_cookie:"]
        {
            assert!(!check(name, &[], &both), "{name}");
        }
        assert!(check_headers(&[("cookie".to_owned(), "a\r\nhost: b".to_owned())], &[], &both).is_err());
    }

    #[test]
    fn reserved_and_malformed_headers_are_refused() {
        for name in [
            "Host",
            "authorization",
            "Cookie",
            "Proxy-Authorization",
            "proxy-anything",
            "Connection",
            "Transfer-Encoding",
            "content-length",
            "X-Forwarded-For",
            "Forwarded",
            "Metadata-Flavor",
            "Metadata",
            "x-aws-ec2-metadata-token",
            "x-api-key",
            "X-Forwarded",
            "X-HTTP-Method-Override",
            "X-HTTP-Method",
            "X-Method-Override",
            "x_http_method_override",
            "X-Original-URL",
            "X-Rewrite-URL",
            "X-Original-Method",
            "X-Original-Host",
            "X-Host",
            "True-Client-IP",
            "X-Client-IP",
            "x_forwarded_host",
            "content_length",
            "",
            "a b",
            "a:",
            "a\r\nb",
            ":authority",
            "é",
        ] {
            assert!(refused(name, "x"), "{name:?}");
        }
        for value in ["x\r\nhost: evil", "x\n", "x\0", "\u{7f}", "a\rb"] {
            assert!(refused("x-ok", value), "{value:?}");
        }
        assert!(refused("x-long", &"x".repeat(MAX_HEADERS_BYTES)));
        for (name, value) in
            [("accept", "*/*"), ("X-Thing", "a\tb"), ("content-type", "text/plain"), ("x", "")]
        {
            assert!(!refused(name, value), "{name:?}");
        }
    }
}
