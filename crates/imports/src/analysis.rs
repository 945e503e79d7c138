//! Analysing an export: from its text to the report and the app that it would become.

use std::collections::{BTreeMap, BTreeSet};

use kernel::Locale;
use serde::{Deserialize, Serialize};

use crate::{
    Format, Grade, InvalidSource, Sentence,
    bundle::{self, Frame},
    javascript, make, n8n, node_red,
    order::order,
    report::{
        Fact, FoundSecret, MAX_CONNECTIONS, MAX_CONNECTORS, MAX_FACTS, MAX_ITEMS, MAX_SECRETS, MAX_SENTENCES,
        MAX_WARNINGS, Report, ReportConnection, ReportConnector, ReportItem, ReportTrigger, Totals,
        TriggerKind,
    },
    secrets::{self, Found},
    source::{self, Source},
    workflow::{Need, Start, Step, Workflow},
};

/// Largest app, in bytes; the bound of a version.
const MAX_APP_BYTES: usize = 700 << 10;
/// Most hosts that an app may ask for; the bound of a manifest.
const MAX_HOSTS: usize = 32;

/// Facts that an analysis needs beside the export.
pub struct Surroundings<'a> {
    /// Language of sentences.
    pub locale: Locale,
    /// Time zone of the workspace, for exports that name none.
    pub timezone: &'a str,
    /// Test of whether a cron expression and a time zone make a schedule.
    pub is_schedule: &'a (dyn Fn(&str, &str) -> bool + Sync),
    /// Errors of code that does not compile, by the path of its module.
    pub broken: &'a BTreeMap<String, String>,
}

/// An analysed export.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Report for the person who decides.
    pub report: Report,
    /// Source text of the app by path.
    pub files: BTreeMap<String, String>,
    /// Paths of modules with code that people wrote, which may not compile.
    pub code_files: BTreeSet<String>,
    /// Hosts that the app calls without a connection, with the methods.
    pub hosts: BTreeMap<String, BTreeSet<String>>,
    /// Headers with credentials that steps set themselves.
    pub headers: Vec<HeaderNeed>,
    /// Methods that the app needs of each connection, by its key.
    pub methods: BTreeMap<String, BTreeSet<String>>,
    /// Items that each item leads to, by id.
    pub followers: BTreeMap<String, Vec<String>>,
}

/// A header with credentials that a step sets itself, to which an admin has to agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderNeed {
    /// Id of the item.
    pub step: String,
    /// Host that it is sent to.
    pub host: String,
    /// Name in lower case: `authorization` or `cookie`.
    pub header: String,
}

/// Analyses an export. Nothing is kept.
///
/// # Errors
/// [`InvalidSource`] if the text is too long, no JSON, or of no known format.
pub fn analyze(text: &str, surroundings: &Surroundings<'_>) -> Result<Analysis, InvalidSource> {
    let Source { format, mut value, others } = source::parse(text)?;
    let found = secrets::remove(&mut value);
    let mut workflow = match format {
        Format::N8n => n8n::read(&value)?,
        Format::Make => make::read(&value)?,
        Format::NodeRed => node_red::read(&value)?,
    };
    drop(value);
    mark_secrets(&mut workflow, &found);
    if !others.is_empty() {
        let names: Vec<String> = others.iter().take(8).map(|name| javascript::comment(name, 40)).collect();
        workflow.warnings.insert(0, Sentence::OtherWorkflows(others.len(), names.join(", ")));
    }
    let timezone = choose_timezone(&mut workflow, surroundings);
    let main_start = choose_start(&mut workflow, &timezone, surroundings);
    let order = order(&mut workflow.steps);
    let (connections, needs) = connections(&workflow);
    let mut name = javascript::comment(&workflow.name, 120);
    if name.chars().count() < 2 {
        name = format!("Imported from {}", format.tool());
    }
    let mut written = write(&workflow, &order, &name, &timezone, &connections, main_start);
    let mut is_changed = false;
    for (path, error) in surroundings.broken {
        if let Some(step) = written.code_files.get(path).and_then(|index| workflow.steps.get_mut(*index)) {
            step.translation.fail_to_compile(error.clone());
            is_changed = true;
        }
    }
    if is_changed {
        written = write(&workflow, &order, &name, &timezone, &connections, main_start);
    }
    let draft = Draft {
        workflow: &workflow,
        order: &order,
        written: &written,
        needs: &needs,
        found: &found,
        name,
        timezone,
        main_start,
    };
    let report = draft.report(surroundings.locale);
    Ok(Analysis {
        report,
        code_files: written.code_files.keys().cloned().collect(),
        hosts: hosts(&workflow),
        headers: headers(&workflow),
        methods: needs.iter().map(|(key, need)| (key.clone(), need.methods.clone())).collect(),
        followers: followers(&workflow),
        files: written.files,
    })
}

