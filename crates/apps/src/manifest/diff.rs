//! The differences between two manifests, each described in a sentence of the reader's language.

use std::collections::BTreeMap;

use kernel::locale::Locale;

use super::{
    ConnectorPermission, DataAccess, EgressPermission, HttpMethod, Manifest, ManifestTrigger,
    SecretPermission,
};

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
}

kernel::names! {
    Subject {
        Egress = "egress",
        Data = "data",
        Connector = "connector",
        Secret = "secret",
        Ai = "ai",
        Trigger = "trigger",
    }
}

/// One difference between two manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Part of the manifest.
    pub subject: Subject,
    /// Kind of the difference.
    pub change: DifferenceKind,
    /// Host, name in the code, or kind of trigger; empty for models.
    pub name: String,
    /// True if the app may do something that it could not do before.
    pub widens_access: bool,
    /// Methods, access to rows, connection or budget: those of the later manifest, or of the earlier one for
    /// [`DifferenceKind::Removed`]. Empty for triggers and for all methods.
    pub details: String,
}

/// Returns the differences between two manifests, by subject; in each, added and changed entries come before
/// removed ones.
#[must_use]
pub fn diff_manifests(before: &Manifest, after: &Manifest) -> Vec<Difference> {
    let (was, is) = (&before.permissions, &after.permissions);
    let mut found = Vec::new();
    let hosts = |manifest: &[EgressPermission]| -> BTreeMap<String, (u32, String)> {
        manifest.iter().map(|egress| (egress.host.clone(), methods(egress.methods.as_deref()))).collect()
    };
    compare(&mut found, Subject::Egress, &hosts(&was.egress), &hosts(&is.egress));
    let data = |manifest: &Manifest| -> BTreeMap<String, (u32, String)> {
        let of = |data: &super::DataPermission| {
            let (weight, access) = match data.access {
                DataAccess::Read => (1, "read"),
                DataAccess::Write => (3, "write"),
            };
            let tables = match &data.tables {
                Some(tables) => format!(" {}", tables.join(", ")),
                None => String::new(),
            };
            (data.name.clone(), (weight, format!("{access} {}{tables}", data.project_id)))
        };
        manifest.permissions.data.iter().map(of).collect()
    };
    compare(&mut found, Subject::Data, &data(before), &data(after));
    compare_connectors(&mut found, &was.connectors, &is.connectors);
    let secrets = |manifest: &Manifest| -> BTreeMap<String, (u32, String)> {
        manifest
            .permissions
            .secrets
            .iter()
            .map(|secret| (secret.name.clone(), secret_terms(secret)))
            .collect()
    };
    compare(&mut found, Subject::Secret, &secrets(before), &secrets(after));
    let ai = |manifest: &Manifest| -> BTreeMap<String, (u32, String)> {
        let ai = manifest.permissions.ai.iter();
        let terms =
            |ai: &super::AiPermission| format!("{} USD {}", ai.monthly_budget_usd, ai.models.join(", "));
        ai.map(|ai| (String::new(), (1, terms(ai)))).collect()
    };
    compare(&mut found, Subject::Ai, &ai(before), &ai(after));
    let triggers = |manifest: &Manifest| -> BTreeMap<String, (u32, String)> {
        manifest.triggers.iter().map(|trigger| (trigger_name(trigger), (1, String::new()))).collect()
    };
    compare(&mut found, Subject::Trigger, &triggers(before), &triggers(after));
    found
}

