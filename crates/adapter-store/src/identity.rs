//! The ports of `identity`.

pub(crate) mod devices;
mod oauth;
mod oidc;
mod passkeys;
mod people;
mod read;
mod session_list;
mod write;

use ::identity::{User, sessions::Session, sessions::SignInMethod, sign_in::EmailSignIn, tokens::Token};
use kernel::{Id, StoreError, token::Digest, token::TokenHint};
use uuid::Uuid;

use crate::{
    convert::RowContext,
    entity::{sessions, sign_ins, tokens, users},
    error::inconsistent,
};

fn user(model: users::Model) -> Result<User, StoreError> {
    let row = RowContext { table: "users", id: model.id };
    Ok(User {
        id: Id::from_uuid(model.id),
        name: model.name,
        email: row.parse(&model.email)?,
        created_at: row.timestamp(model.created_at)?,
    })
}

fn session(model: &sessions::Model) -> Result<Session, StoreError> {
    let row = RowContext { table: "sessions", id: model.id };
    Ok(Session {
        id: Id::from_uuid(model.id),
        user: Id::from_uuid(model.user_id),
        workspace: model.workspace_id.map(Id::from_uuid),
        is_dev_login: model.dev_login,
        // Sessions from before this was kept began in one of two ways.
        method: match &model.method {
            Some(method) => row.parse(method)?,
            None if model.dev_login => SignInMethod::Dev,
            None => SignInMethod::Email,
        },
        authenticated_at: row.timestamp(model.auth_at.unwrap_or(model.created_at))?,
        stepped_up_at: row.optional_timestamp(model.stepped_up_at)?,
        client_ip: model.address.as_deref().map(|address| row.parse(address)).transpose()?,
        device: model.device.clone(),
        last_seen_at: row.timestamp(model.last_seen_at.unwrap_or(model.created_at))?,
        created_at: row.timestamp(model.created_at)?,
        expires_at: row.timestamp(model.expires_at)?,
    })
}

fn sign_in(model: &sign_ins::Model) -> Result<EmailSignIn, StoreError> {
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
        expires_at: kernel::Timestamp::from_timestamp_millis(model.expires_at)
            .ok_or_else(|| error("the expiry is no moment"))?,
    })
}

fn token(model: tokens::Model) -> Result<Token, StoreError> {
    let row = RowContext { table: "tokens", id: model.id };
    Ok(Token {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        user: Id::from_uuid(model.user_id),
        name: model.name,
        scopes: row.parse(&model.scopes)?,
        hint: TokenHint { prefix: model.prefix, last4: model.last4 },
        created_at: row.timestamp(model.created_at)?,
        last_used_at: row.optional_timestamp(model.last_used_at)?,
        expires_at: row.optional_timestamp(model.expires_at)?,
        revoked_at: row.optional_timestamp(model.revoked_at)?,
    })
}

pub(crate) fn digest_bytes(digests: &[Digest]) -> Vec<Vec<u8>> {
    digests.iter().map(|digest| digest.as_bytes().to_vec()).collect()
}

/// The digest that a row is stored under.
pub(crate) fn parse_digest(
    table: &'static str,
    row: Uuid,
    bytes: &[u8],
) -> Result<[u8; Digest::LEN], StoreError> {
    let digest =
        Digest::from_slice(bytes).ok_or_else(|| inconsistent(table, row, "the digest has another length"))?;
    Ok(*digest.as_bytes())
}
