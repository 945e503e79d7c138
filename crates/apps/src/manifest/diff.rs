//! The differences between two manifests, each described in a sentence of the reader's language.

mod describe;
mod entry;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use kernel::authority::Sharing;

use self::entry::{Entry, HostHeaders};
use super::Manifest;

/// Returns `true` if more people see an app that is shared so.
pub(crate) fn widens(before: Sharing, after: Sharing) -> bool {
    // Declared from the narrowest to the widest.
    after as u8 > before as u8
}

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Only the later manifest names it.
    Added,
    /// Only the earlier manifest names it.
    Removed,
    /// Both name it, with different details.
    Changed,
}

kernel::names! {
    DifferenceKind {
        Added = "added",
        Removed = "removed",
        Changed = "changed",
    }
}

/// The part of a manifest that a difference is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// An external host and its methods.
    Egress,
    /// Headers with credentials that the code sets itself, in requests to an external host.
    Header,
    /// A backend project.
    Data,
    /// An external service.
    Connector,
    /// A secret of the app.
    Secret,
    /// AI models.
    Ai,
    /// A way to start the app.
    Trigger,
    /// Sharing of the app, or of a new one in a manifest.
    Sharing,
    /// Display name.
    Name,
    /// Purpose.
    Description,
    /// Minutes that each run saves.
    Roi,
    /// Retries of an automation, which no manifest has.
    Retries,
}

kernel::names! {
    Subject {
        Egress = "egress",
        Header = "header",
        Data = "data",
        Connector = "connector",
        Secret = "secret",
        Ai = "ai",
        Trigger = "trigger",
        Sharing = "sharing",
        Name = "name",
        Description = "description",
        Roi = "roi",
        Retries = "retries",
    }
}

impl Subject {
    /// Returns `true` for what an app may use; a trigger only starts it.
    #[must_use]
    pub fn is_permission(self) -> bool {
        match self {
            Self::Egress | Self::Header | Self::Data | Self::Connector | Self::Secret | Self::Ai => true,
            Self::Trigger | Self::Sharing | Self::Name | Self::Description | Self::Roi | Self::Retries => {
                false
            }
        }
    }
}

/// One difference between two manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Part of the manifest.
    pub subject: Subject,
    /// Kind of the difference.
    pub change: DifferenceKind,
    /// Host, name in the code, kind of trigger, or automation; empty where there is only one.
    pub name: String,
    /// True if the app may do something that it could not do before.
    pub widens_access: bool,
    /// Methods, headers, access to rows, connection, budget or value: those of the later manifest, or of the earlier one for
    /// [`DifferenceKind::Removed`]. Empty for triggers and for all methods.
    pub details: String,
}

/// Returns the differences between two manifests, by subject; in each, added and changed entries come before
/// removed ones. An entry widens access unless an earlier one covers it, under whatever name.
#[must_use]
pub fn diff_manifests(before: &Manifest, after: &Manifest) -> Vec<Difference> {
    let (was, is) = (&before.permissions, &after.permissions);
    let mut found = Vec::new();
    compare(&mut found, Subject::Egress, &was.egress, &is.egress);
    compare(&mut found, Subject::Header, &HostHeaders::all(was), &HostHeaders::all(is));
    compare(&mut found, Subject::Data, &was.data, &is.data);
    compare(&mut found, Subject::Connector, &was.connectors, &is.connectors);
    compare(&mut found, Subject::Secret, &was.secrets, &is.secrets);
    compare(&mut found, Subject::Ai, was.ai.as_slice(), is.ai.as_slice());
    compare(&mut found, Subject::Trigger, &before.triggers, &after.triggers);
    found.extend(sharing_difference(before.sharing.default, after.sharing.default));
    if before.name != after.name {
        found.push(Difference::of_value(Subject::Name, after.name.clone()));
    }
    if before.description != after.description {
        found.push(Difference::of_value(Subject::Description, after.description.clone()));
    }
    if before.roi != after.roi {
        found.push(Difference::of_value(Subject::Roi, after.roi.manual_minutes_per_run.to_string()));
    }
    found
}

/// Returns the difference between two ways to share an app; wider sharing widens access.
#[must_use]
pub fn sharing_difference(before: Sharing, after: Sharing) -> Option<Difference> {
    let changed = Difference::of_value(Subject::Sharing, after.as_str().to_owned());
    (before != after).then_some(Difference { widens_access: widens(before, after), ..changed })
}

fn compare<T: Entry>(found: &mut Vec<Difference>, subject: Subject, before: &[T], after: &[T]) {
    let by_name = |entries: &[T]| -> BTreeSet<String> { entries.iter().map(T::name).collect() };
    let (was, is) = (by_name(before), by_name(after));
    let first = found.len();
    for entry in after {
        let name = entry.name();
        let mut same = before.iter().filter(|known| known.name() == name);
        let is_same = |known: &T| known.covers(entry) && entry.covers(known);
        if same.any(is_same) {
            continue;
        }
        let change = if was.contains(&name) { DifferenceKind::Changed } else { DifferenceKind::Added };
        let widens_access = !before.iter().any(|known| known.covers(entry));
        found.push(Difference { subject, change, name, widens_access, details: entry.terms() });
    }
    for entry in before.iter().filter(|entry| !is.contains(&entry.name())) {
        let change = DifferenceKind::Removed;
        let (name, details) = (entry.name(), entry.terms());
        found.push(Difference { subject, change, name, widens_access: false, details });
    }
    // Several triggers may have one name.
    let order = |it: &Difference| (it.change == DifferenceKind::Removed, it.name.clone());
    found[first..].sort_by_key(order);
    found.dedup();
}

impl Difference {
    /// Returns the difference of something of which an app has one, by its later value.
    #[must_use]
    pub fn of_value(subject: Subject, value: String) -> Self {
        let change = DifferenceKind::Changed;
        Self { subject, change, name: String::new(), widens_access: false, details: value }
    }
}
