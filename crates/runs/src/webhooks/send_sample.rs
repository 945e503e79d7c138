//! Sending a test call.

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use kernel::{Context, id::HookId};

use super::{AcceptedCall, Proof, WebhookCall, WebhookReceiver, WebhookRefusal, proof};

impl WebhookReceiver<'_> {
    /// Sends a sample through the webhook as its sender would: signed with its secret, where that is kept.
    ///
    /// # Errors
    /// As [`WebhookReceiver::receive`].
    pub async fn send_sample(
        &self,
        ctx: &Context,
        hook: HookId,
        body: &[u8],
    ) -> Result<AcceptedCall, WebhookRefusal> {
        let state = self.store.webhook_snapshot(hook, true).await?.ok_or(WebhookRefusal::NotFound)?;
        let mut headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let proof = match &state.webhook.proof {
            Proof::Signed(secret) => {
                let time = ctx.now.timestamp().to_string();
                let value = proof::signature_header(self.open_secret(&state, secret)?, &time, body);
                Some((proof::SIGNATURE_HEADER, value))
            }
            Proof::CodeHost(secret) => {
                let value = proof::hub_signature_header(self.open_secret(&state, secret)?, body);
                Some((proof::HUB_SIGNATURE_HEADER, value))
            }
            Proof::Token(_) | Proof::Messenger(_) | Proof::Form(_) | Proof::None => None,
        };
        if let Some((name, value)) = proof {
            headers.insert(name, HeaderValue::try_from(value).map_err(|_| WebhookRefusal::SecretUnreadable)?);
        }
        self.receive(ctx, WebhookCall { hook, headers: &headers, body, is_sample: true }).await
    }
}
