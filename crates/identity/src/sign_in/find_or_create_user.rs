//! The person behind a proved address.

use kernel::Context;

use crate::{Email, IdentityError, IdentityTx, User, user::resolve_display_name};

/// The person with this address, made when they come for the first time.
pub(crate) async fn find_or_create_user(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    email: &Email,
    name: Option<&str>,
) -> Result<User, IdentityError> {
    if let Some(user) = tx.find_user_by_email(email).await? {
        return Ok(user);
    }
    let user = User {
        id: ctx.new_id(),
        name: resolve_display_name(name, email)?,
        email: email.clone(),
        created_at: ctx.now,
    };
    tx.insert_user(&user).await?;
    let mut entry = ctx.audit_entry("user.create").target(user.id);
    entry.actor = user.id.to_string();
    tx.audit(entry);
    Ok(user)
}
