//! The access of an operation: its callers and the right it needs. The signature of its handler declares both, with the
//! extractor ([`Ctx`](super::Ctx), [`Authorized`](super::Authorized)) that enforces what is described here.

use application::authorization::Requirement;
use axum::{Extension, extract::State, routing::MethodRouter};
use utoipa::{
    ToSchema as _,
    openapi::{extensions::ExtensionsBuilder, path::Operation as Description},
};
use utoipa_axum::router::UtoipaMethodRouter;

use super::callers::Callers;
use crate::{
    http::{error::ErrorEnvelope, openapi},
    state::Api,
};

/// Requirements of an operation on its caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) callers: Callers,
    pub(crate) requirement: Requirement,
}

/// Extractor that enforces an access.
pub(crate) trait Enforces {
    const ACCESS: Access;
}

/// Handler whose second parameter, after the state, enforces its access.
pub(crate) trait Operation<Parameters> {
    const ACCESS: Access;
}

macro_rules! operations {
    ($($parameter:ident)*) => {
        impl<F, Output, Enforcer, $($parameter),*> Operation<(Enforcer, $($parameter),*)> for F
        where
            F: Fn(State<Api>, Enforcer, $($parameter),*) -> Output,
            Enforcer: Enforces,
        {
            const ACCESS: Access = Enforcer::ACCESS;
        }
    };
}

operations!();
operations!(A);
operations!(A B);
operations!(A B C);
operations!(A B C D);
operations!(A B C D E);

/// Returns the access that a handler enforces.
pub(crate) fn access_of<Parameters, F: Operation<Parameters>>(_: &F) -> Access {
    F::ACCESS
}

/// Rate limit units that a request costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost(pub(crate) u32);

/// Sets the cost of a route that is not an operation of the API, such as a page.
pub(crate) fn with_cost(cost: u32, methods: MethodRouter<Api>) -> MethodRouter<Api> {
    methods.route_layer(Extension(Cost(cost)))
}

impl Access {
    /// Access of an operation that reads no credential.
    pub(crate) const PUBLIC: Self = Self { callers: Callers::Public, requirement: Requirement::None };

    /// Adds the access to the descriptions of a route's operations and sets their cost; `None` for the default of their
    /// method.
    pub(crate) fn describe(
        self,
        route: UtoipaMethodRouter<Api>,
        cost: Option<u32>,
    ) -> UtoipaMethodRouter<Api> {
        let (schemas, mut paths, methods) = route;
        for item in paths.paths.values_mut() {
            let writes = [&mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
            writes.into_iter().flatten().for_each(|operation| self.describe_operation(operation));
            item.get.iter_mut().for_each(|operation| self.describe_operation(operation));
        }
        let methods = match cost {
            Some(cost) => with_cost(cost, methods),
            None => methods,
        };
        (schemas, paths, methods)
    }

    fn describe_operation(self, operation: &mut Description) {
        let extensions = ExtensionsBuilder::new()
            .add("x-qala-callers", serde_json::json!(self.callers.codes()))
            .add("x-qala-right", self.requirement.as_str())
            .build();
        operation.extensions.get_or_insert_default().merge(extensions);
        let credential = ("401", "The request has a credential that is not valid here.");
        let refusals = match self.callers {
            Callers::SignIn => &[credential, ("403", "The `Origin` is missing or is not the console's.")][..],
            Callers::Page => &[credential],
            _ => &[],
        };
        for (status, description) in refusals {
            let response = openapi::error_response(description, &ErrorEnvelope::name());
            operation.responses.responses.entry((*status).to_owned()).or_insert_with(|| response.into());
        }
    }
}