fn write(
    workflow: &Workflow,
    order: &[usize],
    name: &str,
    timezone: &str,
    connections: &BTreeMap<String, String>,
    main_start: Option<usize>,
) -> bundle::Written {
    bundle::write(workflow, order, &Frame { name, timezone, connections, main_start })
}

/// Returns the index of the step at a place of the export.
fn step_at(workflow: &Workflow, path: &[String]) -> Option<usize> {
    let is_within = |step: &&(usize, &Step)| !step.1.place.is_empty() && path.starts_with(&step.1.place);
    let steps: Vec<(usize, &Step)> = workflow.steps.iter().enumerate().collect();
    steps.iter().filter(is_within).max_by_key(|(_, step)| step.place.len()).map(|(index, _)| *index)
}

fn mark_secrets(workflow: &mut Workflow, found: &[Found]) {
    // One step may have thousands; it is marked once.
    let marked: BTreeSet<usize> =
        found.iter().take(4_000).filter_map(|found| step_at(workflow, &found.path)).collect();
    for index in marked {
        if let Some(step) = workflow.steps.get_mut(index) {
            step.translation.lower(Sentence::SecretRemoved);
        }
    }
}

/// Chooses the zone of schedules and dates. One that is not known is said where the workflow starts by a schedule, and as a warning.
fn choose_timezone(workflow: &mut Workflow, surroundings: &Surroundings<'_>) -> String {
    let Some(zone) = workflow.timezone.take() else { return surroundings.timezone.to_owned() };
    if (surroundings.is_schedule)("0 0 * * *", &zone) {
        return zone;
    }
    let unknown = Sentence::UnknownZone(zone, surroundings.timezone.to_owned());
    let is_scheduled = |step: &&mut Step| matches!(step.translation.start, Some(Start::Schedule(_)));
    for step in workflow.steps.iter_mut().filter(is_scheduled) {
        step.translation.lower(unknown.clone());
    }
    workflow.warnings.push(unknown);
    surroundings.timezone.to_owned()
}

/// Chooses the step that starts the automation: the first that can be kept. Starts by a person come last, because every automation
/// can be started so.
fn choose_start(workflow: &mut Workflow, timezone: &str, surroundings: &Surroundings<'_>) -> Option<usize> {
    let mut chosen = None;
    for (index, step) in workflow.steps.iter_mut().enumerate() {
        match &step.translation.start {
            Some(Start::Schedule(cron)) if !(surroundings.is_schedule)(cron, timezone) => {
                step.translation.fail(Sentence::Trigger);
            }
            Some(Start::Webhook | Start::Form | Start::Schedule(_)) if chosen.is_none() => {
                chosen = Some(index);
            }
            Some(Start::Webhook | Start::Form | Start::Schedule(_)) => {
                step.translation.fail(Sentence::OtherTrigger);
            }
            _ => {}
        }
    }
    // One that is kept goes before one that is not.
    let manual = |steps: &[Step], is_kept: bool| {
        let is_start = |step: &Step| {
            step.translation.start == Some(Start::Manual)
                && (step.translation.grade != Grade::Unsupported) == is_kept
        };
        steps.iter().position(is_start)
    };
    let first =
        manual(&workflow.steps, true).or_else(|| manual(&workflow.steps, false).filter(|_| chosen.is_none()));
    for (index, step) in workflow.steps.iter_mut().enumerate() {
        if step.translation.start == Some(Start::Manual) && Some(index) != first {
            if step.translation.grade == Grade::Unsupported {
                step.translation.start = None;
                step.translation.body.clear();
            } else {
                step.translation.fail(Sentence::OtherTrigger);
            }
        }
    }
    chosen.or(first)
}

/// Returns the names of connections in the code by credential, and the needs by name.
fn connections(workflow: &Workflow) -> (BTreeMap<String, String>, BTreeMap<String, Need>) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut needs: BTreeMap<String, Need> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for step in &workflow.steps {
        let Some(need) = step.translation.used_connection() else { continue };
        let name = names.entry(need.credential.clone()).or_insert_with(|| {
            javascript::unique_name(need.connector.as_deref().unwrap_or(&need.name), "service", &mut taken)
        });
        let known = needs.entry(name.clone()).or_insert_with(|| need.clone());
        known.methods.extend(need.methods.iter().cloned());
        if known.base_url.is_none() {
            known.base_url.clone_from(&need.base_url);
        }
    }
    (names, needs)
}

