//! The port of the hot path: looking up webhooks and accepting their calls, many in one transaction.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use kernel::{
    AuditEntry, StoreError, Timestamp,
    id::{AppId, AutomationId, DeliveryId, HookId, RunId, WorkspaceId},
};
use secrecy::SecretString;
use serde_json::value::RawValue;

use super::Webhook;
use crate::{AutomationStatus, TriggerKind};

/// State that decides whether a call of a webhook can start a run, at one point in time.
#[derive(Debug, Clone)]
pub struct WebhookSnapshot {
    /// Webhook with its settings.
    pub webhook: Webhook,
    /// App that its automation runs.
    pub app: AppId,
    /// Status of its automation.
    pub automation_status: AutomationStatus,
    /// Most runs of the automation that execute at once; `None` for no limit.
    pub max_concurrency: Option<u16>,
    /// True if the app has a version to run and is not paused.
    pub is_app_runnable: bool,
    /// Trigger of its runs: a form if the automation's trigger is one, else a webhook.
    pub trigger: TriggerKind,
    /// True if the app's current manifest declares that trigger. A manifest that declares a webhook allows forms too.
    pub declares_trigger: bool,
    /// Most runs of the workspace in a month; `None` for no limit.
    pub runs_per_month: Option<u64>,
    /// Revisions, at least one of which changes with every change of this state.
    pub revisions: RevisionVector,
    /// Opened secret of the webhook, once it was needed.
    pub secret_cache: SecretCache,
}

/// A secret that is opened at the first call, and cached for as long as its [`WebhookSnapshot`] lives.
#[derive(Debug, Clone, Default)]
pub struct SecretCache(OnceLock<SecretString>);

impl SecretCache {
    /// Returns the secret, opened by `open` if it was not before.
    pub(crate) fn get_or_open<E>(
        &self,
        open: impl FnOnce() -> Result<SecretString, E>,
    ) -> Result<&SecretString, E> {
        if let Some(secret) = self.0.get() {
            return Ok(secret);
        }
        let secret = open()?;
        Ok(self.0.get_or_init(|| secret))
    }
}

/// Revisions of the webhook, automation, app and workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionVector(pub [i64; 4]);

/// A call that passed every check against a [`WebhookSnapshot`].
#[derive(Debug)]
pub struct AcceptCall {
    /// Webhook that was called.
    pub hook: HookId,
    /// Revisions of the state that it was checked against.
    pub revisions: RevisionVector,
    /// Workspace of the webhook.
    pub workspace: WorkspaceId,
    /// Automation to trigger.
    pub automation: AutomationId,
    /// App to run.
    pub app: AppId,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Id for the new run.
    pub run: RunId,
    /// Id of the call.
    pub delivery: DeliveryId,
    /// Keys that make a later call a duplicate of this one, which gets the same response.
    pub keys: Vec<DedupKey>,
    /// Key that makes a later call a replay of this one, which is refused. Its digest begins with the time of the
    /// signature, in seconds since 1970, as eight bytes.
    pub signature: Option<DedupKey>,
    /// Input of the app.
    pub input: Box<RawValue>,
    /// Size of the body, in bytes.
    pub bytes: u32,
    /// True if it is a test from the console.
    pub is_sample: bool,
    /// Time of the call.
    pub at: Timestamp,
    /// Most runs of the automation that execute at once; `None` for no limit.
    pub max_concurrency: Option<u16>,
    /// Most runs of the workspace in a month; `None` for no limit.
    pub runs_per_month: Option<u64>,
    /// Audit entry of a test, which is written with it.
    pub audit: Option<AuditEntry>,
    /// True if it may start a run. Otherwise the store only checks whether it is a duplicate.
    pub may_start: bool,
}

/// Key by which two calls of one webhook are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DedupKey {
    /// Digest of what they share. Keys of different kinds never collide.
    pub digest: [u8; 32],
    /// Time until which it is remembered.
    pub expires_at: Timestamp,
}

impl AcceptCall {
    /// Returns the keys, then the signature.
    pub fn all_dedup_keys(&self) -> impl Iterator<Item = &DedupKey> {
        self.keys.iter().chain(&self.signature)
    }
}

/// Outcome of an [`AcceptCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// The run is durably queued.
    Accepted,
    /// An earlier call with the same key started this run.
    Duplicate {
        /// Run of the earlier call.
        run: RunId,
        /// Id of the earlier call.
        delivery: DeliveryId,
    },
    /// The same signed request was accepted before.
    Replayed,
    /// No earlier call is the same, and [`AcceptCall::may_start`] is false.
    New,
    /// The state has changed; the call has to be checked again.
    Stale,
    /// The runs of the month are used up.
    QuotaReached,
}

/// A call that was refused, though its proof was right.
#[derive(Debug)]
pub struct RefusedDelivery {
    /// Id of the call.
    pub id: DeliveryId,
    /// Webhook that was called.
    pub hook: HookId,
    /// Workspace of the webhook.
    pub workspace: WorkspaceId,
    /// Automation that it would have triggered.
    pub automation: AutomationId,
    /// App that would have run.
    pub app: AppId,
    /// Code of the refusal.
    pub code: &'static str,
    /// Size of the body, in bytes.
    pub bytes: u32,
    /// Time of the call.
    pub at: Timestamp,
    /// True if it is a test from the console.
    pub is_sample: bool,
    /// Audit entry of a test, which is written with it.
    pub audit: Option<AuditEntry>,
    /// Dead letter, if the call is kept for replay.
    pub dead_letter: Option<NewDeadLetter>,
}

/// A dead letter to be stored, of a call that could not start a run.
#[derive(Debug)]
pub struct NewDeadLetter {
    /// Automation to trigger.
    pub automation: AutomationId,
    /// App to run.
    pub app: AppId,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Message of the refusal.
    pub message: String,
    /// Digest by which a later call is the same: that of the call's first key, else of its signature.
    pub digest: Option<[u8; 32]>,
    /// Input of the app.
    pub input: Box<RawValue>,
}

/// Looks up webhooks and accepts their calls.
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// Returns the state of a webhook. With `fresh` it is read from the database; otherwise it may be slightly stale.
    async fn webhook_snapshot(
        &self,
        id: HookId,
        fresh: bool,
    ) -> Result<Option<Arc<WebhookSnapshot>>, StoreError>;

    /// Accepts a call: writes delivery, keys, run and queue entry in one transaction, which is durable before this
    /// returns.
    async fn accept(&self, call: AcceptCall) -> Result<AcceptOutcome, StoreError>;

    /// Records a refused call for the list in the console, with its dead letter.
    async fn record_refusal(&self, refused: RefusedDelivery) -> Result<(), StoreError>;
}
