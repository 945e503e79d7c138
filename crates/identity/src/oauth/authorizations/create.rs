//! Creating an authorization for a client's request.

use kernel::{Context, StoreError};

use super::{Authorization, AuthorizationStage, LIFETIME};
use crate::oauth::{AgentAccess, Client, OAuthTx, pkce::CodeChallenge, redirect::RedirectUri};

/// A client's request after validation.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    /// Redirect URI, which is one of the client's.
    pub redirect_uri: RedirectUri,
    /// Parameter `state`, which the response repeats.
    pub state: Option<String>,
    /// PKCE challenge that the exchange of the code must meet.
    pub challenge: CodeChallenge,
    /// Resource that the tokens will be valid for.
    pub audience: String,
    /// Requested access.
    pub requested: AgentAccess,
}

/// Stores a client's request for a person to decide within [`LIFETIME`].
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    client: &Client,
    request: AuthorizationRequest,
) -> Result<Authorization, StoreError> {
    let authorization = Authorization {
        id: ctx.new_id(),
        client: client.snapshot.clone(),
        homepage_host: client.homepage_host.clone(),
        redirect_uri: request.redirect_uri,
        state: request.state,
        challenge: request.challenge,
        audience: request.audience,
        requested: request.requested,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
        stage: AuthorizationStage::Pending,
    };
    tx.insert_authorization(&authorization).await?;
    let detail = serde_json::json!({ "client": authorization.client.id, "access": authorization.requested });
    tx.audit(ctx.audit_entry("authorization.create").target(authorization.id).detail(detail));
    Ok(authorization)
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::testing::{
        FakeStore,
        agents::{AUDIENCE, CLIENT_ID, authorization_request, client},
        visitor,
    };

    #[tokio::test]
    async fn a_request_is_kept_as_it_was_made() {
        let (mut store, request) = (FakeStore::default(), authorization_request(AgentAccess::Write));
        let created = create_authorization(&mut store, &visitor(), &client(), request.clone()).await.unwrap();

        let expected = Authorization {
            id: created.id,
            client: client().snapshot,
            homepage_host: client().homepage_host,
            redirect_uri: request.redirect_uri,
            state: request.state,
            challenge: request.challenge,
            audience: AUDIENCE.to_owned(),
            requested: AgentAccess::Write,
            created_at: at(0),
            expires_at: at(600_000),
            stage: AuthorizationStage::Pending,
        };
        assert_eq!(created, expected);
        assert_eq!(store.authorizations, [(expected, None)]);
        store.assert_audited(&[("authorization.create", &"visitor", &created.id)]);
        let detail = json!({ "client": CLIENT_ID, "access": "write" });
        assert_eq!(store.work.audit[0].detail, Some(detail));
        store.assert_not_audited(&["xyz"]);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (mut store, request) = (FakeStore::unavailable(), authorization_request(AgentAccess::Read));
        let failed = create_authorization(&mut store, &visitor(), &client(), request).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
        assert!(store.work.audit.is_empty());
    }
}
