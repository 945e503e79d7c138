//! A node, and how its parameters become code.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value};

use super::expression::{Scope, Within, translate};
use crate::{javascript, workflow::Need};

/// A node of the export.
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    /// Place in the export's list.
    pub(super) index: usize,
    pub(super) id: String,
    /// Unique name.
    pub(super) name: String,
    /// Type with the package, such as `n8n-nodes-base.set`.
    pub(super) full_kind: &'a str,
    /// Type without the package.
    pub(super) kind: &'a str,
    pub(super) version: f64,
    pub(super) parameters: &'a Map<String, Value>,
    pub(super) disabled: bool,
    pub(super) notes: &'a str,
    /// Expressions that could not be translated.
    refused: RefCell<Vec<String>>,
    /// Paths of parameters that were read, and with them all that is below.
    read: RefCell<BTreeSet<String>>,
    /// Members of entries of lists that nothing reads.
    unknown: RefCell<BTreeSet<String>>,
    /// Names of all steps.
    names: BTreeSet<String>,
}

/// All nodes, and which of them belong to others.
pub(super) struct Nodes<'a> {
    pub(super) all: Vec<Node<'a>>,
    by_name: BTreeMap<String, usize>,
    /// Names of nodes by the node that they belong to, with the kind of the link.
    parts: BTreeMap<String, Vec<(String, String)>>,
    sub_nodes: BTreeSet<String>,
}

/// Parameters that change nothing of what a step does, by its type; of all without one.
const HARMLESS: &[(&str, &str)] = &[
    ("", "notice"),
    ("", "curlImport"),
    ("", "httpVariantWarning"),
    ("", "infoBox"),
    ("", "oldVersionNotice"),
    // The address is another one anyway.
    ("webhook", "path"),
    ("formTrigger", "path"),
    // A connection is chosen in its place; what a webhook asks of its callers is said by its own sentence.
    ("", "authentication"),
    // A choice between two ways to name the same, of which the one that is left is read.
    ("merge", "advanced"),
    ("slack", "select"),
    ("dateTime", "custom"),
    // Names of outputs, which are found by their number.
    ("switch", "renameOutput"),
    ("switch", "options.renameFallbackOutput"),
];

/// Returns `true` if a value says more than the lack of one.
fn matters(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => true,
    }
}

fn collect_unread(path: &str, value: &Value, is_known: &dyn Fn(&str) -> bool, unread: &mut Vec<String>) {
    if is_known(path) || unread.len() >= MAX_UNREAD {
        return;
    }
    match value {
        // A picker is one value.
        Value::Object(members) if !members.contains_key("__rl") => {
            for (name, value) in members {
                collect_unread(&format!("{path}.{name}"), value, is_known, unread);
            }
        }
        value if matters(value) => unread.push(path.to_owned()),
        _ => {}
    }
}

/// Most parameters that are named.
const MAX_UNREAD: usize = 6;

