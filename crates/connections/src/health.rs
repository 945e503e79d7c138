//! Counts of calls through a connection, and what they say about it.

use kernel::Timestamp;

use crate::{RefusalCode, connection::ConnectionStatus};

/// Length of a bucket, in seconds.
pub const BUCKET_SECONDS: i64 = 5 * 60;
/// Buckets of 24 hours.
pub const BUCKETS: usize = 288;
/// Rejections of the credential in a row after which a connection is in error.
pub const FAILURES_UNTIL_ERROR: u32 = 3;

/// Number of a bucket of five minutes since the start of 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(pub i64);

impl Bucket {
    /// Returns the bucket of a time.
    #[must_use]
    pub fn of(time: Timestamp) -> Self {
        Self(time.timestamp().div_euclid(BUCKET_SECONDS))
    }

    /// Returns the oldest bucket of the 24 hours that end with this one.
    #[must_use]
    pub fn oldest_of_day(self) -> Self {
        Self(self.0 - BUCKETS as i64 + 1)
    }

    /// Returns the place of the bucket in a ring of [`BUCKETS`].
    #[must_use]
    pub fn slot(self) -> usize {
        usize::try_from(self.0.rem_euclid(BUCKETS as i64)).unwrap_or_default()
    }
}

/// Calls in one bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Requests that were sent.
    pub calls: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests that a rule refused.
    pub blocked: u64,
}

impl CallCounts {
    /// Counts one call.
    pub fn count(&mut self, outcome: CallOutcome) {
        match outcome {
            CallOutcome::Blocked => self.blocked += 1,
            CallOutcome::Succeeded | CallOutcome::Aborted => self.calls += 1,
            CallOutcome::AuthRejected | CallOutcome::GrantEnded | CallOutcome::Failed => {
                self.calls += 1;
                self.errors += 1;
            }
        }
    }
}

/// Adds up the buckets of the 24 hours that end at `now`; others are left out.
#[must_use]
pub fn sum_of_day(buckets: &[(Bucket, CallCounts)], now: Timestamp) -> CallCounts {
    let newest = Bucket::of(now);
    let mut sum = CallCounts::default();
    for (_, counts) in buckets.iter().filter(|(bucket, _)| (newest.oldest_of_day()..=newest).contains(bucket))
    {
        sum.calls += counts.calls;
        sum.errors += counts.errors;
        sum.blocked += counts.blocked;
    }
    sum
}

/// The outcome of a call for its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The service accepted the credential.
    Succeeded,
    /// The service rejected the credential.
    AuthRejected,
    /// The token endpoint said that the grant has ended (`invalid_grant`).
    GrantEnded,
    /// The call failed for a reason that says nothing about the credential.
    Failed,
    /// A rule refused the call; nothing was sent.
    Blocked,
    /// The code did not wait for the response.
    Aborted,
}

impl CallOutcome {
    /// Reads the outcome from the status of a response.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        match status {
            200..=399 => Self::Succeeded,
            401 | 403 => Self::AuthRejected,
            _ => Self::Failed,
        }
    }

    /// Reads the outcome from a refusal.
    #[must_use]
    pub fn of_refusal(code: RefusalCode) -> Self {
        match code {
            RefusalCode::AuthRejected => Self::AuthRejected,
            RefusalCode::Expired
            | RefusalCode::NotConnected
            | RefusalCode::RateLimited
            | RefusalCode::Quota
            | RefusalCode::Unauthenticated => Self::Blocked,
            code if code.is_policy_refusal() => Self::Blocked,
            _ => Self::Failed,
        }
    }
}

/// The status after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Status from now on.
    pub status: ConnectionStatus,
    /// Whether the connection went down with this call, which is reported once as `connector_down`.
    pub went_down: bool,
}

