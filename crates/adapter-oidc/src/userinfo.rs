//! The userinfo endpoint (OpenID Connect Core 1.0, section 5.3), for an address that the ID token lacks.

use http::HeaderValue;
use identity::oidc::{EmailVerified, IdTokenClaims, OidcError};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use url::Url;

use crate::{
    claims,
    client::{Document, IssuerHttpClient},
    metadata::Metadata,
};

/// Adds the address, whether it is verified, and the name to claims that lack an address or do not say whether it is
/// verified. Claims of the scope `email` come from the userinfo endpoint when an access token is issued (section 5.4).
///
/// Without a usable response the claims stay as they are: a person who is known by their subject needs no address, and
/// whether the one of the ID token is trusted does not depend on the endpoint.
///
/// # Errors
/// [`OidcError::Refused`] if the response is about another person.
pub(crate) async fn complete(
    http: &IssuerHttpClient,
    metadata: &Metadata,
    access_token: Option<&SecretString>,
    found: IdTokenClaims,
) -> Result<IdTokenClaims, OidcError> {
    let is_complete = found.email.is_some() && found.email_verified != EmailVerified::Absent;
    let (Some(endpoint), Some(token), false) = (&metadata.userinfo_endpoint, access_token, is_complete)
    else {
        return Ok(found);
    };
    match request(http, endpoint, token).await {
        Ok(more) => merge(found, &more),
        Err(reason) => {
            warn_unusable(&reason);
            Ok(found)
        }
    }
}

fn warn_unusable(reason: &OidcError) {
    tracing::warn!(%reason, "the userinfo response of an issuer is not used");
}

async fn request(
    http: &IssuerHttpClient,
    endpoint: &Url,
    token: &SecretString,
) -> Result<Map<String, Value>, OidcError> {
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
        .map_err(|_| OidcError::Refused("the access token is malformed".to_owned()))?;
    authorization.set_sensitive(true);
    let document = Document { name: "userinfo endpoint", url: endpoint };
    let response = http.get(document, Some(authorization)).await?;
    response.check_status()?;
    response.object()
}

/// Merges claims about the same person. What is malformed is left out.
fn merge(found: IdTokenClaims, more: &Map<String, Value>) -> Result<IdTokenClaims, OidcError> {
    match claims::subject(more) {
        Ok(subject) if subject == found.subject => {}
        // A token of another person could have been put in place of this one's (section 5.3.2).
        Ok(_) => return Err(OidcError::Refused("the userinfo response is about another person".to_owned())),
        Err(reason) => {
            warn_unusable(&reason);
            return Ok(found);
        }
    }
    let name = found.name.clone().or_else(|| claims::text(more, "name").map(str::to_owned));
    let email = claims::text(more, "email");
    let email = email.filter(|email| found.email.as_deref().is_none_or(|known| known == *email));
    // Without an address, what is said is about another one.
    let Some(email) = email else { return Ok(IdTokenClaims { name, ..found }) };
    match claims::email_verified(more) {
        Ok(email_verified) => {
            Ok(IdTokenClaims { email: Some(email.to_owned()), email_verified, name, ..found })
        }
        Err(reason) => {
            warn_unusable(&reason);
            // A trusted domain stands for a claim that is absent, and never for one that may be a denial.
            let email_verified = match claims::reads_as_verified(more) {
                true => found.email_verified,
                false => EmailVerified::No,
            };
            Ok(IdTokenClaims { email_verified, name, ..found })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merge_claims(email: Option<&str>, more: &Value) -> Result<IdTokenClaims, OidcError> {
        let found = IdTokenClaims {
            issuer: "https://id.example.com".to_owned(),
            subject: "1".to_owned(),
            email: email.map(str::to_owned),
            email_verified: EmailVerified::Absent,
            name: None,
        };
        merge(found, more.as_object().unwrap())
    }

    #[test]
    fn an_address_is_taken_with_what_is_said_about_it() {
        let more = json!({"sub": "1", "email": "a@example.com", "email_verified": true, "name": "A", "updated_at": []});
        let merged = merge_claims(None, &more).unwrap();
        assert_eq!(
            (merged.email.as_deref(), merged.email_verified),
            (Some("a@example.com"), EmailVerified::Yes)
        );
        assert_eq!(merged.name.as_deref(), Some("A"));
        let same = merge_claims(Some("a@example.com"), &more).unwrap();
        assert_eq!(same.email_verified, EmailVerified::Yes);
        let other = merge_claims(Some("b@example.com"), &more).unwrap();
        assert_eq!(
            (other.email.as_deref(), other.email_verified),
            (Some("b@example.com"), EmailVerified::Absent)
        );
    }

    #[test]
    fn claims_about_another_person_are_refused() {
        for email in [None, Some("a@example.com")] {
            let refused = merge_claims(email, &json!({"sub": "2", "email": "a@example.com"}));
            assert!(matches!(refused, Err(OidcError::Refused(_))));
        }
    }

    /// Claims whose subject cannot be read may be about anybody.
    #[test]
    fn claims_about_nobody_are_left_out() {
        for subject in [json!(""), json!("  "), json!(1), json!(null), json!(["1"]), json!("x".repeat(256))] {
            let more = json!({"sub": subject, "email": "a@example.com", "email_verified": true, "name": "A"});
            for email in [None, Some("a@example.com")] {
                let merged = merge_claims(email, &more).unwrap();
                assert_eq!(
                    (merged.email.as_deref(), merged.email_verified, merged.name),
                    (email, EmailVerified::Absent, None),
                    "{subject}"
                );
            }
        }
    }

    #[test]
    fn no_address_becomes_verified_by_a_malformed_claim() {
        for (value, expected) in [
            (json!(1), EmailVerified::Absent),
            (json!("True"), EmailVerified::Absent),
            (json!("yes"), EmailVerified::Absent),
            (json!("1"), EmailVerified::Absent),
            (json!(0), EmailVerified::No),
            (json!(2), EmailVerified::No),
            (json!(0.0), EmailVerified::No),
            (json!("False"), EmailVerified::No),
            (json!(" no "), EmailVerified::No),
            (json!("0"), EmailVerified::No),
            (json!(""), EmailVerified::No),
            (json!([true]), EmailVerified::No),
            (json!({"value": true}), EmailVerified::No),
        ] {
            let more = json!({"sub": "1", "email": "a@example.com", "email_verified": value});
            let known = merge_claims(Some("a@example.com"), &more).unwrap();
            assert_eq!(
                (known.email.as_deref(), known.email_verified),
                (Some("a@example.com"), expected),
                "{value}"
            );
            // An address that comes with it is left out.
            assert_eq!(merge_claims(None, &more).unwrap().email, None, "{value}");
            // What is said about another address decides nothing.
            let other = merge_claims(Some("b@example.com"), &more).unwrap();
            assert_eq!(other.email_verified, EmailVerified::Absent, "{value}");
        }
    }
}
