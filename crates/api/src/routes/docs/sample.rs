//! The smallest value that a schema allows, for the example of an operation without one.

use serde_json::{Map, Value, json};

use super::types::resolved;

const DEPTH: usize = 8;

pub(super) fn sample(document: &Value, schema: &Value) -> Value {
    sample_at_depth(document, schema, DEPTH)
}

fn sample_at_depth(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let inner = |schema| sample_at_depth(document, schema, depth - 1);
    if schema["$ref"].is_string() {
        return inner(resolved(document, schema));
    }
    let given = schema.get("example").or_else(|| schema["examples"].get(0)).or_else(|| schema.get("default"));
    if let Some(given) = given.or_else(|| schema["enum"].get(0)) {
        return given.clone();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().filter_map(|part| inner(part).as_object().cloned());
        return parts.flatten().collect::<Map<_, _>>().into();
    }
    for choices in ["oneOf", "anyOf"] {
        let choice = schema[choices].as_array().and_then(|all| all.iter().find(|it| it["type"] != "null"));
        if let Some(choice) = choice {
            return inner(choice);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match kind.unwrap_or("object") {
        "string" => json!(match schema["format"].as_str() {
            Some("date-time") => "2030-01-01T00:00:00Z",
            Some("email") => "somebody@example.com",
            Some("uri" | "url") => "https://example.com/",
            _ => "text",
        }),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(false),
        "array" => match schema["minItems"].as_u64() {
            Some(1..) => json!([inner(&schema["items"])]),
            _ => json!([]),
        },
        _ => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let member = |name: &str| (name.to_owned(), inner(&schema["properties"][name]));
            required.map(member).collect::<Map<_, _>>().into()
        }
    }
}
