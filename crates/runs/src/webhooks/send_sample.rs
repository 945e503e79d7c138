//! Sending a test call.

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use kernel::{Context, id::HookId};

use super::{AcceptedCall, Proof, WebhookCall, WebhookReceiver, WebhookRefusal, proof};

impl WebhookReceiver<'_> {
    /// Sends a test call through the webhook as its sender would, signed with its secret if that is stored.
    ///
    /// # Errors
    /// Those of [`WebhookReceiver::receive`].
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

#[cfg(test)]
mod tests {
    use kernel::{
        testing::id,
        vault::{MasterKeys, Vault},
    };

    use super::*;
    use crate::{
        testing::{
            FakeRateLimiter, FakeRefusedCalls, FakeWebhookStore, Freshness, editor_context, peppers, sealed,
            vault, webhook_snapshot,
        },
        webhooks::{FormSettings, TokenDigest},
    };

    async fn send(
        store: &FakeWebhookStore,
        vault: &Vault,
        hook: HookId,
    ) -> Result<AcceptedCall, WebhookRefusal> {
        let receiver = WebhookReceiver {
            store,
            rate_limiter: &FakeRateLimiter::open(),
            vault,
            peppers: &peppers(),
            refused_calls: &FakeRefusedCalls::default(),
        };
        receiver.send_sample(&editor_context(), hook, b"{\"sample\":true}").await
    }

    #[tokio::test]
    async fn a_sample_passes_the_proof_of_every_mode() {
        let token = || TokenDigest { digest: peppers().digest("qwt_1"), hint: "qwt_…".to_owned() };
        for proof in [
            Proof::Signed(sealed("qws_1")),
            Proof::CodeHost(sealed("qws_1")),
            Proof::Token(token()),
            Proof::Messenger(token()),
            Proof::Form(FormSettings::default()),
            Proof::None,
        ] {
            let store = FakeWebhookStore::with(webhook_snapshot(proof.clone()));
            let sent = send(&store, &vault(), id(40)).await.unwrap();
            let calls = store.take_accepted();
            assert_eq!((calls.len(), calls[0].run), (1, sent.run), "{proof:?}");
            assert!(calls[0].is_sample && calls[0].audit.is_some());
            assert_eq!(calls[0].input.get(), "{\"sample\":true}");
            assert_eq!(store.reads()[0], Freshness::Fresh);
        }
    }

    #[tokio::test]
    async fn a_sample_to_an_unknown_webhook_is_not_found() {
        let store = FakeWebhookStore::with(webhook_snapshot(Proof::None));
        let refused = send(&store, &vault(), id(41)).await;
        assert!(matches!(refused, Err(WebhookRefusal::NotFound)), "{refused:?}");
        assert!(store.take_accepted().is_empty() && store.take_refused().is_empty());
    }

    #[tokio::test]
    async fn a_sample_cannot_be_signed_with_a_secret_that_does_not_open() {
        let other = Vault::new(&MasterKeys::new(vec![[8; 32]]).unwrap());
        for proof in [Proof::Signed(sealed("qws_1")), Proof::CodeHost(sealed("qws_1"))] {
            let store = FakeWebhookStore::with(webhook_snapshot(proof));
            let refused = send(&store, &other, id(40)).await;
            assert!(matches!(refused, Err(WebhookRefusal::SecretUnreadable)), "{refused:?}");
            assert!(store.take_accepted().is_empty() && store.take_refused().is_empty());
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        let mut store = FakeWebhookStore::with(webhook_snapshot(Proof::None));
        store.failing = Some("read");
        let refused = send(&store, &vault(), id(40)).await;
        assert!(matches!(refused, Err(WebhookRefusal::Store(_))), "{refused:?}");
    }
}