/// Returns the status after a call.
///
/// Three rejections in a row lead to [`ConnectionStatus::Error`], the end of the grant to
/// [`ConnectionStatus::Expired`]; the next success restores both. What somebody disconnected stays so.
#[must_use]
pub fn status_after(status: ConnectionStatus, outcome: CallOutcome, now: Timestamp) -> Transition {
    use ConnectionStatus::{Connected, Disconnected, Error, Expired};
    let to = |status| Transition { status, went_down: false };
    match (status, outcome) {
        (Disconnected { .. }, _) | (_, CallOutcome::Failed | CallOutcome::Blocked | CallOutcome::Aborted) => {
            to(status)
        }
        (_, CallOutcome::Succeeded) => to(ConnectionStatus::NEW),
        (Expired { .. }, CallOutcome::GrantEnded | CallOutcome::AuthRejected) => to(status),
        (Connected { .. }, CallOutcome::GrantEnded) => {
            Transition { status: Expired { since: now }, went_down: true }
        }
        (Error { .. }, CallOutcome::GrantEnded) => to(Expired { since: now }),
        (Error { .. }, CallOutcome::AuthRejected) => to(status),
        (Connected { auth_failures }, CallOutcome::AuthRejected) => {
            if auth_failures + 1 < FAILURES_UNTIL_ERROR {
                to(Connected { auth_failures: auth_failures + 1 })
            } else {
                Transition { status: Error { since: now }, went_down: true }
            }
        }
    }
}

/// Reason of a test that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestReason {
    /// The service rejected the credential.
    AuthRejected,
    /// The service could not be asked: it is overloaded or has an error.
    UpstreamError,
    /// The service responded with another status than was expected.
    UnexpectedStatus,
}

kernel::names! {
    TestReason {
        AuthRejected = "auth_rejected",
        UpstreamError = "upstream_error",
        UnexpectedStatus = "unexpected_status",
    }
}

/// The verdict of a response to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestVerdict {
    /// Whether the connection works; none if the service could not be asked.
    pub ok: Option<bool>,
    /// Reason, if it does not work or could not be asked.
    pub reason: Option<TestReason>,
    /// Outcome for the connection's health.
    pub outcome: CallOutcome,
}

/// Errors in the body of a response with status 200 that mean a rejected credential.
const BODY_AUTH_ERRORS: &[&str] =
    &["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"];

/// Reads the response to a test. `has_body_errors` is for services that report errors with status 200 and
/// `{"ok": false, "error": …}`.
#[must_use]
pub fn judge_test(status: u16, body: &[u8], has_body_errors: bool) -> TestVerdict {
    let verdict = |ok, reason, outcome| TestVerdict { ok, reason, outcome };
    match status {
        200..=299 if has_body_errors => match body_error(body) {
            None => verdict(Some(true), None, CallOutcome::Succeeded),
            Some(error) if BODY_AUTH_ERRORS.contains(&error.as_str()) => {
                verdict(Some(false), Some(TestReason::AuthRejected), CallOutcome::AuthRejected)
            }
            Some(error) if error == "ratelimited" => {
                verdict(None, Some(TestReason::UpstreamError), CallOutcome::Failed)
            }
            Some(_) => verdict(Some(false), Some(TestReason::UnexpectedStatus), CallOutcome::Failed),
        },
        200..=299 => verdict(Some(true), None, CallOutcome::Succeeded),
        401 | 403 => verdict(Some(false), Some(TestReason::AuthRejected), CallOutcome::AuthRejected),
        429 | 500..=599 => verdict(None, Some(TestReason::UpstreamError), CallOutcome::Failed),
        _ => verdict(Some(false), Some(TestReason::UnexpectedStatus), CallOutcome::Failed),
    }
}

