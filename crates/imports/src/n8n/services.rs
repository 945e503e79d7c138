//! Nodes of services: what each of their operations calls is data, in `services.toml`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::Value;

use super::node::Node;
use crate::{
    Sentence, javascript,
    workflow::{CONNECTION, Translation},
};

/// The calls of services.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Services {
    /// Connectors of the catalogue by types of credentials.
    credentials: BTreeMap<String, String>,
    /// Base URLs of connectors.
    base_urls: BTreeMap<String, String>,
    operation: Vec<Operation>,
}

/// Call of an operation of a node.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    node: String,
    /// Resource; any if the node has none.
    #[serde(default)]
    resource: Option<String>,
    operation: String,
    /// `true` if it is meant where the export names no operation.
    #[serde(default)]
    default: bool,
    connector: String,
    method: String,
    /// Path with parameters in braces.
    path: String,
    /// Members of the JSON body, each with the path of a parameter or a literal in quotes.
    #[serde(default)]
    json: BTreeMap<String, String>,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Member of the response that has the items.
    #[serde(default)]
    items: Option<String>,
    /// Expression for the JSON body, with parameters in braces, where members are not enough.
    #[serde(default)]
    body: Option<String>,
    /// Function of `services.js` that does it, with parameters.
    #[serde(default)]
    call: Option<String>,
    /// `true` if other parameters of the node are not kept.
    #[serde(default)]
    partial: bool,
}

static SERVICES: LazyLock<Option<Services>> =
    LazyLock::new(|| toml::from_str(include_str!("services.toml")).ok());

/// Returns the connector of the catalogue for a type of credential.
pub(super) fn connector_of(credential: &str) -> Option<&'static str> {
    SERVICES.as_ref()?.credentials.get(credential).map(String::as_str)
}

/// Returns the base URL of a connector that the code is relative to.
pub(super) fn base_url(connector: &str) -> Option<&'static str> {
    SERVICES.as_ref()?.base_urls.get(connector).map(String::as_str)
}

/// Returns every connector that is named, with its base URL.
pub fn connectors() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let services = SERVICES.as_ref();
    services.into_iter().flat_map(|services| {
        let named = services
            .credentials
            .values()
            .chain(services.operation.iter().map(|operation| &operation.connector));
        let named: std::collections::BTreeSet<&str> = named.map(String::as_str).collect();
        named.into_iter().map(|connector| (connector, base_url(connector)))
    })
}

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    let services = SERVICES.as_ref()?;
    let operations: Vec<&Operation> =
        services.operation.iter().filter(|operation| operation.node == node.kind).collect();
    if operations.is_empty() {
        return None;
    }
    let (resource, operation) = (node.text("resource"), node.text("operation"));
    let matches = |candidate: &&&Operation| {
        let by_resource = match (&candidate.resource, resource) {
            (Some(wanted), Some(resource)) => wanted == resource,
            (Some(_), None) => {
                candidate.default || operation.is_some_and(|operation| operation == candidate.operation)
            }
            (None, _) => true,
        };
        by_resource && operation.map_or(candidate.default, |operation| operation == candidate.operation)
    };
    match operations.iter().find(matches) {
        Some(operation) => Some(call(node, operation)),
        None => Some(fill_in(node)),
    }
}

/// A call that is left to fill in.
pub(super) fn fill_in(node: &Node<'_>) -> Translation {
    let connector = connector_of(node.credential_kind());
    let mut translation = Translation::unsupported(Sentence::FillIn(node.service_name()));
    if node.has_credentials() {
        translation = translation.with_connection(node.need(connector, node.service_name(), None));
    }
    translation
}

/// Returns the code of a parameter's path, or of a literal in quotes.
fn argument(node: &Node<'_>, source: &str) -> Option<String> {
    if let Some(literal) = source.strip_prefix('\'') {
        return Some(javascript::string(literal.trim_end_matches('\'')));
    }
    if source == "fields of item" {
        return Some(fields_of_item(node));
    }
    // The first of several paths that is there.
    let value = source.split('|').find_map(|path| node.get(path.trim()))?;
    if let Value::Object(members) = value
        && members.contains_key("__rl")
        && let Some(name) = members.get("cachedResultName").filter(|_| source.ends_with("sheetName"))
    {
        return Some(node.value_code(name));
    }
    Some(node.value_code(value))
}

