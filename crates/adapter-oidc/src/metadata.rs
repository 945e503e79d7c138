//! The metadata of an issuer (OpenID Connect Discovery 1.0, section 3): the members that are used.

use std::collections::BTreeSet;

use identity::oidc::OidcError;
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value};
use url::Url;

use crate::{
    client::{Document, IssuerHttpClient, shorten},
    registration::{Registration, ResponseMode},
    signature::{HMAC_ALGORITHM, is_public_key_algorithm},
};

/// The way in which the client authenticates at the token endpoint (OpenID Connect Core 1.0, section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuthMethod {
    /// In the header, which is the default.
    Basic,
    /// In the body.
    Post,
}

/// Issuers that announce the mode `query` and refuse it to clients that ask for an address: Apple.
const FORM_POST_ISSUERS: [&str; 1] = ["https://appleid.apple.com"];

/// Scopes that are requested beside `openid` where none are configured.
const DEFAULT_SCOPES: [&str; 2] = ["email", "profile"];

/// The members of an issuer's metadata that are used.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    /// Address of the key set; `None` only if ID tokens are signed with the client secret.
    pub(crate) jwks_uri: Option<Url>,
    pub(crate) userinfo_endpoint: Option<Url>,
    pub(crate) auth_method: ClientAuthMethod,
    /// Response mode to ask for; `None` for that of the flow.
    pub(crate) response_mode: Option<ResponseMode>,
    /// Scopes to request, separated by blanks.
    pub(crate) scope: String,
    /// True if each response of the authorization endpoint names the issuer (RFC 9207, section 3).
    pub(crate) requires_iss_parameter: bool,
    /// True if the issuer announces that it signs ID tokens with the client secret, and there is one.
    pub(crate) signs_with_secret: bool,
}

/// The reason why a member of the metadata cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct InvalidMember(String);

fn invalid(reason: impl Into<String>) -> InvalidMember {
    InvalidMember(reason.into())
}

impl Metadata {
    /// Fetches the metadata of an issuer.
    ///
    /// # Errors
    /// [`OidcError::Unreachable`] if there is no response, [`OidcError::InvalidResponse`] if it is no metadata, or a member
    /// that is needed is missing or unusable.
    pub(crate) async fn discover(
        http: &IssuerHttpClient,
        registration: &Registration,
    ) -> Result<Self, OidcError> {
        let issuer = &registration.issuer;
        // A slash at the end is removed first (section 4.1).
        let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let url = Url::parse(&address)
            .map_err(|_| OidcError::InvalidResponse("the configured issuer is not a URL".to_owned()))?;
        let document = Document { name: "description", url: &url };
        let response = http.get(document, None).await?;
        response.check_status()?;
        Self::parse(&response.object()?, registration).map_err(|error| document.invalid(error))
    }

