//! Opening a session for a person who proved who they are.

use kernel::{
    Actor, Context, StoreError,
    id::{SessionId, WorkspaceId},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{LIFETIME, MAX_SESSIONS, Session, SignInMethod};
use crate::{IdentityTx, User};

/// A new session and the secret for its cookie.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// Person who signed in.
    pub user: User,
    /// Value of the cookie; only its digest is stored.
    pub secret: SecretString,
}

/// Browser in which a person signs in.
#[derive(Debug, Clone, Default)]
pub struct SignInClient {
    /// Browser and system, as [`super::describe_user_agent`] names them.
    pub device: Option<String>,
    /// Session that the browser had until now; it ends.
    pub replaced_session: Option<SessionId>,
}

/// Opens a session. Its secret is always new, so a secret planted in the browser beforehand is worthless (session
/// fixation).
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn open_session(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    user: User,
    workspace: Option<WorkspaceId>,
    method: SignInMethod,
    client: &SignInClient,
) -> Result<OpenedSession, StoreError> {
    if let Some(old) = client.replaced_session {
        super::end_session(tx, ctx, old).await?;
    }
    for ended in tx.delete_oldest_sessions_of(user.id, MAX_SESSIONS - 1).await? {
        let entry = ctx.audit_entry("session.end").actor(Actor::Person(user.id)).target(ended);
        tx.audit(entry.detail(serde_json::json!({ "because": "too_many" })));
    }
    let secret = token::mint(TokenKind::Session, ctx.random());
    let session = Session {
        id: ctx.new_id(),
        user: user.id,
        workspace,
        is_dev_login: method == SignInMethod::Dev,
        method,
        authenticated_at: ctx.now,
        // Signing in with a passkey proves as much as stepping up with it.
        stepped_up_at: (method == SignInMethod::Passkey).then_some(ctx.now),
        client_ip: ctx.client_ip,
        device: client.device.clone(),
        last_seen_at: ctx.now,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
    };
    tx.insert_session(&session, &peppers.digest(secret.expose_secret())).await?;
    let entry = ctx
        .audit_entry("session.create")
        .actor(Actor::Person(user.id))
        .target(session.id)
        .detail(serde_json::json!({ "method": method.as_str() }));
    tx.audit(entry);
    Ok(OpenedSession { session, user, secret })
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::testing::{at, id};
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, aru, bek, peppers, session, visitor, workspace};

    async fn open(store: &mut FakeStore, method: SignInMethod, client: &SignInClient) -> OpenedSession {
        let (ctx, workspace) = (visitor(), Some(workspace()));
        open_session(store, &ctx, &peppers(), aru(), workspace, method, client).await.unwrap()
    }

    #[tokio::test]
    async fn a_session_is_stored_under_the_digest_of_its_secret() {
        let mut store = FakeStore::default();
        let client = SignInClient { device: Some("Firefox on Linux".to_owned()), replaced_session: None };
        let opened = open(&mut store, SignInMethod::Email, &client).await;
        let secret = opened.secret.expose_secret();

        assert_eq!(token::detect_kind(secret), Some(TokenKind::Session));
        assert_eq!(store.sessions, [(opened.session.clone(), peppers().digest(secret))]);
        assert_eq!((opened.user, opened.session.user), (aru(), aru().id));
        assert_eq!(opened.session.workspace, Some(workspace()));
        assert_eq!(opened.session.device.as_deref(), Some("Firefox on Linux"));
        assert_eq!(opened.session.expires_at, at(0) + TimeDelta::days(30));
        assert_eq!((opened.session.is_dev_login, opened.session.stepped_up_at), (false, None));
        store.assert_audited(&[("session.create", &aru().id, &opened.session.id)]);
        assert_eq!(store.work.audit[0].detail, Some(json!({ "method": "email" })));
        store.assert_not_audited(&[secret]);
    }

    #[tokio::test]
    async fn only_a_passkey_steps_up_and_only_the_development_sign_in_is_marked() {
        for (method, is_dev_login, stepped_up_at) in [
            (SignInMethod::Email, false, None),
            (SignInMethod::Oidc, false, None),
            (SignInMethod::Dev, true, None),
            (SignInMethod::Passkey, false, Some(at(0))),
        ] {
            let session = open(&mut FakeStore::default(), method, &SignInClient::default()).await.session;
            assert_eq!(session.method, method);
            assert_eq!((session.is_dev_login, session.stepped_up_at), (is_dev_login, stepped_up_at));
        }
    }

    #[tokio::test]
    async fn the_session_that_the_browser_had_ends() {
        let mut store = FakeStore {
            sessions: vec![(session(1, &bek(), at(0)), peppers().digest("old"))],
            ..FakeStore::default()
        };
        let client = SignInClient { device: None, replaced_session: Some(id(1)) };
        let opened = open(&mut store, SignInMethod::Email, &client).await;

        assert_eq!(store.sessions.len(), 1);
        assert_eq!(store.sessions[0].0.id, opened.session.id);
        assert_eq!(store.work.audited_actions(), ["session.end", "session.create"]);
    }

    #[tokio::test]
    async fn the_session_seen_least_recently_ends_when_there_are_too_many() {
        let mut store = FakeStore::default();
        let digest = peppers().digest("old");
        store.sessions.push((session(999, &bek(), at(-1_000)), digest));
        store.sessions.extend((0..100).map(|number| {
            let session = session(number + 1, &aru(), at(-100 + i64::try_from(number).unwrap()));
            (session, digest)
        }));
        let seen_again = &mut store.sessions[1].0;
        seen_again.last_seen_at = at(-1);
        let opened = open(&mut store, SignInMethod::Email, &SignInClient::default()).await;

        let kept: Vec<_> = store.sessions.iter().map(|(session, _)| session.id).collect();
        assert_eq!(kept.len(), 101, "100 of Aru, one of Bek");
        assert!(kept.contains(&id(1)) && !kept.contains(&id(2)) && kept.contains(&id(999)));
        let ended: SessionId = id(2);
        store.assert_audited(&[
            ("session.end", &aru().id, &ended),
            ("session.create", &aru().id, &opened.session.id),
        ]);
        assert_eq!(store.work.audit[0].detail, Some(json!({ "because": "too_many" })));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (mut store, client) = (FakeStore::unavailable(), SignInClient::default());
        let (ctx, method) = (visitor(), SignInMethod::Email);
        let refused = open_session(&mut store, &ctx, &peppers(), aru(), None, method, &client).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))));
        assert!(store.work.audit.is_empty());
    }
}