fn hosts(workflow: &Workflow) -> BTreeMap<String, BTreeSet<String>> {
    let mut hosts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (host, method) in workflow.steps.iter().flat_map(|step| &step.translation.hosts) {
        if hosts.len() < MAX_HOSTS || hosts.contains_key(host) {
            hosts.entry(host.clone()).or_default().insert(method.clone());
        }
    }
    hosts
}

fn headers(workflow: &Workflow) -> Vec<HeaderNeed> {
    let of_step = |step: &Step| {
        let need = |(host, header): &(String, &'static str)| HeaderNeed {
            step: step.id.clone(),
            host: host.clone(),
            header: (*header).to_owned(),
        };
        step.translation.headers.iter().map(need).collect::<Vec<_>>()
    };
    workflow.steps.iter().flat_map(of_step).collect()
}

fn followers(workflow: &Workflow) -> BTreeMap<String, Vec<String>> {
    let mut followers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in &workflow.steps {
        for from in step.inputs.iter().filter_map(|link| workflow.steps.get(link.from)) {
            let known = followers.entry(from.id.clone()).or_default();
            if !known.contains(&step.id) {
                known.push(step.id.clone());
            }
        }
    }
    followers
}

/// Parts of a report.
struct Draft<'a> {
    workflow: &'a Workflow,
    order: &'a [usize],
    written: &'a bundle::Written,
    needs: &'a BTreeMap<String, Need>,
    found: &'a [Found],
    name: String,
    timezone: String,
    main_start: Option<usize>,
}

