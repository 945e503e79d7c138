//! The shape of a connection's secret, which depends on its `auth`.

use std::{collections::BTreeMap, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use super::{Auth, HeaderName, parts::parse_https};
use crate::{
    host::GateHost,
    invalid_input::{Field, InvalidInput, Reason},
};

/// Longest secret, in characters.
pub const MAX_SECRET_BYTES: usize = 4_096;

impl Auth {
    /// Checks that a secret has the shape that requests with this `auth` need.
    ///
    /// # Errors
    /// [`InvalidInput`] about the secret. It never repeats the secret.
    pub fn check_secret(&self, secret: &SecretString) -> Result<(), InvalidInput> {
        let refuse = |reason| Err(InvalidInput::new(Field::Secret, reason));
        let text = secret.expose_secret();
        if !(1..=MAX_SECRET_BYTES).contains(&text.chars().count()) {
            return refuse(Reason::Length { min: 1, max: MAX_SECRET_BYTES });
        }
        match self {
            Self::None => return refuse(Reason::NotUsed),
            Self::ServiceAccount { .. } => return parse_service_account(secret).map(drop),
            Self::Headers { names } => return parse_header_secrets(names, secret).map(drop),
            Self::AuthorizationCode => return Ok(()),
            _ => {}
        }
        if text.chars().any(char::is_control) || text.trim() != text {
            return refuse(Reason::Unprintable);
        }
        match self {
            Self::Bearer { .. } | Self::HeaderKey { .. } if !text.is_ascii() => refuse(Reason::NotHeaderText),
            Self::PathToken if text.contains(['/', '\\', '?', '#', '%']) || matches!(text, "." | "..") => {
                refuse(Reason::NotPathToken)
            }
            Self::Url => parse_secret_url(secret).map(drop),
            _ => Ok(()),
        }
    }
}

/// Shortest secret that is redacted where it stands by itself, in bytes: a shorter one would hit ordinary text.
pub const MIN_SECRET_BYTES: usize = 8;

impl Auth {
    /// Checks a secret that is to be stored: it has the shape of [`Self::check_secret`], and what is sent of it without
    /// a prefix is long enough to be redacted from responses.
    ///
    /// # Errors
    /// [`InvalidInput`] about the secret. It never repeats the secret.
    pub fn check_new_secret(&self, secret: &SecretString) -> Result<(), InvalidInput> {
        self.check_secret(secret)?;
        self.check_signing_key(secret)?;
        let is_short = |text: &SecretString| text.expose_secret().len() < MIN_SECRET_BYTES;
        let has_short = match self {
            Self::HeaderKey { prefix: None, .. } | Self::PathToken => is_short(secret),
            Self::Headers { names } => {
                parse_header_secrets(names, secret)?.iter().any(|(_, value)| is_short(value))
            }
            _ => false,
        };
        if has_short {
            return Err(InvalidInput::new(Field::Secret, Reason::TooShort { min: MIN_SECRET_BYTES }));
        }
        Ok(())
    }
}

impl Auth {
    /// Checks that the key of a service account that is to be stored can sign.
    ///
    /// # Errors
    /// [`InvalidInput`] about the secret. It never repeats the secret.
    pub(crate) fn check_signing_key(&self, secret: &SecretString) -> Result<(), InvalidInput> {
        if !matches!(self, Self::ServiceAccount { .. })
            || is_rsa_key(parse_service_account(secret)?.private_key.expose_secret().trim())
        {
            return Ok(());
        }
        Err(InvalidInput::new(Field::Secret, Reason::NotServiceAccountKey))
    }
}

/// Returns the secret as it is stored. A token whose place is behind the word `bot` (`…/bot{secret}`) is often pasted with the
/// word.
pub(crate) fn without_repeated_word(base_url: &str, secret: SecretString) -> SecretString {
    let text = secret.expose_secret();
    let token = text.get(..3).filter(|word| word.eq_ignore_ascii_case("bot")).map(|_| &text[3..]);
    let is_token = |token: &&str| {
        let (number, rest) = token.split_once(':').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()
    };
    match token.filter(is_token) {
        Some(token) if base_url.contains("/bot{secret}") => SecretString::from(token),
        _ => secret,
    }
}

/// Checks that a key in PEM (RFC 7468) can sign: an RSA key in PKCS #8 or PKCS #1.
fn is_rsa_key(pem: &str) -> bool {
    // The object identifier of RSA keys (RFC 8017, appendix A.1), as PKCS #8 names it.
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    let mut lines = pem.lines();
    let kind = lines.next().and_then(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
    let Some(kind @ ("PRIVATE KEY" | "RSA PRIVATE KEY")) = kind else { return false };
    let end = format!("-----END {kind}-----");
    let (mut encoded, mut is_ended) = (String::new(), false);
    for line in lines {
        if is_ended {
            return false;
        }
        is_ended = line == end;
        if !is_ended {
            encoded.push_str(line);
        }
    }
    let Ok(der) = STANDARD.decode(&encoded) else { return false };
    let names_rsa = kind == "RSA PRIVATE KEY" || der.windows(RSA.len()).take(32).any(|window| window == RSA);
    is_ended && names_rsa && is_whole_sequence(&der)
}

/// Returns `true` for bytes that are one sequence of DER (X.690, section 8.1.3) of 128 bytes or more, as RSA keys have.
fn is_whole_sequence(der: &[u8]) -> bool {
    match der {
        [0x30, 0x81, length, rest @ ..] => rest.len() == usize::from(*length),
        [0x30, 0x82, high, low, rest @ ..] => rest.len() == usize::from(*high) << 8 | usize::from(*low),
        _ => false,
    }
}

/// Reads the secret of [`Auth::Headers`]: a JSON object with exactly these names, in any case, and a text for each.
///
/// # Errors
/// [`InvalidInput`] about the secret.
pub fn parse_header_secrets(
    names: &[HeaderName],
    secret: &SecretString,
) -> Result<Vec<(HeaderName, SecretString)>, InvalidInput> {
    let refuse = || InvalidInput::new(Field::Secret, Reason::NotHeaderMap);
    let given: BTreeMap<String, String> =
        serde_json::from_str(secret.expose_secret()).map_err(|_| refuse())?;
    if given.len() != names.len() {
        return Err(refuse());
    }
    let value_of = |name: &HeaderName| {
        let (_, value) = given.iter().find(|(given, _)| given.eq_ignore_ascii_case(name.as_str()))?;
        Some((name.clone(), SecretString::from(value.as_str())))
    };
    let values: Vec<_> = names.iter().map(value_of).collect::<Option<_>>().ok_or_else(refuse)?;
    for (_, value) in &values {
        let text = value.expose_secret();
        if text.is_empty() || !text.is_ascii() || text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(InvalidInput::new(Field::Secret, Reason::NotHeaderText));
        }
    }
    Ok(values)
}

/// The key of a service account. Its `token_uri` is not read: a changed file could send assertions elsewhere.
#[derive(Clone)]
pub struct ServiceAccountKey {
    /// E-mail address of the account; 3 to 254 characters.
    pub client_email: String,
    /// Id of the key, for the header `kid` of assertions.
    pub private_key_id: Option<String>,
    /// Private key in PEM.
    pub private_key: SecretString,
}

impl fmt::Debug for ServiceAccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccountKey").field("client_email", &self.client_email).finish_non_exhaustive()
    }
}

