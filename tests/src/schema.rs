//! Example values for schemas of the API description.

use serde_json::{Map, Value, json};

/// Number of references that an example follows, since a schema may refer to itself.
const MAX_REF_DEPTH: usize = 8;

/// Returns a minimal value that a schema allows: required members only, and of alternatives the first.
#[must_use]
pub fn schema_example(document: &Value, schema: &Value) -> Value {
    example_to_depth(document, schema, MAX_REF_DEPTH)
}

fn example_to_depth(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        return target.map_or(Value::Null, |target| example_to_depth(document, target, depth - 1));
    }
    let given = schema.get("example").or_else(|| schema["examples"].get(0)).or_else(|| schema.get("const"));
    if let Some(given) = given.or_else(|| schema.get("default")).or_else(|| schema["enum"].get(0)) {
        return given.clone();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().map(|part| example_to_depth(document, part, depth - 1));
        return parts.filter_map(|part| part.as_object().cloned()).flatten().collect::<Map<_, _>>().into();
    }
    for choices in ["oneOf", "anyOf"] {
        if let Some(choice) =
            schema[choices].as_array().and_then(|all| all.iter().find(|it| it["type"] != "null"))
        {
            return example_to_depth(document, choice, depth - 1);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match kind.unwrap_or("object") {
        "string" => example_string(schema).into(),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(false),
        "array" => {
            let min_items = schema["minItems"].as_u64().unwrap_or(0);
            (0..min_items).map(|_| example_to_depth(document, &schema["items"], depth - 1)).collect()
        }
        "object" => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let field = |name| {
                (String::from(name), example_to_depth(document, &schema["properties"][name], depth - 1))
            };
            required.map(field).collect::<Map<_, _>>().into()
        }
        _ => Value::Null,
    }
}

fn example_string(schema: &Value) -> String {
    let text = match schema["format"].as_str() {
        Some("date-time") => "2030-01-01T00:00:00Z",
        Some("email") => "somebody@example.test",
        Some("uri" | "url") => "https://example.test/",
        Some("uuid") => "00000000-0000-7000-8000-000000000000",
        _ => "example",
    };
    let min_length =
        schema["minLength"].as_u64().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let max_length =
        schema["maxLength"].as_u64().and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    format!("{text:x<min_length$}").chars().take(max_length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_minimal() {
        let document =
            json!({"components": {"schemas": {"Role": {"type": "string", "enum": ["admin", "member"]}}}});
        let schema = json!({
            "type": "object",
            "required": ["name", "role", "emails", "count", "when", "note"],
            "properties": {
                "name": {"type": "string", "minLength": 10},
                "role": {"$ref": "#/components/schemas/Role"},
                "emails": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "email"}},
                "count": {"type": "integer", "minimum": 3},
                "when": {"type": ["string", "null"], "format": "date-time"},
                "note": {"oneOf": [{"type": "null"}, {"type": "string", "maxLength": 2}]},
                "optional": {"type": "string"},
            },
        });
        let expected = json!({
            "name": "examplexxx", "role": "admin", "emails": ["somebody@example.test"], "count": 3,
            "when": "2030-01-01T00:00:00Z", "note": "ex",
        });
        assert_eq!(schema_example(&document, &schema), expected);
    }
}
