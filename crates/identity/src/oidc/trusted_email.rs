//! The e-mail address by which an issuer may identify a person.

use super::{EmailVerified, IdTokenClaims, Provider};
use crate::{Email, IdentityError};

/// Returns the address by which an issuer may identify a person.
///
/// The issuer must have verified it. If the claim `email_verified` is absent, the address must be of one of the
/// provider's trusted domains. An address that the issuer declares unverified is refused whatever its domain.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] if there is no such address.
pub fn trusted_email(provider: &Provider, claims: &IdTokenClaims) -> Result<Email, IdentityError> {
    let text = claims.email.as_deref().ok_or(IdentityError::EmailNotTrusted)?;
    let email: Email = text.parse().map_err(|_| IdentityError::EmailNotTrusted)?;
    // Both sides are normalized: the operator may have written an internationalized domain in its own script.
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
