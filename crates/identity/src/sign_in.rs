//! Sign-in with a code or link sent by e-mail, and the development sign-in.

mod dev;
mod email;
mod find_or_create_user;
mod start;
mod verify_code;
mod verify_link;

use chrono::TimeDelta;
use kernel::{Timestamp, token::Digest};

use crate::user::Email;

pub use dev::dev_sign_in;
pub(crate) use find_or_create_user::find_or_create_user;
pub use start::{StartEmailSignIn, start_email_sign_in};
pub use verify_code::verify_email_sign_in;
pub use verify_link::verify_email_link;

/// Lifetime of a code and its link.
pub const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Number of wrong codes that end a sign-in.
pub const MAX_ATTEMPTS: u8 = 5;

/// A pending sign-in by e-mail: a code and a link were sent, and neither has been used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailSignIn {
    /// Address to which both were sent.
    pub email: Email,
    /// Digest of the code.
    pub code: Digest,
    /// Digest of the link's token; none for a sign-in that was started before links existed.
    pub link: Option<Digest>,
    /// Attempts left, 1 to [`MAX_ATTEMPTS`].
    pub attempts_left: u8,
    /// Time at which the code and the link expire.
    pub expires_at: Timestamp,
}

/// Result of one attempt at an [`EmailSignIn`].
#[derive(Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The code was right; the sign-in is complete.
    Accepted,
    /// The code was wrong; the sign-in continues with one attempt less.
    Rejected(EmailSignIn),
    /// The last attempt was wrong, or the sign-in has expired.
    Invalidated,
}

impl EmailSignIn {
    /// Counts an attempt; `matches` is true if the code matches the digest.
    #[must_use]
    pub fn try_code(mut self, matches: bool, now: Timestamp) -> AttemptOutcome {
        if now >= self.expires_at {
            return AttemptOutcome::Invalidated;
        }
        if matches {
            return AttemptOutcome::Accepted;
        }
        self.attempts_left = self.attempts_left.saturating_sub(1);
        if self.attempts_left == 0 { AttemptOutcome::Invalidated } else { AttemptOutcome::Rejected(self) }
    }
}

/// Returns the text to digest for a code. It includes the address, so that a digest is worthless for another one.
fn code_digest_input(email: &Email, code: &str) -> String {
    format!("sign-in code\0{email}\0{code}")
}

#[cfg(test)]
mod tests {
    use kernel::{token::Peppers, vault::MasterKeys};

    use super::*;

    fn sign_in() -> EmailSignIn {
        let peppers = Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap());
        let email: Email = "aru@example.com".parse().unwrap();
        EmailSignIn {
            code: peppers.digest(&code_digest_input(&email, "123456")),
            email,
            link: None,
            attempts_left: MAX_ATTEMPTS,
            expires_at: Timestamp::from_timestamp_millis(600_000).unwrap(),
        }
    }

    #[test]
    fn five_wrong_codes_end_the_sign_in() {
        let now = Timestamp::UNIX_EPOCH;
        let mut state = sign_in();
        for left in (1..MAX_ATTEMPTS).rev() {
            let AttemptOutcome::Rejected(next) = state.try_code(false, now) else {
                panic!("ended with {left} attempts left")
            };
            assert_eq!(next.attempts_left, left);
            state = next;
        }
        assert_eq!(state.try_code(false, now), AttemptOutcome::Invalidated);
    }

    #[test]
    fn the_right_code_is_accepted_in_time_only() {
        let state = sign_in();
        let end = state.expires_at;
        assert_eq!(state.clone().try_code(true, end - TimeDelta::milliseconds(1)), AttemptOutcome::Accepted);
        assert_eq!(state.try_code(true, end), AttemptOutcome::Invalidated);
    }
}
