//! Sealing the secret of a connection, and what else changes with it.

use kernel::{
    Context,
    vault::{Vault, key_id},
};
use secrecy::SecretString;

use super::{ConnectionError, ConnectionTx};
use crate::{
    auth::{Auth, parse_service_account},
    connection::{Connection, ConnectionStatus, HttpConnection, SecretPurpose, secret_need},
    invalid_input::{Field, InvalidInput, Reason, SecretNeed},
};

/// Refuses a change that sends a stored secret elsewhere without giving it again.
pub(super) fn check_need(
    before: &Connection,
    after: &HttpConnection,
    secret: Option<&SecretString>,
) -> Result<(), InvalidInput> {
    if secret.is_some() || !after.auth.needs_secret() {
        return Ok(());
    }
    let none_stored = || (!before.has_secret()).then_some(SecretNeed::NoneStored);
    match secret_need(&before.http, after).or_else(none_stored) {
        Some(need) => Err(InvalidInput::new(Field::Secret, Reason::RequiredAgain(need))),
        None => Ok(()),
    }
}

/// Refuses another `auth` that the stored secret, which stays, does not suit: requests would fail until it is given again.
pub(super) async fn check_kept(
    tx: &mut dyn ConnectionTx,
    vault: &Vault,
    before: &Connection,
    after: &HttpConnection,
) -> Result<(), ConnectionError> {
    if !after.auth.needs_secret() || after.auth == before.http.auth || after.auth == Auth::AuthorizationCode {
        return Ok(());
    }
    let purpose = SecretPurpose::Secret;
    let sealed = tx.sealed_secret_for_update(before.workspace, before.id, purpose).await?;
    let context = before.sealing_context(purpose);
    let opened = sealed.and_then(|sealed| vault.open(&context.parts(), &sealed).ok());
    if opened.is_some_and(|secret| after.auth.check_new_secret(&secret).is_ok()) {
        return Ok(());
    }
    Err(InvalidInput::new(Field::Secret, Reason::RequiredAgain(SecretNeed::Unfit)).into())
}

/// A sealed secret that is not written yet.
pub(super) struct Sealed(Option<String>);

/// Seals a new secret and updates what the connection says of it; without a new secret the stored one stays.
pub(super) fn seal(
    ctx: &Context,
    vault: &Vault,
    connection: &mut Connection,
    secret: Option<&SecretString>,
) -> Result<Sealed, InvalidInput> {
    if !connection.http.auth.needs_secret() {
        connection.key_id = None;
        connection.service_account = None;
        connection.status = ConnectionStatus::NEW;
        connection.connected_at.get_or_insert(ctx.now);
        return Ok(Sealed(None));
    }
    let Some(secret) = secret else { return Ok(Sealed(None)) };
    connection.secret_version += 1;
    connection.status = ConnectionStatus::NEW;
    connection.connected_at = Some(ctx.now);
    connection.service_account = match &connection.http.auth {
        Auth::ServiceAccount { .. } => Some(parse_service_account(secret)?.client_email),
        _ => None,
    };
    let context = connection.sealing_context(SecretPurpose::Secret);
    let sealed = vault.seal(ctx.random(), &context.parts(), secret);
    connection.key_id = key_id(&sealed).map(str::to_owned);
    Ok(Sealed(Some(sealed)))
}

/// Writes a sealed secret, and deletes what was stored for the connection as it was.
pub(super) async fn write(
    tx: &mut dyn ConnectionTx,
    connection: &Connection,
    before: Option<&HttpConnection>,
    sealed: &Sealed,
) -> Result<(), ConnectionError> {
    let (workspace, id) = (connection.workspace, connection.id);
    if !connection.http.auth.needs_secret() && before.is_some() {
        tx.delete_sealed_secrets(workspace, id, &SecretPurpose::ALL).await?;
    }
    // Tokens for another scope, client or secret must not be used any longer.
    let has_new_auth = before.is_some_and(|before| before.auth != connection.http.auth);
    if before.is_some() && (sealed.0.is_some() || has_new_auth) {
        tx.delete_sealed_secrets(workspace, id, &[SecretPurpose::Tokens]).await?;
    }
    if let Some(sealed) = &sealed.0 {
        tx.put_sealed_secret(workspace, id, SecretPurpose::Secret, sealed).await?;
    }
    Ok(())
}
