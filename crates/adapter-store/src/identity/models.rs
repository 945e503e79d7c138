//! Rows of people, sessions, sign-ins and tokens as domain values.

use ::identity::{User, sessions::Session, sessions::SignInMethod, sign_in::EmailSignIn, tokens::Token};
use kernel::{
    StoreError,
    token::{Digest, TokenHint},
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbText, DbTime},
        sessions, sign_ins, tokens, users,
    },
    error::inconsistent,
};

pub(super) fn user(model: users::Model) -> Result<User, StoreError> {
    let row = RowContext::new("users", model.id);
    Ok(User {
        id: model.id.0,
        name: model.name,
        email: row.parse(&model.email)?,
        created_at: model.created_at.0,
    })
}

impl From<sessions::Model> for Session {
    fn from(model: sessions::Model) -> Self {
        Self {
            id: model.id.0,
            user: model.user_id.0,
            workspace: model.workspace_id.map(DbId::into_inner),
            is_dev_login: model.dev_login,
            // Sessions from before this was kept began in one of two ways.
            method: match model.method {
                Some(method) => method.0,
                None if model.dev_login => SignInMethod::Dev,
                None => SignInMethod::Email,
            },
            authenticated_at: model.auth_at.unwrap_or(model.created_at).0,
            stepped_up_at: model.stepped_up_at.map(DbTime::into_inner),
            client_ip: model.address.map(DbText::into_inner),
            device: model.device,
            last_seen_at: model.last_seen_at.unwrap_or(model.created_at).0,
            created_at: model.created_at.0,
            expires_at: model.expires_at.0,
        }
    }
}

pub(super) fn sign_in(model: &sign_ins::Model) -> Result<EmailSignIn, StoreError> {
    // The key is somebody's address: the error does not repeat it.
    let error = |what: &str| inconsistent("sign_ins", "of an address", what);
    Ok(EmailSignIn {
        email: model.email.parse().map_err(|_| error("the address is invalid"))?,
        code: Digest::from_slice(&model.code_digest).ok_or_else(|| error("the digest has another length"))?,
        link: model
            .link_digest
            .as_ref()
            .map(|digest| {
                Digest::from_slice(digest).ok_or_else(|| error("the link's digest has another length"))
            })
            .transpose()?,
        attempts_left: u8::try_from(model.tries_left).map_err(|_| error("the tries are out of range"))?,
        expires_at: model.expires_at.0,
    })
}

impl From<tokens::Model> for Token {
    fn from(model: tokens::Model) -> Self {
        Self {
            id: model.id.0,
            workspace: model.workspace_id.0,
            user: model.user_id.0,
            name: model.name,
            scopes: model.scopes.0,
            hint: TokenHint { prefix: model.prefix, last4: model.last4 },
            created_at: model.created_at.0,
            last_used_at: model.last_used_at.map(DbTime::into_inner),
            expires_at: model.expires_at.map(DbTime::into_inner),
            revoked_at: model.revoked_at.map(DbTime::into_inner),
        }
    }
}
