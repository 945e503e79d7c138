//! The ports of `runs`, save for the hot path.

mod approvals;
mod dead_letters;
mod diagnosis;
mod read;
mod retention;
mod schedules;
mod write;

use ::runs::{
    Automation, Run, Trigger, TriggerKind, Webhook,
    automations::{occurrences::SchedulePolicy, schedule::Schedule},
    queue::RunFault,
    runs::{RunSpan, RunState, VersionRef},
    webhooks::{Delivery, DeliveryOutcome, Proof, ProofMode, SealedSecret, TokenDigest},
};
use kernel::{Id, StoreError, token::Digest};

use crate::{
    convert::RowContext,
    entity::{automations, deliveries, runs, webhooks},
};

pub(crate) use write::{delete_automation_cascade, promote_blocked};

/// What `run_queue.state` says.
pub(crate) mod queue_state {
    /// It can be claimed once it is due.
    pub(crate) const READY: i16 = 0;
    /// A node holds it.
    pub(crate) const LEASED: i16 = 1;
    /// Its automation's limit holds it back.
    pub(crate) const CONCURRENCY_BLOCKED: i16 = 2;
    /// The workspace's spending cap holds it back.
    pub(crate) const CAPPED: i16 = 3;
    /// It waits for a person's answer.
    pub(crate) const AWAITING_APPROVAL: i16 = 4;
}

fn automation(model: automations::Model) -> Result<Automation, StoreError> {
    let row = RowContext { table: "automations", id: model.id };
    let trigger = match row.parse(&model.trigger_kind)? {
        TriggerKind::Schedule => {
            let cron = model.cron.as_deref().ok_or_else(|| row.error("the schedule is missing"))?;
            let defaults = SchedulePolicy::default();
            let policy = SchedulePolicy {
                catch_up: model.catch_up.as_deref().map_or(Ok(defaults.catch_up), |text| row.parse(text))?,
                window_minutes: model
                    .catch_up_minutes
                    .map_or(Ok(defaults.window_minutes), |minutes| row.number(minutes))?,
                overlap: model.overlap.as_deref().map_or(Ok(defaults.overlap), |text| row.parse(text))?,
            };
            let schedule = Schedule::parse(cron, model.timezone.as_deref())
                .and_then(|schedule| schedule.with_policy(policy));
            Trigger::Schedule(schedule.map_err(|error| row.error(error))?)
        }
        TriggerKind::Event => {
            Trigger::Event(model.event.ok_or_else(|| row.error("the event's name is missing"))?)
        }
        TriggerKind::Webhook => Trigger::Webhook,
        TriggerKind::Form => Trigger::Form,
        TriggerKind::Manual => Trigger::Manual,
    };
    Ok(Automation {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        app: Id::from_uuid(model.app_id),
        name: model.name,
        trigger,
        status: row.parse(&model.status)?,
        max_concurrency: model.max_concurrency.map(|max| row.number(max)).transpose()?,
        retries: row.number(model.retries.into())?,
        next_run_at: row.optional_timestamp(model.next_run_at)?,
        created_by: Id::from_uuid(model.created_by),
        created_at: row.timestamp(model.created_at)?,
    })
}

pub(crate) fn webhook(model: &webhooks::Model) -> Result<Webhook, StoreError> {
    let row = RowContext { table: "webhooks", id: model.id };
    let missing = |what: &str| row.error(format_args!("the {what} is missing"));
    let hint = || model.hint.clone().ok_or_else(|| missing("hint"));
    let sealed = || -> Result<SealedSecret, StoreError> {
        let sealed = model.secret_sealed.clone().ok_or_else(|| missing("secret"))?;
        Ok(SealedSecret { sealed, hint: hint()? })
    };
    let token = || -> Result<TokenDigest, StoreError> {
        let digest = model.token_digest.as_deref().and_then(Digest::from_slice);
        Ok(TokenDigest { digest: digest.ok_or_else(|| missing("token digest"))?, hint: hint()? })
    };
    let proof = match row.parse(&model.mode)? {
        ProofMode::Signed => Proof::Signed(sealed()?),
        ProofMode::CodeHost => Proof::CodeHost(sealed()?),
        ProofMode::Token => Proof::Token(token()?),
        ProofMode::Messenger => Proof::Messenger(token()?),
        ProofMode::Form => {
            Proof::Form(row.json(model.form.as_deref().ok_or_else(|| missing("form's settings"))?)?)
        }
        ProofMode::None => Proof::None,
    };
    Ok(Webhook {
        id: Id::from_uuid(model.id),
        automation: Id::from_uuid(model.automation_id),
        workspace: Id::from_uuid(model.workspace_id),
        proof,
        is_enabled: model.enabled,
        per_minute: row.number(model.per_minute)?,
        created_at: row.timestamp(model.created_at)?,
        updated_at: row.timestamp(model.updated_at)?,
    })
}

