//! Signing in with another issuer.

use kernel::{Context, token::Peppers};

use super::{IdTokenClaims, Provider, trusted_email};
use crate::{
    IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    sign_in::find_or_create_user,
};

/// Opens a session for the person of whom an issuer speaks. Whoever came from it before is known by its name for them,
/// whatever became of their address; whoever comes for the first time, by their address.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] when they come for the first time and [`trusted_email`](super::trusted_email) refuses the address, or
/// what the store says.
pub async fn oidc_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    (provider, claims): (&Provider, &IdTokenClaims),
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    let known = tx.find_user_by_identity(&claims.issuer, &claims.subject).await?;
    let user = match known {
        Some(user) => user,
        None => {
            let email = trusted_email(provider, claims)?;
            // A name that we would not take from a person is not taken from an issuer.
            let name = claims.name.as_deref().filter(|name| {
                (1..=120).contains(&name.trim().chars().count()) && !name.chars().any(char::is_control)
            });
            let user = find_or_create_user(tx, ctx, &email, name).await?;
            tx.insert_identity(&claims.issuer, &claims.subject, user.id, ctx.now).await?;
            let mut entry = ctx.audit_entry("identity.link").target(user.id);
            entry.actor = user.id.to_string();
            tx.audit(entry.detail(serde_json::json!({ "provider": provider.name })));
            user
        }
    };
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Oidc, client).await?)
}
