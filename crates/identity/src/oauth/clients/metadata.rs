//! Client metadata, from a registration or a metadata document (RFC 7591, section 2). Unknown members are ignored:
//! clients send the same metadata to other servers.

use serde_json::{Map, Value};
use url::Url;

use crate::oauth::redirect::{InvalidRedirectUri, RedirectUri};

/// Maximum number of redirect URIs of a client.
pub const MAX_REDIRECT_URIS: usize = 10;
/// Maximum length of a stored name in characters; longer names are cut.
const MAX_NAME_CHARS: usize = 60;

/// Error of client metadata that is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidClientMetadata {
    /// A redirect URI is missing or unsafe, or there are too many.
    #[error("redirect_uris {0}")]
    Redirects(&'static str),
    /// Another member is not acceptable.
    #[error("{0}")]
    Other(&'static str),
}

/// The metadata of a client that this server uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientMetadata {
    /// Member `client_name`, 1 to 60 printable characters; by default the host of the first redirect URI, if it has one.
    pub name: String,
    /// Member `redirect_uris`, 1 to [`MAX_REDIRECT_URIS`] entries.
    pub redirect_uris: Vec<RedirectUri>,
    /// Host of the member `client_uri`, if that is an https URL.
    pub homepage_host: Option<String>,
}

/// Handling of unsafe redirect URIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnsafeRedirectPolicy {
    /// Refuse the metadata.
    Reject,
    /// Leave them out, since a metadata document is meant for other servers too.
    Skip,
}

impl ClientMetadata {
    /// Parses the metadata of a registration.
    ///
    /// # Errors
    /// [`InvalidClientMetadata`] for the first member that is not acceptable.
    pub fn parse(members: &Map<String, Value>) -> Result<Self, InvalidClientMetadata> {
        Self::parse_with(members, UnsafeRedirectPolicy::Reject)
    }

    pub(super) fn parse_with(
        members: &Map<String, Value>,
        policy: UnsafeRedirectPolicy,
    ) -> Result<Self, InvalidClientMetadata> {
        check_grant_and_response_types(members)?;
        let redirects = parse_redirect_uris(members, policy)?;
        let name = sanitize_name(
            optional_string(members, "client_name", "client_name must be a string")?.unwrap_or_default(),
        );
        let name = if name.is_empty() { fallback_name(&redirects) } else { name };
        let homepage = optional_string(members, "client_uri", "client_uri must be a string")?;
        let homepage = homepage.and_then(|text| Url::parse(text).ok()).filter(|url| url.scheme() == "https");
        let homepage_host = homepage.and_then(|url| url.host_str().map(str::to_owned));
        Ok(Self {
            name,
            redirect_uris: redirects,
            homepage_host: homepage_host.filter(|host| host.len() <= 253),
        })
    }
}

/// Checks that the client uses the authorization code flow. Other grant and response types are ignored.
fn check_grant_and_response_types(members: &Map<String, Value>) -> Result<(), InvalidClientMetadata> {
    let names = |member: &str, supported: &str, message: &'static str| match members.get(member) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(names)) if names.iter().any(|name| name == supported) => Ok(()),
        Some(_) => Err(InvalidClientMetadata::Other(message)),
    };
    names(
        "grant_types",
        "authorization_code",
        "grant_types must be a list that includes authorization_code",
    )?;
    names("response_types", "code", "response_types must be a list that includes code")?;
    optional_string(members, "token_endpoint_auth_method", "token_endpoint_auth_method must be a string")?;
    Ok(())
}

fn optional_string<'a>(
    members: &'a Map<String, Value>,
    member: &str,
    message: &'static str,
) -> Result<Option<&'a str>, InvalidClientMetadata> {
    match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(InvalidClientMetadata::Other(message)),
    }
}

fn parse_redirect_uris(
    members: &Map<String, Value>,
    policy: UnsafeRedirectPolicy,
) -> Result<Vec<RedirectUri>, InvalidClientMetadata> {
    let Some(Value::Array(listed)) = members.get("redirect_uris") else {
        return Err(InvalidClientMetadata::Redirects("must be a list"));
    };
    if listed.is_empty() || listed.len() > MAX_REDIRECT_URIS {
        return Err(InvalidClientMetadata::Redirects("must have 1 to 10 entries"));
    }
    let mut redirects = Vec::with_capacity(listed.len());
    for entry in listed {
        match entry.as_str().map(str::parse::<RedirectUri>) {
            Some(Ok(uri)) => redirects.push(uri),
            _ if policy == UnsafeRedirectPolicy::Skip => {}
            // The response lists what is registered (RFC 7591, section 3.2.1), so an unknown scheme is left out.
            Some(Err(InvalidRedirectUri::UnknownScheme)) => {}
            _ => return Err(InvalidClientMetadata::Redirects(REDIRECT_URI_RULES)),
        }
    }
    if redirects.is_empty() {
        return Err(InvalidClientMetadata::Redirects(REDIRECT_URI_RULES));
    }
    Ok(redirects)
}

