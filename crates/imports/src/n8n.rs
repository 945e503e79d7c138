//! Workflows of n8n (`INode` and `IConnections` of its `packages/workflow/src/interfaces.ts`).

mod code;
mod data;
mod date_time;
mod expression;
mod flow;
mod http;
mod lexer;
mod merge;
mod methods;
mod models;
mod node;
mod own_headers;
mod services;
mod triggers;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    Format, Grade, Sentence,
    report::MAX_ITEMS,
    source::InvalidSource,
    workflow::{Link, Settings, Step, Translation, Workflow},
};

use node::{Node, Nodes};

pub use services::connectors;

/// Types that are notes.
const STICKY_NOTE: &str = "stickyNote";
/// Most outputs of a step.
const MAX_OUTPUTS: usize = 100;
/// Most links; the largest public workflows have a few hundred.
const MAX_LINKS: usize = 2_000;
/// Most links that lead to one step.
const MAX_INPUTS: usize = 300;
/// Most loops over batches whose links are followed.
const MAX_LOOPS: usize = 40;

/// Reads a workflow.
pub(crate) fn read(source: &Value) -> Result<Workflow, InvalidSource> {
    let list = source.get("nodes").and_then(Value::as_array).ok_or(InvalidSource::UnknownFormat)?;
    let empty = Map::new();
    let connections = source.get("connections").and_then(Value::as_object).unwrap_or(&empty);
    let mut warnings = Vec::new();
    let nodes = read_nodes(list, &mut warnings);
    let nodes = Nodes::new(nodes, connections);
    let links = main_links(&nodes, connections, &mut warnings);
    let timezone = source.pointer("/settings/timezone").and_then(Value::as_str);
    let mut steps = Vec::with_capacity(nodes.all.len());
    for (index, node) in nodes.all.iter().enumerate() {
        let translation = translate(node, &nodes);
        let inputs = links.get(&index).cloned().unwrap_or_default();
        steps.push(Step {
            id: node.id.clone(),
            name: node.name.clone(),
            kind: node.full_kind.to_owned(),
            notes: node.notes.to_owned(),
            place: vec!["nodes".to_owned(), node.index.to_string()],
            inputs,
            settings: settings(node),
            translation,
        });
    }
    reroute_batches(&nodes, &mut steps);
    Ok(Workflow {
        format: Format::N8n,
        name: source.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        steps,
        timezone: timezone.filter(|zone| *zone != "DEFAULT").map(str::to_owned),
        total: list.len(),
        warnings,
    })
}

fn read_nodes<'a>(list: &'a [Value], warnings: &mut Vec<Sentence>) -> Vec<Node<'a>> {
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    let mut nodes = Vec::new();
    for (index, value) in list.iter().enumerate().take(MAX_ITEMS) {
        let Some(mut node) = Node::read(value, index) else { continue };
        if !names.insert(node.name.clone()) {
            let name =
                (2..).map(|number| format!("{} ({number})", node.name)).find(|name| !names.contains(name));
            warnings.push(Sentence::DuplicateName(node.name.clone()));
            node.name = name.unwrap_or_default();
            names.insert(node.name.clone());
        }
        if !ids.insert(node.id.clone()) {
            node.id = format!("{}-{index}", node.id.chars().take(40).collect::<String>());
            ids.insert(node.id.clone());
        }
        nodes.push(node);
    }
    nodes
}

/// Returns the links of the flow by the index of the step that they lead to.
fn main_links(
    nodes: &Nodes<'_>,
    connections: &Map<String, Value>,
    warnings: &mut Vec<Sentence>,
) -> BTreeMap<usize, Vec<Link>> {
    let mut links: BTreeMap<usize, Vec<Link>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (from, outputs) in connections {
        let Some(main) = outputs.get("main").and_then(Value::as_array) else { continue };
        let Some(from) = nodes.index_of(from) else {
            warnings.push(Sentence::MissingStep(from.clone()));
            continue;
        };
        for (output, targets) in main.iter().enumerate().take(MAX_OUTPUTS) {
            for target in targets.as_array().into_iter().flatten() {
                let Some(name) = target.get("node").and_then(Value::as_str) else { continue };
                let Some(to) = nodes.index_of(name) else {
                    warnings.push(Sentence::MissingStep(name.to_owned()));
                    continue;
                };
                let input =
                    target.get("index").and_then(Value::as_u64).and_then(|input| usize::try_from(input).ok());
                let link = Link { from, output, input: input.unwrap_or(0).min(9) };
                if known.len() < MAX_LINKS && known.insert((to, from, output, link.input)) {
                    links.entry(to).or_default().push(link);
                }
            }
        }
    }
    links
}

