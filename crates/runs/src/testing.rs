//! An in-memory store and fixtures for the tests of this crate's use cases.
//!
//! Callers are members of [`workspace()`]. Unless a test says otherwise, everything happens there, concerns [`app()`],
//! and [`editor_id()`] does it.

mod tx;
mod webhook_store;

use std::fmt::{Debug, Display};

use kernel::{
    AuditTarget, Context, SeededRandomness, StoreError,
    authority::{AppAccess, AppFact, AppRight, AppRights, CanEdit, CanRun, Role, Sharing, authorize_app},
    id::{AppId, AutomationId, UserId, WorkspaceId},
    testing::{RecordingUnitOfWork, at, context, id, member, session_of},
    token::Peppers,
    vault::{MasterKeys, Vault},
};
use serde_json::{Value, value::RawValue};

use crate::{
    Automation, AutomationStatus, InvalidInput, RunsError, Trigger, TriggerKind, Webhook,
    agent_tools::{AgentTool, InputSchema, PermissionsHash, ToolName},
    dead_letters::{DeadLetterOrigin, DeadLetterState, ReplayRequest, ReplaySource, WhichVersion},
    runs::VersionRef,
    webhooks::{Proof, RevisionVector, SealedSecret, SecretCache, WebhookSnapshot},
};

pub(crate) use tx::{FakeTx, StoredDeadLetter};
pub(crate) use webhook_store::{FakeRateLimiter, FakeRefusedCalls, FakeWebhookStore, Freshness};

pub(crate) fn workspace() -> WorkspaceId {
    id(3)
}

pub(crate) fn app() -> AppId {
    id(5)
}

pub(crate) fn editor_id() -> UserId {
    id(2)
}

/// A request of the editor in the console, one minute after the fixtures were created.
pub(crate) fn editor_context() -> Context {
    context(session_of(editor_id()), at(60_000))
}

/// Proof that the caller of `ctx` may edit [`app()`].
pub(crate) fn can_edit(ctx: &Context) -> AppRight<CanEdit> {
    access(ctx).require().unwrap()
}

/// Proof that the caller of `ctx` may run [`app()`].
pub(crate) fn can_run(ctx: &Context) -> AppRight<CanRun> {
    access(ctx).require().unwrap()
}

fn access(ctx: &Context) -> AppAccess {
    let fact = AppFact {
        app: app(),
        workspace: workspace(),
        created_by: editor_id(),
        sharing: Sharing::Private,
        granted: AppRights::NONE,
    };
    authorize_app(member(ctx, workspace(), Role::Builder), Some(&fact)).unwrap()
}

/// An active automation of [`app()`], without a limit or retries.
pub(crate) fn automation(number: u128, trigger: Trigger) -> Automation {
    Automation {
        id: id(number),
        workspace: workspace(),
        app: app(),
        name: "Nightly".to_owned(),
        trigger,
        status: AutomationStatus::Active,
        max_concurrency: None,
        retries: 0,
        next_run_at: None,
        created_by: editor_id(),
        created_at: at(0),
    }
}

/// A live tool of an automation, with a name of its number, that takes any argument.
pub(crate) fn agent_tool(number: u128, automation: AutomationId) -> AgentTool {
    AgentTool {
        id: id(number),
        workspace: workspace(),
        app: app(),
        automation,
        name: ToolName::parse(&format!("tool_{number}")).unwrap(),
        title: "Tool".to_owned(),
        description: "Does what it does.".to_owned(),
        input_schema: InputSchema::any(),
        is_enabled: true,
        reviewed_hash: permissions_hash(),
        reviewed_at: at(0),
        reviewed_by: editor_id(),
        published_at: at(0),
    }
}

/// What the current version of [`app()`] may do.
pub(crate) fn permissions_hash() -> PermissionsHash {
    PermissionsHash("now".to_owned())
}

