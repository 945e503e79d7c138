//! A poll of the command line.

use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    token::{self, Peppers, TokenKind},
};

use super::{DeviceApproval, DeviceLogin, DeviceLoginState};
use crate::ports::DeviceRead;

/// Result of a poll.
#[derive(Debug)]
pub enum PollOutcome {
    /// Nobody has decided; poll again after this interval.
    Pending(TimeDelta),
    /// The poll came too early; the interval is now this.
    SlowDown(TimeDelta),
    /// A person approved the login: [`redeem_device_login`](super::redeem_device_login) creates the token.
    Approved(DeviceLogin, DeviceApproval),
    /// A person denied the login.
    Denied,
    /// The code is unknown, expired or used; the result does not say which.
    Expired,
    /// Another program started the login.
    OtherClient,
}

/// Returns the state of the login with a device code, and records the poll if the login is pending. A `client` must be the
/// program that started it (RFC 6749, section 5.2); a poll of another one changes nothing.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn check_device_login(
    store: &dyn DeviceRead,
    peppers: &Peppers,
    device_code: &str,
    client: Option<&str>,
    now: Timestamp,
) -> Result<PollOutcome, StoreError> {
    if token::detect_kind(device_code) != Some(TokenKind::DeviceCode) {
        return Ok(PollOutcome::Expired);
    }
    let digests: Vec<_> = peppers.candidate_digests(device_code).collect();
    let Some(login) = store.device_login_by_device_code(&digests).await? else {
        return Ok(PollOutcome::Expired);
    };
    // Names are stored without surrounding white space.
    if client.is_some_and(|client| client.trim() != login.request.client) {
        return Ok(PollOutcome::OtherClient);
    }
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

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        device::{DeviceLoginDecision, LIFETIME, POLL_INTERVAL, POLL_LEEWAY},
        testing::{FakeStore, aru, device_approval, device_login, peppers, stored_device_login, visitor},
    };

    /// A store with one login in this state, and its device code.
    fn store(decision: DeviceLoginDecision) -> (FakeStore, String) {
        let code = token::mint(TokenKind::DeviceCode, visitor().random()).expose_secret().to_owned();
        let login = DeviceLogin { decision, ..device_login(1, at(0)) };
        let device_logins = vec![stored_device_login(login, &code)];
        (FakeStore { device_logins, ..FakeStore::default() }, code)
    }

    #[tokio::test]
    async fn a_poll_that_comes_too_early_lengthens_the_interval() {
        let (store, code) = store(DeviceLoginDecision::Pending);
        let early = POLL_INTERVAL - POLL_LEEWAY - TimeDelta::milliseconds(1);
        let mut now = at(0);
        for (wait, slow_down, interval) in [
            (TimeDelta::zero(), false, 5),
            (POLL_INTERVAL, false, 5),
            (POLL_INTERVAL - POLL_LEEWAY, false, 5),
            (early, true, 10),
            (TimeDelta::seconds(9), true, 15),
            (TimeDelta::seconds(15), false, 15),
        ] {
            now += wait;
            let told = match check_device_login(&store, &peppers(), &code, None, now).await.unwrap() {
                PollOutcome::Pending(interval) => (false, interval.num_seconds()),
                PollOutcome::SlowDown(interval) => (true, interval.num_seconds()),
                other => panic!("{other:?}"),
            };
            assert_eq!(told, (slow_down, interval), "{now}");
        }
    }

    #[tokio::test]
    async fn a_decision_is_told_whatever_the_pace() {
        let approval = device_approval(&aru());
        let (store, code) = self::store(DeviceLoginDecision::Approved(approval));
        for _ in 0..2 {
            let outcome = check_device_login(&store, &peppers(), &code, None, at(0)).await.unwrap();
            let PollOutcome::Approved(login, approved) = outcome else { panic!("{outcome:?}") };
            assert_eq!((&login, approved), (&store.device_logins[0].login, approval));
        }
        let (store, code) = self::store(DeviceLoginDecision::Denied);
        let denied = check_device_login(&store, &peppers(), &code, None, at(0)).await.unwrap();
        assert!(matches!(denied, PollOutcome::Denied));
    }

    #[tokio::test]
    async fn only_the_program_that_started_a_login_polls_it() {
        let approval = device_approval(&aru());
        for decision in [
            DeviceLoginDecision::Pending,
            DeviceLoginDecision::Approved(approval),
            DeviceLoginDecision::Denied,
        ] {
            let (store, code) = store(decision);
            let own = store.device_logins[0].login.request.client.clone();
            for _ in 0..3 {
                for other in ["", "other", &own.to_uppercase(), &format!("{own}x")] {
                    let outcome = check_device_login(&store, &peppers(), &code, Some(other), at(0)).await;
                    assert!(matches!(outcome, Ok(PollOutcome::OtherClient)), "{other}");
                }
            }
            // The polls of others do not slow the program down.
            let outcome = check_device_login(&store, &peppers(), &code, Some(&own), at(0)).await.unwrap();
            assert!(!matches!(outcome, PollOutcome::OtherClient | PollOutcome::SlowDown(_)), "{outcome:?}");
        }
    }

    #[tokio::test]
    async fn a_code_that_is_unknown_used_up_or_too_old_is_expired() {
        let (delivered, used_up) = store(DeviceLoginDecision::Delivered);
        let (pending, code) = store(DeviceLoginDecision::Pending);
        let unknown = token::mint(TokenKind::DeviceCode, visitor().random()).expose_secret().to_owned();
        let session = token::mint(TokenKind::Session, visitor().random()).expose_secret().to_owned();
        let other_kind = FakeStore {
            device_logins: vec![stored_device_login(device_login(1, at(0)), &session)],
            ..FakeStore::default()
        };
        for (store, code, now) in [
            (&delivered, used_up.as_str(), at(0)),
            (&pending, &code, at(0) + LIFETIME),
            (&FakeStore::default(), &unknown, at(0)),
            (&other_kind, &session, at(0)),
            (&pending, "", at(0)),
        ] {
            let outcome = check_device_login(store, &peppers(), code, None, now).await.unwrap();
            assert!(matches!(outcome, PollOutcome::Expired), "{outcome:?}");
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (_, code) = store(DeviceLoginDecision::Pending);
        let failed = check_device_login(&FakeStore::unavailable(), &peppers(), &code, None, at(0)).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
    }
}
