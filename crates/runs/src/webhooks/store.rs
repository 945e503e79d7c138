//! The hot path's port: looking a webhook up, and accepting its calls, many in one transaction.

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

/// What decides whether a call of a webhook can start a run, as of one moment.
#[derive(Debug, Clone)]
pub struct WebhookSnapshot {
    /// The webhook.
    pub webhook: Webhook,
    /// The app its automation starts.
    pub app: AppId,
    /// Whether the automation starts anything.
    pub automation_status: AutomationStatus,
    /// How many of the automation's runs may be at work at once.
    pub max_concurrency: Option<u16>,
    /// Whether the app has a version to run and is not paused.
    pub is_app_runnable: bool,
    /// What its runs are started by: a webhook, or a form where the automation's trigger is one.
    pub trigger: TriggerKind,
    /// Whether the app's current manifest declares that trigger; one that declares a webhook takes forms too.
    pub declares_trigger: bool,
    /// How many runs the workspace may start in a month.
    pub runs_per_month: Option<u64>,
    /// What changes whenever any of this does.
    pub revisions: RevisionVector,
    /// The webhook's secret, once it was needed.
    pub secret_cache: SecretCache,
}

/// A secret that is unsealed at the first call and kept for as long as the state that it is of.
#[derive(Debug, Clone, Default)]
pub struct SecretCache(OnceLock<SecretString>);

impl SecretCache {
    /// The secret; unsealed by `open` if it was not before.
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

/// The revisions of webhook, automation, app and workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionVector(pub [i64; 4]);

/// A call that was found good under [`WebhookSnapshot`].
#[derive(Debug)]
pub struct AcceptCall {
    /// The webhook.
    pub hook: HookId,
    /// Under which state the call was found good.
    pub revisions: RevisionVector,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The automation to start.
    pub automation: AutomationId,
    /// The app to run.
    pub app: AppId,
    /// What starts it.
    pub trigger: TriggerKind,
    /// The run to start.
    pub run: RunId,
    /// The call's id.
    pub delivery: DeliveryId,
    /// What makes a later call the same as this one: it is told what this one was told.
    pub keys: Vec<DedupKey>,
    /// What makes a later call a replay of this one, and refused. Its digest begins with the moment it was signed at, in
    /// seconds since 1970, as eight bytes.
    pub signature: Option<DedupKey>,
    /// What the app is given.
    pub input: Box<RawValue>,
    /// How large the body was, in bytes.
    pub bytes: u32,
    /// Whether it is a test from the console.
    pub is_sample: bool,
    /// When it came.
    pub at: Timestamp,
    /// How many of the automation's runs may be at work at once.
    pub max_concurrency: Option<u16>,
    /// How many runs the workspace may start in a month.
    pub runs_per_month: Option<u64>,
    /// The row of the audit log that is written with it, of a person's own test.
    pub audit: Option<AuditEntry>,
    /// Whether it may start a run. If not, it is only looked up whether an earlier call is the same.
    pub may_start: bool,
}

/// What makes two calls of one webhook the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DedupKey {
    /// A digest of what they share; different kinds of key never collide.
    pub digest: [u8; 32],
    /// Until when it is remembered.
    pub expires_at: Timestamp,
}

impl AcceptCall {
    /// Its keys and its signature.
    pub fn all_dedup_keys(&self) -> impl Iterator<Item = &DedupKey> {
        self.keys.iter().chain(&self.signature)
    }
}

/// What became of an [`AcceptCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// The run is in the queue, durably.
    Accepted,
    /// An earlier call with the same key started this run.
    Duplicate {
        /// The earlier call's run.
        run: RunId,
        /// The earlier call.
        delivery: DeliveryId,
    },
    /// The same signed request was accepted before.
    Replayed,
    /// No earlier call is the same, and this one may not start a run.
    New,
    /// The state changed meanwhile: decide again.
    Stale,
    /// The runs of the month are used up.
    QuotaReached,
}

/// A call that proved itself and was refused all the same.
#[derive(Debug)]
pub struct RefusedDelivery {
    /// The call's id.
    pub id: DeliveryId,
    /// The webhook.
    pub hook: HookId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The automation it was to start.
    pub automation: AutomationId,
    /// The app that would have run.
    pub app: AppId,
    /// Why it was refused.
    pub code: &'static str,
    /// How large the body was, in bytes.
    pub bytes: u32,
    /// When it came.
    pub at: Timestamp,
    /// Whether it is a test from the console.
    pub is_sample: bool,
    /// The row of the audit log that is written with it, of a person's own test.
    pub audit: Option<AuditEntry>,
    /// What is kept of it for replay.
    pub dead_letter: Option<NewDeadLetter>,
}

/// What is kept of a call that could not run.
#[derive(Debug)]
pub struct NewDeadLetter {
    /// The automation to start.
    pub automation: AutomationId,
    /// The app to run.
    pub app: AppId,
    /// What its run would be started by.
    pub trigger: TriggerKind,
    /// Why it could not run, for people.
    pub message: String,
    /// What makes a later call the same as this one.
    pub digest: Option<[u8; 32]>,
    /// What the app would be given.
    pub input: Box<RawValue>,
}

/// Looks webhooks up and accepts their calls.
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// The state of a webhook; with `fresh`, as it stands in the database now, else possibly a moment old.
    async fn webhook_snapshot(
        &self,
        id: HookId,
        fresh: bool,
    ) -> Result<Option<Arc<WebhookSnapshot>>, StoreError>;

    /// Accepts a call: delivery, keys, run and queue entry in one transaction, durable before it answers.
    async fn accept(&self, call: AcceptCall) -> Result<AcceptOutcome, StoreError>;

    /// Notes a refused call for the console's list.
    async fn record_refusal(&self, refused: RefusedDelivery) -> Result<(), StoreError>;
}
