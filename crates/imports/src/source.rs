//! The text of an export: its bounds and its format.

use serde_json::Value;

use crate::Format;

/// Most characters of an export.
pub const MAX_SOURCE_LEN: usize = 400_000;

/// A refused export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSource {
    /// The text is empty.
    #[error("must be an exported workflow as JSON")]
    Empty,
    /// The text is too long.
    #[error("must have at most 400,000 characters; minify the JSON, or remove pinned data and notes")]
    TooLong,
    /// The text is not JSON, or nests deeper than 127 levels.
    #[error("is not JSON: line {line}, column {column}: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Reason.
        message: String,
    },
    /// The JSON is of no known tool.
    #[error("is no workflow of n8n, blueprint of Make or flow of Node-RED")]
    UnknownFormat,
}

/// An export that was read.
#[derive(Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) format: Format,
    /// The workflow, or the first one of a list.
    pub(crate) value: Value,
    /// Names of the other workflows of a list.
    pub(crate) others: Vec<String>,
}

/// Reads an export, and finds its format by its members.
pub(crate) fn parse(source: &str) -> Result<Source, InvalidSource> {
    // Bytes are at least as many as characters.
    if source.len() > MAX_SOURCE_LEN && source.chars().count() > MAX_SOURCE_LEN {
        return Err(InvalidSource::TooLong);
    }
    let text = source.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(InvalidSource::Empty);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        InvalidSource::NotJson { line: error.line(), column: error.column(), message }
    })?;
    let mut source = unwrapped(value).ok_or(InvalidSource::UnknownFormat)?;
    if let Value::Object(members) = &mut source.value {
        // Recorded data and what the tool keeps about itself; nothing reads them.
        for unused in ["pinData", "staticData", "meta", "shared"] {
            members.remove(unused);
        }
    }
    Ok(source)
}

/// Finds the workflow in what tools and APIs wrap around it.
fn unwrapped(mut value: Value) -> Option<Source> {
    let mut others = Vec::new();
    for _ in 0..4 {
        if let Some(format) = format_of(&value) {
            return Some(Source { format, value, others });
        }
        value = match value {
            Value::Object(mut members) => {
                let inner = [
                    "data",
                    "workflow",
                    "workflowData",
                    "workflow_json",
                    "blueprint",
                    "response",
                    "template",
                ];
                inner.iter().find_map(|name| {
                    members.remove(*name).filter(|value| value.is_object() || value.is_array())
                })?
            }
            // The command line exports all workflows as a list.
            Value::Array(values) => {
                let mut workflows = values.into_iter().filter(Value::is_object);
                let first = workflows.next()?;
                others = workflows.filter(is_workflow).map(|value| name_of(&value)).collect();
                first
            }
            _ => return None,
        };
    }
    None
}

fn is_workflow(value: &Value) -> bool {
    format_of(value).is_some() || ["nodes", "flow", "workflow"].iter().any(|name| value.get(*name).is_some())
}

fn name_of(value: &Value) -> String {
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default().trim();
    if name.is_empty() { "?".to_owned() } else { name.to_owned() }
}

fn format_of(value: &Value) -> Option<Format> {
    let list = |name: &str| value.get(name).and_then(Value::as_array);
    if let Some(nodes) = list("nodes")
        && (value.get("connections").is_some_and(Value::is_object)
            || nodes.iter().any(|node| node.get("parameters").is_some()))
    {
        return Some(Format::N8n);
    }
    if list("flow").is_some_and(|flow| flow.iter().all(|module| module.get("module").is_some())) {
        return Some(Format::Make);
    }
    let nodes = value.as_array().or_else(|| list("flows"))?;
    let is_node = |node: &Value| {
        node.get("id").is_some_and(Value::is_string) && node.get("type").is_some_and(Value::is_string)
    };
    (!nodes.is_empty()
        && nodes.iter().all(is_node)
        && nodes.iter().all(|node| node.get("parameters").is_none()))
    .then_some(Format::NodeRed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_found_by_its_members() {
        let format = |source: &str| parse(source).map(|source| source.format);
        assert_eq!(format(r#"{"nodes":[],"connections":{}}"#), Ok(Format::N8n));
        assert_eq!(format(r#"{"data":{"workflow":{"nodes":[],"connections":{}}}}"#), Ok(Format::N8n));
        assert_eq!(
            format(r#"{"name":"x","flow":[{"id":1,"module":"http:ActionSendData"}]}"#),
            Ok(Format::Make)
        );
        assert_eq!(format(r#"[{"id":"a","type":"inject","wires":[[]]}]"#), Ok(Format::NodeRed));
        assert_eq!(format(r#"{"rev":"1","flows":[{"id":"a","type":"tab"}]}"#), Ok(Format::NodeRed));
        for other in ["[]", "{}", "1", "null", r#"{"data":{"data":{"data":{"data":{"data":{}}}}}}"#] {
            assert_eq!(format(other), Err(InvalidSource::UnknownFormat), "{other}");
        }
    }

    #[test]
    fn the_bounds_are_told() {
        let workflow = |length: usize| {
            let rest = r#"{"nodes":[],"connections":{},"x":""}"#.len();
            format!(r#"{{"nodes":[],"connections":{{}},"x":"{}"}}"#, "ж".repeat(length - rest))
        };
        assert!(parse(&workflow(MAX_SOURCE_LEN)).is_ok());
        let refused = parse(&workflow(MAX_SOURCE_LEN + 1)).unwrap_err();
        assert!(refused.to_string().contains("minify"), "{refused}");
        assert_eq!(parse("\u{feff} "), Err(InvalidSource::Empty));
        let InvalidSource::NotJson { line, column, .. } = parse("{\n  nodes: []}").unwrap_err() else {
            panic!()
        };
        assert_eq!((line, column), (2, 3));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(parse(&deep), Err(InvalidSource::NotJson { .. })));
    }
}