/// A webhook of an automation that takes 60 calls a minute.
pub(crate) fn webhook(number: u128, automation: AutomationId, proof: Proof) -> Webhook {
    Webhook {
        id: id(number),
        automation,
        workspace: workspace(),
        proof,
        is_enabled: true,
        per_minute: 60,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// The state of webhook 40 of automation 10, which may start runs.
pub(crate) fn webhook_snapshot(proof: Proof) -> WebhookSnapshot {
    let trigger = if proof.form().is_some() { TriggerKind::Form } else { TriggerKind::Webhook };
    WebhookSnapshot {
        webhook: webhook(40, id(10), proof),
        app: app(),
        automation_status: AutomationStatus::Active,
        max_concurrency: Some(3),
        is_app_runnable: true,
        trigger,
        declares_trigger: true,
        runs_per_month: Some(100),
        revisions: RevisionVector([1; 4]),
        secret_cache: SecretCache::default(),
    }
}

/// A secret of webhook 40, sealed by [`vault()`].
pub(crate) fn sealed(secret: &str) -> SealedSecret {
    let owner = Webhook::secret_owner(workspace(), id(40));
    let owner = owner.each_ref().map(String::as_str);
    let sealed = vault().seal(&SeededRandomness::new(2), &owner, &secret.into());
    SealedSecret { sealed, hint: "qws_…hint".to_owned() }
}

/// A version of an app; number 2 is current.
pub(crate) fn version(number: u32) -> VersionRef {
    VersionRef { id: id(u128::from(number)), number: Some(number), is_current: number == 2 }
}

/// The source of a replay of [`app()`]: a webhook's input `1` that version 1 was given, of no automation.
pub(crate) fn replay_source() -> ReplaySource {
    ReplaySource {
        app: app(),
        automation: None,
        trigger: TriggerKind::Webhook,
        version: Some(version(1).id),
        input: Some(raw("1")),
    }
}

/// An open dead letter of the refused call with the same number.
pub(crate) fn call_dead_letter(number: u128) -> StoredDeadLetter {
    StoredDeadLetter {
        id: id(number),
        workspace: workspace(),
        origin: DeadLetterOrigin::Delivery(id(number)),
        state: DeadLetterState::Open,
        source: replay_source(),
        resolved: None,
        replay: None,
        claimed_by: None,
    }
}

/// An open dead letter of the failed run with the same number.
pub(crate) fn run_dead_letter(number: u128) -> StoredDeadLetter {
    StoredDeadLetter { origin: DeadLetterOrigin::Run(id(number)), ..call_dead_letter(number) }
}

/// A replay of the current version with the original input.
pub(crate) fn replay_request() -> ReplayRequest {
    ReplayRequest { input: None, version: WhichVersion::Current, permitted: None, runs_per_month: None }
}

/// Any JSON.
pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// The vault of a server's master key.
pub(crate) fn vault() -> Vault {
    Vault::new(&master_keys())
}

/// The peppers of the same master key.
pub(crate) fn peppers() -> Peppers {
    Peppers::derive(&master_keys())
}

fn master_keys() -> MasterKeys {
    MasterKeys::new(vec![[7; 32]]).unwrap()
}

/// Checks that exactly one audit entry was written, and everything it says.
#[track_caller]
pub(crate) fn assert_audited(
    work: &RecordingUnitOfWork,
    action: &str,
    target: impl Display,
    detail: Option<&Value>,
) {
    let [entry] = &work.audit[..] else { panic!("expected one audit entry: {:?}", work.audit) };
    assert_eq!((&*entry.action, entry.workspace), (action, Some(workspace())));
    assert_eq!(entry.actor, kernel::Actor::Person(editor_id()));
    assert_eq!(entry.target, Some(AuditTarget(target.to_string())));
    assert_eq!(entry.detail.as_ref(), detail);
    assert!(work.emails.is_empty() && work.events.is_empty());
}

/// Checks that nothing was audited, queued or sent.
#[track_caller]
pub(crate) fn assert_untouched(tx: &FakeTx) {
    assert!(tx.work.audit.is_empty(), "{:?}", tx.work.audit);
    assert!(tx.work.emails.is_empty() && tx.work.events.is_empty());
    assert!(tx.queue.is_empty(), "{:?}", tx.queue);
}

/// Checks that a result is a failure of the store.
#[track_caller]
pub(crate) fn assert_store_failed<T: Debug>(result: &Result<T, RunsError>) {
    assert!(matches!(result, Err(RunsError::Store(StoreError::Unavailable(_)))), "{result:?}");
}

/// Checks that a result refuses an input.
#[track_caller]
pub(crate) fn assert_invalid<T: Debug>(result: &Result<T, RunsError>, expected: &InvalidInput) {
    assert!(matches!(result, Err(RunsError::InvalidInput(invalid)) if invalid == expected), "{result:?}");
}
