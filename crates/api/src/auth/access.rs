//! Who may call an operation. Each operation says so once, where it is registered: the same words are enforced
//! before its handler runs and stand in the OpenAPI document.

use axum::{Extension, routing::MethodRouter};
use kernel::caller::Scope;
use utoipa::ToSchema as _;
use utoipa::openapi::{extensions::ExtensionsBuilder, path::Operation};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::{
    http::{error::ErrorEnvelope, openapi},
    state::Api,
};

/// Which kinds of caller an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callers {
    /// Anybody; no credential is read.
    Public,
    /// Anybody on a page of the console: signing in, before there is a cookie.
    SignIn,
    /// Anybody who looks at a page of ours: whoever is signed in is known, and nobody is asked to be.
    Page,
    /// A signed-in person in the console.
    Console,
    /// A signed-in person, or a token with the scope.
    ConsoleOr(Scope),
    /// A token, whatever its scopes.
    Token,
    /// A project key.
    ProjectKey,
}

impl Callers {
    /// The specification's codes.
    fn codes(self) -> &'static [&'static str] {
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

/// What an operation asks of its caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) callers: Callers,
    /// The right it needs, in the specification's words; `-` for none.
    pub(crate) right: &'static str,
    /// How much it takes from the caller's minute; by the method when not said.
    pub(crate) cost: Option<u32>,
}

impl Access {
    const fn new(callers: Callers, right: &'static str) -> Self {
        Self { callers, right, cost: None }
    }

    pub(crate) const fn public() -> Self {
        Self::new(Callers::Public, "-")
    }

    pub(crate) const fn sign_in() -> Self {
        Self::new(Callers::SignIn, "-")
    }

    pub(crate) const fn page() -> Self {
        Self::new(Callers::Page, "-")
    }

    pub(crate) const fn console(right: &'static str) -> Self {
        Self::new(Callers::Console, right)
    }

    pub(crate) const fn read(right: &'static str) -> Self {
        Self::new(Callers::ConsoleOr(Scope::Read), right)
    }

    pub(crate) const fn write(right: &'static str) -> Self {
        Self::new(Callers::ConsoleOr(Scope::Write), right)
    }

    pub(crate) const fn token() -> Self {
        Self::new(Callers::Token, "-")
    }

    pub(crate) const fn project_key(scope: &'static str) -> Self {
        Self::new(Callers::ProjectKey, scope)
    }

    pub(crate) const fn cost(self, cost: u32) -> Self {
        Self { cost: Some(cost), ..self }
    }

    /// Puts what is no operation of the API, such as a page, under this access.
    pub(crate) fn protect(self, methods: MethodRouter<Api>) -> MethodRouter<Api> {
        methods.route_layer(Extension(self))
    }

    /// Puts an operation under this access, in fact and in its description.
    pub(crate) fn of(self, route: UtoipaMethodRouter<Api>) -> UtoipaMethodRouter<Api> {
        let (schemas, mut paths, methods) = route;
        for item in paths.paths.values_mut() {
            let operations =
                [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                self.describe(operation);
            }
        }
        (schemas, paths, methods.route_layer(Extension(self)))
    }

    fn describe(self, operation: &mut Operation) {
        let extensions = ExtensionsBuilder::new()
            .add("x-qala-callers", serde_json::json!(self.callers.codes()))
            .add("x-qala-right", self.right)
            .build();
        operation.extensions.get_or_insert_default().merge(extensions);
        let credential = ("401", "There is a credential, and it is not valid here.");
        let refusals = match self.callers {
            Callers::SignIn => &[credential, ("403", "The `Origin` is missing or not the console's.")][..],
            Callers::Page => &[credential],
            _ => &[],
        };
        for (status, description) in refusals {
            let response = openapi::error_response(description, &ErrorEnvelope::name());
            operation.responses.responses.entry((*status).to_owned()).or_insert_with(|| response.into());
        }
    }
}
