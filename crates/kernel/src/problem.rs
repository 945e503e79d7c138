//! What went wrong, in the form that every answer of the API shares (specification part A, "Errors").

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

/// The nature of a problem; `api` maps each to one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The request does not say what the operation needs: 400.
    Invalid,
    /// The caller is not known: 401.
    Unauthorized,
    /// The caller is known and may not: 403.
    Forbidden,
    /// Absent, or not visible to the caller: 404.
    NotFound,
    /// The path is known and the method is not: 405.
    MethodNotAllowed,
    /// The answer cannot be given in an acceptable form: 406.
    NotAcceptable,
    /// The request is fine but the state moved or forbids it: 409.
    Conflict,
    /// More than the operation takes: 413.
    TooLarge,
    /// A media type the operation does not read: 415.
    Unsupported,
    /// A range or page that does not exist: 416.
    RangeNotSatisfiable,
    /// The request names a host that is not served here: 421.
    Misdirected,
    /// Too many requests: 429, always with a wait.
    RateLimited,
    /// Our own fault: 500.
    Internal,
    /// Cannot be answered now: 503.
    Unavailable,
}

/// A refusal or failure on its way to the caller.
///
/// `code`, `message` and `hint` are for the caller; the source is for the log only and never leaves.
#[derive(Debug)]
pub struct Problem {
    /// Decides the status.
    pub kind: ProblemKind,
    /// Stable, for programs: lower case with underscores.
    pub code: Cow<'static, str>,
    /// What happened, for people.
    pub message: Cow<'static, str>,
    /// What to do about it.
    pub hint: Option<Cow<'static, str>>,
    /// How long to wait before trying again.
    pub retry_after: Option<Duration>,
    /// How much the limit holds that was used up.
    pub limit: Option<u32>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Problem {
    /// A problem of any kind.
    #[must_use]
    pub fn new(
        kind: ProblemKind,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            kind,
            code: code.into(),
            message: message.into(),
            hint: None,
            retry_after: None,
            limit: None,
            source: None,
        }
    }

    /// 400 `invalid_request`; the message names the field.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Invalid, "invalid_request", message)
    }

    /// 400 `invalid_request` for one named field.
    #[must_use]
    pub fn invalid_field(field: &str, what: impl fmt::Display) -> Self {
        Self::invalid(format!("`{field}` {what}"))
    }

    /// 401 `unauthorized`, the same for an absent, unknown, expired and revoked credential.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            ProblemKind::Unauthorized,
            "unauthorized",
            "You are not signed in, or the credential is not valid.",
        )
        .hint("Sign in, or send a valid token in the Authorization header.")
    }

    /// 403 with the code that says why.
    #[must_use]
    pub fn forbidden(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Forbidden, code, message)
    }

    /// 404 `{what}_not_found`, for the absent and for what the caller may not see.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        let code = format!("{}_not_found", what.replace(' ', "_"));
        Self::new(ProblemKind::NotFound, code, format!("There is no such {what}, or you may not see it."))
    }

    /// 409 with the code that says what moved.
    #[must_use]
    pub fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Conflict, code, message)
    }

    /// 429 `rate_limited` with the wait.
    #[must_use]
    pub fn rate_limited(wait: Duration) -> Self {
        let mut problem = Self::new(ProblemKind::RateLimited, "rate_limited", "Too many requests.")
            .hint("Wait for the number of seconds in Retry-After, then try again.");
        problem.retry_after = Some(wait);
        problem
    }

    /// 500 `internal`; the cause goes to the log beside the request id.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let mut problem = Self::new(ProblemKind::Internal, "internal", "Something failed on our side.")
            .hint("Try again; if it persists, give the request id to whoever runs this server.");
        problem.source = Some(source.into());
        problem
    }

    /// 503 with the code that says what cannot answer now.
    #[must_use]
    pub fn unavailable(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Unavailable, code, message)
    }

    /// Adds what the caller can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds how long to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Adds how much the limit holds that was used up.
    #[must_use]
    pub fn with_limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Adds the cause, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl StdError for Problem {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