static NO_PARAMETERS: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl<'a> Node<'a> {
    pub(super) fn read(value: &'a Value, index: usize) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let full_kind = text("type")?;
        let kind = full_kind.rsplit('.').next().unwrap_or(full_kind);
        let name = text("name")
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("{kind} {index}"), str::to_owned);
        // Ids are free text; what is too long for a report is replaced.
        let id = match value.get("id") {
            Some(Value::String(id)) if !id.is_empty() && id.len() <= 64 => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => format!("node-{index}"),
        };
        Some(Self {
            value,
            id,
            name,
            full_kind,
            kind,
            version: value.get("typeVersion").and_then(Value::as_f64).unwrap_or(1.0),
            parameters: value.get("parameters").and_then(Value::as_object).unwrap_or(&NO_PARAMETERS),
            disabled: value.get("disabled").and_then(Value::as_bool).unwrap_or(false),
            notes: text("notes").unwrap_or_default(),
            index,
            refused: RefCell::default(),
            read: RefCell::default(),
            unknown: RefCell::default(),
            names: BTreeSet::new(),
        })
    }

    pub(super) fn on_error(&self) -> Option<&'a str> {
        self.value.get("onError").and_then(Value::as_str)
    }

    /// Returns a parameter by its path.
    pub(super) fn get(&self, path: &str) -> Option<&'a Value> {
        self.read.borrow_mut().insert(path.to_owned());
        let mut parts = path.split('.');
        let mut value = self.parameters.get(parts.next()?)?;
        for part in parts {
            value = value.get(part)?;
        }
        Some(value)
    }

    /// Returns a parameter that is text and no expression.
    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        self.get(path).and_then(Value::as_str).filter(|text| !text.starts_with('='))
    }

    pub(super) fn flag(&self, path: &str, default: bool) -> bool {
        self.get(path).and_then(Value::as_bool).unwrap_or(default)
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        self.get(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if an option has a value that matters.
    pub(super) fn has_option(&self, path: &str) -> bool {
        self.get(path).is_some_and(matters)
    }

    /// Notes the members of an entry of a list that nothing reads.
    pub(super) fn expect_members(&self, path: &str, entry: &Value, known: &[&str]) {
        let members = entry.as_object().into_iter().flatten();
        let unknown = members.filter(|(name, value)| !known.contains(&name.as_str()) && matters(value));
        self.unknown.borrow_mut().extend(unknown.map(|(name, _)| format!("{path}.{name}")));
    }

    /// Returns the parameters that have a value and that nothing read: an export has only those that differ from their default.
    pub(super) fn unread(&self) -> Vec<String> {
        let mut unread: Vec<String> = self.unknown.borrow().iter().cloned().collect();
        let read = self.read.borrow();
        let is_known = |path: &str| {
            read.contains(path) || HARMLESS.contains(&(self.kind, path)) || HARMLESS.contains(&("", path))
        };
        for (name, value) in self.parameters {
            collect_unread(name, value, &is_known, &mut unread);
        }
        unread
    }

    /// Returns the code of a parameter; `undefined` if it is missing.
    pub(super) fn code(&self, path: &str) -> String {
        self.get(path).map_or_else(|| "undefined".to_owned(), |value| self.value_code(value))
    }

    /// Returns the code of a parameter, or of a default.
    pub(super) fn code_or(&self, path: &str, default: &str) -> String {
        self.get(path).map_or_else(|| default.to_owned(), |value| self.value_code(value))
    }

    /// Returns the code of a value in which texts that begin with `=` are expressions.
    pub(super) fn value_code(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.text_code(text, Within::Text),
            // A picker: `{"__rl": true, "mode": "id", "value": "…"}`.
            Value::Object(members) if members.contains_key("__rl") => {
                members.get("value").map_or_else(|| "undefined".to_owned(), |value| self.value_code(value))
            }
            Value::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}: {}", javascript::key(name), self.value_code(value)))
                    .collect();
                if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) }
            }
            Value::Array(values) => {
                let values: Vec<String> = values.iter().map(|value| self.value_code(value)).collect();
                format!("[{}]", values.join(", "))
            }
            other => javascript::literal(other),
        }
    }

    /// Returns the code of a parameter that is JSON as a text.
    pub(super) fn json_text_code(&self, path: &str) -> Option<String> {
        Some(match self.get(path)? {
            Value::String(text) => self.text_code(text, Within::Json),
            value => self.value_code(value),
        })
    }

    fn text_code(&self, text: &str, within: Within) -> String {
        let Some(expression) = text.strip_prefix('=') else { return javascript::string(text) };
        let scope = Scope { step: &|name| self.names.contains(name), within };
        match translate(expression, scope) {
            Ok(code) => code,
            Err(refused) => {
                self.refuse(refused.0);
                format!("notTranslated({})", javascript::string(expression.trim()))
            }
        }
    }

    /// Notes an expression that could not be translated.
    pub(super) fn refuse(&self, text: String) {
        let mut refused = self.refused.borrow_mut();
        // Three of them tell enough.
        if refused.len() < 3 && !refused.contains(&text) {
            refused.push(text);
        }
    }

    pub(super) fn take_refused(&self) -> Vec<String> {
        self.refused.take()
    }

    pub(super) fn has_credentials(&self) -> bool {
        self.value
            .get("credentials")
            .and_then(Value::as_object)
            .is_some_and(|credentials| !credentials.is_empty())
            || self.text("nodeCredentialType").is_some()
            || self.text("genericAuthType").is_some()
    }

    /// Returns the type of the credential, such as `slackApi`; empty if there is none.
    pub(super) fn credential_kind(&self) -> &'a str {
        let credentials = self.value.get("credentials").and_then(Value::as_object);
        let chosen = self.text("nodeCredentialType").or_else(|| self.text("genericAuthType"));
        // Several may be left from earlier choices; the chosen one counts.
        let first = credentials.and_then(|credentials| credentials.keys().next());
        chosen.or(first.map(String::as_str)).unwrap_or_default()
    }

    /// Returns the name of the service as a person would say it.
    pub(super) fn service_name(&self) -> String {
        readable(self.kind)
    }

    /// Returns the connection that the node needs.
    pub(super) fn need(&self, connector: Option<&str>, service: String, base_url: Option<String>) -> Need {
        let kind = self.credential_kind();
        let credential =
            self.value.pointer(&format!("/credentials/{}", kind.replace('~', "~0").replace('/', "~1")));
        let (id, name) = match credential {
            Some(Value::Object(members)) => {
                let text =
                    |key: &str| members.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
                (text("id"), text("name"))
            }
            Some(Value::String(name)) => (None, Some(name.as_str())),
            _ => (None, None),
        };
        let tells_apart = id.or(name).unwrap_or_default();
        Need {
            credential: format!(
                "{}|{kind}|{tells_apart}|{}",
                connector.unwrap_or_default(),
                base_url.as_deref().unwrap_or_default()
            ),
            connector: connector.map(str::to_owned),
            name: name.map_or(service, str::to_owned),
            base_url,
            methods: BTreeSet::new(),
        }
    }
}

