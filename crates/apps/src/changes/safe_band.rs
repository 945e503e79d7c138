//! The safe band: changes that a token may approve, because they give the app nothing that it does not have.

use kernel::authority::Sharing;

use crate::{
    Manifest,
    manifest::diff::{Difference, Subject, diff_manifests},
    trust::TrustBand,
};

/// A reason why only a person in the console may approve a change.
#[derive(Debug, Clone, PartialEq)]
pub enum OutsideBand {
    /// The app gains a permission.
    Permission(Difference),
    /// The app gains a connection, by its name in the code.
    Connector(String),
    /// The budget for AI models rises.
    Budget,
    /// More people can see the app.
    Sharing,
    /// The trust band is worse.
    Trust,
}

/// Trust scores before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrustScores {
    pub(super) before: u8,
    pub(super) after: u8,
}

/// Returns why a change is outside the safe band; nothing if it is inside.
pub(super) fn reasons_outside(
    before: &Manifest,
    after: &Manifest,
    sharing: (Sharing, Sharing),
    trust: TrustScores,
) -> Vec<OutsideBand> {
    let differences = diff_manifests(before, after).into_iter();
    let gains = differences.filter(|it| it.widens_access && it.subject != Subject::Trigger);
    let budget =
        |manifest: &Manifest| manifest.permissions.ai.as_ref().map_or(0.0, |ai| ai.monthly_budget_usd);
    let rises = budget(after) > budget(before);
    let mut reasons: Vec<OutsideBand> = gains
        .filter_map(|it| match it.subject {
            Subject::Connector => Some(OutsideBand::Connector(it.name)),
            // A lower budget counts as a change of the same weight; other details of models are permissions.
            Subject::Ai if only_budget_changes(before, after) => None,
            _ => Some(OutsideBand::Permission(it)),
        })
        .collect();
    reasons.extend(rises.then_some(OutsideBand::Budget));
    reasons.extend(widens(sharing.0, sharing.1).then_some(OutsideBand::Sharing));
    let band = |score| TrustBand::from_score(score) as u8;
    // The bands are declared from the best to the worst.
    reasons.extend((band(trust.after) > band(trust.before)).then_some(OutsideBand::Trust));
    reasons
}

/// Returns `true` if more people see an app that is shared so.
pub(super) fn widens(before: Sharing, after: Sharing) -> bool {
    // Declared from the narrowest to the widest.
    after as u8 > before as u8
}

fn only_budget_changes(before: &Manifest, after: &Manifest) -> bool {
    match (&before.permissions.ai, &after.permissions.ai) {
        (Some(before), Some(after)) => before.profile == after.profile && before.models == after.models,
        _ => false,
    }
}
