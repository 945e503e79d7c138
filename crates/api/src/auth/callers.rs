//! Kinds of caller, as types that a handler's signature names.

use kernel::caller::Scope;

/// The callers that an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callers {
    /// Anybody; no credential is read.
    Public,
    /// Anybody on a page of the console: signing in, before there is a cookie.
    SignIn,
    /// Anybody on a page of this server: who is signed in is known, and nobody has to be.
    Page,
    /// A person signed in to the console.
    Console,
    /// A person signed in to the console, or a token with the scope.
    ConsoleOr(Scope),
    /// A token, whatever its scopes.
    Token,
    /// A project key.
    ProjectKey,
}

impl Callers {
    /// The specification's codes.
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

/// A kind of caller as a type.
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
    /// A person signed in to the console, or a token with the scope `read`.
    ReadToken = Callers::ConsoleOr(Scope::Read);
    /// A person signed in to the console, or a token with the scope `write`.
    WriteToken = Callers::ConsoleOr(Scope::Write);
    /// See [`Callers::Token`].
    AnyToken = Callers::Token;
}
