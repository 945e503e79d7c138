//! Sign-in with another issuer (OpenID Connect Core 1.0, authorization code with PKCE).

use async_trait::async_trait;
use kernel::{Context, token::Peppers};
use secrecy::SecretString;

use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    sign_in::find_or_create_user,
};

/// An issuer that the operator has set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in addresses: lower-case letters, digits and dashes.
    pub name: String,
    /// What people are shown.
    pub title: String,
    /// Domains whose addresses are accepted when the issuer does not say whether they are verified.
    pub trusted_domains: Vec<String>,
}

/// What ties the answer of an issuer to the browser that asked. It stays in that browser, sealed.
#[derive(Debug)]
pub struct AuthRequestState {
    /// Comes back in the answer's address.
    pub state: SecretString,
    /// Comes back in the issuer's signed word.
    pub nonce: SecretString,
    /// Proves to the issuer that it is us who asked (RFC 7636).
    pub verifier: SecretString,
}

/// What an issuer sends a browser back with.
#[derive(Debug)]
pub struct CallbackParams {
    /// What the issuer's word is exchanged for.
    pub code: SecretString,
    /// Who the issuer says it is (RFC 9207).
    pub issuer: Option<String>,
}

/// The claim `email_verified` (OpenID Connect Core 1.0 §5.1). An issuer that leaves it out says something else than one
/// that denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailVerified {
    /// `true`: the issuer has checked that the address is the person's.
    Yes,
    /// `false`: it has not. Whoever signs in may have made the address up.
    No,
    /// The claim is absent.
    Absent,
}

impl From<Option<bool>> for EmailVerified {
    fn from(claim: Option<bool>) -> Self {
        match claim {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Absent,
        }
    }
}

/// What an issuer says of a person, its signature checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// The issuer.
    pub issuer: String,
    /// Its name for the person, which stays.
    pub subject: String,
    /// Their address.
    pub email: Option<String>,
    /// What the issuer says of whether the address is theirs.
    pub email_verified: EmailVerified,
    /// Their name.
    pub name: Option<String>,
}

/// Why an issuer was of no help. The text may go into the log.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// It cannot be reached, or does not speak as it should.
    #[error("the issuer does not answer as it should: {0}")]
    Unreachable(String),
    /// What came back does not hold.
    #[error("the issuer's answer was refused: {0}")]
    Refused(String),
}

/// The issuers the operator has set up.
#[async_trait]
pub trait OidcProviders: Send + Sync {
    /// All of them, in the operator's order.
    fn providers(&self) -> &[Provider];

    /// Where the browser goes to sign in at an issuer.
    ///
    /// # Errors
    /// When the issuer cannot be asked how.
    async fn authorization_url(
        &self,
        provider: &str,
        redirect_uri: &str,
        request_state: &AuthRequestState,
    ) -> Result<String, OidcError>;

    /// Exchanges what the browser came back with for the issuer's word.
    ///
    /// # Errors
    /// When the issuer refuses, or its word does not hold.
    async fn exchange_code(
        &self,
        provider: &str,
        redirect_uri: &str,
        callback: &CallbackParams,
        request_state: &AuthRequestState,
    ) -> Result<IdTokenClaims, OidcError>;
}

/// The address by which a provider may find a person.
///
/// It must be verified. Where the provider does not say, it must be of one of its trusted domains; where it says that
/// the address is not verified, no domain makes up for that.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] when there is no such address.
pub fn trusted_email(provider: &Provider, claims: &IdTokenClaims) -> Result<Email, IdentityError> {
    let text = claims.email.as_deref().ok_or(IdentityError::EmailNotTrusted)?;
    let email: Email = text.parse().map_err(|_| IdentityError::EmailNotTrusted)?;
    // Both sides are folded alike: the domain may stand in the operator's file in its own script.
    let domain = |address: &str| address.rsplit_once('@').map(|(_, domain)| domain.to_owned());
    let own = domain(email.as_str());
    let mut listed = provider.trusted_domains.iter().filter_map(|trusted| {
        kernel::email_address::normalize(&format!("a@{}", trusted.trim())).as_deref().and_then(domain)
    });
    let trusted = listed.any(|trusted| Some(trusted) == own);
    match claims.email_verified {
        EmailVerified::Yes => Ok(email),
        EmailVerified::Absent if trusted => Ok(email),
        EmailVerified::Absent | EmailVerified::No => Err(IdentityError::EmailNotTrusted),
    }
}

/// Opens a session for the person of whom an issuer speaks. Whoever came from it before is known by its name for them,
/// whatever became of their address; whoever comes for the first time, by their address.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] when they come for the first time and [`trusted_email`] refuses the address, or
/// what the store says.
pub async fn oidc_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    (provider, claims): (&Provider, &IdTokenClaims),
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    let known = tx.find_user_by_identity(&claims.issuer, &claims.subject).await?;
    let user = match known {
        Some(user) => user,
        None => {
            let email = trusted_email(provider, claims)?;
            // A name that we would not take from a person is not taken from an issuer.
            let name = claims.name.as_deref().filter(|name| {
                (1..=120).contains(&name.trim().chars().count()) && !name.chars().any(char::is_control)
            });
            let user = find_or_create_user(tx, ctx, &email, name).await?;
            tx.insert_identity(&claims.issuer, &claims.subject, user.id, ctx.now).await?;
            let mut entry = ctx.audit_entry("identity.link").target(user.id);
            entry.actor = user.id.to_string();
            tx.audit(entry.detail(serde_json::json!({ "provider": provider.name })));
            user
        }
    };
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Oidc, client).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> Provider {
        Provider {
            name: "company".to_owned(),
            title: "Company".to_owned(),
            trusted_domains: vec!["Example.com".to_owned(), "почта.рф".to_owned()],
        }
    }

    fn trusted(email: Option<&str>, email_verified: EmailVerified) -> bool {
        let claims = IdTokenClaims {
            issuer: "https://id.example.com".to_owned(),
            subject: "1".to_owned(),
            email: email.map(str::to_owned),
            email_verified,
            name: None,
        };
        trusted_email(&provider(), &claims).is_ok()
    }

    #[test]
    fn an_address_is_accepted_when_it_is_verified_or_of_a_trusted_domain() {
        use EmailVerified::{Absent, No, Yes};
        assert!(trusted(Some("a@other.test"), Yes));
        assert!(trusted(Some("a@example.com"), Absent) && trusted(Some("A@EXAMPLE.com"), Absent));
        assert!(trusted(Some("a@почта.рф"), Absent) && trusted(Some("a@xn--80a1acny.xn--p1ai"), Absent));
        for email in [
            None,
            Some("a@other.test"),
            Some("a@sub.example.com"),
            Some("a@example.com.evil.test"),
            Some("example.com"),
        ] {
            assert!(!trusted(email, Absent), "{email:?}");
            assert!(!trusted(email, No), "{email:?}");
        }
    }

    #[test]
    fn an_address_that_the_issuer_denies_is_never_accepted() {
        for email in ["a@example.com", "A@EXAMPLE.COM", "a@other.test"] {
            assert!(!trusted(Some(email), EmailVerified::No), "{email}");
        }
    }
}