/// Reads the secret of [`Auth::ServiceAccount`].
///
/// # Errors
/// [`InvalidInput`] about the secret.
pub fn parse_service_account(secret: &SecretString) -> Result<ServiceAccountKey, InvalidInput> {
    #[derive(Deserialize)]
    struct KeyFile {
        client_email: String,
        #[serde(default)]
        private_key_id: Option<String>,
        private_key: String,
    }
    let refuse = || InvalidInput::new(Field::Secret, Reason::NotServiceAccountKey);
    let file: KeyFile = serde_json::from_str(secret.expose_secret()).map_err(|_| refuse())?;
    let is_email = (3..=254).contains(&file.client_email.len())
        && file.client_email.contains('@')
        && file.client_email.bytes().all(|byte| byte.is_ascii_graphic());
    let key = file.private_key.trim();
    if !is_email || !key.starts_with("-----BEGIN ") || !key.ends_with("PRIVATE KEY-----") {
        return Err(refuse());
    }
    Ok(ServiceAccountKey {
        client_email: file.client_email,
        private_key_id: file.private_key_id.filter(|id| id.len() <= 128),
        private_key: SecretString::from(file.private_key),
    })
}

/// Reads the secret of [`Auth::Url`]: an https URL of an external host, without credentials and fragment.
///
/// # Errors
/// [`InvalidInput`] about the secret.
pub fn parse_secret_url(secret: &SecretString) -> Result<(GateHost, Url), InvalidInput> {
    let refuse = |reason| InvalidInput::new(Field::Secret, reason);
    let mut url = parse_https(secret.expose_secret()).map_err(|_| refuse(Reason::NotSecretUrl))?;
    if url.fragment().is_some() || crate::request_path::is_ambiguous(raw_path(secret.expose_secret())) {
        return Err(refuse(Reason::NotSecretUrl));
    }
    let host = GateHost::from_url(&url).map_err(|reason| refuse(Reason::Host(reason)))?;
    url.set_host(Some(host.as_str())).map_err(|_| refuse(Reason::NotSecretUrl))?;
    Ok((host, url))
}

/// Returns the path as it is written, before a parser resolves its dot segments.
fn raw_path(text: &str) -> &str {
    let rest = text.get(8..).unwrap_or_default();
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}