/// Returns the code of the record that a step writes: its columns, or the item where they are mapped by themselves.
fn fields_of_item(node: &Node<'_>) -> String {
    // What the editor knows of the table.
    node.get("columns.schema");
    let modes = ["columns.mappingMode", "dataMode", "dataToSend"].map(|path| node.text(path));
    if modes.contains(&Some("autoMapInputData")) {
        node.get("columns.matchingColumns");
        return "item.json".to_owned();
    }
    if let Some(columns) = node.get("columns.value").filter(|value| value.is_object()) {
        return node.value_code(columns);
    }
    match node.get("fieldsUi") {
        Some(fields) => format!("fieldsOf({}, item)", node.value_code(fields)),
        None => "item.json".to_owned(),
    }
}

/// Replaces parameters in braces in code in which doubled braces stand for one.
fn filled_code(node: &Node<'_>, pattern: &str) -> String {
    let pattern = pattern.replace("{{", "\u{1}").replace("}}", "\u{2}");
    // A parameter's text has neither of the two marks: a literal escapes them.
    filled(node, &pattern, &|value| value).replace('\u{1}', "{").replace('\u{2}', "}")
}

/// Replaces parameters in braces.
fn filled(node: &Node<'_>, pattern: &str, wrap: &dyn Fn(String) -> String) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = after.split_once('}') else { break };
        text.push_str(&wrap(argument(node, name).unwrap_or_else(|| "undefined".to_owned())));
        rest = after;
    }
    text.push_str(rest);
    text
}

fn call(node: &Node<'_>, operation: &Operation) -> Translation {
    let need = {
        let mut need = node.need(Some(&operation.connector), node.service_name(), None);
        need.methods.insert(operation.method.clone());
        need
    };
    let translation = if let Some(call) = &operation.call {
        let call = filled_code(node, &call.replace("connection", CONNECTION));
        Translation::exact_for_all([format!("return [await {call}];")])
    } else {
        request(node, operation)
    };
    let translation = translation.with_connection(need);
    if operation.partial { translation.partial(Sentence::UsualSettings) } else { translation }
}

fn request(node: &Node<'_>, operation: &Operation) -> Translation {
    let path = filled(node, &operation.path, &|value| format!("${{encodeURIComponent({value})}}"));
    let members = |members: &BTreeMap<String, String>| {
        let members: Vec<String> = members
            .iter()
            .filter_map(|(name, source)| {
                Some(format!("{}: {}", javascript::key(name), argument(node, source)?))
            })
            .collect();
        (!members.is_empty()).then(|| format!("{{ {} }}", members.join(", ")))
    };
    let mut lines = vec![
        "const output = [];".to_owned(),
        "for (const [index, item] of items.entries()) {".to_owned(),
        "  const answer = await request({".to_owned(),
    ];
    lines.push(format!("    via: {CONNECTION},"));
    lines.push(format!("    method: '{}',", operation.method));
    lines.push(format!("    url: `{path}`,"));
    if let Some(query) = members(&operation.query) {
        lines.push(format!("    query: {query},"));
    }
    if let Some(headers) = members(&operation.headers) {
        lines.push(format!("    headers: {headers},"));
    }
    if let Some(body) = &operation.body {
        lines.push(format!("    json: {},", filled_code(node, body)));
    } else if let Some(json) = members(&operation.json) {
        lines.push(format!("    json: {json},"));
    }
    if let Some(items) = &operation.items {
        lines.push(format!("    items: {},", javascript::string(items)));
    }
    lines.extend([
        "  });".to_owned(),
        "  output.push(...answer.map((answer) => ({ ...answer, origin: item })));".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ]);
    Translation::exact(lines)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_calls_are_valid() {
        let services: super::Services = toml::from_str(include_str!("services.toml")).unwrap();
        for operation in &services.operation {
            assert!(operation.path.starts_with('/') || operation.call.is_some(), "{operation:?}");
            assert!(
                ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&operation.method.as_str()),
                "{operation:?}"
            );
        }
    }
}