fn body_error(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    if body.get("ok") == Some(&serde_json::Value::Bool(true)) {
        return None;
    }
    let error = body.get("error")?.as_str()?;
    (!error.is_empty()).then(|| error.to_owned())
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;

    use super::*;

    const SECOND: i64 = 1_000;

    #[test]
    fn a_day_has_288_buckets() {
        let now = at(0);
        let newest = Bucket::of(now);
        assert_eq!(Bucket::of(at(299 * SECOND)), newest);
        assert_eq!(Bucket::of(at(300 * SECOND)), Bucket(newest.0 + 1));
        let counts = CallCounts { calls: 1, errors: 2, blocked: 3 };
        let buckets: Vec<_> = (-400..2).map(|offset| (Bucket(newest.0 + offset), counts)).collect();
        assert_eq!(sum_of_day(&buckets, now), CallCounts { calls: 288, errors: 576, blocked: 864 });
        let slots: std::collections::BTreeSet<usize> =
            (0..288).map(|offset| Bucket(newest.0 - offset).slot()).collect();
        assert_eq!(slots.len(), BUCKETS);
        assert!(Bucket(-1).slot() < BUCKETS);
    }

    #[test]
    fn three_rejections_in_a_row_lead_to_error_and_a_success_restores() {
        use CallOutcome::{AuthRejected, Blocked, Failed, GrantEnded, Succeeded};
        let run = |outcomes: &[CallOutcome]| {
            let mut status = ConnectionStatus::NEW;
            let mut down = 0;
            for outcome in outcomes {
                let next = status_after(status, *outcome, at(0));
                status = next.status;
                down += u32::from(next.went_down);
            }
            (status.name().as_str(), down)
        };
        assert_eq!(run(&[AuthRejected, AuthRejected]), ("connected", 0));
        assert_eq!(run(&[AuthRejected, AuthRejected, AuthRejected]), ("error", 1));
        assert_eq!(
            run(&[AuthRejected, AuthRejected, Succeeded, AuthRejected, AuthRejected]),
            ("connected", 0)
        );
        assert_eq!(
            run(&[AuthRejected, Failed, AuthRejected, Blocked, AuthRejected, AuthRejected]),
            ("error", 1)
        );
        assert_eq!(run(&[AuthRejected, AuthRejected, AuthRejected, GrantEnded]), ("expired", 1));
        assert_eq!(run(&[AuthRejected, AuthRejected, AuthRejected, Succeeded]), ("connected", 1));
        assert_eq!(run(&[GrantEnded, GrantEnded, AuthRejected, Failed]), ("expired", 1));
        assert_eq!(run(&[GrantEnded, Succeeded, GrantEnded]), ("expired", 2));
        let gone = ConnectionStatus::Disconnected { since: at(0) };
        for outcome in [AuthRejected, Blocked, Failed, GrantEnded, Succeeded] {
            assert_eq!(status_after(gone, outcome, at(1)), Transition { status: gone, went_down: false });
        }
    }

    #[test]
    fn a_test_tells_could_not_ask_from_failed() {
        for (status, body, has_body_errors, ok, reason) in [
            (200, "", false, Some(true), None),
            (204, "", true, Some(true), None),
            (401, "", false, Some(false), Some("auth_rejected")),
            (403, "", true, Some(false), Some("auth_rejected")),
            (429, "", false, None, Some("upstream_error")),
            (500, "", false, None, Some("upstream_error")),
            (503, "", true, None, Some("upstream_error")),
            (404, "", false, Some(false), Some("unexpected_status")),
            (302, "", false, Some(false), Some("unexpected_status")),
            (200, r#"{"ok":false,"error":"invalid_auth"}"#, true, Some(false), Some("auth_rejected")),
            (200, r#"{"ok":false,"error":"invalid_auth"}"#, false, Some(true), None),
            (200, r#"{"ok":true,"error":""}"#, true, Some(true), None),
            (200, r#"{"ok":false,"error":"ratelimited"}"#, true, None, Some("upstream_error")),
            (200, r#"{"ok":false,"error":"missing_scope"}"#, true, Some(false), Some("unexpected_status")),
        ] {
            let verdict = judge_test(status, body.as_bytes(), has_body_errors);
            assert_eq!((verdict.ok, verdict.reason.map(TestReason::as_str)), (ok, reason), "{status} {body}");
        }
    }
}
