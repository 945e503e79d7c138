//! Flows of Node-RED.

mod node;
mod nodes;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    Format, Grade, Sentence,
    report::MAX_ITEMS,
    source::InvalidSource,
    workflow::{Link, Settings, Step, Translation, Workflow},
};

use node::Node;

/// Most outputs of a node.
const MAX_OUTPUTS: usize = 100;
/// Most links.
const MAX_LINKS: usize = 2_000;

/// Reads flows.
pub(crate) fn read(source: &Value) -> Result<Workflow, InvalidSource> {
    let list = source
        .as_array()
        .or_else(|| source.get("flows").and_then(Value::as_array))
        .ok_or(InvalidSource::UnknownFormat)?;
    let root: &[String] = if source.is_array() { &[] } else { &["flows".to_owned()] };
    let tabs: Vec<&Value> = list.iter().filter(|node| kind_of(node) == "tab").collect();
    let disabled_tabs: BTreeSet<&str> = tabs
        .iter()
        .filter(|tab| tab.get("disabled").and_then(Value::as_bool) == Some(true))
        .filter_map(|tab| tab.get("id")?.as_str())
        .collect();
    let in_subflow: BTreeSet<&str> = list
        .iter()
        .filter(|node| kind_of(node) == "subflow")
        .filter_map(|node| node.get("id")?.as_str())
        .collect();
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut total = 0;
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (index, value) in list.iter().enumerate() {
        // Tabs and groups only arrange nodes.
        if matches!(kind_of(value), "tab" | "group" | "subflow") {
            continue;
        }
        total += 1;
        if nodes.len() >= MAX_ITEMS {
            continue;
        }
        let place = root.iter().cloned().chain([index.to_string()]).collect();
        let Some(mut node) = Node::read(value, place) else { continue };
        let tab = value.get("z").and_then(Value::as_str).unwrap_or_default();
        node.disabled |= disabled_tabs.contains(tab);
        node.in_subflow = in_subflow.contains(tab);
        if !ids.insert(node.id.clone()) {
            node.id = format!("{}-{index}", node.id.chars().take(40).collect::<String>());
            ids.insert(node.id.clone());
        }
        let base = node.name.clone();
        for number in 2.. {
            if names.insert(node.name.clone()) {
                break;
            }
            node.name = format!("{base} ({number})");
        }
        nodes.push(node);
    }
    let links = links(&nodes);
    let mut steps: Vec<Step> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| step(node, links.get(&index).cloned().unwrap_or_default()))
        .collect();
    nodes::ask_for_headers_of_code(&mut steps);
    let label = tabs.first().and_then(|tab| tab.get("label")).and_then(Value::as_str).unwrap_or_default();
    Ok(Workflow {
        format: Format::NodeRed,
        name: label.to_owned(),
        steps,
        timezone: None,
        total,
        warnings: Vec::new(),
    })
}

fn kind_of(node: &Value) -> &str {
    node.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn step(node: &Node<'_>, inputs: Vec<Link>) -> Step {
    let translation = if node.is_config() {
        Translation::apart(Grade::Ignored, Sentence::SubStep)
    } else if node.kind == "comment" {
        Translation::apart(Grade::Ignored, Sentence::Note)
    } else if node.disabled {
        // A node that is turned off passes nothing on.
        Translation::apart(Grade::Ignored, Sentence::Disabled)
    } else if node.in_subflow {
        Translation::apart(Grade::Unsupported, Sentence::OtherWorkflow)
    } else {
        nodes::translate(node)
    };
    Step {
        id: node.id.clone(),
        name: node.name.clone(),
        kind: node.kind.to_owned(),
        notes: node.value.get("info").and_then(Value::as_str).unwrap_or_default().to_owned(),
        place: node.place.clone(),
        inputs,
        settings: Settings::default(),
        translation,
    }
}

/// Returns the wires, and the jumps of link nodes, by the index of the node that they lead to.
fn links(nodes: &[Node<'_>]) -> BTreeMap<usize, Vec<Link>> {
    let by_id: BTreeMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(index, node)| Some((node.value.get("id")?.as_str()?, index)))
        .collect();
    let mut links: BTreeMap<usize, Vec<Link>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut add = |from: usize, output: usize, id: Option<&str>| {
        let Some(to) = id.and_then(|id| by_id.get(id).copied()) else { return };
        if known.len() < MAX_LINKS && known.insert((to, from, output)) {
            links.entry(to).or_default().push(Link { from, output, input: 0 });
        }
    };
    for (from, node) in nodes.iter().enumerate() {
        for (output, wires) in node.list("wires").iter().enumerate().take(MAX_OUTPUTS) {
            for id in wires.as_array().into_iter().flatten() {
                add(from, output, id.as_str());
            }
        }
        if node.kind == "link out" {
            for id in node.list("links") {
                add(from, 0, id.as_str());
            }
        }
    }
    links
}
