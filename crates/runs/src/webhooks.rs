//! Inbound webhooks (specification part A, "Inbound webhooks"): configuration, proof, body, acceptance.

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
pub mod refused_calls;
mod rotate;
mod send_sample;
mod store;

use kernel::{
    Timestamp,
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
pub use refused_calls::{RefusedCallCounter, RefusedCalls, RefusedCallsEntry, RefusedCallsLog};
pub use rotate::rotate_webhook;
pub use store::{
    AcceptCall, AcceptOutcome, DedupKey, NewDeadLetter, RefusedDelivery, RevisionVector, SecretCache,
    WebhookSnapshot, WebhookStore,
};

/// Kind of proof that a webhook demands of its senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofMode {
    /// An HMAC over time and body, for senders of one's own.
    Signed,
    /// A token in a header.
    Token,
    /// A token in the header of a messaging service.
    Messenger,
    /// An HMAC over the body, as code hosts send it.
    CodeHost,
    /// A public form: guards in place of a secret.
    Form,
    /// No proof.
    None,
}

kernel::names! {
    ProofMode {
        Signed = "signed",
        Token = "token",
        Messenger = "messenger",
        CodeHost = "code_host",
        Form = "form",
        None = "none",
    }
}

/// Proof that a webhook demands, with the data to verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// An HMAC over time and body.
    Signed(SealedSecret),
    /// An HMAC over the body.
    CodeHost(SealedSecret),
    /// A token in a header.
    Token(TokenDigest),
    /// A token in the header of a messaging service.
    Messenger(TokenDigest),
    /// A public form: guards in place of a secret.
    Form(FormSettings),
    /// No proof.
    None,
}

/// A secret that is needed to verify a signature, sealed by the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// The sealed secret.
    pub sealed: String,
    /// Displayable part of the secret.
    pub hint: String,
}

/// A token of which only the digest is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenDigest {
    /// Digest of the token.
    pub digest: Digest,
    /// Displayable part of the token.
    pub hint: String,
}

impl Proof {
    /// Returns the mode.
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

    /// Returns the displayable part of the secret or token; `None` if the mode has neither.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Signed(secret) | Self::CodeHost(secret) => Some(&secret.hint),
            Self::Token(token) | Self::Messenger(token) => Some(&token.hint),
            Self::Form(_) | Self::None => None,
        }
    }

    /// Returns the settings of a public form.
    #[must_use]
    pub fn form(&self) -> Option<&FormSettings> {
        if let Self::Form(settings) = self { Some(settings) } else { None }
    }
}

/// A webhook of an automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Id in its URL.
    pub id: HookId,
    /// Automation that it triggers.
    pub automation: AutomationId,
    /// Workspace of the automation.
    pub workspace: WorkspaceId,
    /// Proof that it demands of senders.
    pub proof: Proof,
    /// True if it takes calls.
    pub is_enabled: bool,
    /// Most calls in a minute, 1 to 600.
    pub per_minute: u16,
    /// Time of its creation.
    pub created_at: Timestamp,
    /// Time of its last change.
    pub updated_at: Timestamp,
}

impl Webhook {
    /// Default for calls in a minute, for modes other than forms.
    pub const DEFAULT_PER_MINUTE: u16 = 60;

    /// Returns the default for calls in a minute of a mode.
    #[must_use]
    pub fn default_per_minute(mode: ProofMode) -> u16 {
        if mode == ProofMode::Form { form::DEFAULT_PER_MINUTE } else { Self::DEFAULT_PER_MINUTE }
    }

    /// Returns the owner that its secret is sealed for.
    #[must_use]
    pub fn secret_owner(workspace: WorkspaceId, hook: HookId) -> [String; 3] {
        [workspace.to_string(), hook.to_string(), "webhook-secret".to_owned()]
    }
}

/// A recorded call of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Id of the call.
    pub id: DeliveryId,
    /// Time of the call.
    pub received_at: Timestamp,
    /// Run, or the reason of the refusal.
    pub outcome: DeliveryOutcome,
    /// Size of the body, in bytes.
    pub bytes: u32,
    /// True if it was a test from the console.
    pub is_sample: bool,
}

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It started a run.
    Accepted(RunId),
    /// It was refused, though its proof was right, with this code.
    Refused(String),
}
