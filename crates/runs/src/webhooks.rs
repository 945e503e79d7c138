//! Inbound webhooks (specification part A, "Inbound webhooks"): set-up, proof, body, acceptance.

mod audit;
pub mod body;
mod change;
mod checks;
mod configure;
mod credentials;
pub mod form;
pub mod proof;
mod receive;
mod refusal;
mod rotate;
mod send_sample;
mod store;

use std::str::FromStr;

use kernel::{
    Problem, Timestamp,
    id::{AutomationId, DeliveryId, HookId, RunId, WorkspaceId},
    token::Digest,
};
use serde::{Deserialize, Serialize};

pub use change::{ChangeWebhook, change_webhook};
pub use configure::{ConfigureWebhook, configure_webhook};
pub use credentials::{CredentialKeys, WebhookWithSecret};
pub use form::{ChangeForm, FormSettings};
pub use receive::{
    AcceptedCall, FormResponse, KEY_LIFETIME, SIGNATURE_LIFETIME, WebhookCall, WebhookRateLimiter,
    WebhookReceiver,
};
pub use refusal::{OWNER_FIXABLE_REFUSALS, RateLimitExceeded, WebhookRefusal};
pub use rotate::rotate_webhook;
pub use store::{
    AcceptCall, AcceptOutcome, DedupKey, NewDeadLetter, RefusedDelivery, RevisionVector, SecretCache,
    WebhookSnapshot, WebhookStore,
};

/// How a caller proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProofMode {
    /// An HMAC over time and body: own code.
    Signed,
    /// A token in a header.
    Token,
    /// A messaging bot's token.
    Messenger,
    /// An HMAC over the body, as code hosts send it.
    CodeHost,
    /// A public form: no secret, guards instead.
    Form,
    /// Nothing at all.
    None,
}

impl ProofMode {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Token => "token",
            Self::Messenger => "messenger",
            Self::CodeHost => "code_host",
            Self::Form => "form",
            Self::None => "none",
        }
    }
}

impl FromStr for ProofMode {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Signed, Self::Token, Self::Messenger, Self::CodeHost, Self::Form, Self::None]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("mode", "is none we know"))
    }
}

/// How a caller proves itself, with what the proof is checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// An HMAC over time and body.
    Signed(SealedSecret),
    /// An HMAC over the body.
    CodeHost(SealedSecret),
    /// A token in a header.
    Token(TokenDigest),
    /// A messaging bot's token.
    Messenger(TokenDigest),
    /// A public form: guards instead of a secret.
    Form(FormSettings),
    /// Nothing at all.
    None,
}

/// A secret that must be read again, sealed by the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// The sealed secret.
    pub sealed: String,
    /// What may be shown of it.
    pub hint: String,
}

/// A token of which only the digest is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenDigest {
    /// The digest.
    pub digest: Digest,
    /// What may be shown of the token.
    pub hint: String,
}

impl Proof {
    /// Which mode it is.
    #[must_use]
    pub fn mode(&self) -> ProofMode {
        match self {
            Self::Signed(_) => ProofMode::Signed,
            Self::CodeHost(_) => ProofMode::CodeHost,
            Self::Token(_) => ProofMode::Token,
            Self::Messenger(_) => ProofMode::Messenger,
            Self::Form(_) => ProofMode::Form,
            Self::None => ProofMode::None,
        }
    }

    /// What may be shown of the secret.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Signed(secret) | Self::CodeHost(secret) => Some(&secret.hint),
            Self::Token(token) | Self::Messenger(token) => Some(&token.hint),
            Self::Form(_) | Self::None => None,
        }
    }

    /// The settings of a public form.
    #[must_use]
    pub fn form(&self) -> Option<&FormSettings> {
        if let Self::Form(settings) = self { Some(settings) } else { None }
    }
}

/// A webhook of an automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The identifier in its address.
    pub id: HookId,
    /// The automation it starts.
    pub automation: AutomationId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// How a caller proves itself.
    pub proof: Proof,
    /// Whether it takes calls.
    pub is_enabled: bool,
    /// How many calls a minute it takes, 1 to 600.
    pub per_minute: u16,
    /// When it was set up.
    pub created_at: Timestamp,
    /// When its settings last changed.
    pub updated_at: Timestamp,
}

impl Webhook {
    /// How many calls a minute when not said.
    pub const DEFAULT_PER_MINUTE: u16 = 60;

    /// How many calls a minute a webhook of this mode takes when not said.
    #[must_use]
    pub fn default_per_minute(mode: ProofMode) -> u16 {
        if mode == ProofMode::Form { form::DEFAULT_PER_MINUTE } else { Self::DEFAULT_PER_MINUTE }
    }

    /// What its secret is sealed for.
    #[must_use]
    pub fn secret_owner(workspace: WorkspaceId, hook: HookId) -> [String; 3] {
        [workspace.to_string(), hook.to_string(), "webhook-secret".to_owned()]
    }
}

/// One call of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The call's id.
    pub id: DeliveryId,
    /// When it came.
    pub received_at: Timestamp,
    /// What became of it.
    pub outcome: DeliveryOutcome,
    /// How large its body was, in bytes.
    pub bytes: u32,
    /// Whether it was a test from the console.
    pub is_sample: bool,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It started a run.
    Accepted(RunId),
    /// It proved itself and was refused all the same, for this reason.
    Refused(String),
}
