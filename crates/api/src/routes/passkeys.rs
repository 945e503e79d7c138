//! Passkeys: registration, sign-in, step-up, and deletion.

mod delete;
mod list;
mod register;
mod sign_in;
mod step_up;
mod view;

use application::Problem;
use identity::passkeys::RelyingParty;
use kernel::id::CeremonyId;
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
    /// Id of the challenge, which you send back with the response to it.
    ceremony_id: CeremonyId,
    /// Options for `navigator.credentials`, in the JSON format of Web Authentication: `{publicKey: …}`.
    #[schema(value_type = Object)]
    options: Value,
}

/// The browser's response to a challenge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PasskeyAnswer {
    /// The `ceremonyId` of the challenge.
    #[schema(max_length = 64)]
    ceremony_id: String,
    /// Result of `navigator.credentials`, in its JSON format.
    #[schema(value_type = Object)]
    credential: Value,
}

/// Parses the id of a challenge. One that does not exist has expired.
fn parse_ceremony_id(text: &str) -> Result<CeremonyId, Problem> {
    text.parse().map_err(|_| identity::IdentityError::InvalidCeremony.into())
}

fn authenticators(api: &Api) -> Result<&dyn RelyingParty, Problem> {
    api.relying_party().ok_or_else(|| {
        Problem::unavailable("passkeys_unavailable", "This server has no host name, which passkeys require.")
            .hint(
                "The operator can set --public-url to a URL with a host name, such as http://localhost:7420.",
            )
    })
}

/// Logs the reason of a refusal, which the response does not reveal.
fn log_refusal(error: &identity::IdentityError) {
    if let identity::IdentityError::PasskeyRejected(refused) = error {
        tracing::info!(reason = %refused, "passkey response refused");
    }
}
