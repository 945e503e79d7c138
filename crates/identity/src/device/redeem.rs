//! The command line's questions, and the token at the end.

use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp,
    authority::MembershipFact,
    token::{self, Peppers, TokenKind},
};

use super::{DeviceApproval, DeviceLogin, DeviceLoginState};
use crate::{
    IdentityError,
    ports::{DeviceRead, IdentityTx},
    tokens::{self, CreateToken, CreatedToken},
};

/// What a question of the command line comes to.
#[derive(Debug)]
pub enum PollOutcome {
    /// Nobody has decided: ask again after this time.
    Pending(TimeDelta),
    /// It asked too early: from now on it must wait this long.
    SlowDown(TimeDelta),
    /// A person allowed it: [`redeem_device_login`] makes the token.
    Approved(DeviceLogin, DeviceApproval),
    /// A person refused it.
    Denied,
    /// The code is unknown, too old, or used up; which of these is not told.
    Expired,
}

/// Looks where the login of a device code stands, and keeps the pace of whoever asks.
///
/// # Errors
/// What the store says.
pub async fn check_device_login(
    store: &dyn DeviceRead,
    peppers: &Peppers,
    device_code: &str,
    now: Timestamp,
) -> Result<PollOutcome, StoreError> {
    if token::detect_kind(device_code) != Some(TokenKind::DeviceCode) {
        return Ok(PollOutcome::Expired);
    }
    let digests: Vec<_> = peppers.candidate_digests(device_code).collect();
    let Some(login) = store.device_login_by_device_code(&digests).await? else {
        return Ok(PollOutcome::Expired);
    };
    Ok(match login.state(now) {
        DeviceLoginState::Pending => {
            let pace = store.record_device_login_poll(login.id, now).await?;
            if pace.is_too_early {
                PollOutcome::SlowDown(pace.interval)
            } else {
                PollOutcome::Pending(pace.interval)
            }
        }
        DeviceLoginState::Approved(approval) => PollOutcome::Approved(login, approval),
        DeviceLoginState::Denied => PollOutcome::Denied,
        DeviceLoginState::Delivered | DeviceLoginState::Expired => PollOutcome::Expired,
    })
}

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