impl Draft<'_> {
    fn report(self, locale: Locale) -> Report {
        let items = self.items(locale);
        let totals = totals(&items);
        let mut connections = self.connections();
        let mut connectors = self.connectors(&connections);
        let trigger = self.trigger();
        let mut warnings = self.blocking(&connections, &connectors);
        let can_create = warnings.is_empty();
        warnings.extend(self.workflow.warnings.iter().cloned());
        warnings.dedup();
        let starts = match (&trigger.kind, &trigger.cron) {
            (TriggerKind::Manual, _) => Sentence::StartsManually,
            (TriggerKind::Webhook, _) => Sentence::StartsByWebhook,
            (TriggerKind::Form, _) => Sentence::StartsByForm,
            (TriggerKind::Schedule, cron) => {
                Sentence::StartsBySchedule(cron.clone().unwrap_or_default(), self.timezone.clone())
            }
        };
        let starts = shortened(&starts.text(locale), 200);
        let Totals { steps, exact, partial, unsupported, ignored, .. } = totals;
        let mut sentences = vec![
            starts.clone(),
            Sentence::Summary { steps: steps - ignored, exact, partial, unsupported }.text(locale),
        ];
        if !connections.is_empty() {
            sentences.push(Sentence::Connections(count(connections.len())).text(locale));
        }
        if !self.found.is_empty() {
            sentences.push(Sentence::Secrets(count(self.found.len())).text(locale));
        }
        sentences.truncate(MAX_SENTENCES);
        // The warnings have the numbers of all.
        connections.truncate(MAX_CONNECTIONS);
        connectors.truncate(MAX_CONNECTORS);
        Report {
            v: 1,
            format: self.workflow.format,
            trigger,
            starts,
            totals,
            connectors,
            secrets: self.secrets(),
            warnings: warnings.iter().take(MAX_WARNINGS).map(|warning| warning.text(locale)).collect(),
            can_create,
            facts: self.facts(),
            sentences,
            connections,
            items,
            name: self.name,
        }
    }

    fn items(&self, locale: Locale) -> Vec<ReportItem> {
        let steps = &self.workflow.steps;
        // In the order in which they run, and what does not run after that.
        let apart = (0..steps.len()).filter(|index| !self.order.contains(index));
        let all = self.order.iter().copied().chain(apart);
        let item = |index: usize| {
            let step = steps.get(index)?;
            let translation = &step.translation;
            let mut sentences: Vec<String> =
                translation.reasons.iter().map(|reason| reason.text(locale)).collect();
            if let Some(need) = translation.used_connection() {
                sentences.push(Sentence::NeedsConnection(javascript::comment(&need.name, 80)).text(locale));
            }
            if sentences.is_empty() {
                sentences.push(Sentence::Kept.text(locale));
            }
            // To know, and no less of the step.
            let headers = translation.headers.iter();
            sentences.extend(headers.map(|(host, header)| {
                Sentence::CredentialHeader(header, javascript::comment(host, 80)).text(locale)
            }));
            Some(ReportItem {
                id: step.id.clone(),
                name: javascript::comment(&step.name, 120),
                kind: javascript::comment(&step.kind, 120),
                grade: translation.grade,
                needs_connection: translation.used_connection().is_some(),
                step: self.written.functions.get(&index).cloned(),
                sentence: shortened(&sentences.join(" "), 600),
            })
        };
        all.filter_map(item).take(MAX_ITEMS).collect()
    }

    fn connections(&self) -> Vec<ReportConnection> {
        let steps = |need: &Need| {
            let of = |step: &&Step| {
                step.translation.used_connection().is_some_and(|own| own.credential == need.credential)
            };
            self.workflow.steps.iter().filter(of).map(|step| step.id.clone()).collect()
        };
        let connection = |(key, need): (&String, &Need)| ReportConnection {
            key: key.clone(),
            connector_id: need.connector.clone(),
            name: javascript::comment(&need.name, 80),
            base_url: need.base_url.clone(),
            steps: steps(need),
        };
        self.needs.iter().map(connection).collect()
    }

    fn connectors(&self, connections: &[ReportConnection]) -> Vec<ReportConnector> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for connection in connections {
            if let Some(connector) = connection.connector_id.as_deref() {
                *counts.entry(connector).or_default() += connection.steps.len();
            }
        }
        counts
            .into_iter()
            .map(|(connector, steps)| ReportConnector {
                connector_id: connector.to_owned(),
                steps: count(steps),
            })
            .collect()
    }

    fn trigger(&self) -> ReportTrigger {
        let step = self.main_start.and_then(|index| self.workflow.steps.get(index));
        let item_id = step.map(|step| step.id.clone());
        let plain = |kind| ReportTrigger { kind, cron: None, timezone: None, item_id: item_id.clone() };
        match step.and_then(|step| step.translation.start.as_ref()) {
            Some(Start::Schedule(cron)) => ReportTrigger {
                kind: TriggerKind::Schedule,
                cron: Some(cron.clone()),
                timezone: Some(self.timezone.clone()),
                item_id,
            },
            Some(Start::Webhook) => plain(TriggerKind::Webhook),
            Some(Start::Form) => plain(TriggerKind::Form),
            Some(Start::Manual) | None => plain(TriggerKind::Manual),
        }
    }

    /// Returns the reasons why no import can be created.
    fn blocking(&self, connections: &[ReportConnection], connectors: &[ReportConnector]) -> Vec<Sentence> {
        let mut reasons = Vec::new();
        if self.workflow.total > MAX_ITEMS {
            reasons.push(Sentence::TooManySteps(self.workflow.total));
        }
        if connections.len() > MAX_CONNECTIONS {
            reasons.push(Sentence::TooManyConnections(connections.len()));
        }
        if connectors.len() > MAX_CONNECTORS {
            reasons.push(Sentence::TooManyConnectors(connectors.len()));
        }
        if self.found.len() > MAX_SECRETS {
            reasons.push(Sentence::TooManySecrets(self.found.len()));
        }
        let is_code = |step: &&Step| step.translation.runs && step.translation.grade != Grade::Ignored;
        if self.workflow.steps.iter().filter(is_code).count() == 0 {
            reasons.push(Sentence::NoSteps);
        }
        if self.written.files.values().map(String::len).sum::<usize>() > MAX_APP_BYTES
            || self.written.files.len() > 100
        {
            reasons.push(Sentence::TooLarge);
        }
        reasons
    }

    fn secrets(&self) -> Vec<FoundSecret> {
        let secret = |found: &Found| FoundSecret {
            item_id: step_at(self.workflow, &found.path)
                .and_then(|index| self.workflow.steps.get(index))
                .map(|step| step.id.clone()),
            place: shortened(&found.path.join("."), 200),
            kind: found.kind.to_owned(),
        };
        self.found.iter().take(MAX_SECRETS).map(secret).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for step in &self.workflow.steps {
            *kinds.entry(step.kind.as_str()).or_default() += 1;
        }
        let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
        let mut facts = vec![
            fact("tool", self.workflow.format.tool().to_owned()),
            fact("items", self.workflow.total.to_string()),
            fact("types", kinds.len().to_string()),
            fact(
                "links",
                self.workflow.steps.iter().map(|step| step.inputs.len()).sum::<usize>().to_string(),
            ),
            fact("timezone", self.timezone.clone()),
        ];
        facts.truncate(MAX_FACTS);
        facts
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn totals(items: &[ReportItem]) -> Totals {
    let of = |grade: Grade| count(items.iter().filter(|item| item.grade == grade).count());
    Totals {
        steps: count(items.len()),
        exact: of(Grade::Exact),
        partial: of(Grade::Partial),
        unsupported: of(Grade::Unsupported),
        ignored: of(Grade::Ignored),
        needs_connection: count(items.iter().filter(|item| item.needs_connection).count()),
    }
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
