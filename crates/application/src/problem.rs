//! Refusals and failures, in the form that every error response of the API has (specification part A, "Errors").

use std::{borrow::Cow, error::Error as StdError, fmt, num::NonZeroU32, time::Duration};

/// The kind of a problem; `api` maps each to one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The request is malformed or a field is invalid: 400.
    Invalid,
    /// The credential is missing or invalid: 401.
    Unauthorized,
    /// The caller is known but not allowed to do this: 403.
    Forbidden,
    /// The object does not exist or is not visible to the caller: 404.
    NotFound,
    /// The path does not support the method: 405.
    MethodNotAllowed,
    /// No acceptable representation is available: 406.
    NotAcceptable,
    /// The request is valid but conflicts with the current state: 409.
    Conflict,
    /// The object is not in the state that the request requires: 412.
    PreconditionFailed,
    /// The request is larger than the operation accepts: 413.
    TooLarge,
    /// The operation does not support the media type: 415.
    Unsupported,
    /// The range or page does not exist: 416.
    RangeNotSatisfiable,
    /// The request names a host that Qala does not serve: 421.
    Misdirected,
    /// Too many requests: 429, always with a time to wait.
    RateLimited,
    /// A failure of Qala: 500.
    Internal,
    /// Temporarily unavailable: 503.
    Unavailable,
}

/// One of several cases of a code. Pages have a text for each, in the language of the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemCase {
    /// Name of the text.
    pub name: &'static str,
    /// Value that the text repeats.
    pub value: Cow<'static, str>,
}

/// A refusal or failure that is returned to the caller.
///
/// `code`, `message` and `hint` are for the caller. The source goes only into the log.
#[derive(Debug)]
pub struct Problem {
    /// The kind, which determines the HTTP status.
    pub kind: ProblemKind,
    /// The stable code for programs, in lower case with underscores.
    pub code: Cow<'static, str>,
    /// The description for people: a sentence.
    pub message: Cow<'static, str>,
    /// The advice for people: an instruction.
    pub hint: Option<Cow<'static, str>>,
    /// Time to wait before another attempt.
    pub retry_after: Option<Duration>,
    /// The size of the limit that was exceeded.
    pub limit: Option<NonZeroU32>,
    /// The case of the code, if the code has several.
    pub case: Option<Box<ProblemCase>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Problem {
    /// Creates a problem of any kind.
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
            case: None,
            source: None,
        }
    }

    /// Creates a 400 `invalid_request`. The message must name the field.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Invalid, "invalid_request", message)
    }

    /// Creates a 400 `invalid_request` whose message is the field's name and `what`, as in "must be a number".
    #[must_use]
    pub fn invalid_field(field: &str, what: impl fmt::Display) -> Self {
        Self::invalid(format!("`{field}` {what}"))
    }

    /// Creates a 401 `unauthorized`, which is the same for a missing, unknown, expired and revoked credential.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            ProblemKind::Unauthorized,
            "unauthorized",
            "You are not signed in, or your credential is not valid.",
        )
        .hint("Sign in, or send a valid token in the Authorization header.")
    }

    /// Creates a 403 with the code of the reason.
    #[must_use]
    pub fn forbidden(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Forbidden, code, message)
    }

    /// Creates a 404 `{what}_not_found`, for an object that does not exist or that the caller may not see.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        let code = format!("{}_not_found", what.replace(' ', "_"));
        Self::new(ProblemKind::NotFound, code, format!("There is no such {what}, or you may not see it."))
    }

    /// Creates a 409 with the code of the conflict.
    #[must_use]
    pub fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Conflict, code, message)
    }

    /// Creates a 412 `changed_meanwhile`, for a write to an object that has changed since the caller read it.
    #[must_use]
    pub fn changed_meanwhile() -> Self {
        Self::new(
            ProblemKind::PreconditionFailed,
            "changed_meanwhile",
            "The object has changed since you read it, so nothing was written.",
        )
        .hint("Read it again. If you still want the change, send it with the new ETag in If-Match.")
    }

    /// Creates a 429 `rate_limited` with the time to wait.
    #[must_use]
    pub fn rate_limited(wait: Duration) -> Self {
        let mut problem = Self::new(ProblemKind::RateLimited, "rate_limited", "Too many requests.")
            .hint("Wait for the number of seconds in the Retry-After header, then try again.");
        problem.retry_after = Some(wait);
        problem
    }

    /// Creates a 500 `internal`. The cause goes into the log with the request id.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let mut problem = Self::new(ProblemKind::Internal, "internal", "Something went wrong on our side.")
            .hint("Try again. If the problem persists, give the request id to the operator of this server.");
        problem.source = Some(source.into());
        problem
    }

    /// Creates a 503 with the code of what is unavailable.
    #[must_use]
    pub fn unavailable(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ProblemKind::Unavailable, code, message)
    }

    /// Adds an instruction for the caller.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the time to wait before another attempt.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Adds the size of the limit that was exceeded.
    #[must_use]
    pub fn with_limit(mut self, limit: u32) -> Self {
        self.limit = NonZeroU32::new(limit);
        self
    }

    /// Adds the case of the code, and a value that texts of it repeat.
    #[must_use]
    pub fn case(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.case = Some(Box::new(ProblemCase { name, value: value.into() }));
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
