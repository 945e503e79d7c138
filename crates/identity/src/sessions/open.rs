//! Opening a session for somebody who proved who they are.

use kernel::{
    Context, StoreError,
    id::WorkspaceId,
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{LIFETIME, Session};
use crate::{IdentityTx, User};

/// A fresh session and the secret for its cookie, which is kept nowhere else.
#[derive(Debug)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// Whose it is.
    pub user: User,
    /// What the cookie holds.
    pub secret: SecretString,
}

/// Opens a session. Its secret is always new, so one planted in the browser beforehand is worth nothing.
///
/// # Errors
/// What the store says.
pub async fn open_session<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    user: User,
    workspace: Option<WorkspaceId>,
    dev_login: bool,
) -> Result<Opened, StoreError> {
    let secret = token::mint(TokenKind::Session, ctx.random());
    let session = Session {
        id: ctx.id(),
        user: user.id,
        workspace,
        dev_login,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
    };
    tx.insert_session(&session, &peppers.digest(secret.expose_secret())).await?;
    let mut entry = ctx.audit("session.create").target(session.id);
    entry.actor = user.id.to_string();
    tx.audit(entry);
    Ok(Opened { session, user, secret })
}
