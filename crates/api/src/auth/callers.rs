//! Kinds of callers, as types for the signatures of handlers.

use kernel::caller::Scope;

/// Callers that an operation accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callers {
    /// Anybody. No credential is read.
    Public,
    /// Anybody on a page of the console. For signing in, before there is a cookie.
    SignIn,
    /// Anybody on a page of this server. A session is read if there is one.
    Page,
    /// A person who is signed in to the console.
    Console,
    /// A person who is signed in to the console, or a token with the scope.
    ConsoleOr(Scope),
    /// A token with any scopes.
    Token,
    /// A project key.
    ProjectKey,
}

impl Callers {
    /// Returns the specification's codes of the callers.
    pub(crate) fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Public | Self::SignIn | Self::Page => &["P"],
            Self::Console => &["C"],
            Self::ConsoleOr(Scope::Read) => &["C", "T:read"],
            Self::ConsoleOr(_) => &["C", "T:write"],
            Self::Token => &["T:any"],
            Self::ProjectKey => &["K"],
        }
    }
}

/// Kind of callers as a type.
pub(crate) trait CallerKind: Send + Sync + 'static {
    const CALLERS: Callers;
}

macro_rules! caller_kinds {
    ($($(#[$doc:meta])* $name:ident = $callers:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl CallerKind for $name {
            const CALLERS: Callers = $callers;
        }
    )+};
}

caller_kinds! {
    /// See [`Callers::Public`].
    Public = Callers::Public;
    /// See [`Callers::SignIn`].
    SignIn = Callers::SignIn;
    /// See [`Callers::Page`].
    PageVisitor = Callers::Page;
    /// See [`Callers::Console`].
    Console = Callers::Console;
    /// A person who is signed in to the console, or a token with the scope `read`.
    ReadToken = Callers::ConsoleOr(Scope::Read);
    /// A person who is signed in to the console, or a token with the scope `write`.
    WriteToken = Callers::ConsoleOr(Scope::Write);
    /// See [`Callers::Token`].
    AnyToken = Callers::Token;
}
