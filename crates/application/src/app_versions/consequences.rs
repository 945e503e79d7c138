//! Consequences of a rollback beside the moved pointer: schedules that the version it leaves started end with it.

use std::collections::BTreeMap;

use apps::{
    App, Manifest,
    changes::{
        AutomationMove, ChangeEffects, MovedAutomation, PlanEffect, Remaining, ScheduleState,
        declares_schedule, undone_schedules,
    },
    manifest::ManifestTrigger,
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::{
    Automation, AutomationStatus, Trigger,
    automations::{UpdateAutomation, schedule::Schedule, update_automation},
};

use crate::{Problem, Tx};

/// The versions between which an app moves.
pub(super) struct VersionMove<'a> {
    /// Manifest and number of the version that it leaves.
    pub(super) from: (&'a Manifest, u32),
    /// Manifest and number of the version that it goes to.
    pub(super) to: (&'a Manifest, u32),
    /// Automations of the app, as they were before the transaction.
    pub(super) automations: &'a [AutomationId],
    /// Names of the app's secrets that have a value.
    pub(super) secrets: &'a [String],
}

/// Automations that were paused, moved or started, and changes that stay.
#[derive(Debug, Clone, Default)]
pub struct Consequences {
    /// Automations that were paused, moved or started.
    pub automations: Vec<MovedAutomation>,
    /// Changes of earlier plans, which stay.
    pub remains: Vec<Remaining>,
}

/// Moves the automations of an app with its version: what plans did to schedules after the version is undone, unless somebody
/// touched them since, and an automation is paused whose trigger only the version that is left declares.
pub(super) async fn move_automations(
    tx: &mut dyn Tx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    app: &App,
    moved: &VersionMove<'_>,
) -> Result<Consequences, Problem> {
    let workspace = right.member().workspace();
    let plans = tx.change_effects(workspace, right.app(), (moved.to.1, moved.from.1)).await?;
    let mut automations = Vec::new();
    for id in moved.automations {
        automations.extend(tx.automation_for_update(workspace, *id).await?);
    }
    let current: BTreeMap<AutomationId, ScheduleState> = automations
        .iter()
        .filter_map(|automation| Some((automation.id, schedule_state(automation)?)))
        .collect();
    let undone = undone_schedules(&plans, &current);
    let mut found = Vec::new();
    for automation in &automations {
        let mut update = UpdateAutomation::default();
        let mut changes = Vec::new();
        let mut state = current.get(&automation.id).cloned();
        if let (Some(now), Some(then)) = (&mut state, undone.get(&automation.id)) {
            if (&now.cron, &now.timezone) != (&then.cron, &then.timezone) {
                update.trigger = Some(trigger_of(automation, then)?);
                changes.push(AutomationMove::Moved);
            }
            if now.is_active != then.is_active {
                update.status = Some(status(then.is_active));
                changes.push(if then.is_active { AutomationMove::Started } else { AutomationMove::Paused });
            }
            now.clone_from(then);
        }
        let is_active =
            state.as_ref().map_or(automation.status == AutomationStatus::Active, |state| state.is_active);
        let is_declared = |manifest| declares(manifest, automation, state.as_ref());
        if is_active && is_declared(moved.from.0) && !is_declared(moved.to.0) {
            update.status = Some(AutomationStatus::Paused);
            changes.retain(|change| *change != AutomationMove::Started);
            changes.push(AutomationMove::Paused);
        }
        if changes.is_empty() {
            continue;
        }
        update_automation(tx, ctx, right, automation.id, update).await?;
        let schedule = state.map(|state| (state.cron, state.timezone));
        found.extend(changes.into_iter().map(|change| MovedAutomation {
            id: automation.id,
            name: automation.name.clone(),
            change,
            schedule: schedule.clone(),
        }));
    }
    Ok(Consequences { automations: found, remains: remaining(&plans, app, &automations, moved) })
}

/// Returns what plans changed and what is still so.
fn remaining(
    plans: &[ChangeEffects],
    app: &App,
    automations: &[Automation],
    moved: &VersionMove<'_>,
) -> Vec<Remaining> {
    let effects: Vec<&PlanEffect> = plans.iter().flat_map(|plan| plan.effects.iter().rev()).collect();
    let mut found = Vec::new();
    // The newest effect of a kind is the first, the state before the oldest is what the version had.
    let mut sharing = effects.iter().filter_map(|effect| match effect {
        PlanEffect::Sharing { before, .. } => Some(*before),
        _ => None,
    });
    found.extend(
        sharing.next_back().filter(|before| *before != app.sharing).map(|_| Remaining::Sharing(app.sharing)),
    );
    let mut names = effects.iter().filter_map(|effect| match effect {
        PlanEffect::Name { before, .. } => Some(before),
        _ => None,
    });
    found.extend(
        names.next_back().filter(|before| **before != app.name).map(|_| Remaining::Name(app.name.clone())),
    );
    for automation in automations {
        let mut retries = effects.iter().filter_map(|effect| match effect {
            PlanEffect::Retries { automation: id, before, .. } if *id == automation.id => Some(*before),
            _ => None,
        });
        let stays = retries.next_back().filter(|before| *before != automation.retries);
        found.extend(stays.map(|_| Remaining::Retries(automation.name.clone(), automation.retries)));
    }
    let names = |manifest: &Manifest, name: &String| {
        manifest.permissions.secrets.iter().any(|secret| secret.name == *name)
    };
    let kept = moved.secrets.iter().filter(|name| names(moved.from.0, name) && !names(moved.to.0, name));
    found.extend(kept.cloned().map(Remaining::Secret));
    found
}

/// Returns the schedule of an automation; `None` for other triggers.
pub(crate) fn schedule_state(automation: &Automation) -> Option<ScheduleState> {
    let Trigger::Schedule(schedule) = &automation.trigger else { return None };
    Some(ScheduleState {
        cron: schedule.cron().to_owned(),
        timezone: schedule.timezone().to_owned(),
        is_active: automation.status == AutomationStatus::Active,
    })
}

/// Returns the trigger of a schedule with the policy that the automation has.
fn trigger_of(automation: &Automation, state: &ScheduleState) -> Result<Trigger, Problem> {
    let schedule = Schedule::from_stored(&state.cron, Some(&state.timezone))?;
    Ok(Trigger::Schedule(match &automation.trigger {
        Trigger::Schedule(known) => schedule.with_policy(known.policy())?,
        _ => schedule,
    }))
}

fn status(is_active: bool) -> AutomationStatus {
    if is_active { AutomationStatus::Active } else { AutomationStatus::Paused }
}

/// Returns `true` if a manifest declares the trigger of an automation, whose schedule is `state`.
fn declares(manifest: &Manifest, automation: &Automation, state: Option<&ScheduleState>) -> bool {
    let triggers = &manifest.triggers;
    match (&automation.trigger, state) {
        (Trigger::Schedule(_), Some(state)) => declares_schedule(triggers, state),
        (Trigger::Schedule(_), None) => true,
        (Trigger::Webhook, _) => manifest.declares_webhook(),
        (Trigger::Form, _) => manifest.declares_form(),
        // A person starts it; nothing happens by itself.
        (Trigger::Manual, _) => true,
        (Trigger::Event(event), _) => triggers.iter().any(|trigger| match trigger {
            ManifestTrigger::Event { event: declared } => declared.as_ref().is_none_or(|it| it == event),
            _ => false,
        }),
    }
}
