//! Passkeys: making, using and taking them away.

mod delete;
mod list;
mod register;
mod sign_in;
mod step_up;
mod view;

use identity::passkeys::RelyingParty;
use kernel::{Problem, id::CeremonyId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(register::start_passkey_registration, cost = 5))
        .routes(op!(register::finish_passkey_registration, cost = 5))
        .routes(op!(sign_in::start_passkey_sign_in, cost = 5))
        .routes(op!(sign_in::finish_passkey_sign_in, cost = 5))
        .routes(op!(step_up::start_passkey_step_up, cost = 5))
        .routes(op!(step_up::finish_passkey_step_up, cost = 5))
        .routes(op!(list::list_passkeys))
        .routes(op!(delete::delete_passkey))
}

/// A challenge for the browser.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PasskeyChallenge {
    /// To be sent back with the answer.
    ceremony_id: CeremonyId,
    /// For `navigator.credentials`, in the JSON form of Web Authentication: `{publicKey: …}`.
    #[schema(value_type = Object)]
    options: Value,
}

/// The browser's answer to a challenge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasskeyAnswer {
    /// As the challenge gave it.
    #[schema(max_length = 64)]
    ceremony_id: String,
    /// What `navigator.credentials` gave, in its JSON form.
    #[schema(value_type = Object)]
    credential: Value,
}

/// A ceremony that is not there is over.
fn parse_ceremony_id(text: &str) -> Result<CeremonyId, Problem> {
    text.parse().map_err(|_| identity::IdentityError::InvalidCeremony.into())
}

fn authenticators(api: &Api) -> Result<&dyn RelyingParty, Problem> {
    api.relying_party().ok_or_else(|| {
        Problem::unavailable(
            "passkeys_unavailable",
            "This server has no host name, which passkeys belong to.",
        )
        .hint(
            "Whoever runs it can set --public-url to an address with a name, such as http://localhost:7420.",
        )
    })
}

/// Says in the log why an answer was refused; the caller is told nothing of it.
fn log_refusal(error: &identity::IdentityError) {
    if let identity::IdentityError::PasskeyRejected(refused) = error {
        tracing::info!(reason = %refused, "a passkey's answer was refused");
    }
}
