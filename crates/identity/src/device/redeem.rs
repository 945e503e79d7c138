//! The token at the end of a login.

use kernel::{Context, authority::MembershipFact, token::Peppers};

use super::{DeviceApproval, DeviceLogin};
use crate::{
    IdentityError, IdentityTx,
    tokens::{self, CreateToken, CreatedToken},
};

/// What came of an approved login.
#[derive(Debug)]
pub enum RedeemOutcome {
    /// The token, this once.
    Token(Box<CreatedToken>),
    /// Whoever approved is no member of the workspace any more.
    Denied,
    /// Another question was first.
    Expired,
}

/// Makes the token of an approved login, exactly once however many ask at the same moment.
///
/// `fact` is the approver's place in the workspace now. The caller commits whatever comes of it.
///
/// # Errors
/// What the store says.
pub async fn redeem_device_login(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    login: &DeviceLogin,
    approval: &DeviceApproval,
    fact: Option<&MembershipFact>,
) -> Result<RedeemOutcome, IdentityError> {
    if !tx.mark_device_login_delivered(login.id, ctx.now).await? {
        return Ok(RedeemOutcome::Expired);
    }
    let is_member = fact.is_some_and(|fact| {
        (fact.workspace, fact.user) == (approval.workspace, approval.approved_by)
            && fact.access_ends_at.is_none_or(|end| ctx.now < end)
    });
    if !is_member {
        tx.audit(ctx.audit_entry("device.lapse").workspace(approval.workspace).target(login.id));
        return Ok(RedeemOutcome::Denied);
    }
    let input = CreateToken {
        name: login.request.name.clone(),
        scopes: approval.scopes,
        expires_in_days: Some(approval.expires_in_days),
    };
    let created =
        tokens::issue_token(tx, ctx, peppers, (approval.workspace, approval.approved_by), input).await?;
    tx.audit(
        ctx.audit_entry("device.deliver")
            .workspace(approval.workspace)
            .target(login.id)
            .detail(serde_json::json!({ "token": created.token.id, "by": approval.approved_by })),
    );
    Ok(RedeemOutcome::Token(Box::new(created)))
}
