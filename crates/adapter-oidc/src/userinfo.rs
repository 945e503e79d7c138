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
/// # Errors
/// [`OidcError::Refused`] if the endpoint refuses or is about another person, [`OidcError::Unreachable`] if it does not
/// respond.
pub(crate) async fn complete(
    http: &IssuerHttpClient,
    metadata: &Metadata,
    access_token: Option<&SecretString>,
    found: IdTokenClaims,
) -> Result<IdTokenClaims, OidcError> {
    let is_complete = found.email.is_some() && found.email_verified != EmailVerified::Absent;
    match (&metadata.userinfo_endpoint, access_token) {
        (Some(endpoint), Some(token)) if !is_complete => {
            match request(http, endpoint, token).await {
                Ok(more) => merge(found, &more),
                // The ID token has the address; whether it is trusted does not depend on the endpoint.
                Err(OidcError::Unreachable(reason) | OidcError::InvalidResponse(reason))
                    if found.email.is_some() =>
                {
                    tracing::warn!(reason, "the userinfo endpoint of an issuer does not respond");
                    Ok(found)
                }
                Err(error) => Err(error),
            }
        }
        _ => Ok(found),
    }
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

fn merge(found: IdTokenClaims, more: &Map<String, Value>) -> Result<IdTokenClaims, OidcError> {
    // A token of another person could have been put in place of this one's (section 5.3.2).
    if claims::subject(more)? != found.subject {
        return Err(OidcError::Refused("the userinfo response is about another person".to_owned()));
    }
    let email = claims::text(more, "email");
    let name = found.name.clone().or_else(|| claims::text(more, "name").map(str::to_owned));
    match (&found.email, email) {
        (None, Some(email)) => Ok(IdTokenClaims {
            email: Some(email.to_owned()),
            email_verified: claims::email_verified(more)?,
            name,
            ..found
        }),
        (Some(known), Some(email)) if known == email => {
            Ok(IdTokenClaims { email_verified: claims::email_verified(more)?, name, ..found })
        }
        // What it says is about another address.
        _ => Ok(IdTokenClaims { name, ..found }),
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
        for subject in [json!("2"), json!(""), json!(1), json!(null)] {
            assert!(
                merge_claims(None, &json!({"sub": subject, "email": "a@example.com"})).is_err(),
                "{subject}"
            );
        }
    }
}