/// A loop over batches runs once: what follows it takes the items that come back to it.
fn reroute_batches(nodes: &Nodes<'_>, steps: &mut [Step]) {
    let is_loop = |node: &Node<'_>| node.kind == "splitInBatches" && !node.disabled;
    let loops = nodes.all.iter().enumerate().filter(|(_, node)| is_loop(node)).take(MAX_LOOPS);
    for (batches, node) in loops {
        // The order of the outputs changed in version 3: `done` became the first.
        let done = usize::from(node.version < 3.0);
        // What comes back are links from steps that the loop leads to.
        let inside = reachable(steps, batches, 1 - done);
        let inputs = steps.get(batches).map(|step| step.inputs.clone()).unwrap_or_default();
        let (back, first): (Vec<Link>, Vec<Link>) =
            inputs.into_iter().partition(|link| inside.contains(&link.from));
        if back.is_empty() {
            continue;
        }
        if let Some(step) = steps.get_mut(batches) {
            step.inputs = first;
        }
        for step in steps.iter_mut() {
            let after = step.inputs.extract_if(.., |link| link.from == batches && link.output == done);
            let inputs: BTreeSet<usize> = after.map(|link| link.input).collect();
            for input in inputs {
                let rerouted = back.iter().map(|back| Link { input, ..*back });
                // Loops that lead to each other would multiply the links.
                let new: Vec<Link> = rerouted.filter(|link| !step.inputs.contains(link)).collect();
                step.inputs.extend(new);
            }
            step.inputs.truncate(MAX_INPUTS);
        }
    }
}

/// Returns the steps that an output of a step leads to.
fn reachable(steps: &[Step], from: usize, output: usize) -> BTreeSet<usize> {
    let mut after: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, step) in steps.iter().enumerate() {
        for link in &step.inputs {
            after.entry(link.from).or_default().push((link.output, index));
        }
    }
    let first = after.get(&from).into_iter().flatten().filter(|(found, _)| *found == output);
    let mut open: Vec<usize> = first.map(|(_, to)| *to).collect();
    let mut found = BTreeSet::new();
    while let Some(next) = open.pop() {
        if next != from && found.insert(next) {
            open.extend(after.get(&next).into_iter().flatten().map(|(_, to)| *to));
        }
    }
    found
}

fn settings(node: &Node<'_>) -> Settings {
    let flag = |name: &str| node.value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let number = |name: &str, default: u32, most: u32| {
        let value = node.value.get(name).and_then(Value::as_u64).and_then(|value| u32::try_from(value).ok());
        value.unwrap_or(default).min(most)
    };
    Settings {
        retry: flag("retryOnFail")
            .then(|| (number("maxTries", 3, 5), number("waitBetweenTries", 1000, 5000))),
        once: flag("executeOnce"),
        always: flag("alwaysOutputData"),
        continues: flag("continueOnFail") || node.on_error() == Some("continueRegularOutput"),
    }
}

fn translate(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    if node.kind == STICKY_NOTE {
        return Translation::apart(Grade::Ignored, Sentence::Note);
    }
    if node.disabled {
        return if nodes.is_sub_node(node) {
            Translation::apart(Grade::Ignored, Sentence::Disabled)
        } else {
            Translation::ignored(Sentence::Disabled)
        };
    }
    let mut translation = translate_kind(node, nodes);
    // What starts the workflow calls nothing, whatever credentials it has in its tool.
    if translation.connection.is_none() && translation.start.is_none() && node.has_credentials() {
        let need = node.need(services::connector_of(node.credential_kind()), node.service_name(), None);
        translation = translation.with_connection(need);
    }
    if translation.runs && translation.grade != Grade::Unsupported {
        match node.on_error() {
            Some("continueErrorOutput") => translation.lower(Sentence::ErrorOutput),
            Some("continueRegularOutput") => translation.lower(Sentence::ErrorsContinue),
            None if node.value.get("continueOnFail").and_then(Value::as_bool) == Some(true) => {
                translation.lower(Sentence::ErrorsContinue);
            }
            _ => {}
        }
    }
    // What is not read cannot be kept, whatever else is.
    let unread = node.unread();
    let is_kept = matches!(translation.grade, Grade::Exact | Grade::Partial);
    if translation.runs && is_kept && !unread.is_empty() {
        translation.lower(Sentence::Settings(unread.join(", ")));
    }
    for refused in node.take_refused() {
        if translation.grade != Grade::Unsupported {
            translation.lower(Sentence::Expression(refused));
        }
    }
    translation
}

fn translate_kind(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    triggers::translate(node, nodes)
        .or_else(|| flow::translate(node))
        .or_else(|| data::translate(node))
        .or_else(|| date_time::translate(node))
        .or_else(|| http::translate(node))
        .or_else(|| code::translate(node))
        .or_else(|| models::translate(node, nodes))
        .or_else(|| services::translate(node))
        .unwrap_or_else(|| unknown(node, nodes))
}

/// A type without a translation: an HTTP call to fill in if it has credentials.
fn unknown(node: &Node<'_>, nodes: &Nodes<'_>) -> Translation {
    if nodes.is_sub_node(node) {
        return Translation::apart(Grade::Unsupported, Sentence::SubStepLost);
    }
    if node.has_credentials() {
        return services::fill_in(node);
    }
    Translation::unsupported(Sentence::UnknownType)
}
