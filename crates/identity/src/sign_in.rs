//! Ways to sign in: a code or a link by e-mail, and the development sign-in.

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

/// How long a code and a link are good.
pub const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// How many wrong codes end a sign-in.
pub const MAX_ATTEMPTS: u8 = 5;

/// A sign-in by e-mail under way: a code and a link were mailed, and neither is used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailSignIn {
    /// Who wants in.
    pub email: Email,
    /// The digest of the mailed code.
    pub code: Digest,
    /// The digest of the mailed link's token; none for one that was mailed before there were links.
    pub link: Option<Digest>,
    /// How many codes may still be tried; never 0 in the store.
    pub attempts_left: u8,
    /// When the code ends by itself.
    pub expires_at: Timestamp,
}

/// What became of an [`EmailSignIn`] after one try.
#[derive(Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The code was right; the sign-in is used up.
    Accepted,
    /// The code was wrong; the sign-in goes on with one try less.
    Rejected(EmailSignIn),
    /// The code was wrong for the last time, or came too late.
    Invalidated,
}

impl EmailSignIn {
    /// Tries a code, given by whether it matches the digest.
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

/// What is digested for a code: bound to the address, so that a digest is worth nothing for another.
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
    fn five_wrong_codes_end_it() {
        let now = Timestamp::UNIX_EPOCH;
        let mut state = sign_in();
        for left in (1..MAX_ATTEMPTS).rev() {
            let AttemptOutcome::Rejected(next) = state.try_code(false, now) else {
                panic!("ended with {left} tries left")
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
