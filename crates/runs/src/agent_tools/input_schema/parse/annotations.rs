//! Keywords that schema libraries write and that allow and forbid nothing. They are left out: not every client of a model
//! accepts them.

use serde_json::{Map, Value};

use super::{MAX_TEXT_CHARS, Path};
use crate::agent_tools::InvalidSchema;

/// Returns a schema without the keywords that change nothing, in all of its parts: annotations, null in place of a keyword
/// that is left out, and values that say what the absence of the keyword says.
///
/// # Errors
/// [`InvalidSchema`] for an annotation of another type than JSON Schema demands.
pub(super) fn without_annotations(
    schema: &Map<String, Value>,
    path: Path<'_>,
) -> Result<Map<String, Value>, InvalidSchema> {
    let is_root = path.parent.is_none();
    let mut kept = Map::new();
    for (name, value) in schema {
        if value.is_null() || is_annotation(name, value, is_root, path)? || is_default(schema, name, value) {
            continue;
        }
        let path = path.child(name);
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter().map(|(name, schema)| {
                    let schema = match schema {
                        Value::Object(schema) => without_annotations(schema, path.child(name))?.into(),
                        other => other.clone(),
                    };
                    Ok((name.clone(), schema))
                });
                properties.collect::<Result<Map<_, _>, InvalidSchema>>()?.into()
            }
            ("items", Value::Object(items)) => without_annotations(items, path)?.into(),
            _ => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    Ok(kept)
}

/// Returns true for a keyword that only describes. The title, description and default of a property help agents, and stay.
fn is_annotation(name: &str, value: &Value, is_root: bool, path: Path<'_>) -> Result<bool, InvalidSchema> {
    let (is_valid, reason) = match name {
        "$schema" | "$id" | "$anchor" | "$comment" | "id" => (value.is_string(), "must be a text"),
        "title" | "description" if is_root => {
            let is_text = value.as_str().is_some_and(|text| text.chars().count() <= MAX_TEXT_CHARS);
            (is_text, "must be a text of at most 1000 characters")
        }
        "default" if is_root => (value.is_object(), "must be an object"),
        "examples" => (value.is_array(), "must be a list"),
        "deprecated" | "readOnly" | "writeOnly" => (value.is_boolean(), "must be true or false"),
        "example" => (true, ""),
        // Extensions.
        _ => return Ok(name.starts_with("x-")),
    };
    if is_valid { Ok(true) } else { Err(path.child(name).error(reason)) }
}

/// Returns true for a keyword whose value says what its absence says.
fn is_default(schema: &Map<String, Value>, name: &str, value: &Value) -> bool {
    match name {
        "nullable" | "uniqueItems" | "exclusiveMinimum" | "exclusiveMaximum" => *value == Value::Bool(false),
        "minProperties" => value.as_u64() == Some(0),
        "additionalProperties" => match value {
            Value::Object(schema) => schema.is_empty(),
            value => *value == Value::Bool(true),
        },
        "$defs" | "definitions" | "patternProperties" | "dependentRequired" | "dependentSchemas" => {
            value.as_object().is_some_and(Map::is_empty)
        }
        // The width of a number, which libraries of programming languages write beside its type.
        "format" => {
            let is_number = matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number"));
            let widths = [
                "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int", "uint",
                "float", "double",
            ];
            is_number && value.as_str().is_some_and(|width| widths.contains(&width))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::agent_tools::InputSchema;

    #[test]
    fn what_schema_libraries_write_and_what_changes_nothing_is_left_out() {
        let plain = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "title": "City", "description": "Where.", "default": "Almaty" },
                "days": { "type": "integer", "minimum": 1 },
                "tags": { "type": "array", "items": { "type": "string" } },
                "at": { "type": "object", "properties": { "x": { "type": "number" } } },
                "to": { "type": "object", "properties": { "y": { "type": "number" } } },
            },
            "additionalProperties": false,
        });
        let written = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/weather.json",
            "$comment": "made by a library",
            "$defs": {},
            "definitions": {},
            "title": "Weather",
            "description": "Arguments.",
            "default": {},
            "examples": [{ "city": "Almaty" }],
            "x-order": 1,
            "type": "object",
            "properties": {
                "city": {
                    "$id": "#city", "$comment": "", "type": "string", "title": "City", "description": "Where.",
                    "default": "Almaty", "examples": ["Astana"], "example": 1, "deprecated": false, "readOnly": false,
                    "writeOnly": true, "enum": null, "format": null, "minLength": null, "nullable": false, "x-y": [],
                },
                "days": {
                    "type": "integer", "format": "uint32", "minimum": 1, "exclusiveMinimum": false, "default": null,
                },
                "tags": {
                    "type": "array", "items": { "type": "string", "$comment": "a", "description": null },
                    "uniqueItems": false,
                },
                "at": {
                    "type": "object",
                    "properties": { "x": { "type": "number", "format": "double", "title": null } },
                    "required": null,
                    "additionalProperties": true,
                },
                "to": {
                    "type": "object",
                    "properties": { "y": { "type": "number" } },
                    "additionalProperties": {},
                },
            },
            "required": null,
            "additionalProperties": false,
        });
        let parsed = InputSchema::parse(written).unwrap();
        assert_eq!(parsed, InputSchema::parse(plain.clone()).unwrap());
        assert_eq!(serde_json::Value::Object(parsed.as_json().clone()), plain);
    }

    #[test]
    fn properties_and_values_may_be_called_like_keywords() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string" },
                "examples": { "type": "string", "enum": ["$schema", "x-a"] },
                "x-trace": { "type": "boolean" },
                "id": { "type": "object", "properties": {}, "default": { "$id": null, "title": "kept" } },
            },
            "required": ["title", "examples"],
        });
        let parsed = InputSchema::parse(schema.clone()).unwrap();
        assert_eq!(serde_json::Value::Object(parsed.as_json().clone()), schema);
    }
}
