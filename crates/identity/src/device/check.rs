//! The command line's questions.

use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    token::{self, Peppers, TokenKind},
};

use super::{DeviceApproval, DeviceLogin, DeviceLoginState};
use crate::ports::DeviceRead;

/// What a question of the command line comes to.
#[derive(Debug)]
pub enum PollOutcome {
    /// Nobody has decided: ask again after this time.
    Pending(TimeDelta),
    /// It asked too early: from now on it must wait this long.
    SlowDown(TimeDelta),
    /// A person allowed it: [`redeem_device_login`](super::redeem_device_login) makes the token.
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
