//! Rows of automations, webhooks, deliveries and runs as domain values.

use ::runs::{
    Automation, Run, Trigger, TriggerKind, Webhook,
    automations::{occurrences::SchedulePolicy, schedule::Schedule},
    queue::RunFault,
    runs::{AskingAgent, RunSpan, RunState, VersionRef},
    webhooks::{Delivery, DeliveryOutcome, Proof, ProofMode, SealedSecret, TokenDigest},
};
use kernel::{StoreError, id::kind, token::Digest};

use crate::{
    convert::RowContext,
    entity::{
        automations,
        column::{DbId, DbText, DbTime},
        deliveries, runs, webhooks,
    },
};

pub(super) fn automation(model: automations::Model) -> Result<Automation, StoreError> {
    let row = RowContext::new("automations", model.id);
    let trigger = match model.trigger_kind.0 {
        TriggerKind::Schedule => {
            let cron = model.cron.as_deref().ok_or_else(|| row.error("the schedule is missing"))?;
            let defaults = SchedulePolicy::default();
            let policy = SchedulePolicy {
                catch_up: model.catch_up.map_or(defaults.catch_up, DbText::into_inner),
                window_minutes: model
                    .catch_up_minutes
                    .map_or(Ok(defaults.window_minutes), |minutes| row.number(minutes))?,
                overlap: model.overlap.map_or(defaults.overlap, DbText::into_inner),
            };
            let schedule = Schedule::from_stored(cron, model.timezone.as_deref())
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
        id: model.id.0,
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        name: model.name,
        trigger,
        status: model.status.0,
        max_concurrency: model.max_concurrency.map(|max| row.number(max)).transpose()?,
        retries: row.number(model.retries.into())?,
        next_run_at: model.next_run_at.map(DbTime::into_inner),
        created_by: model.created_by.0,
        created_at: model.created_at.0,
    })
}

pub(crate) fn webhook(model: &webhooks::Model) -> Result<Webhook, StoreError> {
    let row = RowContext::new("webhooks", model.id);
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
    let proof = match model.mode.0 {
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
        id: model.id.0,
        automation: model.automation_id.0,
        workspace: model.workspace_id.0,
        proof,
        is_enabled: model.enabled,
        per_minute: row.number(model.per_minute)?,
        created_at: model.created_at.0,
        updated_at: model.updated_at.0,
    })
}

pub(super) fn delivery(model: deliveries::Model) -> Result<Delivery, StoreError> {
    let row = RowContext::new("deliveries", model.id);
    let outcome = match (model.run_id, model.refusal) {
        (Some(run), None) => DeliveryOutcome::Accepted(run.0),
        (None, Some(code)) => DeliveryOutcome::Refused(code),
        _ => return Err(row.error("it must have either a run or a refusal")),
    };
    Ok(Delivery {
        id: model.id.0,
        received_at: model.received_at.0,
        outcome,
        bytes: row.number(model.bytes)?,
        is_sample: model.sample,
    })
}

/// Names that a run is shown with, beside its own row.
pub(super) struct RunNames {
    pub(super) app: String,
    pub(super) automation: Option<String>,
    pub(super) version_number: Option<i64>,
    pub(super) current_version: Option<DbId<kind::Version>>,
    /// Name of the client of the agent that started it.
    pub(super) client: Option<String>,
}

pub(super) fn run(model: runs::Model, names: RunNames) -> Result<Run, StoreError> {
    use ::runs::RunStatus;
    let row = RowContext::new("runs", model.id);
    let missing = |what: &str| row.error(format_args!("its status needs the {what}"));
    let fault = match (model.error_code, model.error_message) {
        (Some(code), Some(message)) => Some(RunFault { code, message }),
        (None, None) => None,
        _ => return Err(row.error("it must have both an error's code and message, or neither")),
    };
    let started_at = model.started_at.map(DbTime::into_inner);
    let span = || -> Result<RunSpan, StoreError> {
        Ok(RunSpan {
            started_at: started_at.ok_or_else(|| missing("start"))?,
            finished_at: model.finished_at.map(DbTime::into_inner).ok_or_else(|| missing("end"))?,
        })
    };
    let state = match model.status.0 {
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
            id: id.0,
            number: names.version_number.map(|number| row.number(number)).transpose()?,
            is_current: names.current_version == Some(id),
        })
    });
    Ok(Run {
        id: model.id.0,
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        app_name: names.app,
        automation: model.automation_id.map(DbId::into_inner),
        automation_name: names.automation,
        trigger: model.trigger_kind.0,
        accepted_at: model.accepted_at.0,
        state,
        attempt: row.number(model.attempt)?,
        minutes_saved: model.minutes_saved,
        version: version.transpose()?,
        replay_of: model.replay_of.map(DbId::into_inner),
        asked_by: model.asked_by_grant.map(|grant| AskingAgent { grant: grant.0, client_name: names.client }),
        cancelled_by: model.cancelled_by.map(DbId::into_inner),
        steps: model.steps.as_deref().map_or_else(|| Ok(Vec::new()), |steps| row.json(steps))?,
    })
}
