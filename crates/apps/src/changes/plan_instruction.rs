//! Planning a change from an instruction, without a model.

use std::collections::BTreeMap;

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use super::{
    AppUpdate, Change, ChangePlan, ChangesTx, MAX_NOTES, PlannedBy,
    draft::{Draft, Note},
    insert_planned,
    instruction::{self, Instruction, parse_instruction},
    phrases,
    surroundings::Surroundings,
};
use crate::{
    AppError, InvalidInput, manifest,
    safe_band::{Reach, reasons_outside},
    trust,
};

/// Fewest and most characters of an instruction.
pub const INSTRUCTION_CHARS: (usize, usize) = (4, 2_000);
/// Most characters of a summary.
const MAX_SUMMARY_CHARS: usize = 300;

/// Plans what an instruction asks for, by rules that are the same for everybody. Nothing is built. What is not understood is
/// a note of the plan.
///
/// # Errors
/// * [`AppError::InvalidInput`] when the instruction is out of bounds
/// * [`AppError::TooManyChanges`] when the person has [`MAX_OPEN`](super::MAX_OPEN) unexpired plans
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn plan_instruction(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    plan: ChangePlan,
) -> Result<Change, AppError> {
    insert_planned(tx, ctx, right, None, plan, serde_json::json!({ "app": right.app() })).await
}

/// Returns `true` if an instruction has a word for a table, so that a planner needs to know tables.
#[must_use]
pub fn mentions_tables(instruction: &str) -> bool {
    instruction::mentions_tables(instruction)
}

/// Drafts the plan of an instruction; `files` are those of the current version.
///
/// # Errors
/// [`InvalidInput::Instruction`] when the instruction is out of bounds.
pub(super) fn draft_plan(
    instruction: &str,
    surroundings: &Surroundings,
    files: &BTreeMap<String, String>,
) -> Result<ChangePlan, InvalidInput> {
    let instruction = instruction.replace("\r\n", "\n").replace('\t', " ");
    let (min, max) = INSTRUCTION_CHARS;
    manifest::check_text(&instruction, min, max).map_err(InvalidInput::Instruction)?;
    let Instruction { locale, edits, not_understood } =
        parse_instruction(&instruction, &surroundings.names());
    let mut draft = Draft::new(surroundings);
    draft.notes.extend(not_understood.into_iter().map(Note::NotUnderstood));
    for edit in edits {
        draft.apply(edit);
    }
    let before = &surroundings.manifest;
    // The code stays, and with it its handlers.
    let reach = |manifest, sharing| {
        let trust_score = trust::assess(manifest, files).score;
        Reach { manifest, trust_score, has_fetch: surroundings.has_fetch, sharing }
    };
    let earlier = reach(before, surroundings.sharing);
    let later = reach(&draft.manifest, draft.app.sharing.unwrap_or(surroundings.sharing));
    let reasons = reasons_outside(earlier, later);
    let scores = super::PlannedTrust { before: earlier.trust_score, after: later.trust_score };

    let is_unchanged =
        draft.manifest == *before && draft.app == AppUpdate::default() && draft.automations.is_empty();
    if is_unchanged {
        // Sentences that undo each other.
        draft.steps.clear();
    }
    let mut steps: Vec<String> = draft.steps.iter().map(|step| step.describe(locale)).collect();
    let summary = summarize(&steps).unwrap_or_else(|| phrases::nothing_planned(locale));
    let mut needs_console: Vec<String> = reasons.iter().map(|reason| reason.describe(locale)).collect();
    if draft.manifest != *before {
        steps.push(phrases::new_version(locale));
    }
    let was_named = |host: &String| before.permissions.egress.iter().any(|it| it.host == *host);
    let hosts = draft.manifest.permissions.egress.iter().map(|egress| &egress.host);
    let closed = hosts.filter(|host| !was_named(host) && !surroundings.open_hosts.contains(host));
    let closed_hosts: Vec<String> = closed.cloned().collect();
    for host in &closed_hosts {
        let step = phrases::open_gate(host, locale);
        steps.push(step.clone());
        needs_console.push(step);
    }
    Ok(ChangePlan {
        base: surroundings.version,
        instruction: instruction.trim().to_owned(),
        summary,
        before: before.clone(),
        steps,
        notes: describe_notes(&draft.notes).map(|note| note.describe(locale)).collect(),
        needs_console,
        closed_hosts,
        locale,
        sharing: Some(surroundings.sharing),
        trust: Some(scores),
        app: draft.app,
        automations: draft.automations,
        manifest: draft.manifest,
        planned_by: PlannedBy::Rules,
    })
}

/// Returns the notes, at most [`MAX_NOTES`]; the last of more says how many are left out.
fn describe_notes(notes: &[Note]) -> impl Iterator<Item = Note> {
    let shown = if notes.len() > MAX_NOTES { MAX_NOTES - 1 } else { notes.len() };
    let more = notes.len() - shown;
    notes[..shown].iter().cloned().chain((more > 0).then_some(Note::More(more)))
}

/// Joins as many sentences as a summary has room for.
fn summarize(steps: &[String]) -> Option<String> {
    let mut summary = steps.first()?.clone();
    for (index, step) in steps.iter().enumerate().skip(1) {
        let more = format!(" (+{})", steps.len() - index);
        if summary.chars().count() + step.chars().count() + more.len() + 1 > MAX_SUMMARY_CHARS {
            summary.push_str(&more);
            break;
        }
        summary.push(' ');
        summary.push_str(step);
    }
    Some(summary.chars().take(MAX_SUMMARY_CHARS).collect())
}

#[cfg(test)]
pub(super) mod tests;
