//! Starting an authorization in a browser (RFC 6749, section 4.1, with PKCE, RFC 7636).

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{
    Context, Randomness,
    authority::Admin,
    id::{ConnectionId, WorkspaceId},
};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{ConnectionError, ConnectionReader};
use crate::{
    connection::check_display_name,
    oauth_apps::{OauthApps, find_oauth_connector},
};

const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Characters of a secret: 256 bits, and the minimum length of a verifier (RFC 7636, section 4.1).
const SECRET_LEN: usize = 43;

/// A connection that a person wants to authorize, not yet validated.
#[derive(Debug, Clone)]
pub struct AuthorizationInput {
    /// Display name; 1 to 60 characters.
    pub display_name: String,
    /// Values of the entry's fields.
    pub values: BTreeMap<String, String>,
    /// Connection to connect again; none for a new one.
    pub connection: Option<ConnectionId>,
}

/// An authorization that was started. The browser that started it keeps it, sealed.
#[derive(Debug, Clone)]
pub struct PendingAuthorization {
    /// Workspace of the connection.
    pub workspace: WorkspaceId,
    /// Connector.
    pub connector: String,
    /// Display name.
    pub display_name: String,
    /// Checked values of the entry's fields.
    pub values: BTreeMap<String, String>,
    /// Connection to connect again; none for a new one.
    pub connection: Option<ConnectionId>,
    /// Parameter `state`, which the redirect back repeats.
    pub state: SecretString,
    /// PKCE code verifier.
    pub verifier: SecretString,
}

/// Starts an authorization; returns it, and the URL at which the person allows access.
///
/// # Errors
/// * [`ConnectionError::UnknownConnector`] when the catalogue has no such connector
/// * [`ConnectionError::NotAuthorizable`] when the connector is connected with a secret
/// * [`ConnectionError::NoOauthApp`] when the operator has registered no OAuth app for it
/// * [`ConnectionError::NotFound`] when the workspace has no such connection of this connector
/// * [`ConnectionError::InvalidInput`] when a field is refused
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_authorization(
    reader: &dyn ConnectionReader,
    ctx: &Context,
    admin: &Admin,
    apps: &OauthApps,
    (connector, redirect_uri): (&str, &str),
    input: AuthorizationInput,
) -> Result<(PendingAuthorization, Url), ConnectionError> {
    let Some((entry, oauth)) = find_oauth_connector(connector) else {
        let is_known = crate::catalogue::find_connector(connector).is_some_and(|entry| entry.http.is_some());
        return Err(if is_known {
            ConnectionError::NotAuthorizable
        } else {
            ConnectionError::UnknownConnector
        });
    };
    let app = apps.get(connector).ok_or(ConnectionError::NoOauthApp)?;
    let display_name = check_display_name(&input.display_name)?;
    let values = entry.check_values(&input.values)?;
    entry.http_connection(&values, None, None)?;
    if let Some(id) = input.connection {
        let found = reader.find_connection(admin.workspace(), id).await?;
        found.filter(|found| found.connector == connector).ok_or(ConnectionError::NotFound)?;
    }
    let pending = PendingAuthorization {
        workspace: admin.workspace(),
        connector: connector.to_owned(),
        display_name,
        values,
        connection: input.connection,
        state: secret(ctx.random()),
        verifier: secret(ctx.random()),
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(pending.verifier.expose_secret()));
    let mut url = app.authorize_url.clone();
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &app.client_id)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("scope", &oauth.scopes.join(" "))
        .append_pair("state", pending.state.expose_secret())
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256");
    for (name, value) in &oauth.parameters {
        query.append_pair(name, value);
    }
    drop(query);
    Ok((pending, url))
}

fn secret(random: &dyn Randomness) -> SecretString {
    SecretString::from(random.string(CHARACTERS, SECRET_LEN))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use kernel::testing::id;

    use super::*;
    use crate::testing::{FakeStore, admin, http_connection, oauth_apps, request};

    async fn start(
        connector: &str,
        connection: Option<ConnectionId>,
    ) -> Result<(PendingAuthorization, Url), ConnectionError> {
        let mut known = http_connection(1, "https://gmail.googleapis.com");
        known.connector = "gmail".to_owned();
        let other = http_connection(2, "https://a.example");
        let store = FakeStore { connections: vec![known, other], ..FakeStore::default() };
        let ctx = request();
        let input =
            AuthorizationInput { display_name: "Mail".to_owned(), values: BTreeMap::new(), connection };
        let place = (connector, "https://qala.example/v1/connectors/callback");
        start_authorization(&store, &ctx, &admin(&ctx), &oauth_apps(), place, input).await
    }

    #[tokio::test]
    async fn the_url_has_the_challenge_and_never_the_verifier() {
        let (pending, url) = start("gmail", None).await.unwrap();
        let query: HashMap<_, _> = url.query_pairs().into_owned().collect();
        assert_eq!(url.host_str(), Some("auth.example"));
        assert_eq!(query["response_type"], "code");
        assert_eq!(query["client_id"], "client-1");
        assert_eq!(query["redirect_uri"], "https://qala.example/v1/connectors/callback");
        assert_eq!(query["access_type"], "offline");
        assert_eq!(query["state"], pending.state.expose_secret());
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(pending.verifier.expose_secret()));
        assert_eq!((&query["code_challenge"], query["code_challenge_method"].as_str()), (&challenge, "S256"));
        assert!(!url.as_str().contains(pending.verifier.expose_secret()));
        assert_ne!(pending.state.expose_secret(), pending.verifier.expose_secret());
    }

    #[tokio::test]
    async fn what_cannot_be_authorized_is_refused() {
        assert!(start("gmail", Some(id(1))).await.is_ok());
        for (connector, connection, expected) in [
            ("nothing", None, "there is no such connector"),
            ("http", None, "there is no such connector"),
            ("github", None, "the connector is connected with a secret"),
            ("google_drive", None, "the operator has registered no OAuth app for the connector"),
            ("gmail", Some(id(2)), "the workspace has no such connection"),
            ("gmail", Some(id(3)), "the workspace has no such connection"),
        ] {
            let refused = start(connector, connection).await.unwrap_err();
            assert_eq!(refused.to_string(), expected, "{connector}");
        }
    }
}
