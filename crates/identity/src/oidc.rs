//! Sign-in with another issuer (OpenID Connect Core 1.0, authorization code with PKCE).

use async_trait::async_trait;
use kernel::{Context, token::Peppers};
use secrecy::SecretString;

use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{Arrival, Opened, SignInMethod, open_session},
    sign_in::find_or_add_user,
};

/// An issuer that the operator has set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in addresses: lower-case letters, digits and dashes.
    pub name: String,
    /// What people are shown.
    pub title: String,
    /// Domains whose addresses it is believed about, also when it does not say that they are verified.
    pub trusted_domains: Vec<String>,
}

/// What ties the answer of an issuer to the browser that asked. It stays in that browser, sealed.
#[derive(Debug)]
pub struct Ties {
    /// Comes back in the answer's address.
    pub state: SecretString,
    /// Comes back in the issuer's signed word.
    pub nonce: SecretString,
    /// Proves to the issuer that it is us who asked (RFC 7636).
    pub verifier: SecretString,
}

/// What an issuer says of a person, its signature checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The issuer.
    pub issuer: String,
    /// Its name for the person, which stays.
    pub subject: String,
    /// Their address.
    pub email: Option<String>,
    /// Whether the issuer says that the address is theirs.
    pub email_verified: bool,
    /// Their name.
    pub name: Option<String>,
}

/// Why an issuer was of no help. The text may go into the log.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// It cannot be reached, or does not speak as it should.
    #[error("the issuer does not answer as it should: {0}")]
    Unreachable(String),
    /// What came back does not hold.
    #[error("the issuer's answer was refused: {0}")]
    Refused(String),
}

/// The issuers the operator has set up.
#[async_trait]
pub trait Issuers: Send + Sync {
    /// All of them, in the operator's order.
    fn providers(&self) -> &[Provider];

    /// Where the browser goes to sign in at an issuer.
    ///
    /// # Errors
    /// When the issuer cannot be asked how.
    async fn begin(&self, provider: &str, redirect_uri: &str, ties: &Ties) -> Result<String, IssuerError>;

    /// Exchanges the code that the browser came back with for the issuer's word.
    ///
    /// # Errors
    /// When the issuer refuses, or its word does not hold.
    async fn finish(
        &self,
        provider: &str,
        redirect_uri: &str,
        code: &SecretString,
        ties: &Ties,
    ) -> Result<Claims, IssuerError>;
}

/// The address that a provider is believed about.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] when there is none, or the provider does not vouch for it.
pub fn trusted_email(provider: &Provider, claims: &Claims) -> Result<Email, IdentityError> {
    let text = claims.email.as_deref().ok_or(IdentityError::EmailNotTrusted)?;
    let email: Email = text.parse().map_err(|_| IdentityError::EmailNotTrusted)?;
    let domain = email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
    let trusted = provider.trusted_domains.iter().any(|trusted| trusted.eq_ignore_ascii_case(domain));
    if claims.email_verified || trusted { Ok(email) } else { Err(IdentityError::EmailNotTrusted) }
}

/// Opens a session for the person of whom an issuer speaks. Whoever came from it before is known by its name for them,
/// whatever became of their address; whoever comes for the first time, by their address.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] when they come for the first time and the provider is not believed about the
/// address, or what the store says.
pub async fn oidc_sign_in<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    (provider, claims): (&Provider, &Claims),
    arrival: &Arrival,
) -> Result<Opened, IdentityError> {
    let known = tx.user_by_identity(&claims.issuer, &claims.subject).await?;
    let user = match known {
        Some(user) => user,
        None => {
            let email = trusted_email(provider, claims)?;
            // A name that we would not take from a person is not taken from an issuer.
            let name = claims.name.as_deref().filter(|name| {
                (1..=120).contains(&name.trim().chars().count()) && !name.chars().any(char::is_control)
            });
            let user = find_or_add_user(tx, ctx, &email, name).await?;
            tx.insert_identity(&claims.issuer, &claims.subject, user.id, ctx.now).await?;
            let mut entry = ctx.audit("identity.link").target(user.id);
            entry.actor = user.id.to_string();
            tx.audit(entry.detail(serde_json::json!({ "provider": provider.name })));
            user
        }
    };
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Oidc, arrival).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_believed_when_it_is_verified_or_the_providers_own() {
        let provider = Provider {
            name: "company".to_owned(),
            title: "Company".to_owned(),
            trusted_domains: vec!["example.com".to_owned()],
        };
        let claims = |email: Option<&str>, email_verified| Claims {
            issuer: "https://id.example.com".to_owned(),
            subject: "1".to_owned(),
            email: email.map(str::to_owned),
            email_verified,
            name: None,
        };
        let trusted = |email, verified| trusted_email(&provider, &claims(email, verified)).is_ok();
        assert!(trusted(Some("a@other.test"), true));
        assert!(trusted(Some("a@example.com"), false) && trusted(Some("A@EXAMPLE.com"), false));
        for email in [
            None,
            Some("a@other.test"),
            Some("a@sub.example.com"),
            Some("a@example.com.evil.test"),
            Some("example.com"),
        ] {
            assert!(!trusted(email, false), "{email:?}");
        }
    }
}
