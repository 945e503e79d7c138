//! The command line's questions, and the token at the end.

use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp,
    authority::MembershipFact,
    token::{self, Peppers, TokenKind},
};

use super::{Approval, DeviceLogin, DeviceState};
use crate::{
    IdentityError,
    ports::{DeviceRead, IdentityTx},
    tokens::{self, CreateToken, Created},
};

/// What a question of the command line comes to.
#[derive(Debug)]
pub enum Poll {
    /// Nobody has decided: ask again after this time.
    Pending(TimeDelta),
    /// It asked too early: from now on it must wait this long.
    SlowDown(TimeDelta),
    /// A person allowed it: [`redeem`] makes the token.
    Approved(DeviceLogin, Approval),
    /// A person refused it.
    Denied,
    /// The code is unknown, too old, or used up; which of these is not told.
    Expired,
}

/// Looks where the login of a device code stands, and keeps the pace of whoever asks.
///
/// # Errors
/// What the store says.
pub async fn poll<S: DeviceRead + ?Sized>(
    store: &S,
    peppers: &Peppers,
    device_code: &str,
    now: Timestamp,
) -> Result<Poll, StoreError> {
    if token::recognize(device_code) != Some(TokenKind::DeviceCode) {
        return Ok(Poll::Expired);
    }
    let digests: Vec<_> = peppers.candidates(device_code).collect();
    let Some(login) = store.device_login_by_device_code(&digests).await? else { return Ok(Poll::Expired) };
    Ok(match login.state(now) {
        DeviceState::Pending => {
            let pace = store.pace_device_login(login.id, now).await?;
            if pace.early { Poll::SlowDown(pace.interval) } else { Poll::Pending(pace.interval) }
        }
        DeviceState::Approved(approval) => Poll::Approved(login, approval),
        DeviceState::Denied => Poll::Denied,
        DeviceState::Delivered | DeviceState::Expired => Poll::Expired,
    })
}

/// What came of an approved login.
#[derive(Debug)]
pub enum Redeemed {
    /// The token, this once.
    Token(Box<Created>),
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
pub async fn redeem<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    login: &DeviceLogin,
    approval: &Approval,
    fact: Option<&MembershipFact>,
) -> Result<Redeemed, IdentityError> {
    if !tx.claim_device_login(login.id, ctx.now).await? {
        return Ok(Redeemed::Expired);
    }
    let member = fact.is_some_and(|fact| {
        (fact.workspace, fact.user) == (approval.workspace, approval.by)
            && fact.access_ends_at.is_none_or(|end| ctx.now < end)
    });
    if !member {
        tx.audit(ctx.audit("device.lapse").workspace(approval.workspace).target(login.id));
        return Ok(Redeemed::Denied);
    }
    let input = CreateToken {
        name: login.asked.name.clone(),
        scopes: approval.scopes,
        expires_in_days: Some(approval.expires_in_days),
    };
    let created = tokens::issue(tx, ctx, peppers, (approval.workspace, approval.by), input).await?;
    tx.audit(
        ctx.audit("device.deliver")
            .workspace(approval.workspace)
            .target(login.id)
            .detail(serde_json::json!({ "token": created.token.id, "by": approval.by })),
    );
    Ok(Redeemed::Token(Box::new(created)))
}