    fn parse(members: &Map<String, Value>, registration: &Registration) -> Result<Self, InvalidMember> {
        let issuer = registration.issuer.as_str();
        let named = required_text(members, "issuer")?;
        if named != issuer {
            let hint = if named.trim_end_matches('/') == issuer.trim_end_matches('/') {
                "; they differ by the slash at the end"
            } else {
                ""
            };
            let named = shorten(named);
            return Err(invalid(format!("`issuer` is {named:?}, and {issuer:?} is configured{hint}")));
        }
        let is_loopback_allowed = issuer.starts_with("http://");
        let url = |name: &str, text: &str| -> Result<Url, InvalidMember> {
            let url = Url::parse(text).map_err(|_| invalid(format!("`{name}` is not a URL")))?;
            match url.scheme() {
                "https" => Ok(url),
                "http" if is_loopback_allowed => Ok(url),
                _ => Err(invalid(format!("`{name}` is not an https URL"))),
            }
        };
        let required = |name: &str| url(name, required_text(members, name)?);
        let optional = |name: &str| optional_text(members, name).map(|text| url(name, text)).transpose();
        let methods = list(members, "token_endpoint_auth_methods_supported");
        let supports = |method: &str| methods.contains(&method);
        // Basic where the list is missing (section 3); where it has neither, too, since something must be sent.
        let auth_method = match supports("client_secret_post") && !supports("client_secret_basic") {
            true => ClientAuthMethod::Post,
            false => ClientAuthMethod::Basic,
        };
        let modes = list(members, "response_modes_supported");
        let responds_by_form = FORM_POST_ISSUERS.contains(&issuer)
            || (modes.contains(&"form_post") && !modes.contains(&"query"));
        let algorithms = list(members, "id_token_signing_alg_values_supported");
        // Anybody could sign with an empty secret.
        let has_secret = registration.client_secret.as_ref().is_some_and(|it| !it.expose_secret().is_empty());
        let signs_with_secret = has_secret && algorithms.contains(&HMAC_ALGORITHM);
        let needs_keys = !signs_with_secret || algorithms.iter().any(|name| is_public_key_algorithm(name));
        Ok(Self {
            authorization_endpoint: required("authorization_endpoint")?,
            token_endpoint: required("token_endpoint")?,
            jwks_uri: match needs_keys {
                true => Some(required("jwks_uri")?),
                false => optional("jwks_uri")?,
            },
            userinfo_endpoint: optional("userinfo_endpoint")?,
            auth_method,
            response_mode: registration.response_mode.or(responds_by_form.then_some(ResponseMode::FormPost)),
            scope: scope(registration.scopes.as_deref(), &list(members, "scopes_supported")),
            requires_iss_parameter: flag(members, "authorization_response_iss_parameter_supported"),
            signs_with_secret,
        })
    }
}

/// Returns the scopes to request: `openid` and the configured ones, or the default ones that the issuer has.
fn scope(configured: Option<&[String]>, supported: &[&str]) -> String {
    let is_supported = |scope: &str| supported.is_empty() || supported.contains(&scope);
    let mut scopes = vec!["openid"];
    match configured {
        Some(configured) => scopes.extend(configured.iter().map(String::as_str)),
        // An issuer may refuse a request with a scope that it does not know.
        None => scopes.extend(DEFAULT_SCOPES.iter().filter(|scope| is_supported(scope))),
    }
    let mut seen = BTreeSet::new();
    scopes.retain(|scope| seen.insert(*scope));
    scopes.join(" ")
}

fn required_text<'m>(members: &'m Map<String, Value>, name: &str) -> Result<&'m str, InvalidMember> {
    match members.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null | Value::String(_)) => Err(invalid(format!("`{name}` is missing"))),
        Some(_) => Err(invalid(format!("`{name}` is not a text"))),
    }
}

/// Returns a member that may be missing; an empty text and null stand for nothing.
fn optional_text<'m>(members: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    members.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Returns the texts of a list; one text stands for a list of one, or for several with blanks between them.
fn list<'m>(members: &'m Map<String, Value>, name: &str) -> Vec<&'m str> {
    match members.get(name) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => text.split([' ', ',']).filter(|item| !item.is_empty()).collect(),
        _ => Vec::new(),
    }
}