/// Returns how many methods are allowed and their sorted names; `u32::MAX` and no name when all are.
fn methods(methods: Option<&[HttpMethod]>) -> (u32, String) {
    match methods {
        None => (u32::MAX, String::new()),
        Some(methods) => {
            let mut names: Vec<_> = methods.iter().map(|method| method.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            (u32::try_from(names.len()).unwrap_or(u32::MAX), names.join(", "))
        }
    }
}

/// Adds the differences of connections: a change widens access if the earlier permission does not cover the later one.
fn compare_connectors(
    found: &mut Vec<Difference>,
    before: &[ConnectorPermission],
    after: &[ConnectorPermission],
) {
    let terms = |connectors: &[ConnectorPermission]| -> PermissionMap {
        connectors.iter().map(|it| (it.name.clone(), (1, connector_terms(it)))).collect()
    };
    let first = found.len();
    compare(found, Subject::Connector, &terms(before), &terms(after));
    for difference in &mut found[first..] {
        let of = |connectors: &[ConnectorPermission]| {
            connectors.iter().find(|it| it.name == difference.name).cloned()
        };
        if let (Some(before), Some(after)) = (of(before), of(after)) {
            difference.widens_access = !before.covers(&after);
        }
    }
}

fn connector_terms(connector: &ConnectorPermission) -> String {
    let (_, methods) = methods(connector.methods.as_deref());
    let paths = connector.paths.as_deref().unwrap_or_default().join(", ");
    let parts = [connector.connection_id.to_string(), methods, paths];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Returns a weight that grows with what the code may do with a secret, and the uses. The value itself outweighs all uses.
fn secret_terms(secret: &SecretPermission) -> (u32, String) {
    if secret.clear {
        return (u32::MAX, "clear".to_owned());
    }
    match &secret.uses {
        None => (u32::MAX - 1, String::new()),
        Some(uses) => {
            let mut uses = uses.clone();
            uses.sort_unstable();
            uses.dedup();
            let names: Vec<_> = uses.iter().map(|known| known.as_str()).collect();
            (u32::try_from(uses.len()).unwrap_or(u32::MAX - 1), names.join(", "))
        }
    }
}

fn trigger_name(trigger: &ManifestTrigger) -> String {
    match trigger {
        ManifestTrigger::Schedule { cron: Some(cron), .. } => format!("schedule {cron}"),
        ManifestTrigger::Schedule { cron: None, .. } => "schedule".to_owned(),
        ManifestTrigger::Webhook {} => "webhook".to_owned(),
        ManifestTrigger::Form {} => "form".to_owned(),
        ManifestTrigger::Manual {} => "manual".to_owned(),
        ManifestTrigger::Event { event: Some(event) } => format!("event {event}"),
        ManifestTrigger::Event { event: None } => "event".to_owned(),
    }
}

type PermissionMap = BTreeMap<String, (u32, String)>;

fn compare(found: &mut Vec<Difference>, subject: Subject, before: &PermissionMap, after: &PermissionMap) {
    for (name, (weight, terms)) in after {
        let (change, widens_access) = match before.get(name) {
            None => (DifferenceKind::Added, true),
            // As many, but different methods allow something new too.
            Some((known, old)) if old != terms => (DifferenceKind::Changed, weight >= known),
            Some(_) => continue,
        };
        found.push(Difference { subject, change, name: name.clone(), widens_access, details: terms.clone() });
    }
    for (name, (_, terms)) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        let (name, terms) = (name.clone(), terms.clone());
        found.push(Difference {
            subject,
            change: DifferenceKind::Removed,
            name,
            widens_access: false,
            details: terms,
        });
    }
}

impl Difference {
    /// Describes the difference in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        let name = &self.name;
        let with = if self.details.is_empty() { String::new() } else { format!(" ({})", self.details) };
        match locale {
            Locale::En => {
                let subject = match self.subject {
                    Subject::Egress => format!("the host {name}{with}"),
                    Subject::Data => format!("the project `{name}`{with}"),
                    Subject::Connector => format!("the connection `{name}`{with}"),
                    Subject::Secret => format!("the secret `{name}`{with}"),
                    Subject::Ai => format!("AI models{with}"),
                    Subject::Trigger => format!("the trigger {name}"),
                };
                match self.change {
                    DifferenceKind::Added => format!("The manifest now names {subject}."),
                    DifferenceKind::Removed => format!("The manifest no longer names {subject}."),
                    DifferenceKind::Changed => format!("The manifest entry for {subject} changed."),
                }
            }
            Locale::Ru => {
                let subject = match self.subject {
                    Subject::Egress => format!("хост {name}{with}"),
                    Subject::Data => format!("проект «{name}»{with}"),
                    Subject::Connector => format!("подключение «{name}»{with}"),
                    Subject::Secret => format!("секрет «{name}»{with}"),
                    Subject::Ai => format!("модели{with}"),
                    Subject::Trigger => format!("способ запуска {name}"),
                };
                match self.change {
                    DifferenceKind::Added => format!("В манифест добавлено: {subject}."),
                    DifferenceKind::Removed => format!("Из манифеста удалено: {subject}."),
                    DifferenceKind::Changed => format!("В манифесте изменены условия: {subject}."),
                }
            }
            Locale::Kk => {
                let subject = match self.subject {
                    Subject::Egress => format!("{name} хосы{with}"),
                    Subject::Data => format!("«{name}» жобасы{with}"),
                    Subject::Connector => format!("«{name}» қосылымы{with}"),
                    Subject::Secret => format!("«{name}» құпиясы{with}"),
                    Subject::Ai => format!("модельдер{with}"),
                    Subject::Trigger => format!("{name} іске қосу түрі"),
                };
                match self.change {
                    DifferenceKind::Added => format!("Манифеске қосылды: {subject}."),
                    DifferenceKind::Removed => format!("Манифестен алынды: {subject}."),
                    DifferenceKind::Changed => format!("Манифесте шарттары өзгерді: {subject}."),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, manifest::SecretUse};

    fn manifest(egress: &[(&str, Option<Vec<HttpMethod>>)]) -> Manifest {
        let mut manifest = Manifest::minimal("Orders", "Takes orders.", "workshop", Category::Data);
        let permission = |(host, methods): &(&str, _)| EgressPermission {
            host: (*host).to_owned(),
            methods: Clone::clone(methods),
        };
        manifest.permissions.egress = egress.iter().map(permission).collect();
        manifest
    }

    #[test]
    fn a_connection_with_other_limits_widens_access_unless_the_earlier_ones_cover_them() {
        let permission = |methods: Option<&[HttpMethod]>, paths: Option<&[&str]>| ConnectorPermission {
            name: "crm".to_owned(),
            connection_id: kernel::testing::id(9),
            methods: methods.map(<[_]>::to_vec),
            paths: paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()),
        };
        let (get, post) = (&[HttpMethod::Get][..], &[HttpMethod::Get, HttpMethod::Post][..]);
        let all = permission(None, None);
        let cases = [
            (all.clone(), permission(Some(get), None), false),
            (permission(Some(get), None), all.clone(), true),
            (permission(Some(post), None), permission(Some(get), None), false),
            (permission(Some(get), None), permission(Some(post), None), true),
            // Fewer methods do not make up for another path.
            (permission(Some(post), Some(&["/a"])), permission(Some(get), Some(&["/b"])), true),
            (permission(None, Some(&["/a"])), permission(None, Some(&["/a/b", "/a/"])), false),
            (permission(None, Some(&["/a"])), permission(None, Some(&["/ab"])), true),
            (permission(None, Some(&["/a/b"])), permission(None, Some(&["/a"])), true),
            (permission(None, Some(&["/"])), permission(None, Some(&["/a"])), false),
            (
                all,
                ConnectorPermission { connection_id: kernel::testing::id(8), ..permission(None, None) },
                true,
            ),
        ];
        for (before, after, widens) in cases {
            let with = |connector: &ConnectorPermission| {
                let mut manifest = manifest(&[]);
                manifest.permissions.connectors = vec![connector.clone()];
                manifest
            };
            let found = diff_manifests(&with(&before), &with(&after));
            let brief: Vec<_> = found.iter().map(|it| (it.subject, it.change, it.widens_access)).collect();
            assert_eq!(
                brief,
                [(Subject::Connector, DifferenceKind::Changed, widens)],
                "{before:?} {after:?}"
            );
        }
    }

    #[test]
    fn a_secret_in_clear_widens_access_and_fewer_uses_do_not() {
        let with = |secrets: Vec<SecretPermission>| {
            let mut manifest = manifest(&[]);
            manifest.permissions.secrets = secrets;
            manifest
        };
        let secret = |uses: Option<&[SecretUse]>, clear| {
            vec![SecretPermission { name: "KEY".to_owned(), uses: uses.map(<[_]>::to_vec), clear }]
        };
        let (sign, both) = (&[SecretUse::Sign][..], &[SecretUse::Verify, SecretUse::Sign][..]);
        for (before, after, expected) in [
            (Vec::new(), secret(Some(sign), false), Some((DifferenceKind::Added, true, "sign"))),
            (
                secret(Some(sign), false),
                secret(Some(both), false),
                Some((DifferenceKind::Changed, true, "sign, verify")),
            ),
            (
                secret(Some(both), false),
                secret(Some(sign), false),
                Some((DifferenceKind::Changed, false, "sign")),
            ),
            (secret(None, false), secret(None, true), Some((DifferenceKind::Changed, true, "clear"))),
            (secret(None, true), secret(None, false), Some((DifferenceKind::Changed, false, ""))),
            (secret(Some(sign), false), secret(None, false), Some((DifferenceKind::Changed, true, ""))),
            (secret(None, false), Vec::new(), Some((DifferenceKind::Removed, false, ""))),
            (secret(None, false), secret(None, false), None),
        ] {
            let found = diff_manifests(&with(before), &with(after));
            let brief = found.first().map(|it| (it.change, it.widens_access, it.details.as_str()));
            assert_eq!(brief, expected);
            assert!(found.iter().all(|it| it.subject == Subject::Secret));
        }
    }

    #[test]
    fn differences_tell_what_came_went_and_changed() {
        let before = manifest(&[("a.example", None), ("b.example", Some(vec![HttpMethod::Get]))]);
        let mut after =
            manifest(&[("b.example", Some(vec![HttpMethod::Get, HttpMethod::Post])), ("c.example", None)]);
        after.triggers.retain(|trigger| !matches!(trigger, ManifestTrigger::Webhook {}));
        let found = diff_manifests(&before, &after);
        let brief: Vec<_> =
            found.iter().map(|it| (it.subject, it.change, it.name.as_str(), it.widens_access)).collect();
        assert_eq!(
            brief,
            [
                (Subject::Egress, DifferenceKind::Changed, "b.example", true),
                (Subject::Egress, DifferenceKind::Added, "c.example", true),
                (Subject::Egress, DifferenceKind::Removed, "a.example", false),
                (Subject::Trigger, DifferenceKind::Removed, "webhook", false),
            ]
        );
        assert!(diff_manifests(&before, &before).is_empty());
        let english: Vec<_> = found.iter().map(|it| it.describe(Locale::En)).collect();
        assert_eq!(
            english,
            [
                "The manifest entry for the host b.example (GET, POST) changed.",
                "The manifest now names the host c.example.",
                "The manifest no longer names the host a.example.",
                "The manifest no longer names the trigger webhook.",
            ]
        );
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            assert!(found.iter().all(|it| it.describe(locale).contains(&it.name)));
        }
        let fewer = diff_manifests(&after, &before);
        assert!(
            fewer.iter().any(|it| it.change == DifferenceKind::Changed && !it.widens_access),
            "{fewer:?}"
        );
    }
}
