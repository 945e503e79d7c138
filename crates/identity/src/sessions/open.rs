//! Opening a session for somebody who proved who they are.

use kernel::{
    Context, StoreError,
    id::{SessionId, WorkspaceId},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{LIFETIME, MAX_SESSIONS, Session, SignInMethod};
use crate::{IdentityTx, User};

/// A fresh session and the secret for its cookie, which is kept nowhere else.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// Whose it is.
    pub user: User,
    /// What the cookie holds.
    pub secret: SecretString,
}

/// The browser in which somebody signs in.
#[derive(Debug, Clone, Default)]
pub struct SignInClient {
    /// What it is, as [`super::describe_user_agent`] names it.
    pub device: Option<String>,
    /// The session that the browser had until now: it ends.
    pub replaced_session: Option<SessionId>,
}

/// Opens a session. Its secret is always new, so one planted in the browser beforehand is worth nothing.
///
/// # Errors
/// What the store says.
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
        let mut entry = ctx.audit_entry("session.end").target(ended);
        entry.actor = user.id.to_string();
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
        // A passkey proves as much as stepping up does.
        stepped_up_at: (method == SignInMethod::Passkey).then_some(ctx.now),
        client_ip: ctx.client_ip,
        device: client.device.clone(),
        last_seen_at: ctx.now,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
    };
    tx.insert_session(&session, &peppers.digest(secret.expose_secret())).await?;
    let mut entry = ctx
        .audit_entry("session.create")
        .target(session.id)
        .detail(serde_json::json!({ "method": method.as_str() }));
    entry.actor = user.id.to_string();
    tx.audit(entry);
    Ok(OpenedSession { session, user, secret })
}