/// Returns a type as words: `googleSheets` is `Google Sheets`.
pub(super) fn readable(kind: &str) -> String {
    let mut words = String::new();
    for (index, character) in kind.chars().enumerate().take(60) {
        if index == 0 {
            words.extend(character.to_uppercase());
        } else {
            if character.is_uppercase() {
                words.push(' ');
            }
            words.push(character);
        }
    }
    words
}

impl<'a> Nodes<'a> {
    pub(super) fn new(mut all: Vec<Node<'a>>, connections: &Map<String, Value>) -> Self {
        let names: BTreeSet<String> = all.iter().map(|node| node.name.clone()).collect();
        for node in &mut all {
            node.names.clone_from(&names);
        }
        let by_name = all.iter().enumerate().map(|(index, node)| (node.name.clone(), index)).collect();
        let mut parts: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        let mut sub_nodes = BTreeSet::new();
        for (from, outputs) in connections {
            for (kind, targets) in
                outputs.as_object().into_iter().flatten().filter(|(kind, _)| *kind != "main")
            {
                let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
                for to in targets.filter_map(|target| target.get("node").and_then(Value::as_str)) {
                    sub_nodes.insert(from.clone());
                    parts.entry(to.to_owned()).or_default().push((kind.clone(), from.clone()));
                }
            }
        }
        Self { all, by_name, parts, sub_nodes }
    }

    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns `true` if the node belongs to another, as a model does to a chain.
    pub(super) fn is_sub_node(&self, node: &Node<'_>) -> bool {
        self.sub_nodes.contains(&node.name)
    }

    /// Returns the first node of a kind that belongs to a node.
    pub(super) fn part(&self, node: &Node<'_>, kind: &str) -> Option<&Node<'a>> {
        let parts = self.parts.get(&node.name)?;
        let (_, name) = parts.iter().find(|(found, _)| found == kind)?;
        self.index_of(name).and_then(|index| self.all.get(index)).filter(|part| !part.disabled)
    }

    /// Returns `true` if a parameter of any node contains one of the texts.
    pub(super) fn mention(&self, texts: &[&str]) -> bool {
        fn contains(value: &Value, texts: &[&str]) -> bool {
            match value {
                Value::String(text) => texts.iter().any(|wanted| text.contains(wanted)),
                Value::Array(values) => values.iter().any(|value| contains(value, texts)),
                Value::Object(members) => members.values().any(|value| contains(value, texts)),
                _ => false,
            }
        }
        let in_node = |node: &Node<'_>| {
            node.kind != super::STICKY_NOTE && node.parameters.values().any(|value| contains(value, texts))
        };
        self.all.iter().any(in_node)
    }
}