fn delivery(model: deliveries::Model) -> Result<Delivery, StoreError> {
    let row = RowContext { table: "deliveries", id: model.id };
    let outcome = match (model.run_id, model.refusal) {
        (Some(run), None) => DeliveryOutcome::Accepted(Id::from_uuid(run)),
        (None, Some(code)) => DeliveryOutcome::Refused(code),
        _ => return Err(row.error("it must have either a run or a refusal")),
    };
    Ok(Delivery {
        id: Id::from_uuid(model.id),
        received_at: row.timestamp(model.received_at)?,
        outcome,
        bytes: row.number(model.bytes)?,
        is_sample: model.sample,
    })
}

/// What a run's list and page show besides its own row.
struct RunNames {
    app: String,
    automation: Option<String>,
    version_number: Option<i64>,
    current_version: Option<uuid::Uuid>,
}

fn run(model: runs::Model, names: RunNames) -> Result<Run, StoreError> {
    use ::runs::RunStatus;
    let row = RowContext { table: "runs", id: model.id };
    let missing = |what: &str| row.error(format_args!("its status needs the {what}"));
    let fault = match (model.error_code, model.error_message) {
        (Some(code), Some(message)) => Some(RunFault { code, message }),
        (None, None) => None,
        _ => return Err(row.error("it must have both an error's code and message, or neither")),
    };
    let started_at = row.optional_timestamp(model.started_at)?;
    let span = || -> Result<RunSpan, StoreError> {
        Ok(RunSpan {
            started_at: started_at.ok_or_else(|| missing("start"))?,
            finished_at: row.optional_timestamp(model.finished_at)?.ok_or_else(|| missing("end"))?,
        })
    };
    let state = match row.parse(&model.status)? {
        RunStatus::Queued => RunState::Queued { fault },
        RunStatus::Running => RunState::Running { started_at: started_at.ok_or_else(|| missing("start"))? },
        RunStatus::Succeeded => RunState::Succeeded(span()?),
        RunStatus::Failed => RunState::Failed(span()?, fault.ok_or_else(|| missing("error"))?),
        RunStatus::Blocked => RunState::Blocked(span()?, fault.ok_or_else(|| missing("error"))?),
        RunStatus::WaitingApproval => {
            RunState::WaitingApproval { started_at: started_at.ok_or_else(|| missing("start"))? }
        }
    };
    let version = model.version_id.map(|id| {
        Ok(VersionRef {
            id: Id::from_uuid(id),
            number: names.version_number.map(|number| row.number(number)).transpose()?,
            is_current: names.current_version == Some(id),
        })
    });
    Ok(Run {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        app: Id::from_uuid(model.app_id),
        app_name: names.app,
        automation: model.automation_id.map(Id::from_uuid),
        automation_name: names.automation,
        trigger: row.parse(&model.trigger_kind)?,
        accepted_at: row.timestamp(model.accepted_at)?,
        state,
        attempt: row.number(model.attempt)?,
        minutes_saved: model.minutes_saved,
        version: version.transpose()?,
        replay_of: model.replay_of.map(Id::from_uuid),
        steps: model.steps.as_deref().map_or_else(|| Ok(Vec::new()), |steps| row.json(steps))?,
    })
}
