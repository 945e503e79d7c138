//! The credential of a request: added at the last moment, and taken out of the response.

use connections::{
    CredentialSource, EgressPermit, Refusal, RefusalCode,
    app_secrets::headers::SecretHeader,
    auth::Auth,
    auth::MIN_SECRET_BYTES,
    connection::Connection,
    injection::inject,
    outbound::{OpenedCredential, SecretSource},
    scrub::Scrubber,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

/// Bytes of a secret above which its forms are put together on another thread.
const MAX_INLINE_SECRET: usize = 2 << 10;

/// The credential that a request carries besides what the app gave.
pub(crate) enum Carried<'a> {
    /// Nothing.
    Nothing,
    /// A connection's credential, which is opened with the first address that may be dialled.
    Sealed(&'a dyn CredentialSource),
    /// A connection's opened credential, and the search for it.
    Opened(OpenedCredential, Scrubber),
    /// Secrets of the app, which are opened likewise.
    SealedHeaders(&'a [SecretHeader], &'a dyn SecretSource),
    /// The headers with opened secrets of the app, and the search for them.
    OpenedHeaders(Vec<(HeaderName, HeaderValue)>, Scrubber),
}

impl Carried<'_> {
    /// Returns `true` for a request that carries a secret.
    pub(crate) fn is_secret(&self, permit: &EgressPermit) -> bool {
        match self {
            Self::Nothing => false,
            Self::Sealed(_) | Self::Opened(..) => {
                permit.credential_of().is_none_or(|connection| connection.http.auth.needs_secret())
            }
            Self::SealedHeaders(..) | Self::OpenedHeaders(..) => true,
        }
    }

    /// Takes the search for the credential that was sent.
    pub(crate) fn take_scrubber(&mut self) -> Option<Scrubber> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Opened(_, scrubber) | Self::OpenedHeaders(_, scrubber) => Some(scrubber),
            Self::Nothing | Self::Sealed(_) | Self::SealedHeaders(..) => None,
        }
    }

    /// Adds the credential to the headers of a request, and returns its URL, with the credential if that is its place.
    pub(crate) async fn complete(
        &mut self,
        permit: &EgressPermit,
        headers: &mut HeaderMap,
    ) -> Result<Url, Refusal> {
        if let Self::Sealed(source) = self {
            let policy = permit.connection_policy().ok_or_else(|| unusable(None))?;
            let opened = source.open(policy).await?;
            let scrubber = scrubber_of(&policy.connection, opened.clone()).await?;
            *self = Self::Opened(opened, scrubber);
        }
        if let Self::SealedHeaders(wanted, source) = self {
            let (opened, scrubber) = open_headers(wanted, *source).await?;
            *self = Self::OpenedHeaders(opened, scrubber);
        }
        if let Self::OpenedHeaders(opened, _) = self {
            headers.extend(opened.iter().map(|(name, value)| (Some(name.clone()), value.clone())));
        }
        let Self::Opened(opened, _) = self else { return Ok(permit.url().clone()) };
        let failed = || unusable(permit.credential_of());
        let injection = inject(permit, opened.as_credential()).map_err(|error| {
            // The error never repeats the secret.
            tracing::warn!(connection = ?permit.connection(), %error, "cannot add the credential of a connection");
            failed()
        })?;
        let url = match injection.url.expose_secret() {
            same if same == permit.url().as_str() => permit.url().clone(),
            other => {
                let other = Url::parse(other).map_err(|_| failed())?;
                if other.origin() != permit.url().origin() {
                    return Err(failed());
                }
                other
            }
        };
        for (name, value) in &injection.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| failed())?;
            let mut value =
                HeaderValue::from_bytes(value.expose_secret().as_bytes()).map_err(|_| failed())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(url)
    }
}

/// Returns headers with the secrets of the app, and the search for these.
async fn open_headers(
    wanted: &[SecretHeader],
    source: &dyn SecretSource,
) -> Result<(Vec<(HeaderName, HeaderValue)>, Scrubber), Refusal> {
    let mut headers = Vec::with_capacity(wanted.len());
    let mut texts = Vec::with_capacity(wanted.len());
    for SecretHeader { header, prefix, secret } in wanted {
        let opened = source.open_secret(secret).await?;
        let failed = || {
            let message = format!("the secret {secret} cannot be sent in the header {header}");
            Refusal::new(RefusalCode::SecretUnavailable, message)
        };
        let whole = SecretString::from(format!("{prefix}{}", opened.expose_secret()));
        let name = HeaderName::from_bytes(header.as_bytes()).map_err(|_| failed())?;
        let mut value = HeaderValue::from_bytes(whole.expose_secret().as_bytes()).map_err(|_| failed())?;
        value.set_sensitive(true);
        headers.push((name, value));
        // A secret that is searched for by itself is found beside whatever stands before it.
        texts.push(if opened.expose_secret().len() < MIN_SECRET_BYTES { whole } else { opened });
    }
    let length: usize = texts.iter().map(|text| text.expose_secret().len()).sum();
    let built = if length <= MAX_INLINE_SECRET {
        Scrubber::new(&texts).ok()
    } else {
        tokio::task::spawn_blocking(move || Scrubber::new(&texts).ok()).await.ok().flatten()
    };
    let scrubber = built.ok_or_else(|| {
        Refusal::new(RefusalCode::SecretUnavailable, "the secrets are too long to be searched for")
    })?;
    Ok((headers, scrubber))
}

/// Returns the search for all that requests with this credential carry.
async fn scrubber_of(connection: &Connection, opened: OpenedCredential) -> Result<Scrubber, Refusal> {
    let length = match &opened {
        OpenedCredential::None => 0,
        OpenedCredential::Secret(secret) | OpenedCredential::AccessToken(secret) => {
            secret.expose_secret().len()
        }
    };
    let built = if length <= MAX_INLINE_SECRET {
        build(&connection.http.auth, opened)
    } else {
        let auth = connection.http.auth.clone();
        tokio::task::spawn_blocking(move || build(&auth, opened)).await.ok().flatten()
    };
    built.ok_or_else(|| unusable(Some(connection)))
}

fn build(auth: &Auth, opened: OpenedCredential) -> Option<Scrubber> {
    match opened {
        OpenedCredential::None => Scrubber::for_connection(auth, None, &[]),
        OpenedCredential::Secret(secret) => Scrubber::for_connection(auth, Some(&secret), &[]),
        OpenedCredential::AccessToken(token) => Scrubber::for_connection(auth, None, &[token]),
    }
    .ok()
}

fn unusable(connection: Option<&Connection>) -> Refusal {
    let name = connection.map_or("", |connection| connection.display_name.as_str());
    let message = format!("the credential of the connection {name} cannot be used");
    Refusal::new(RefusalCode::SecretUnavailable, message)
}
