//! Verifying the proof of a call.

use kernel::Timestamp;
use secrecy::SecretString;

use super::{WebhookCall, WebhookReceiver};
use crate::webhooks::{Proof, SealedSecret, Webhook, WebhookRefusal, WebhookSnapshot, proof};

/// A verified proof, with the data by which a duplicate or replay is recognized.
#[derive(Default)]
pub(super) struct VerifiedProof {
    pub(super) signature: Option<proof::VerifiedSignature>,
    pub(super) delivery_id: Option<String>,
}

impl WebhookReceiver<'_> {
    /// Verifies the proof that the webhook demands.
    pub(super) fn verify_proof(
        &self,
        state: &WebhookSnapshot,
        call: WebhookCall<'_>,
        now: Timestamp,
    ) -> Result<VerifiedProof, WebhookRefusal> {
        match &state.webhook.proof {
            Proof::Signed(secret) => {
                let secret = self.open_secret(state, secret)?;
                let signed = proof::verify_signature(secret, call.headers, call.body, now)?;
                Ok(VerifiedProof { signature: Some(signed), delivery_id: None })
            }
            Proof::CodeHost(secret) => {
                proof::verify_hub_signature(self.open_secret(state, secret)?, call.headers, call.body)?;
                Ok(VerifiedProof {
                    signature: None,
                    delivery_id: proof::delivery_id(call.headers).map(str::to_owned),
                })
            }
            // Only the digest is stored, so a test has no token to send.
            Proof::Token(_) | Proof::Messenger(_) if call.is_sample => Ok(VerifiedProof::default()),
            Proof::Token(token) => {
                proof::verify_token(self.peppers, token, call.headers, &[proof::TOKEN_HEADER])?;
                Ok(VerifiedProof::default())
            }
            Proof::Messenger(token) => {
                proof::verify_token(self.peppers, token, call.headers, &proof::BOT_TOKEN_HEADERS)?;
                Ok(VerifiedProof::default())
            }
            Proof::Form(_) | Proof::None => Ok(VerifiedProof::default()),
        }
    }

    /// Opens the secret of the webhook, once for each snapshot of its state.
    pub(in crate::webhooks) fn open_secret<'s>(
        &self,
        state: &'s WebhookSnapshot,
        secret: &SealedSecret,
    ) -> Result<&'s SecretString, WebhookRefusal> {
        state.secret_cache.get_or_open(|| {
            let owner = Webhook::secret_owner(state.webhook.workspace, state.webhook.id);
            let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
            self.vault.open(&owner, &secret.sealed).map_err(|_| WebhookRefusal::SecretUnreadable)
        })
    }
}
