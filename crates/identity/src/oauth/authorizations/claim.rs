//! A person looks at a client's question, and it becomes theirs.

use kernel::{
    Context,
    id::{AuthorizationId, UserId},
};

use super::{Authorization, AuthorizationStage};
use crate::oauth::{ConsentError, OAuthTx};

/// The authorization, for the first person who looks; it stays locked until the transaction ends.
///
/// # Errors
/// [`ConsentError::AuthorizationNotFound`] when it is over or another's, [`ConsentError::AlreadyDecided`] when this
/// person has decided, or what the store says.
pub async fn claim_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    user: UserId,
    id: AuthorizationId,
) -> Result<Authorization, ConsentError> {
    let found = tx.authorization(id).await?.filter(|authorization| ctx.now < authorization.expires_at);
    let mut authorization = found.ok_or(ConsentError::AuthorizationNotFound)?;
    match authorization.stage.claimed_by() {
        Some(by) if by != user => return Err(ConsentError::AuthorizationNotFound),
        Some(_) if authorization.stage.is_decided() => return Err(ConsentError::AlreadyDecided),
        Some(_) => {}
        None => {
            authorization.stage = AuthorizationStage::Claimed { by: user };
            tx.set_authorization_stage(id, &authorization.stage, None).await?;
            tx.audit(ctx.audit_entry("authorization.open").target(id));
        }
    }
    Ok(authorization)
}
