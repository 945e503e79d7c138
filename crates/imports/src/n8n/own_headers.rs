//! The headers that an HTTP Request node sets itself, as a list or as JSON text.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::node::Node;
use crate::{
    headers::{self, HeaderKind},
    secrets::REMOVED,
};

/// The headers that a step sets itself, of those that an app may not set as it likes.
#[derive(Default)]
pub(super) struct OwnHeaders {
    /// Names of those with credentials.
    pub(super) credentials: BTreeSet<&'static str>,
    /// Names, as the step spells them, of those of a list that only the gate sets.
    refused: Vec<String>,
    /// Names, as the step spells them, of those of a list with credentials.
    listed: Vec<String>,
    /// `true` if they stand in a text, from which a request through a connection leaves out those with credentials.
    pub(super) in_text: bool,
}

impl OwnHeaders {
    /// Returns the names of those that are not sent; a connection brings its own credentials.
    pub(super) fn unsent(&self, through_connection: bool) -> Vec<String> {
        let listed = self.listed.iter().cloned();
        let written = self.credentials.iter().filter(|_| self.in_text).map(|name| (*name).to_owned());
        let of_connection = listed.chain(written).filter(|_| through_connection);
        self.refused.iter().cloned().chain(of_connection).collect()
    }

    /// Returns `true` if the header of a pair is sent.
    pub(super) fn sends(&self, pair: &Value, through_connection: bool) -> bool {
        let name = pair.get("name").and_then(Value::as_str).unwrap_or_default();
        !self.unsent(through_connection).iter().any(|unsent| unsent == name)
    }
}

/// Returns the text of headers that are written as JSON.
fn header_text(node: &Node<'_>, is_modern: bool) -> Option<String> {
    let is_text = if is_modern {
        node.text("specifyHeaders") == Some("json")
    } else {
        node.flag("jsonParameters", false)
    };
    let path = if is_modern { "jsonHeaders" } else { "headerParametersJson" };
    is_text.then(|| {
        let text = node.get(path);
        text.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default()
    })
}

/// Returns headers that are written as JSON without expressions as a list.
pub(super) fn literal_headers(node: &Node<'_>, is_modern: bool) -> Option<Vec<Value>> {
    let members: Map<String, Value> = serde_json::from_str(&header_text(node, is_modern)?).ok()?;
    let is_expression = |text: &str| text.starts_with('=');
    let is_literal = |(name, value): (&String, &Value)| {
        !name.is_empty() && !is_expression(name) && !value.as_str().is_none_or(is_expression)
    };
    let to_pair = |(name, value): (&String, &Value)| json!({ "name": name, "value": value });
    members.iter().all(is_literal).then(|| members.iter().map(to_pair).collect())
}

pub(super) fn own_headers(node: &Node<'_>, is_modern: bool, list: &[Value], may_be_text: bool) -> OwnHeaders {
    let mut own = OwnHeaders::default();
    if is_modern && !node.flag("sendHeaders", false) {
        return own;
    }
    if let Some(text) = header_text(node, is_modern).filter(|_| may_be_text) {
        own.in_text = true;
        own.credentials.extend(headers::credentials_in(&text));
        return own;
    }
    for pair in list.iter().filter(|pair| !proves(std::slice::from_ref(pair))) {
        let name = pair.get("name").and_then(Value::as_str).unwrap_or_default();
        match headers::kind_of(name) {
            HeaderKind::Plain => {}
            HeaderKind::Refused => own.refused.push(name.to_owned()),
            HeaderKind::Credential(header) => {
                own.credentials.insert(header);
                own.listed.push(name.to_owned());
            }
        }
    }
    own
}

/// Returns `true` if a list had a secret, which proves who asks.
pub(super) fn proves(list: &[Value]) -> bool {
    let had_secret =
        |pair: &Value| pair.get("value").and_then(Value::as_str).is_some_and(|value| value.contains(REMOVED));
    list.iter().any(had_secret)
}