/// Rule for redirect URIs, as clients are told.
const REDIRECT_URI_RULES: &str = "must be https, http on 127.0.0.1, [::1] or localhost, a private scheme with a dot, or claude, \
                    cursor, kiro, raycast, vscode, vscode-insiders, vscodium, warp, windsurf, windsurf-next or zed \
                    with a host; without user information or fragment";

/// Returns a name that is safe to display, cut to [`MAX_NAME_CHARS`].
fn sanitize_name(name: &str) -> String {
    kernel::text::to_visible_line(name).chars().take(MAX_NAME_CHARS).collect::<String>().trim_end().to_owned()
}

/// Returns the name of a client that gives none: the host of the first redirect URI, which is at least true.
fn fallback_name(redirects: &[RedirectUri]) -> String {
    let host = redirects.first().map(RedirectUri::host).filter(|host| !host.is_empty());
    host.map_or_else(|| "Unnamed program".to_owned(), |host| host.chars().take(MAX_NAME_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<ClientMetadata, InvalidClientMetadata> {
        let Value::Object(members) = value else { panic!("an object") };
        ClientMetadata::parse(&members)
    }

    fn named(name: &str) -> String {
        read(json!({"redirect_uris": ["https://c.example/cb"], "client_name": name})).unwrap().name
    }

    #[test]
    fn unknown_members_and_unsupported_values_are_ignored() {
        let metadata = read(json!({
            "redirect_uris": ["https://c.example/cb", "http://localhost/cb"],
            "client_name": "Agent",
            "client_uri": "https://c.example/about",
            "grant_types": ["authorization_code", "refresh_token", "implicit"],
            "response_types": ["code", "token"],
            "token_endpoint_auth_method": "client_secret_basic",
            "resource": "https://other.example",
            "jwks": {},
        }))
        .unwrap();
        assert_eq!((metadata.name.as_str(), metadata.redirect_uris.len()), ("Agent", 2));
        assert_eq!(metadata.homepage_host.as_deref(), Some("c.example"));
    }

    #[test]
    fn metadata_that_cannot_be_served_is_refused() {
        let uri = "https://c.example/cb";
        for off in [json!({}), json!({"redirect_uris": []}), json!({"redirect_uris": vec![uri; 11]})] {
            assert!(matches!(read(off), Err(InvalidClientMetadata::Redirects(_))));
        }
        for off in [json!(uri), json!([1]), json!(["http://c.example/cb"]), json!([uri, "javascript:x"])] {
            assert!(matches!(read(json!({"redirect_uris": off})), Err(InvalidClientMetadata::Redirects(_))));
        }
        for (member, off) in [
            ("client_name", json!(1)),
            ("client_uri", json!([])),
            ("grant_types", json!(["client_credentials"])),
            ("grant_types", json!("authorization_code")),
            ("response_types", json!(["token"])),
            ("token_endpoint_auth_method", json!({})),
        ] {
            let refusal = read(json!({"redirect_uris": [uri], member: off})).unwrap_err();
            assert!(matches!(refusal, InvalidClientMetadata::Other(_)), "{member}");
        }
    }

    #[test]
    fn an_unknown_scheme_is_left_out() {
        let kept = |uris: Value| -> Vec<String> {
            let metadata = read(json!({"redirect_uris": uris})).unwrap();
            metadata.redirect_uris.iter().map(|uri| uri.as_str().to_owned()).collect()
        };
        let (cursor, local) =
            ("cursor://anysphere.cursor-mcp/oauth/callback", "http://localhost:8787/callback");
        assert_eq!(kept(json!([cursor, local])), [cursor, local]);
        assert_eq!(kept(json!([cursor])), [cursor]);
        assert_eq!(kept(json!(["someday://host/cb", local])), [local]);
        for off in
            [json!(["someday://host/cb"]), json!([local, "javascript://x/y"]), json!([local, "data:x"])]
        {
            assert!(
                matches!(read(json!({"redirect_uris": off})), Err(InvalidClientMetadata::Redirects(_))),
                "{off}"
            );
        }
        for scheme in crate::oauth::redirect::DESKTOP_SCHEMES {
            assert!(REDIRECT_URI_RULES.contains(scheme), "{scheme}");
            assert_eq!(kept(json!([format!("{scheme}://host/cb")])).len(), 1, "{scheme}");
        }
    }

    #[test]
    fn a_name_is_made_safe_to_display() {
        assert_eq!(named(" My\n\tAgent  1 "), "My Agent 1");
        assert_eq!(named("Clau\u{202e}edu\u{200b}"), "Clauedu");
        assert_eq!(named("a\u{0}b\u{7f}c\u{85}d"), "abc d");
        assert_eq!(named("\u{2066}\u{feff} \u{3164}"), "c.example");
        assert_eq!(named("Көмекші агент"), "Көмекші агент");
        assert_eq!(named(&"я".repeat(100)).chars().count(), MAX_NAME_CHARS);
    }

    #[test]
    fn a_home_page_without_https_is_ignored() {
        for page in ["http://c.example", "javascript:1", "nonsense"] {
            let metadata =
                read(json!({"redirect_uris": ["https://c.example/cb"], "client_uri": page})).unwrap();
            assert_eq!(metadata.homepage_host, None, "{page}");
        }
    }
}
