//! Secrets in exports. They are replaced before anything else reads the export, so that none reaches code, a report or the store.
//!
//! Only values are replaced, never what surrounds them: a body that was JSON still is, and code still compiles.

mod forms;
mod names;
mod text;
mod values;

use serde_json::Value;

use self::{
    names::{Suspicion, suspicion},
    text::Language,
    values::{is_opaque, is_random, is_random_word},
};

/// Text in the place of a secret.
pub(crate) const REMOVED: &str = "[secret removed]";

/// A secret that was found, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Members and indices that lead to it.
    pub(crate) path: Vec<String>,
    pub(crate) kind: &'static str,
}

/// Members that name what a neighbour holds: `{"name": "Authorization", "value": "…"}`.
const NAMING_MEMBERS: &[&str] =
    &["name", "key", "h", "displayName", "p", "property", "header", "field", "leftValue", "value1"];

/// Members that hold what a neighbour names.
const VALUE_MEMBERS: &[&str] = &["value", "v", "val", "rightValue", "value2", "content", "to", "stringValue"];

/// Members whose own name says nothing of a secret: they name and describe.
const DESCRIBING_MEMBERS: &[&str] =
    &["name", "id", "type", "description", "notes", "resource", "operation", "displayName"];

/// Members with code.
const CODE_MEMBERS: &[&str] =
    &["jsCode", "pythonCode", "functionCode", "code", "func", "initialize", "finalize", "script"];

/// Members whose value is long and random, and no secret: ids of documents and of what the tool keeps.
const ID_WORDS: &[&str] = &[
    "id",
    "ids",
    "guid",
    "uuid",
    "hash",
    "digest",
    "document",
    "documents",
    "file",
    "files",
    "folder",
    "folders",
    "source",
    "version",
    "features",
    "cursor",
    "etag",
    "checksum",
    "integrity",
    "sha",
    "commit",
    "revision",
];

/// Replaces every secret in a value, and names where each was.
pub(crate) fn remove(value: &mut Value) -> Vec<Found> {
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), Place::default(), &mut found);
    found
}

/// Surroundings of a value.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'n> {
    /// Name of what it is, from its member or from a neighbour.
    name: Option<&'n str>,
    /// `true` in a member with code.
    is_code: bool,
}

fn walk(value: &mut Value, path: &mut Vec<String>, place: Place<'_>, found: &mut Vec<Found>) {
    match value {
        Value::String(text) => {
            if let Some(kind) = clean(text, place) {
                found.push(Found { path: path.clone(), kind });
            }
        }
        Value::Number(number) => {
            let is_secret = place.name.and_then(suspicion) == Some(Suspicion::Certain);
            if is_secret && number.as_u64().is_some_and(|number| number >= 100_000) {
                *value = Value::String(REMOVED.to_owned());
                found.push(Found { path: path.clone(), kind: "password" });
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter_mut().enumerate() {
                path.push(index.to_string());
                walk(value, path, place, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            let named = NAMING_MEMBERS.iter().find_map(|key| members.get(*key)?.as_str().map(str::to_owned));
            let holds_value = VALUE_MEMBERS.iter().any(|member| members.contains_key(*member));
            let names: Vec<String> = members.keys().cloned().collect();
            for member in names {
                let mut clean_name = member.clone();
                if let Some(kind) = clean(&mut clean_name, Place::default())
                    && let Some(value) = members.remove(&member)
                {
                    found.push(Found { path: path.clone(), kind });
                    members.insert(clean_name.clone(), value);
                }
                let Some(inner) = members.get_mut(&clean_name) else { continue };
                let own = member.as_str();
                let name = if VALUE_MEMBERS.contains(&own) {
                    named.as_deref().or(place.name)
                } else if DESCRIBING_MEMBERS.contains(&own) || own == "key" && holds_value {
                    None
                } else {
                    Some(own)
                };
                let is_code = place.is_code || CODE_MEMBERS.contains(&own);
                path.push(clean_name);
                walk(inner, path, Place { name, is_code }, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Replaces what is secret in a text; returns its kind. A known form says more than the name of the member.
fn clean(text: &mut String, place: Place<'_>) -> Option<&'static str> {
    if text.len() < 4 {
        return None;
    }
    let is_expression = text.starts_with('=') || text.contains("{{");
    let language = if place.is_code || is_expression { Language::Code } else { Language::Plain };
    let is_id = place.name.is_some_and(is_id_name);
    let kind = text::remove(text, language, is_id);
    let is_secret = match place.name.and_then(suspicion) {
        Some(Suspicion::Certain) => is_opaque(text),
        Some(Suspicion::Possible) => is_random_word(text, 16),
        None => !is_id && is_random(text),
    };
    if kind.is_none() && is_secret {
        REMOVED.clone_into(text);
        return Some(if place.name.is_some() { "password" } else { "random" });
    }
    let is_named = place.name.and_then(suspicion) == Some(Suspicion::Certain);
    kind.or_else(|| (is_named && is_expression && text::remove_literals(text)).then_some("password"))
}

/// Returns `true` if a member holds the id of something, by the last word of its name.
fn is_id_name(name: &str) -> bool {
    names::words(name).last().is_some_and(|word| ID_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests;