/// Returns `true` for the boolean and for its text.
fn flag(members: &Map<String, Value>, name: &str) -> bool {
    match members.get(name) {
        Some(Value::Bool(value)) => *value,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use identity::oidc::Provider;
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.example.com";

    fn registration(client_secret: Option<&str>) -> Registration {
        Registration {
            provider: Provider {
                name: "company".to_owned(),
                title: "Company".to_owned(),
                trusted_domains: Vec::new(),
            },
            issuer: ISSUER.to_owned(),
            client_id: "qala".to_owned(),
            client_secret: client_secret.map(Into::into),
            response_mode: None,
            scopes: None,
        }
    }

    fn parse(changes: Value) -> Result<Metadata, InvalidMember> {
        parse_for(&registration(Some("secret")), changes)
    }

    fn parse_for(registration: &Registration, changes: Value) -> Result<Metadata, InvalidMember> {
        let mut members = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example.com/authorize?tenant=7",
            "token_endpoint": "https://id.example.com/token",
            "jwks_uri": "https://keys.example.com/set",
        });
        if let (Value::Object(members), Value::Object(changes)) = (&mut members, changes) {
            members.extend(changes);
        }
        Metadata::parse(members.as_object().unwrap(), registration)
    }

    #[test]
    fn what_is_not_used_may_be_missing_or_of_any_type() {
        for changes in [
            json!({}),
            json!({"subject_types_supported": null, "response_types_supported": "code"}),
            json!({"claims_supported": "sub email", "scopes_supported": {"openid": true}}),
            json!({"userinfo_endpoint": "", "end_session_endpoint": false, "op_policy_uri": ""}),
            json!({"userinfo_endpoint": null, "request_parameter_supported": "maybe"}),
            json!({"authorization_response_iss_parameter_supported": "false"}),
        ] {
            let metadata = parse(changes.clone()).unwrap_or_else(|error| panic!("{changes}: {error}"));
            assert!(metadata.userinfo_endpoint.is_none() && !metadata.requires_iss_parameter, "{changes}");
        }
    }

    #[test]
    fn the_client_authenticates_as_the_issuer_announces() {
        use ClientAuthMethod::{Basic, Post};
        for (methods, expected) in [
            (json!(null), Basic),
            (json!(["client_secret_post"]), Post),
            (json!("client_secret_post"), Post),
            (json!(["private_key_jwt", "client_secret_post"]), Post),
            (json!(["client_secret_post", "client_secret_basic"]), Basic),
            (json!(["client_secret_basic"]), Basic),
            (json!(["private_key_jwt"]), Basic),
        ] {
            let metadata = parse(json!({"token_endpoint_auth_methods_supported": methods})).unwrap();
            assert_eq!(metadata.auth_method, expected, "{methods}");
        }
    }

    #[test]
    fn a_form_is_asked_for_where_there_is_no_redirect() {
        use ResponseMode::{FormPost, Query};
        for (modes, expected) in [
            (json!(null), None),
            (json!(["query", "fragment", "form_post"]), None),
            (json!(["form_post"]), Some(FormPost)),
            (json!(["fragment", "form_post"]), Some(FormPost)),
            (json!(["fragment"]), None),
        ] {
            let metadata = parse(json!({"response_modes_supported": modes})).unwrap();
            assert_eq!(metadata.response_mode, expected, "{modes}");
            for configured in [Query, FormPost] {
                let registration = Registration { response_mode: Some(configured), ..registration(None) };
                let metadata = parse_for(&registration, json!({"response_modes_supported": modes})).unwrap();
                assert_eq!(metadata.response_mode, Some(configured), "{modes}");
            }
        }
    }

    #[test]
    fn scopes_that_the_issuer_has_are_requested() {
        for (supported, expected) in [
            (json!(null), "openid email profile"),
            (json!([]), "openid email profile"),
            (json!({"openid": true}), "openid email profile"),
            (json!(["openid", "profile", "email", "offline_access"]), "openid email profile"),
            (json!(["openid", "email", "name"]), "openid email"),
            (json!("openid profile"), "openid profile"),
            (json!(["openid"]), "openid"),
            (json!(["api", 7]), "openid"),
        ] {
            let metadata = parse(json!({"scopes_supported": supported})).unwrap();
            assert_eq!(metadata.scope, expected, "{supported}");
            for (configured, expected) in [
                (&[][..], "openid"),
                (&["email"], "openid email"),
                (&["groups", "openid", "email", "groups"], "openid groups email"),
            ] {
                let scopes = Some(configured.iter().map(|scope| (*scope).to_owned()).collect());
                let registration = Registration { scopes, ..registration(None) };
                let metadata = parse_for(&registration, json!({"scopes_supported": supported})).unwrap();
                assert_eq!(metadata.scope, expected, "{supported}");
            }
        }
    }

    /// Apple refuses the scope `profile`, and an address without `form_post`, which it does not say.
    #[test]
    fn apple_is_asked_for_what_it_takes() {
        let members = json!({
            "issuer": "https://appleid.apple.com",
            "authorization_endpoint": "https://appleid.apple.com/auth/authorize",
            "token_endpoint": "https://appleid.apple.com/auth/token",
            "revocation_endpoint": "https://appleid.apple.com/auth/revoke",
            "jwks_uri": "https://appleid.apple.com/auth/keys",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "email", "name"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "claims_supported": [
                "aud", "email", "email_verified", "exp", "iat", "is_private_email", "iss", "nonce",
                "nonce_supported", "real_user_status", "sub", "transfer_sub",
            ],
        });
        let parse = |response_mode| {
            let issuer = "https://appleid.apple.com".to_owned();
            let registration = Registration { issuer, response_mode, ..registration(Some("secret")) };
            Metadata::parse(members.as_object().unwrap(), &registration).unwrap()
        };
        let metadata = parse(None);
        assert_eq!(metadata.response_mode, Some(ResponseMode::FormPost));
        assert_eq!((metadata.scope.as_str(), metadata.auth_method), ("openid email", ClientAuthMethod::Post));
        assert!(metadata.jwks_uri.is_some() && metadata.userinfo_endpoint.is_none());
        assert_eq!(parse(Some(ResponseMode::Query)).response_mode, Some(ResponseMode::Query));
    }

    #[test]
    fn a_key_set_is_needed_unless_the_client_secret_signs() {
        for (algorithms, secret, is_needed) in [
            (json!(["HS256"]), Some("secret"), false),
            (json!("HS256"), Some("secret"), false),
            (json!(["HS256", "none", "ES512", "HS512", 7]), Some("secret"), false),
            (json!(["HS256"]), None, true),
            (json!(["HS256"]), Some(""), true),
            (json!(["HS256", "RS256"]), Some("secret"), true),
            (json!(["HS256", "EdDSA"]), Some("secret"), true),
            (json!(["RS256"]), Some("secret"), true),
            (json!(["HS512"]), Some("secret"), true),
            (json!(["hs256"]), Some("secret"), true),
            (json!([]), Some("secret"), true),
            (json!(null), Some("secret"), true),
        ] {
            let parse = |uri: Value| {
                let changes = json!({"id_token_signing_alg_values_supported": algorithms, "jwks_uri": uri});
                parse_for(&registration(secret), changes)
            };
            for missing in [json!(null), json!("")] {
                match parse(missing) {
                    Ok(metadata) => assert!(!is_needed && metadata.jwks_uri.is_none(), "{algorithms}"),
                    Err(error) => {
                        assert!(
                            is_needed && error.to_string() == "`jwks_uri` is missing",
                            "{algorithms}: {error}"
                        );
                    }
                }
            }
            let metadata = parse(json!("https://keys.example.com/set")).unwrap();
            assert!(metadata.jwks_uri.is_some(), "{algorithms}");
            let announces = algorithms.to_string().contains("HS256");
            assert_eq!(metadata.signs_with_secret, announces && secret == Some("secret"), "{algorithms}");
        }
    }

    #[test]
    fn what_is_needed_is_named_when_it_is_missing() {
        for (changes, reason) in [
            (json!({"token_endpoint": null}), "`token_endpoint` is missing"),
            (json!({"token_endpoint": ""}), "`token_endpoint` is missing"),
            (json!({"jwks_uri": 7}), "`jwks_uri` is not a text"),
            (json!({"jwks_uri": "keys"}), "`jwks_uri` is not a URL"),
            (
                json!({"token_endpoint": "http://id.example.com/token"}),
                "`token_endpoint` is not an https URL",
            ),
            (json!({"issuer": "https://id.example.com/"}), "they differ by the slash"),
            (json!({"issuer": "https://other.example.com"}), "is configured"),
            (json!({"issuer": "x".repeat(100_000)}), "is configured"),
        ] {
            let refused = parse(changes.clone()).unwrap_err().to_string();
            assert!(refused.contains(reason) && refused.len() < 500, "{changes}: {refused}");
        }
    }
}
